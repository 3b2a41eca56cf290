"""Pictures of risk and loss: plain numbers in, one inline SVG out.

Nothing here knows a Table, a Release or a page. Every mark carries a <title>, which browsers show as a tooltip without any script.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.report.drawing import (
    ACCENT,
    BEFORE,
    CARD,
    INK,
    MOST_NAMED,
    MOST_ROWS,
    MOST_UPRIGHT,
    MUTED,
    NBSP,
    WARN,
    WIDTH,
    compact,
    coordinate,
    decimal,
    empty_picture,
    mark,
    number,
    percent,
    percent_range,
    picture,
    rule,
    safe,
    short_names,
    shorten,
    text_at,
    text_width,
    tick_marks,
)
from shoal.report.names_beside_marks import placed_names


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
    how: str = ""  # where a released cell that is no value is drawn

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
        return empty_picture(title, "No run has both a loss and a risk to show.")
    width, bottom = (WIDTH, 250.0) if len(shown) <= 4 else (760.0, 440.0)
    left, top, right = 46.0, 26.0, width - 14
    # Never zoom closer than 0.2: a harmless 0.1 % must not look like the top of a scale.
    x_ticks = tick_marks(min(1.0, max(0.2, *(points[i].loss for i in shown))))
    y_ticks = tick_marks(min(1.0, max(0.2, *(points[i].risk for i in shown), *(_or(points[i].risk_high, 0) for i in shown))))

    def across(loss: float) -> float:
        return left + (right - left) * min(max(loss / x_ticks[-1], 0), 1)

    def up(risk: float) -> float:
        return bottom - (bottom - top) * min(max(risk / y_ticks[-1], 0), 1)

    marks = [rule(across(t), top, across(t), bottom) + text_at(across(t), bottom + 17, number(t), "middle") for t in x_ticks]
    marks += [rule(left, up(t), right, up(t)) + text_at(left - 8, up(t) + 4, percent_tick(t), "end") for t in y_ticks]
    marks.append(text_at(left - 34, 14, "risk (lower is better)"))
    marks.append(text_at(right, bottom + 34, "information loss (further left is better)", "end"))
    if len(best) > 1:
        path = " ".join(f"{coordinate(across(points[i].loss))},{coordinate(up(points[i].risk))}" for i in best)
        marks.append(mark("polyline", points=path, fill="none", stroke=MUTED, stroke_width=1.2, stroke_dasharray="4 4"))
    beyond = {i for i in shown if not (0 <= points[i].loss <= 1 and 0 <= points[i].risk <= 1)}
    dots, bars = {}, []
    for i in reversed(shown):
        p, colour = points[i], ACCENT if i in best else BEFORE
        x, y = across(p.loss), up(p.risk)
        low, high = up(_or(p.risk_low, p.risk)), up(_or(p.risk_high, p.risk))
        tip = f"{p.label}: loss {number(p.loss)}, risk {percent(p.risk)} ({percent_range(p.risk_low, p.risk_high)})"
        marks.append(rule(x, low, x, high, colour, 2.5).replace("/>", ' stroke-opacity="0.55"/>'))
        if i in beyond:
            diamond = ((x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y))
            corners = " ".join(f"{coordinate(a)},{coordinate(b)}" for a, b in diamond)
            marks.append(mark("polygon", tip + "; beyond the axis", points=corners, fill=CARD, stroke=WARN, stroke_width=2.0))
        else:
            marks.append(mark("circle", tip, cx=x, cy=y, r=5.5, fill=colour, stroke=CARD, stroke_width=1.0))
        dots[i] = (x, y)
        bars.append((x - 2, high, x + 2, low))
    placed, hidden = placed_names([(points[i].label, *dots[i]) for i in shown], bars, (left + 2, top, width - 2, bottom - 2))
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
            marks.append(text_at(left, height - 9, f"{n} {words}", size=11))
    names = ", ".join(points[i].label for i in best)
    return picture(width, height, title, f"{len(shown)} runs. Not beaten by any other: {names}. Down and left is better.", marks)


def percent_tick(share: float) -> str:
    return f"{round(share * 100, 6):g}{NBSP}%"


def whole_percent(share: float) -> str:
    """Of shares that are known to whole per cent and no further."""
    return f"{share * 100:.0f}{NBSP}%"


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _or(value: float, fallback: float) -> float:
    return value if math.isfinite(value) else fallback


def _legend(x: float, y: float, keys: Sequence[tuple[str, str]]) -> str:
    marks = []
    for colour, words in keys:
        marks.append(mark("rect", x=x, y=y - 9, width=10.0, height=10.0, rx=2.0, fill=colour) + text_at(x + 15, y, words))
        x += 31 + text_width(words, 12)
    return "".join(marks)


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


def class_sizes(histogram: Mapping[int, int], promised_k: int | None, unit: str = "record") -> str:
    """How many classes there are of each size, in rows, persons or whatever was counted; uniques and sizes below the promised k stand out."""
    title = "Class sizes"
    counts = {int(size): int(n) for size, n in histogram.items() if size >= 1 and n > 0}
    if not counts:
        return empty_picture(title, "No class sizes were measured.")
    bins, k = _size_bins(counts, promised_k), promised_k or 1
    left, top, right, bottom = 46.0, 44.0, WIDTH - 6, 214.0
    slot = (right - left) / max(len(bins), 5)
    ticks = tick_marks(max(b[2] for b in bins), 1.0)
    below = sum(1 for b in bins if b[1] < k)
    marks = []
    if below:
        marks.append(mark("rect", x=left, y=top - 16, width=below * slot, height=bottom - top + 16, fill=WARN, fill_opacity=0.1))
    for t in ticks:
        y = bottom - (bottom - top) * t / ticks[-1]
        marks.append(rule(left, y, right, y) + text_at(left - 8, y + 4, compact(round(t)), "end"))
    for i, (low, high, classes) in enumerate(bins):
        middle, tall = left + (i + 0.5) * slot, (bottom - top) * classes / ticks[-1]
        words = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        tip = f"{number(classes)} {'class' if classes == 1 else 'classes'} of {words} {unit if words == '1' else unit + 's'}"
        tall = max(tall, 1.5) if classes else 0.0
        fill = WARN if high < max(k, 2) else ACCENT
        bar = slot * 0.74
        faint = 1.0 if low == 1 or high >= k else 0.65
        marks.append(mark("rect", tip, x=middle - bar / 2, y=bottom - tall, width=bar, height=tall, fill=fill, fill_opacity=faint))
        marks.append(text_at(middle, bottom - tall - 5, compact(classes) if classes else "none", "middle", 11, INK, tip))
        lines = [words] if text_width(words, 12) <= slot - 3 else [f"{low:,}–", f"{high:,}"] if low != high else [compact(low)]
        if i == len(bins) - 1 and high > max(counts) and len(lines) == 2:
            lines = [f"{low:,}+"]
        marks += [text_at(middle, bottom + 16 + 13 * j, line, "middle", tip=tip) for j, line in enumerate(lines)]
    if promised_k and promised_k > 1:
        edge = left + below * slot
        marks.append(rule(edge, top - 26, edge, bottom, WARN, 1.2, "4 3"))
        marks.append(text_at(edge + 5, top - 18, f"promised k = {k:,}", fill=WARN))
    marks.append(rule(left, bottom, right, bottom, MUTED) + text_at(0, 12, "classes") + text_at(right, 262, f"{unit}s in the class", "end"))
    short = sum(n for size, n in counts.items() if size < k)
    words = f"{number(sum(counts.values()))} classes, the smallest of {number(min(counts))}; {number(counts.get(1, 0))} are unique"
    return picture(WIDTH, 268, title, f"{words}; {number(short)} below the promised size." if promised_k else words + ".", marks)


# ---- before and after --------------------------------------------------------------------------------------------------------


def before_after(column: BeforeAfter) -> str:
    """Shares per bin before and after protection, side by side."""
    title = f"{column.column}: before and after"
    rows = [(label, _or(b, 0.0), _or(a, 0.0)) for label, b, a in zip(column.labels, column.before, column.after)]
    if not rows:
        return empty_picture(title, "This column has nothing to compare.")
    upright = _folded(rows, MOST_UPRIGHT)
    every = math.ceil(max(text_width(label, 12) + 6 for label, _, _ in upright[:MOST_UPRIGHT]) * len(upright) / (WIDTH - 54))
    # Bins in order survive a skipped label; long names do not, so they are written in rows instead.
    if every == 1 or (len(rows) > 8 and every <= 7):
        rows, start = upright, 48.0
        height, marks = _upright(rows, every)
    else:
        rows, start = _folded(rows, MOST_NAMED), 0.0
        height, marks = _in_rows(rows)
    marks.append(_legend(start, 11, [(BEFORE, "before"), (ACCENT, "after")]))
    apart = sum(abs(a - b) for _, b, a in rows) / 2
    return picture(WIDTH, height, title, f"Shares of records in {len(rows)} bins; the two differ by {whole_percent(apart)}.", marks)


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
    ticks = tick_marks(max(max(b, a) for _, b, a in rows) or 1.0)
    slot = (right - left) / len(rows)
    marks = []
    for t in ticks:
        y = bottom - (bottom - top) * t / ticks[-1]
        marks.append(rule(left, y, right, y) + text_at(left - 7, y + 4, percent_tick(t), "end"))
    bar = min(slot * 0.42, 34.0)
    for i, (label, *shares) in enumerate(rows):
        middle = left + (i + 0.5) * slot
        tip = f"{label}: {whole_percent(shares[0])} before, {whole_percent(shares[1])} after"
        for x, share, fill in ((middle - bar, shares[0], BEFORE), (middle, shares[1], ACCENT)):
            tall = (bottom - top) * max(share, 0) / ticks[-1]
            tall = max(tall, 1.0) if share > 0 else 0.0
            marks.append(mark("rect", tip, x=x, y=bottom - tall, width=bar, height=tall, fill=fill))
        if i % every == 0:
            marks.append(text_at(middle, bottom + 17, label, "middle", tip=tip))
    return 214.0, [*marks, rule(left, bottom, right, bottom, MUTED)]


def _in_rows(rows: Sequence[tuple[str, float, float]]) -> tuple[float, list[str]]:
    left = min(170.0, max(text_width(label, 12) for label, _, _ in rows)) + 8
    right, top, pitch = WIDTH - 50, 24.0, 30.0
    largest = max(max(b, a) for _, b, a in rows) or 1.0
    names = short_names([label for label, _, _ in rows], left - 8, 12)
    marks = []
    for i, (label, before, after) in enumerate(rows):
        y = top + i * pitch
        tip = f"{label}: {whole_percent(before)} before, {whole_percent(after)} after"
        marks.append(text_at(left - 8, y + 17, names[i], "end", fill=INK, tip=tip))
        for dy, share, fill in ((1.5, before, BEFORE), (13.0, after, ACCENT)):
            wide = (right - left) * max(share, 0) / largest
            wide = max(wide, 1.0) if share > 0 else 0.0
            marks.append(mark("rect", tip, x=left, y=y + dy, width=wide, height=11.0, fill=fill))
            marks.append(text_at(left + wide + 5, y + dy + 9.5, whole_percent(share), size=10.5))
    bottom = top + len(rows) * pitch
    return bottom + 4, [*marks, rule(left, top - 2, left, bottom, MUTED)]


# ---- rows of rates and losses ------------------------------------------------------------------------------------------------


def linkage_rates(rates: Sequence[Rate]) -> str:
    """One row an attack: the rate as a dot, its interval as a bar, blind guessing as a dashed mark."""
    title = "How often each attack succeeds"
    rows = [Rate(r.label, r.rate, _known(r.low), _known(r.high), _known(r.chance)) for r in rates if math.isfinite(r.rate)]
    if not rows:
        return empty_picture(title, "No attack was tried.")
    ticks = tick_marks(min(1.0, max(0.1, *(max(r.rate, r.high or 0, r.chance or 0) for r in rows))))
    left, right, top, pitch = 10.0, WIDTH - 16, 4.0, 50.0
    bottom = top + len(rows) * pitch

    def across(share: float) -> float:
        return left + (right - left) * min(max(share / ticks[-1], 0), 1)

    marks = []
    for t in ticks:
        anchor = "start" if t == 0 else "end" if t == ticks[-1] else "middle"
        edge = across(t) + (-10 if t == 0 else 16 if t == ticks[-1] else 0)
        marks.append(rule(across(t), top, across(t), bottom) + text_at(edge, bottom + 17, percent_tick(t), anchor))
    halo = f' paint-order="stroke" stroke="{CARD}" stroke-width="4" stroke-linejoin="round"'
    for i, r in enumerate(rows):
        y = top + i * pitch + 32
        spread = "" if r.low is None or r.high is None else percent_range(r.low, r.high)
        tip = f"{r.label}: {percent(r.rate)}" + (f", 95{NBSP}% interval {spread}" if spread else "")
        tip += "" if r.chance is None else f"; blind guessing {percent(r.chance)}"
        room = WIDTH - 24 - text_width(percent(r.rate) + spread, 13)
        marks.append(text_at(0, y - 17, shorten(r.label, room, 13), size=13, fill=INK, tip=tip, extra=halo))
        rate = f'<tspan fill="{INK}" font-weight="600">{safe(percent(r.rate))}</tspan>'
        words = f'{rate}<tspan dx="6" font-size="11">{safe(spread)}</tspan>' if spread else rate
        marks.append(
            f'<text x="{coordinate(WIDTH)}" y="{coordinate(y - 17)}" font-size="13" text-anchor="end" fill="{MUTED}"{halo}>{words}</text>'
        )
        if r.low is not None and r.high is not None:
            low, high = across(r.low), across(r.high)
            marks.append(mark("rect", tip, x=low, y=y - 3.5, width=max(high - low, 1.0), height=7.0, rx=3.5, fill=BEFORE))
        if r.chance is not None:
            marks.append(rule(across(r.chance), y - 11, across(r.chance), y + 11, WARN, 1.8, "4 2.5"))
        marks.append(mark("circle", tip, cx=across(r.rate), cy=y, r=5.5, fill=ACCENT, stroke=CARD, stroke_width=1.0))
    if any(r.chance is not None for r in rows):
        marks.append(rule(3, bottom + 29, 3, bottom + 43, WARN, 1.8, "4 2.5") + text_at(12, bottom + 40, "blind guessing"))
    worst = max(rows, key=lambda r: r.rate)
    return picture(WIDTH, bottom + 48, title, f"{len(rows)} attacks; the strongest, {worst.label}, hits {percent(worst.rate)}.", marks)


def loss_bars(values: Sequence[tuple[str, float]], title: str = "Loss by column") -> str:
    """Horizontal bars, longest first."""
    if not values:
        return empty_picture(title, "No column was measured.")
    rows = sorted(values, key=lambda row: -_or(row[1], -math.inf))
    rest, rows = rows[MOST_ROWS:], rows[:MOST_ROWS]
    longest = max((_or(v, 0.0) for _, v in rows), default=0.0)
    left = min(190.0, max(text_width(name, 12) for name, _ in rows)) + 8
    right, pitch = WIDTH - 62, 22.0
    names = short_names([name for name, _ in rows], left - 8, 12)
    marks = []
    for i, (name, value) in enumerate(rows):
        y, tip = 4 + i * pitch, f"{name}: {number(value)}"
        wide = (right - left) * max(_or(value, 0.0), 0) / longest if longest > 0 else 0.0
        wide = max(wide, 1.0) if _or(value, 0.0) > 0 else 0.0
        marks.append(text_at(left - 8, y + 13, names[i], "end", fill=INK, tip=tip))
        marks.append(mark("rect", tip, x=left, y=y + 2, width=wide, height=14.0, fill=ACCENT))
        marks.append(text_at(left + wide + 6, y + 13, decimal(value), fill=INK))
    bottom = 4 + len(rows) * pitch
    marks.append(rule(left, 2, left, bottom, MUTED))
    if rest:
        marks.append(text_at(left, bottom + 15, f"and {len(rest)} more, each {number(rest[0][1])} or less"))
    return picture(WIDTH, bottom + (22 if rest else 4), title, f"{len(values)} columns; the largest is {rows[0][0]}.", marks)
