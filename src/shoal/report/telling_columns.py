"""Pictures of what a learned linkage says about columns: which of them give records away, and a fuzzy measure as a lattice."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report.drawing import (
    ACCENT,
    BEFORE,
    CARD,
    GRID,
    INK,
    WIDTH,
    empty_picture,
    mark,
    number,
    percent,
    picture,
    rule,
    short_names,
    text_at,
    text_width,
)

MOST_COLUMNS = 30
WHOLE_LATTICE = 4  # columns up to which every set is drawn; beyond, sets that weigh something
LEAST_DRAWN = 0.1
MOST_DRAWN = 42
ACROSS = 640.0


def leak_bars(internal: Mapping[str, Any]) -> str:
    """One row a column: what it finds alone, and what the attack loses without it; the most telling first."""
    title = "Columns that give records away"
    alone, without = internal.get("rate_alone") or {}, internal.get("rate_without") or {}
    if not alone:
        return empty_picture(title, "No record was looked for.")
    everything = float(internal.get("rate_of_all") or 0)
    lost = {name: max(0.0, everything - float(without[name])) if name in without else float(alone[name]) for name in alone}
    rows = sorted(alone, key=lambda name: (-lost[name], -float(alone[name]), name))[:MOST_COLUMNS]
    top = max(0.01, *(float(alone[name]) for name in rows), *(lost[name] for name in rows))
    left, right, pitch = min(170.0, max(text_width(name, 12) for name in rows)) + 8, WIDTH - 64, 34.0
    names = short_names(rows, left - 8, 12)
    marks = []
    for i, name in enumerate(rows):
        y = 22 + i * pitch
        tip = f"{name}: alone {percent(float(alone[name]))}; lost without it {percent(lost[name])}"
        marks.append(text_at(left - 8, y + 17, names[i], "end", fill=INK, tip=tip))
        for place, (value, fill) in enumerate(((lost[name], ACCENT), (float(alone[name]), BEFORE))):
            wide = max((right - left) * value / top, 1.0 if value > 0 else 0.0)
            marks.append(mark("rect", tip, x=left, y=y + 1 + 13 * place, width=wide, height=11.0, fill=fill))
            marks.append(text_at(left + wide + 5, y + 11 + 13 * place, percent(value), size=11, fill=INK))
    for x, fill, words in ((left, ACCENT, "lost without it"), (left + 120, BEFORE, "found by it alone")):
        marks.append(mark("rect", x=x, y=4.0, width=10.0, height=10.0, fill=fill) + text_at(x + 15, 13, words))
    sentence = f"{len(alone)} columns; without {rows[0]} the attack loses {percent(lost[rows[0]])} of the records."
    return picture(WIDTH, 28 + len(rows) * pitch, title, sentence, marks)


def lattice(sets: Sequence[Mapping[str, Any]]) -> str:
    """A fuzzy measure: sets of columns from none below to all above, each joined to the sets with one column more; darker weighs more."""
    title = "Weights of sets of columns"
    members = {frozenset(map(str, one["columns"])): float(one["value"]) for one in sets}
    if not members:
        return empty_picture(title, "There is no fuzzy measure.")
    everyone = max(members, key=len)
    order = [str(name) for one in sets if len(one["columns"]) == 1 for name in one["columns"]]
    n = len(everyone)
    drawn = list(members) if n <= WHOLE_LATTICE else [s for s in members if members[s] >= LEAST_DRAWN or len(s) in (0, n)]
    # the smallest sets that weigh something are what a steward looks for, so they stay where room is short
    drawn = sorted(drawn, key=lambda s: (len(s) not in (0, n), len(s), -members[s]))[:MOST_DRAWN]
    place: dict[frozenset[str], tuple[float, float]] = {}
    for size in range(n + 1):
        level = sorted((s for s in drawn if len(s) == size), key=lambda s: sorted(order.index(name) for name in s))
        for i, s in enumerate(level):
            place[s] = (ACROSS * (i + 0.5) / len(level), 24 + 74.0 * (n - size))
    marks = []
    for s, (x, y) in place.items():
        marks += [rule(x, y, *place[t], GRID) for t in place if len(t) == len(s) + 1 and s < t]
    for s, (x, y) in place.items():
        words = "".join(str(int(name in s)) for name in order)
        tip = f"{', '.join(sorted(s, key=order.index)) or 'no column'}: {number(members[s])}"
        marks.append(mark("circle", tip, cx=x, cy=y, r=11.0, fill=ACCENT, fill_opacity=round(0.08 + 0.92 * members[s], 3), stroke=CARD))
        marks.append(text_at(x, y - 15, words, "middle", 11, INK, tip))
        marks.append(text_at(x, y + 25, f"{members[s]:.3f}", "middle", 11, tip=tip))
    key = ", ".join(f"{i + 1} {name}" for i, name in enumerate(order))
    hidden = len(members) - len(drawn)
    sentence = f"Digits stand for the columns in order: {key}. {f'{hidden} sets of little weight are left out.' if hidden else ''}"
    return picture(ACROSS, 24 + 74.0 * n + 40, title, sentence.strip(), marks)
