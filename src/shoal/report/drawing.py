"""What every picture is drawn with: palettes, kind numbers, text that fits, and SVG marks.

Colours are CSS variables with a light fallback, so the same picture serves a light page, a dark page and the web workbench.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

LIGHT = (
    "--page:#f4f7f9;--card:#ffffff;--ink:#13212b;--muted:#566873;--accent:#0b6e7f;--accent-soft:#e0f0f2;"
    "--before:#8a9fae;--warn:#b8412b;--warn-soft:#fbeae6;--grid:#dde4e9;--fine:#25713a;--fine-soft:#e4f3e8;--care:#8a5a00;--care-soft:#fdf1d8"
)
DARK = (
    "--page:#0e161b;--card:#162128;--ink:#e4ecf0;--muted:#9fb1bc;--accent:#43b5c8;--accent-soft:#17343c;"
    "--before:#748a97;--warn:#f08d74;--warn-soft:#3a211c;--grid:#2b3a43;--fine:#6cc381;--fine-soft:#15301e;--care:#e3b155;--care-soft:#35290f"
)
# Paper is white whatever the reader's screen prefers, so print repeats the light palette.
STYLE = (
    f":root{{color-scheme:light dark;{LIGHT}}}\n"
    f"@media (prefers-color-scheme: dark){{:root{{{DARK}}}}}\n"
    f"@media print{{:root{{color-scheme:light;{LIGHT}}}}}\n"
    "svg.figure{display:block;width:100%;height:auto}\n"
)

INK, MUTED, CARD = "var(--ink,#13212b)", "var(--muted,#566873)", "var(--card,#ffffff)"
ACCENT, BEFORE, WARN, GRID = "var(--accent,#0b6e7f)", "var(--before,#8a9fae)", "var(--warn,#b8412b)", "var(--grid,#dde4e9)"
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
WIDTH = 420.0
NBSP = "\u00a0"
MOST_ROWS = 40
MOST_NAMED, MOST_UPRIGHT, MOST_LABELS = 16, 60, 80

Box = tuple[float, float, float, float]  # left, top, right, bottom


# ---- words and numbers -------------------------------------------------------------------------------------------------------


def safe(text: object) -> str:
    """Text that is safe inside HTML and SVG: escaped, and without the characters XML forbids."""
    return escape(re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", str(text)))


def number(value: float | None) -> str:
    """A number as a person writes it: 1,080; 0.286; 0.0052. A tiny value is never shown as 0."""
    if value is None or math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value < 0:
        return "−" + number(-value)
    if value == int(value) and value < 1e15:
        return f"{int(value):,}"
    if value < 1e-5 or value >= 1e15:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}×10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    if value >= 100:
        return f"{value:,.1f}".removesuffix(".0")
    # 0.9996 must not read as 1: near a whole number keep the digits that tell it apart.
    digits = 3 if value >= 0.1 else 1 - math.floor(math.log10(value))
    while digits < 6 and float(f"{value:.{digits}f}") == round(value) and value != round(value):
        digits += 1
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


def decimal(value: float | None) -> str:
    """Like number, with three decimals kept, so that a column of shares lines up: 0.290 under 0.286."""
    return f"{value:.3f}" if value is not None and 0.1 <= value < 0.9995 else number(value)


def percent(share: float | None) -> str:
    """A share as a percentage: 38.2 %, 0.093 %. Neither 0 % nor 100 % is said of anything but exactly 0 and 1."""
    return "n/a" if share is None or math.isnan(share) else hundredths(share) + NBSP + "%"


def percent_range(low: float | None, high: float | None) -> str:
    """An interval of shares: 26.0–31.0 %."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "n/a"
    return f"{hundredths(low)}–{hundredths(high)}{NBSP}%"


def hundredths(share: float) -> str:
    hundred = share * 100
    if hundred in (0, 100):
        return f"{hundred:.0f}"
    if 0 < hundred < 0.01:
        return f"<{NBSP}0.01"
    if abs(hundred) < 1:
        return f"{hundred:.2f}" if abs(hundred) >= 0.1 else f"{hundred:.3f}".rstrip("0")
    if 99.95 <= hundred < 100:
        return f"{hundred:.2f}" if hundred < 99.995 else f">{NBSP}99.99"
    return f"{hundred:,.1f}"


