"""Which columns give records away: alone, two at a time, and by what is lost without them (section 5.4.5 of Abril 2014)."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.linkage import closer
from shoal.kernels.linkage.families import Learned, LinkSpace, LinkSpaces, placed
from shoal.kernels.linkage.fuzzy_measures import mobius as mobius_of
from shoal.kernels.linkage.fuzzy_measures import set_sizes, zeta

MOST_ASKED = 500  # records that each set of columns is tried on
MOST_ROWS = 20_000  # released rows they are looked for among
MOST_PAIRED = 6  # columns whose pairs are tried
MOST_SETS = 7  # columns of which every set is listed


class Leaks(NamedTuple):
    """Rates on the same records, among the same released rows, of the distance that was learned."""

    asked: int
    among: int
    everything: float
    alone: dict[str, float]
    without: dict[str, float]
    pairs: list[tuple[str, str, float]]  # the most telling first
    words: list[str]

    def plain(self) -> dict[str, Any]:
        """For reports."""
        pairs = [{"columns": [a, b], "rate": rate} for a, b, rate in self.pairs]
        return {
            "asked": self.asked, "among": self.among, "rate_of_all": self.everything, "rate_alone": self.alone,
            "rate_without": self.without, "pairs": pairs, "words": self.words,
        }  # fmt: skip


def leaks_of(learned: Learned, spaces: LinkSpaces, names: list[str], rows: IntArray, true: IntArray, rng: Generator) -> Leaks:
    """Link with some columns only: a column left out counts as equal everywhere."""
    rows = rows[true[rows] >= 0]
    if len(rows) > MOST_ASKED:
        rows = np.sort(rng.choice(rows, MOST_ASKED, replace=False))
    space = spaces[learned.family.scaling]
    held = np.arange(len(space.released))
    if len(held) > MOST_ROWS:
        held = np.union1d(true[rows], rng.choice(held, MOST_ROWS, replace=False))
    stands_for = None if space.stands_for is None else space.stands_for[held]
    small = LinkSpace(space.known[rows], space.released[held], space.attribute, space.numeric, stands_for)
    target = np.searchsorted(held, true[rows])
    n = len(names)

    def rate(kept: tuple[int, ...]) -> float:
        shown = np.isin(small.attribute, kept)
        some = small._replace(known=small.known * shown, released=small.released * shown)
        protected, queries = placed(learned, {learned.family.scaling: some})
        found = closer.linked(protected, queries, target, learned.by, stands_for=stands_for)
        return float(np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1)).mean())

    if not len(rows):
        return Leaks(0, len(held), 0.0, {}, {}, [], [])
    everything = rate(tuple(range(n)))
    alone = {name: rate((j,)) for j, name in enumerate(names)}
    without = {name: rate(tuple(i for i in range(n) if i != j)) for j, name in enumerate(names)} if n > 1 else {}
    telling = sorted(range(n), key=lambda j: -alone[names[j]])[:MOST_PAIRED]
    pairs = [(names[a], names[b], rate((a, b))) for a, b in combinations(sorted(telling), 2)] if n > 2 else []
    pairs.sort(key=lambda pair: -pair[2])
    words = _words(everything, alone, without, pairs, 1 / int(len(held) if stands_for is None else stands_for.sum()))
    if len(held) < len(space.released):
        words.insert(0, f"Columns are compared among {len(held):,} released records, where more is found than among all.")
    return Leaks(len(rows), len(held), everything, alone, without, pairs, words)


def _words(
    everything: float, alone: dict[str, float], without: dict[str, float], pairs: list[tuple[str, str, float]], chance: float
) -> list[str]:
    """What a steward should know and do."""
    if everything <= 3 * chance:
        return ["No column gives records away to this attack."]
    best = max(alone, key=lambda name: alone[name])
    sentences = [f"{best} alone finds {alone[best]:.1%}, more than any other column."] if len(alone) > 1 and alone[best] >= 0.01 else []
    if pairs and pairs[0][2] >= 0.02 and pairs[0][2] > 1.2 * max(alone[pairs[0][0]], alone[pairs[0][1]]):
        a, b, rate = pairs[0]
        sentences.append(f"{a} and {b} together find {rate:.1%}, alone {alone[a]:.1%} and {alone[b]:.1%}.")
    lost = sorted(((everything - rate, name) for name, rate in without.items()), key=lambda pair: (-pair[0], pair[1]))
    if not lost:
        return sentences
    most = [name for loss, name in lost if loss >= 0.01 and loss >= lost[0][0] / 2][:3]
    if most:
        rest = f"without it the attack finds {without[most[0]]:.1%} instead of {everything:.1%}"
        then = f" Then {' and '.join(most[1:])}." if most[1:] else ""
        sentences.append(f"Protect {most[0]} more: {rest}.{then}")
    else:
        enough = " Protect several more." if everything >= 0.05 else ""
        sentences.append(f"No single column is to blame: without any one of them the attack finds nearly as much.{enough}")
    return sentences


def parameters_of(learned: Learned, names: list[str]) -> dict[str, Any]:
    """What was learned, by column: weights; of a form, its diagonal and interactions; of a fuzzy measure, every set's weight."""
    by, n = learned.by, len(names)
    about: dict[str, Any] = {"family": list(learned.family), "columns": names}
    if learned.matrix is not None:
        m = len(learned.matrix)
        form = learned.matrix @ learned.matrix.T
        owner = np.arange(n) if m == n else None
        if owner is not None:
            size = np.sqrt(np.maximum(np.diag(form), 1e-300))
            about["weights"] = dict(zip(names, (np.diag(form) / max(np.trace(form), 1e-300)).tolist()))
            about["interactions"] = [
                {"columns": [names[a], names[b]], "value": float(form[a, b] / size[a] / size[b])} for a, b in combinations(range(n), 2)
            ]
        return about
    if by.kind == "ordered":
        return about | {"weights_by_place": (by.weights / by.weights.sum()).tolist()}
    if by.kind == "weighted":
        return about | {"weights": dict(zip(names, (by.weights / by.weights.sum()).tolist()))}
    if n > 12:
        own, both = _split(by.weights / by.weights.sum(), n)
        about["weights"] = dict(zip(names, (own + 0.5 * both.sum(axis=1)).tolist()))
        about["interactions"] = [{"columns": [names[a], names[b]], "value": float(both[a, b])} for a, b in combinations(range(n), 2)]
        return about
    terms = mobius_of_pairs(by.weights, n) if by.kind == "pairs" else mobius_of(by.weights)
    terms = terms / terms.sum()
    sets, sizes = np.arange(1 << n), set_sizes(n)
    inside = [np.where(sets >> i & 1, terms / np.maximum(sizes, 1), 0.0) for i in range(n)]
    about["weights"] = {name: float(inside[i].sum()) for i, name in enumerate(names)}  # Shapley's
    about["interactions"] = [
        {
            "columns": [names[a], names[b]],
            "value": float(np.where((sets >> a & 1) & (sets >> b & 1), terms / np.maximum(sizes - 1, 1), 0.0).sum()),
        }
        for a, b in combinations(range(n), 2)
    ]
    if n <= MOST_SETS:
        measure = zeta(terms)
        about["measure"] = [
            {"columns": [names[i] for i in range(n) if s >> i & 1], "value": float(np.clip(measure[s], 0, 1))} for s in range(1 << n)
        ]
    return about


def mobius_of_pairs(weights: FloatArray, n: int) -> FloatArray:
    """The Möbius transform, over all sets, of weights for columns and for the smaller and the larger of each two."""
    own, both = _split(weights, n)
    terms = np.zeros(1 << n)
    terms[1 << np.arange(n)] = own
    for a, b in combinations(range(n), 2):
        terms[1 << a | 1 << b] = both[a, b]
    return terms


def _split(weights: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """max(c, d) is c + d - min(c, d): weights of columns, and of the smaller of each two."""
    own, both = weights[:n].copy(), np.zeros((n, n))
    for at, (a, b) in enumerate(combinations(range(n), 2)):
        low, high = weights[n + 2 * at], weights[n + 2 * at + 1]
        own[a] += high
        own[b] += high
        both[a, b] = both[b, a] = low - high
    return own, both
