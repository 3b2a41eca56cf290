"""Section 5.4.2: Tables 5.5 to 5.8, the weighted mean that links most beside the arithmetic mean, over all masking methods."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.abril_2014.readings import BEST, PARAMETERS, READINGS
from experiments.abril_2014.run import DIVISOR, TITLES
from experiments.abril_2014_linkage.distances import Linked, arithmetic, best
from experiments.abril_2014_linkage.files import uniform
from experiments.abril_2014_linkage.paper import beside, print_table, published, published_am, spread, watched

SHARE = 0.1  # of the time limit: there are 1,780 files
METHOD = {"5.6": "Rank swapping", "5.7": "Mic2", "5.8": "Additive noise"}


@cache
def linked(method: str, parameter: int, reading: str, samples: int, seconds: float) -> list[tuple[Linked, Linked]]:
    """(d²AM, d²WM) of every sample."""
    pairs = uniform(method, parameter, reading, samples)
    return [(arithmetic(pair), best(*pair.standardized(), "weighted-mean", SHARE * seconds)) for pair in pairs]


def table_5_5(samples: int, seconds: float) -> None:
    """Averages over all parameters."""
    reading, rows = BEST["5.5"], []
    work = [(method, parameter) for method, parameters in PARAMETERS.items() for parameter in parameters]
    found: dict[str, list[tuple[Linked, Linked]]] = {}
    for method, parameter in watched(work, "Table 5.5"):
        found.setdefault(method, []).extend(linked(method, parameter, reading, samples, seconds))
    for method, both in found.items():
        am, wm = _rates([pair[0] for pair in both]), _rates([pair[1] for pair in both])
        theirs = published_am("5.5")[method, ""], published("5.5")[method, "WM"]
        bound = float(np.mean([w.bound for _, w in both]))
        proven = f"{sum(w.gap == 0 for _, w in both)} of {len(both)}"
        gain = [f"{wm[1] - am[1]:+.2f}", f"{theirs[1] - theirs[0]:+.2f}"]
        rows.append([method, *am, *beside(am[1], theirs[0]), *wm, *beside(wm[1], theirs[1]), *gain, bound - wm[0], proven])
    heads = [
        "",
        "AM strict",
        "shared",
        "published",
        "diff.",
        "WM strict",
        "shared",
        "published",
        "diff.",
        "gain",
        "published",
        "gap",
        "proven",
    ]
    print_table(f"Table 5.5, per cent of correct links, averages. {_said(reading)}", heads, rows)
    print("Published averages of Mic3 to Mic6 are over the 113, 48, 22 and 4 of 180 files that were finished there.")
    print("diff. and gain are of the shared rates. gap: points by which the strict rate of WM may be below the optimum.\n")


def by_parameter(table: str, samples: int, seconds: float) -> None:
    """Tables 5.6 to 5.8."""
    method, reading, rows = METHOD[table], BEST[table], []
    for parameter in watched(PARAMETERS[method], f"Table {table}"):
        both = linked(method, parameter, reading, samples, seconds)
        row: list[object] = [str(parameter)]
        for place, theirs in ((0, published_am(table)[method, str(parameter)]), (1, published(table)[str(parameter), "WM"])):
            strict, shared = _rates([pair[place] for pair in both])
            row += [strict, shared, spread((pair[place].shared for pair in both), DIVISOR[table])[1], theirs, shared - theirs]
        row.insert(-1, published(table)[str(parameter), "WM sd"])
        gap = float(np.mean([w.gap for _, w in both]))
        rows.append([*row, gap, f"{sum(w.gap == 0 for _, w in both)} of {len(both)}", float(np.mean([w.seconds for _, w in both]))])
    means = [float(np.mean([float(str(row[at])) for row in rows])) for at in (*range(1, 13), 14)]
    rows.append(["average", *means[:12], "", means[12]])
    heads = ["", "AM strict", "shared", "sd", "published", "diff.", "WM strict", "shared", "sd", "published", "its sd", "diff."]
    print_table(f"{TITLES[table]}. {_said(reading)}", [*heads, "gap", "proven", "CPU s"], rows)


def _rates(found: list[Linked]) -> tuple[float, float]:
    return float(np.mean([one.strict for one in found])), float(np.mean([one.shared for one in found]))


def _said(reading: str) -> str:
    return f"Reading '{reading}': {READINGS[reading].means}"
