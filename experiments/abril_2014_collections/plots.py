"""Curves and bars as SVG, drawn with the report's marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from shoal.report.drawing import ACCENT, BEFORE, GRID, INK, MUTED, WARN, mark, picture, rule, standalone, text_at, text_width, tick_marks

WIDE, LINE = 520.0, 17.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 508.0, 38.0, 246.0
COLOURS = (ACCENT, WARN, INK, BEFORE)
DASHES = ("", "5 3", "1.5 3")


def curves(out: Path | None, name: str, title: str, lines: Mapping[str, Mapping[int, float]], axis: str = "k") -> None:
    """A curve for each name, over whole numbers; nothing without a folder."""
    if out is None:
        return
    xs = sorted({x for line in lines.values() for x in line})
    ticks = tick_marks(max(max(line.values()) for line in lines.values()))
    across = (RIGHT - LEFT - 16) / max(xs[-1] - xs[0], 1)

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + 8 + (x - xs[0]) * across, BOTTOM - (max(y, 0.0) / ticks[-1]) * (BOTTOM - TOP)

    marks = _frame(title, ticks, axis)
    marks += [text_at(place(x, 0)[0], BOTTOM + 16, str(x), "middle", 11) for x in _apart(xs, across)]
    for number, line in enumerate(lines.values()):
        colour, dash = _style(number)
        points = [place(x, y) for x, y in sorted(line.items())]
        for (x1, y1), (x2, y2) in pairwise(points):
            marks.append(rule(x1, y1, x2, y2, colour, 1.6, dash))
        marks += [mark("circle", f"{axis}={x}: {y:.3f}", cx=place(x, y)[0], cy=place(x, y)[1], r=2.6, fill=colour) for x, y in line.items()]
    _write(out, name, title, marks, list(lines))


def bars(out: Path | None, name: str, title: str, columns: Sequence[str], groups: Mapping[str, Sequence[float]]) -> None:
    """Bars side by side for each name."""
    if out is None:
        return
    ticks = tick_marks(max(max(heights) for heights in groups.values()))
    wide = (RIGHT - LEFT) / len(columns)
    each = wide * 0.8 / len(groups)
    marks = _frame(title, ticks, "cosine distance")
    for i, column in enumerate(columns):
        marks.append(text_at(LEFT + (i + 0.5) * wide, BOTTOM + 16, column, "middle", 10))
        for number, heights in enumerate(groups.values()):
            high = heights[i] / ticks[-1] * (BOTTOM - TOP)
            x = LEFT + i * wide + wide * 0.1 + number * each
            tip = f"{column}: {heights[i]:.3f}"
            marks.append(mark("rect", tip, x=x, y=BOTTOM - high, width=each, height=high, fill=_style(number)[0]))
    _write(out, name, title, marks, list(groups))


def _frame(title: str, ticks: Sequence[float], axis: str) -> list[str]:
    marks = [text_at(LEFT - 36, 20, title, "start", 13, INK), text_at((LEFT + RIGHT) / 2, BOTTOM + 32, axis, "middle", 11)]
    for tick in ticks:
        y = BOTTOM - tick / ticks[-1] * (BOTTOM - TOP)
        marks += [rule(LEFT, y, RIGHT, y, GRID), text_at(LEFT - 6, y + 4, f"{tick:g}", "end", 11)]
    return marks


def _style(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def _apart(xs: Sequence[int], across: float) -> list[int]:
    """Those that have room for a number."""
    kept = [xs[0]]
    for x in xs[1:]:
        if (x - kept[-1]) * across >= 18:
            kept.append(x)
    return kept


def _write(out: Path, name: str, title: str, marks: list[str], names: Sequence[str]) -> None:
    x, y = LEFT, BOTTOM + 52
    for number, label in enumerate(names):
        wide = 34 + text_width(label, 11)
        if x > LEFT and x + wide > RIGHT:
            x, y = LEFT, y + LINE
        colour, dash = _style(number)
        marks += [rule(x, y - 4, x + 18, y - 4, colour, 3, dash), text_at(x + 23, y, label, "start", 11, MUTED)]
        x += wide
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.svg"
    path.write_text(standalone(picture(WIDE, y + 10, title, f"{title}: {', '.join(names)}", marks)), encoding="utf-8")
    print(f"Drawn: {path}")
