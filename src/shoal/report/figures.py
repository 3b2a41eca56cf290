"""Pictures of risk and loss: plain numbers in, one inline SVG out.

Nothing here knows a Table, a Release or a page. Colours are CSS variables with a light fallback, so the same picture serves a light
page, a dark page and the web workbench. Every mark carries a <title>, which browsers show as a tooltip without any script.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise

LIGHT = (
    "--page:#f4f7f9;--card:#ffffff;--ink:#13212b;--muted:#566873;--accent:#0b6e7f;--accent-soft:#e0f0f2;"
    "--before:#8a9fae;--warn:#b8412b;--warn-soft:#fbeae6;--grid:#dde4e9"
)
DARK = (
    "--page:#0e161b;--card:#162128;--ink:#e4ecf0;--muted:#9fb1bc;--accent:#43b5c8;--accent-soft:#17343c;"
    "--before:#748a97;--warn:#f08d74;--warn-soft:#3a211c;--grid:#2b3a43"
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


@dataclass(frozen=True, slots=True)
class RiskUtility:
    """One run: what it cost (loss) and what an intruder still got (risk, with its interval). All in 0..1."""

    label: str
    loss: float
    risk: float
    risk_low: float
    risk_high: float


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """One column's shares per bin, in the original and in the release."""

    column: str
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.before) == len(self.after):
            sizes = f"{len(self.labels)} labels, {len(self.before)} before and {len(self.after)} after"
            raise ValueError(f"BeforeAfter needs one share before and one after for each label, got {sizes}.")


@dataclass(frozen=True, slots=True)
class Rate:
    """How often an attack hit, its interval, and what blind guessing would hit. Unknown parts are None."""

    label: str
    rate: float
    low: float | None
    high: float | None
    chance: float | None


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
    return "n/a" if share is None or math.isnan(share) else _hundredths(share) + NBSP + "%"