def compact(count: int) -> str:
    for size, suffix in ((1_000_000, "M"), (1_000, "k")):
        if count >= size * (1 if size > 1_000 else 10):
            return f"{count / size:.3g}{suffix}"
    return f"{count:,}"


def text_width(text: str, size: float) -> float:
    """Roughly how wide a text is: no font is at hand, so this errs on the generous side."""
    ems = 0.0
    for letter in text:
        if unicodedata.combining(letter):
            continue
        if unicodedata.east_asian_width(letter) in "WF":
            ems += 1.0
        else:
            ems += 0.36 if letter in "iljtfrI.,:;'| ()[]\u00a0" else 0.95 if letter in "mwMW@%…=+<>–" else 0.7 if letter.isupper() else 0.61
    return ems * size


def shorten(text: str, width: float, size: float, head: float = 0.5) -> str:
    """Cut inside, keeping this share of the letters at the head and the rest at the tail."""
    text = " ".join(text.split())
    width += 0.01  # a column made to fit its longest name must not cut that name over a rounding error
    if text_width(text, size) <= width:
        return text
    for keep in range(len(text) - 1, 1, -1):
        first = max(1, round(keep * head))
        cut = text[:first] + "…" + text[len(text) - keep + first :]
        if text_width(cut, size) <= width:
            return cut
    return "…"


def short_names(names: Sequence[str], width: float, size: float) -> list[str]:
    """Names cut where they stay apart: item_07_how_often and item_08_how_often differ neither at the head nor at the tail."""
    tries = [[shorten(name, width, size, head) for name in names] for head in (0.5, 0.75, 0.88, 1.0, 0.25)]
    return max(tries, key=lambda cuts: len(set(cuts)))


def tick_marks(top: float, smallest_step: float = 0.0) -> list[float]:
    """Round tick marks from 0 to at least top."""
    raw = max(top / 5, smallest_step, 1e-9)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
    return [i * step for i in range(max(1, math.ceil(top / step - 1e-9)) + 1)]


# ---- marks -------------------------------------------------------------------------------------------------------------------


def coordinate(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def mark(name: str, tip: str = "", **attributes: object) -> str:
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{coordinate(v) if isinstance(v, float) else v}"' for key, v in attributes.items()
    )
    return f"<{name}{pairs}><title>{safe(tip)}</title></{name}>" if tip else f"<{name}{pairs}/>"


def text_at(
    x: float, y: float, text: str, anchor: str = "start", size: float = 12, fill: str = MUTED, tip: str = "", extra: str = ""
) -> str:
    title = f"<title>{safe(tip)}</title>" if tip else ""
    place = f'x="{coordinate(x)}" y="{coordinate(y)}" font-size="{coordinate(size)}"'
    return f'<text {place} text-anchor="{anchor}" fill="{fill}"{extra}>{title}{safe(text)}</text>'


def rule(x1: float, y1: float, x2: float, y2: float, stroke: str = GRID, width: float = 1.0, dash: str = "") -> str:
    dashes = {"stroke_dasharray": dash} if dash else {}
    return mark("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, **dashes)


def picture(width: float, height: float, title: str, description: str, marks: Iterable[str]) -> str:
    return (
        f'<svg class="figure" role="img" viewBox="0 0 {coordinate(width)} {coordinate(height)}" width="{coordinate(width)}" height="{coordinate(height)}" '
        f'font-family="{SANS}"><title>{safe(title)}</title><desc>{safe(description)}</desc>{"".join(marks)}</svg>'
    )


def empty_picture(title: str, sentence: str) -> str:
    return picture(WIDTH, 48, title, sentence, [text_at(0, 28, sentence)])


def standalone(svg: str) -> str:
    """The same picture as a file of its own, with the namespace and the palettes that a page would otherwise bring."""
    head, _, rest = svg.partition("><title>")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style><title>{rest}'
