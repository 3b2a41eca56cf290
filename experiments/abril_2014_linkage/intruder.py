"""The second part of section 5.4.4: Table 5.14, 200 links known and 880 to find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.abril_2014_linkage.distances import Linked, best, counted, heuristic
from experiments.abril_2014_linkage.files import INTRUDED, intruded, sides
from experiments.abril_2014_linkage.paper import beside, print_table, published, spread, watched
from shoal.kernels.linkage.aggregation import WeightedMean

SHARE = 0.3  # of the time limit
FIVE = 5  # columns compared: the reading nearest to the table, though it is nowhere said
DISTANCES = ("AM", "CI", "HRLA")


class Sides(NamedTuple):
    """On the links learned from, and on the others."""

    train: Linked
    test: Linked


def table_5_14(samples: int, seconds: float) -> None:
    """Learned from 200 links among those 200, tested on the 880 among those 880."""
    found: dict[str, list[dict[str, Sides]]] = {name: [] for name in INTRUDED}
    plain: dict[str, list[list[float]]] = {name: [] for name in INTRUDED}
    for name, seed in watched([(name, seed) for name in INTRUDED for seed in range(samples)], "Table 5.14"):
        found[name].append(attacked(name, seed, SHARE * seconds))
        plain[name].append(readings(name, seed))
    for distance in DISTANCES:
        rows = []
        for name, all_of in found.items():
            row: list[object] = [name]
            for side in ("train", "test"):
                mine = [getattr(one[distance], side) for one in all_of]
                shared, deviation = spread(one.shared for one in mine)
                theirs = published("5.14").get((name, f"{distance} {side}"))
                row += [spread(one.strict for one in mine)[0], shared, deviation, *beside(shared, theirs, 1)]
            if distance != "AM":
                took, clock = (one[distance].train.seconds for one in all_of), published("5.14").get((name, "CI seconds"))
                theirs_took = "840" if distance == "HRLA" else "-" if clock is None else f"{clock:,.0f}"
                row += [float(np.mean(list(took))), theirs_took]
            if distance == "CI":
                gaps = [one[distance].train.gap for one in all_of]
                row += [f"{sum(gap == 0 for gap in gaps)} of {len(gaps)}", float(np.mean(gaps))]
            rows.append(row)
        side_heads = [f"{side}{what}" for side in ("train ", "test ") for what in ("strict", "shared", "sd", "published", "diff.")]
        heads = ["", *side_heads, *(["CPU s", "published s"] if distance != "AM" else []), *(["proven", "gap"] if distance == "CI" else [])]
        print_table(f"Table 5.14, d²{distance}, {FIVE} columns, {samples} draws of 200 links", heads, rows, 1)
    _which_reading(plain)
    print("What an intruder finds who learns as shoal does, with all columns and against the whole release, beside the arithmetic mean")
    print("and Mahalanobis, five seeds and the bars: python -m benchmarks.learned_linkage\n")


def attacked(name: str, seed: int, seconds: float) -> dict[str, Sides]:
    """Every distance, learned on the train side."""
    x, y = (file[:, :FIVE] for file in intruded(name, seed).standardized())
    train, test = sides(seed)
    learned = {
        "AM": counted(WeightedMean.equal(FIVE), x[train], y[train]),
        "CI": best(x[train], y[train], "choquet", seconds),
        "HRLA": heuristic(x[train], y[train], seed, seconds),
    }
    return {distance: Sides(one, counted(one.by, x[test], y[test])) for distance, one in learned.items()}


def readings(name: str, seed: int) -> list[float]:
    """The arithmetic mean's shared test rate by the number of columns, and with all of them against the whole release."""
    x, y = intruded(name, seed).standardized()
    _, test = sides(seed)
    rates = [counted(WeightedMean.equal(n), x[test][:, :n], y[test][:, :n]).shared for n in (4, 5, 6, 7)]
    others = np.setdiff1d(np.arange(len(y)), test)  # known links are nobody's match, and in the way
    whole = counted(WeightedMean.equal(x.shape[1]), x[test], np.concatenate([y[test], y[others]])).shared
    return [*rates, whole]


def _which_reading(plain: dict[str, list[list[float]]]) -> None:
    means = {name: np.mean(all_of, axis=0) for name, all_of in plain.items()}
    theirs = {name: published("5.14")[name, "AM test"] for name in plain}
    rows: list[list[object]] = [[name, *map(float, values), theirs[name]] for name, values in means.items()]
    off = np.sqrt(np.mean([(means[name] - theirs[name]) ** 2 for name in plain], axis=0))
    rows.append(["root mean square", *map(float, off), ""])
    heads = ["", "4 columns", "5", "6", "7", "7, among 1080", "published"]
    print_table(
        "Which reading of Table 5.14: d²AM, test side, shared, by how many of the seven protected columns are compared", heads, rows, 1
    )