def percent_range(low: float | None, high: float | None) -> str:
    """An interval of shares: 26.0–31.0 %."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "n/a"
    return f"{_hundredths(low)}–{_hundredths(high)}{NBSP}%"


def _hundredths(share: float) -> str:
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


def _compact(count: int) -> str:
    for size, suffix in ((1_000_000, "M"), (1_000, "k")):
        if count >= size * (1 if size > 1_000 else 10):
            return f"{count / size:.3g}{suffix}"
    return f"{count:,}"


def _wide(text: str, size: float) -> float:
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


def _shorten(text: str, width: float, size: float, head: float = 0.5) -> str:
    """Cut inside, keeping this share of the letters at the head and the rest at the tail."""
    text = " ".join(text.split())
    width += 0.01  # a column made to fit its longest name must not cut that name over a rounding error
    if _wide(text, size) <= width:
        return text
    for keep in range(len(text) - 1, 1, -1):
        first = max(1, round(keep * head))
        cut = text[:first] + "…" + text[len(text) - keep + first :]
        if _wide(cut, size) <= width:
            return cut
    return "…"


def _short_names(names: Sequence[str], width: float, size: float) -> list[str]:
    """Names cut where they stay apart: item_07_how_often and item_08_how_often differ neither at the head nor at the tail."""
    tries = [[_shorten(name, width, size, head) for name in names] for head in (0.5, 0.75, 0.88, 1.0, 0.25)]
    return max(tries, key=lambda cuts: len(set(cuts)))


def _ticks(top: float, smallest_step: float = 0.0) -> list[float]:
    """Round tick marks from 0 to at least top."""
    raw = max(top / 5, smallest_step, 1e-9)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
    return [i * step for i in range(max(1, math.ceil(top / step - 1e-9)) + 1)]


# ---- marks -------------------------------------------------------------------------------------------------------------------


def _f(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _mark(name: str, tip: str = "", **attributes: object) -> str:
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{_f(v) if isinstance(v, float) else v}"' for key, v in attributes.items())
    return f"<{name}{pairs}><title>{safe(tip)}</title></{name}>" if tip else f"<{name}{pairs}/>"


def _say(x: float, y: float, text: str, anchor: str = "start", size: float = 12, fill: str = MUTED, tip: str = "", extra: str = "") -> str:
    title = f"<title>{safe(tip)}</title>" if tip else ""
    return f'<text x="{_f(x)}" y="{_f(y)}" font-size="{_f(size)}" text-anchor="{anchor}" fill="{fill}"{extra}>{title}{safe(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, stroke: str = GRID, width: float = 1.0, dash: str = "") -> str:
    dashes = {"stroke_dasharray": dash} if dash else {}
    return _mark("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, **dashes)


def _svg(width: float, height: float, title: str, description: str, marks: Iterable[str]) -> str:
    return (
        f'<svg class="figure" role="img" viewBox="0 0 {_f(width)} {_f(height)}" width="{_f(width)}" height="{_f(height)}" '
        f'font-family="{SANS}"><title>{safe(title)}</title><desc>{safe(description)}</desc>{"".join(marks)}</svg>'
    )


def _nothing(title: str, sentence: str) -> str:
    return _svg(WIDTH, 48, title, sentence, [_say(0, 28, sentence)])


def standalone(svg: str) -> str:
    """The same picture as a file of its own, with the namespace and the palettes that a page would otherwise bring."""
    head, _, rest = svg.partition("><title>")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style><title>{rest}'


# ---- risk against utility ----------------------------------------------------------------------------------------------------


def frontier(points: Sequence[RiskUtility]) -> list[int]:
    """Positions of the runs that no other run beats (less of one without more of the other), by growing loss."""
    known = [i for i, p in enumerate(points) if math.isfinite(p.loss) and math.isfinite(p.risk)]

    def beaten(p: RiskUtility) -> bool:
        others = (points[i] for i in known)
        return any(q.loss <= p.loss and q.risk <= p.risk and (q.loss, q.risk) != (p.loss, p.risk) for q in others)

    return sorted((i for i in known if not beaten(points[i])), key=lambda i: (points[i].loss, points[i].risk))


def ru_map(points: Sequence[RiskUtility]) -> str:
    """Information loss against risk, one mark a run, with the frontier dashed."""
    title = "Risk against information loss"
    best = frontier(points)
    shown = best + [i for i, p in enumerate(points) if i not in set(best) and math.isfinite(p.loss) and math.isfinite(p.risk)]
    if not shown:
        return _nothing(title, "No run has both a loss and a risk to show.")
    width, bottom = (WIDTH, 250.0) if len(shown) <= 4 else (760.0, 440.0)
    left, top, right = 46.0, 26.0, width - 14
    # Never zoom closer than 0.2: a harmless 0.1 % must not look like the top of a scale.
    x_ticks = _ticks(min(1.0, max(0.2, *(points[i].loss for i in shown))))
    y_ticks = _ticks(min(1.0, max(0.2, *(points[i].risk for i in shown), *(_or(points[i].risk_high, 0) for i in shown))))

    def across(loss: float) -> float:
        return left + (right - left) * min(max(loss / x_ticks[-1], 0), 1)

    def up(risk: float) -> float:
        return bottom - (bottom - top) * min(max(risk / y_ticks[-1], 0), 1)

    marks = [_rule(across(t), top, across(t), bottom) + _say(across(t), bottom + 17, number(t), "middle") for t in x_ticks]
    marks += [_rule(left, up(t), right, up(t)) + _say(left - 8, up(t) + 4, percent_tick(t), "end") for t in y_ticks]
    marks.append(_say(left - 34, 14, "risk (lower is better)"))
    marks.append(_say(right, bottom + 34, "information loss (further left is better)", "end"))
    if len(best) > 1:
        path = " ".join(f"{_f(across(points[i].loss))},{_f(up(points[i].risk))}" for i in best)
        marks.append(_mark("polyline", points=path, fill="none", stroke=MUTED, stroke_width=1.2, stroke_dasharray="4 4"))
    beyond = {i for i in shown if not (0 <= points[i].loss <= 1 and 0 <= points[i].risk <= 1)}
    dots, bars = {}, []
    for i in reversed(shown):
        p, colour = points[i], ACCENT if i in best else BEFORE
        x, y = across(p.loss), up(p.risk)
        low, high = up(_or(p.risk_low, p.risk)), up(_or(p.risk_high, p.risk))
        tip = f"{p.label}: loss {number(p.loss)}, risk {percent(p.risk)} ({percent_range(p.risk_low, p.risk_high)})"
        marks.append(_rule(x, low, x, high, colour, 2.5).replace("/>", ' stroke-opacity="0.55"/>'))
        if i in beyond:
            corners = f"{_f(x)},{_f(y - 7)} {_f(x + 7)},{_f(y)} {_f(x)},{_f(y + 7)} {_f(x - 7)},{_f(y)}"
            marks.append(_mark("polygon", tip + "; beyond the axis", points=corners, fill=CARD, stroke=WARN, stroke_width=2.0))
        else:
            marks.append(_mark("circle", tip, cx=x, cy=y, r=5.5, fill=colour, stroke=CARD, stroke_width=1.0))
        dots[i] = (x, y)
        bars.append((x - 2, high, x + 2, low))
    placed, hidden = _labels([(points[i].label, *dots[i]) for i in shown], bars, (left + 2, top, width - 2, bottom - 2))
    marks.append(placed)
    height = bottom + 42
    if len(best) < len(shown):
        height += 20
        marks.append(_legend(left, height - 10, [(ACCENT, "no other run beats it"), (BEFORE, "another run beats it")]))
    missing = len(points) - len(shown)
    notes = [(len(beyond), "drawn as a diamond: beyond the axis"), (missing, "not shown: loss or risk unknown")]
    for n, words in [*notes, (hidden, "without room for the name: point at the mark to read it")]:
        if n:
            height += 16
            marks.append(_say(left, height - 9, f"{n} {words}", size=11))
    names = ", ".join(points[i].label for i in best)
    return _svg(width, height, title, f"{len(shown)} runs. Not beaten by any other: {names}. Down and left is better.", marks)


def percent_tick(share: float) -> str:
    return f"{round(share * 100, 6):g}{NBSP}%"


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _or(value: float, fallback: float) -> float:
    return value if math.isfinite(value) else fallback


def _legend(x: float, y: float, keys: Sequence[tuple[str, str]]) -> str:
    marks = []
    for colour, words in keys:
        marks.append(_mark("rect", x=x, y=y - 9, width=10.0, height=10.0, rx=2.0, fill=colour) + _say(x + 15, y, words))
        x += 31 + _wide(words, 12)
    return "".join(marks)


def _labels(named: Sequence[tuple[str, float, float]], bars: Sequence[Box], frame: Box) -> tuple[str, int]:
    """Names beside their marks, each in the nearest free place; returns the SVG and how many found none."""
    size, half = 11.5, 7.5
    taken: list[Box] = [(x - 7, y - 7, x + 7, y + 7) for _, x, y in named]
    texts = _short_names([label for label, _, _ in named], 170 if len(named) <= 12 else 130, size)
    marks, hidden = [], 0
    for place, ((label, x, y), text) in enumerate(zip(named, texts)):
        wide, best, best_cost = _wide(text, size), None, math.inf
        # Marks on top of this one cannot be told from it anyway, so its leader may start there.
        apart = [other for other in taken if not _touch(other, (x - 3, y - 3, x + 3, y + 3))]
        for cost, dx, dy, anchor in _places() if place < MOST_LABELS else ():
            if cost >= best_cost:
                break
            x0, y0 = x + dx, y + dy
            start = {"start": x0, "middle": x0 - wide / 2, "end": x0 - wide}[anchor]
            box = (start, y0 - half, start + wide, y0 + half)
            if box[0] < frame[0] or box[1] < frame[1] or box[2] > frame[2] or box[3] > frame[3]:
                continue
            cost += 14 * sum(_touch(box, bar) for bar in bars)
            if cost >= best_cost or any(_touch(box, other) for other in taken):
                continue
            # A leader is a string of small boxes, so that one test covers marks, names and leaders.
            reach = math.hypot(dx, dy)
            steps = [step / reach for step in range(9, int(reach), 3)] if reach > 20 else []
            leader = [(x + dx * s - 2, y + dy * s - 2, x + dx * s + 2, y + dy * s + 2) for s in steps]
            if not any(_touch(part, other) for part in leader for other in apart):
                best, best_cost = (box, leader, x0, y0, anchor), cost
        if best is None:
            hidden += 1
            continue
        box, leader, x0, y0, anchor = best
        taken += [box, *leader]
        if leader:
            marks.append(_rule(x, y, x0, y0, MUTED, 0.7))
        halo = f' paint-order="stroke" stroke="{CARD}" stroke-width="3" stroke-linejoin="round"'
        marks.append(_say(x0, y0 + 4, text, anchor, size, INK, label, halo))
    return "".join(marks), hidden


@cache
def _places() -> list[tuple[float, float, float, str]]:
    """Where a name may go, best first: (cost, dx, dy, text-anchor). Right and left come before above and below."""
    places = []
    for reach in (10, 15, 24, 36, 50, 68, 90, 115, 145, 180, 220):
        for turn, degrees in enumerate((0, 180, -35, 35, -145, 145, -90, 90, -60, 60, -120, 120, -15, 15, -165, 165)):
            angle = math.radians(degrees)
            side = "start" if math.cos(angle) > 0 else "end"
            for anchor in (side,) if abs(math.cos(angle)) > 0.6 else ("middle", "start", "end"):
                places.append((reach + turn * 0.2, reach * math.cos(angle), reach * math.sin(angle), anchor))
    return sorted(places, key=lambda place: place[0])


def _touch(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


# ---- class sizes -------------------------------------------------------------------------------------------------------------


def _size_bins(counts: Mapping[int, int], promised_k: int | None) -> list[tuple[int, int, int]]:
    """(smallest, largest, classes) per bar; a cut always falls on the promised k, so that no bar straddles it."""
    k = promised_k or 1
    if len(counts) <= 10:
        bins = [(size, size, counts[size]) for size in sorted(counts)]
    else:
        cuts = sorted({1, 2, 3, k} | {m * 10**p for p in range(19) for m in (1, 2, 5)})
        bins = [(a, b - 1, sum(n for size, n in counts.items() if a <= size < b)) for a, b in pairwise(cuts)]
        filled = [i for i, b in enumerate(bins) if b[2]]
        bins = bins[filled[0] : filled[-1] + 1]
        # Ten bars are what a phone can label: the largest classes share the last one.
        bins = bins if len(bins) <= 10 else [*bins[:9], (bins[9][0], bins[-1][1], sum(b[2] for b in bins[9:]))]
    # An empty place for what was promised away shows the promise better than its absence.
    return bins if k == 1 or bins[0][0] < k else [(1, k - 1, 0), *bins]


def class_sizes(histogram: Mapping[int, int], promised_k: int | None) -> str:
    """How many classes there are of each size; uniques and sizes below the promised k stand out."""
    title = "Class sizes"
    counts = {int(size): int(n) for size, n in histogram.items() if size >= 1 and n > 0}
    if not counts:
        return _nothing(title, "No class sizes were measured.")
    bins, k = _size_bins(counts, promised_k), promised_k or 1
    left, top, right, bottom = 46.0, 44.0, WIDTH - 6, 214.0
    slot = (right - left) / max(len(bins), 5)
    ticks = _ticks(max(b[2] for b in bins), 1.0)
    below = sum(1 for b in bins if b[1] < k)
    marks = []
    if below:
        marks.append(_mark("rect", x=left, y=top - 16, width=below * slot, height=bottom - top + 16, fill=WARN, fill_opacity=0.1))
    for t in ticks:
        y = bottom - (bottom - top) * t / ticks[-1]
        marks.append(_rule(left, y, right, y) + _say(left - 8, y + 4, _compact(round(t)), "end"))
    for i, (low, high, classes) in enumerate(bins):
        middle, tall = left + (i + 0.5) * slot, (bottom - top) * classes / ticks[-1]
        words = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        tip = f"{number(classes)} {'class' if classes == 1 else 'classes'} of {words} {'record' if words == '1' else 'records'}"
        tall = max(tall, 1.5) if classes else 0.0
        fill = WARN if high < max(k, 2) else ACCENT
        bar = slot * 0.74
        faint = 1.0 if low == 1 or high >= k else 0.65
        marks.append(_mark("rect", tip, x=middle - bar / 2, y=bottom - tall, width=bar, height=tall, fill=fill, fill_opacity=faint))
        marks.append(_say(middle, bottom - tall - 5, _compact(classes) if classes else "none", "middle", 11, INK, tip))
        lines = [words] if _wide(words, 12) <= slot - 3 else [f"{low:,}–", f"{high:,}"] if low != high else [_compact(low)]
        if i == len(bins) - 1 and high > max(counts) and len(lines) == 2:
            lines = [f"{low:,}+"]
        marks += [_say(middle, bottom + 16 + 13 * j, line, "middle", tip=tip) for j, line in enumerate(lines)]
    if promised_k and promised_k > 1:
        edge = left + below * slot
        marks.append(_rule(edge, top - 26, edge, bottom, WARN, 1.2, "4 3"))
        marks.append(_say(edge + 5, top - 18, f"promised k = {k:,}", fill=WARN))
    marks.append(_rule(left, bottom, right, bottom, MUTED) + _say(0, 12, "classes") + _say(right, 262, "records in the class", "end"))
    short = sum(n for size, n in counts.items() if size < k)
    words = f"{number(sum(counts.values()))} classes, the smallest of {number(min(counts))}; {number(counts.get(1, 0))} are unique"
    return _svg(WIDTH, 268, title, f"{words}; {number(short)} below the promised size." if promised_k else words + ".", marks)


# ---- before and after --------------------------------------------------------------------------------------------------------


def before_after(column: BeforeAfter) -> str:
    """Shares per bin before and after protection, side by side."""
    title = f"{column.column}: before and after"
    rows = [(label, _or(b, 0.0), _or(a, 0.0)) for label, b, a in zip(column.labels, column.before, column.after)]
    if not rows:
        return _nothing(title, "This column has nothing to compare.")
    upright = _folded(rows, MOST_UPRIGHT)
    every = math.ceil(max(_wide(label, 12) + 6 for label, _, _ in upright[:MOST_UPRIGHT]) * len(upright) / (WIDTH - 54))
    # Bins in order survive a skipped label; long names do not, so they are written in rows instead.
    if every == 1 or (len(rows) > 8 and every <= 7):
        rows, start = upright, 48.0
        height, marks = _upright(rows, every)
    else:
        rows, start = _folded(rows, MOST_NAMED), 0.0
        height, marks = _in_rows(rows)
    marks.append(_legend(start, 11, [(BEFORE, "before"), (ACCENT, "after")]))
    apart = sum(abs(a - b) for _, b, a in rows) / 2
    return _svg(WIDTH, height, title, f"Shares of records in {len(rows)} bins; the two differ by {percent(apart)}.", marks)


def _folded(rows: list[tuple[str, float, float]], most: int) -> list[tuple[str, float, float]]:
    """The largest bins in their order, and the rest as one."""
    if len(rows) <= most:
        return rows
    keep = set(sorted(range(len(rows)), key=lambda i: -max(rows[i][1:]))[: most - 1])
    rest = [row for i, row in enumerate(rows) if i not in keep]
    others = (f"{len(rest)} others", sum(row[1] for row in rest), sum(row[2] for row in rest))
    return [*(row for i, row in enumerate(rows) if i in keep), others]


def _upright(rows: Sequence[tuple[str, float, float]], every: int) -> tuple[float, list[str]]:
    left, top, right, bottom = 48.0, 26.0, WIDTH - 6, 190.0
    ticks = _ticks(max(max(b, a) for _, b, a in rows) or 1.0)
    slot = (right - left) / len(rows)
    marks = []
    for t in ticks:
        y = bottom - (bottom - top) * t / ticks[-1]
        marks.append(_rule(left, y, right, y) + _say(left - 7, y + 4, percent_tick(t), "end"))
    bar = min(slot * 0.42, 34.0)
    for i, (label, *shares) in enumerate(rows):
        middle = left + (i + 0.5) * slot
        tip = f"{label}: {percent(shares[0])} before, {percent(shares[1])} after"
        for x, share, fill in ((middle - bar, shares[0], BEFORE), (middle, shares[1], ACCENT)):
            tall = (bottom - top) * max(share, 0) / ticks[-1]
            tall = max(tall, 1.0) if share > 0 else 0.0
            marks.append(_mark("rect", tip, x=x, y=bottom - tall, width=bar, height=tall, fill=fill))
        if i % every == 0:
            marks.append(_say(middle, bottom + 17, label, "middle", tip=tip))
    return 214.0, [*marks, _rule(left, bottom, right, bottom, MUTED)]


def _in_rows(rows: Sequence[tuple[str, float, float]]) -> tuple[float, list[str]]:
    left = min(170.0, max(_wide(label, 12) for label, _, _ in rows)) + 8
    right, top, pitch = WIDTH - 50, 24.0, 30.0
    largest = max(max(b, a) for _, b, a in rows) or 1.0
    names = _short_names([label for label, _, _ in rows], left - 8, 12)
    marks = []
    for i, (label, before, after) in enumerate(rows):
        y = top + i * pitch
        tip = f"{label}: {percent(before)} before, {percent(after)} after"
        marks.append(_say(left - 8, y + 17, names[i], "end", fill=INK, tip=tip))
        for dy, share, fill in ((1.5, before, BEFORE), (13.0, after, ACCENT)):
            wide = (right - left) * max(share, 0) / largest
            wide = max(wide, 1.0) if share > 0 else 0.0
            marks.append(_mark("rect", tip, x=left, y=y + dy, width=wide, height=11.0, fill=fill))
            marks.append(_say(left + wide + 5, y + dy + 9.5, percent(share), size=10.5))
    bottom = top + len(rows) * pitch
    return bottom + 4, [*marks, _rule(left, top - 2, left, bottom, MUTED)]


# ---- rows of rates and losses ------------------------------------------------------------------------------------------------


def linkage_rates(rates: Sequence[Rate]) -> str:
    """One row an attack: the rate as a dot, its interval as a bar, blind guessing as a dashed mark."""
    title = "How often each attack succeeds"
    rows = [Rate(r.label, r.rate, _known(r.low), _known(r.high), _known(r.chance)) for r in rates if math.isfinite(r.rate)]
    if not rows:
        return _nothing(title, "No attack was tried.")
    ticks = _ticks(min(1.0, max(0.1, *(max(r.rate, r.high or 0, r.chance or 0) for r in rows))))
    left, right, top, pitch = 10.0, WIDTH - 16, 4.0, 50.0
    bottom = top + len(rows) * pitch

    def across(share: float) -> float:
        return left + (right - left) * min(max(share / ticks[-1], 0), 1)

    marks = []
    for t in ticks:
        anchor = "start" if t == 0 else "end" if t == ticks[-1] else "middle"
        edge = across(t) + (-10 if t == 0 else 16 if t == ticks[-1] else 0)
        marks.append(_rule(across(t), top, across(t), bottom) + _say(edge, bottom + 17, percent_tick(t), anchor))
    halo = f' paint-order="stroke" stroke="{CARD}" stroke-width="4" stroke-linejoin="round"'
    for i, r in enumerate(rows):
        y = top + i * pitch + 32
        spread = "" if r.low is None or r.high is None else percent_range(r.low, r.high)
        tip = f"{r.label}: {percent(r.rate)}" + (f", 95{NBSP}% interval {spread}" if spread else "")
        tip += "" if r.chance is None else f"; blind guessing {percent(r.chance)}"
        room = WIDTH - 24 - _wide(percent(r.rate) + spread, 13)
        marks.append(_say(0, y - 17, _shorten(r.label, room, 13), size=13, fill=INK, tip=tip, extra=halo))
        rate = f'<tspan fill="{INK}" font-weight="600">{safe(percent(r.rate))}</tspan>'
        words = f'{rate}<tspan dx="6" font-size="11">{safe(spread)}</tspan>' if spread else rate
        marks.append(f'<text x="{_f(WIDTH)}" y="{_f(y - 17)}" font-size="13" text-anchor="end" fill="{MUTED}"{halo}>{words}</text>')
        if r.low is not None and r.high is not None:
            low, high = across(r.low), across(r.high)
            marks.append(_mark("rect", tip, x=low, y=y - 3.5, width=max(high - low, 1.0), height=7.0, rx=3.5, fill=BEFORE))
        if r.chance is not None:
            marks.append(_rule(across(r.chance), y - 11, across(r.chance), y + 11, WARN, 1.8, "4 2.5"))
        marks.append(_mark("circle", tip, cx=across(r.rate), cy=y, r=5.5, fill=ACCENT, stroke=CARD, stroke_width=1.0))
    if any(r.chance is not None for r in rows):
        marks.append(_rule(3, bottom + 29, 3, bottom + 43, WARN, 1.8, "4 2.5") + _say(12, bottom + 40, "blind guessing"))
    worst = max(rows, key=lambda r: r.rate)
    return _svg(WIDTH, bottom + 48, title, f"{len(rows)} attacks; the strongest, {worst.label}, hits {percent(worst.rate)}.", marks)


def loss_bars(values: Sequence[tuple[str, float]], title: str = "Loss by column") -> str:
    """Horizontal bars, longest first."""
    if not values:
        return _nothing(title, "No column was measured.")
    rows = sorted(values, key=lambda row: -_or(row[1], -math.inf))
    rest, rows = rows[MOST_ROWS:], rows[:MOST_ROWS]
    longest = max((_or(v, 0.0) for _, v in rows), default=0.0)
    left = min(190.0, max(_wide(name, 12) for name, _ in rows)) + 8
    right, pitch = WIDTH - 62, 22.0
    names = _short_names([name for name, _ in rows], left - 8, 12)
    marks = []
    for i, (name, value) in enumerate(rows):
        y, tip = 4 + i * pitch, f"{name}: {number(value)}"
        wide = (right - left) * max(_or(value, 0.0), 0) / longest if longest > 0 else 0.0
        wide = max(wide, 1.0) if _or(value, 0.0) > 0 else 0.0
        marks.append(_say(left - 8, y + 13, names[i], "end", fill=INK, tip=tip))
        marks.append(_mark("rect", tip, x=left, y=y + 2, width=wide, height=14.0, fill=ACCENT))
        marks.append(_say(left + wide + 6, y + 13, decimal(value), fill=INK))
    bottom = 4 + len(rows) * pitch
    marks.append(_rule(left, 2, left, bottom, MUTED))
    if rest:
        marks.append(_say(left, bottom + 15, f"and {len(rest)} more, each {number(rest[0][1])} or less"))
    return _svg(WIDTH, bottom + (22 if rest else 4), title, f"{len(values)} columns; the largest is {rows[0][0]}.", marks)
