"""Names beside the marks of a picture, each where there is room for it."""

import math
from collections.abc import Sequence
from functools import cache

from shoal.report.drawing import CARD, INK, MOST_LABELS, MUTED, Box, rule, short_names, text_at, text_width


def placed_names(named: Sequence[tuple[str, float, float]], bars: Sequence[Box], frame: Box) -> tuple[str, int]:
    """Names beside their marks, each in the nearest free place; returns the SVG and how many found none."""
    size, half = 11.5, 7.5
    taken: list[Box] = [(x - 7, y - 7, x + 7, y + 7) for _, x, y in named]
    texts = short_names([label for label, _, _ in named], 170 if len(named) <= 12 else 130, size)
    marks, hidden = [], 0
    for place, ((label, x, y), text) in enumerate(zip(named, texts)):
        wide, best, best_cost = text_width(text, size), None, math.inf
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
            marks.append(rule(x, y, x0, y0, MUTED, 0.7))
        halo = f' paint-order="stroke" stroke="{CARD}" stroke-width="3" stroke-linejoin="round"'
        marks.append(text_at(x0, y0 + 4, text, anchor, size, INK, label, halo))
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
