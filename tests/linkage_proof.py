"""The independent check of a learned linkage: does this distance link these records, and can none of its family link more?

It shares no code with the solver, and reads nothing but both files and the certificate. Every number is taken as the fraction it is; all
arithmetic that decides is on whole numbers or fractions. Three things are shown:

1. The records claimed to be linked are: under the given parameters every wrong link is farther than the true one, by more than a billionth
   of the largest squared difference between them (`TIE`; a closer race is a tie, and a tie is no link).
2. Each cut holds: a mixture of wrong links' margins, each divided by its largest squared difference, is no more than a billionth of the
   shares for ALL parameters of the family. So one of the cut's records stays unlinked.
3. The bound follows: no fewer records than stated meet all cuts. Branch and bound; each leaf is closed by a packing of cuts, whose loads
   are added up in whole numbers. Where the packing's weights come from (linear programming in floating point) does not matter.
   A certificate may cut the simplex of weights into cells, each with cuts of its own that hold within it: it suffices that they do so at
   its corners. Then the bound must follow in every cell that is not cut further.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from shoal.errors import ShoalError

TIE = Fraction(1, 10**9)
NEARLY = Fraction(1, 10**9)  # by how much floating-point parameters may miss an equation
PLACES = 64  # on an edge where a cell may be cut
WHOLE = 1 << 40  # packings are weighed in whole numbers out of this many

Vector = Sequence[int | Fraction]


class ProofBroken(ShoalError):  # noqa: N818 - it is a verdict, not a programming error
    """The certificate does not prove what it states."""


@dataclass(frozen=True)
class Proof:
    """What was shown: so many records are linked, and no distance of the family links more than `bound`."""

    linked: int
    cuts: int
    bound: int
    seconds: float

    @property
    def optimal(self) -> bool:
        return self.linked == self.bound


def check_linkage(certificate: Mapping[str, Any], original: ArrayLike, protected: ArrayLike, seconds: float = 600) -> Proof:
    """Check everything a certificate states against both files, or say what does not hold."""
    began = time.monotonic()
    try:
        files = _Files(original, protected, certificate["family"], int(certificate["k_additive"]))
        linked = _linked(files, certificate)
        cuts = [_cut(files, number, cut) for number, cut in enumerate(certificate["cuts"], 1)]
        bound = int(certificate["bound"])
        if certificate.get("cells"):
            follows = _cells_need(files, certificate["cells"], cuts, files.records - bound, began + seconds)
        else:
            follows = _needs(cuts, files.records - bound, began + seconds)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ProofBroken("The certificate is not complete, or does not belong to these files.") from error
    if not follows:
        raise ProofBroken(f"The cuts leave room for more than the stated bound of {bound:,} linked records.")
    return Proof(linked, len(cuts), bound, time.monotonic() - began)


class _Files:
    """Both files in whole numbers: every value times the same power of two. Distances keep their order."""

    def __init__(self, original: ArrayLike, protected: ArrayLike, family: str, k_additive: int) -> None:
        x, y = np.asarray(original, np.float64), np.asarray(protected, np.float64)
        if (
            x.ndim != 2
            or y.shape[1:] != x.shape[1:]
            or len(y) < len(x)
            or family not in ("weighted-mean", "owa", "bilinear", "choquet", "choquet-submodular")
        ):
            raise ValueError
        values = [[[Fraction(float(value)) for value in row] for row in file] for file in (x, y)]
        unit = max((value.denominator for file in values for row in file for value in row), default=1)  # powers of two: the largest serves
        self.original, self.protected = ([[int(value * unit) for value in row] for row in file] for file in values)
        self.family, self.k_additive = family, k_additive
        self.records, self.attributes = x.shape
        self.rows = len(y)

    def pair(self, i: int, j: int) -> tuple[list[int], list[int], int]:
        """The differences of record i from its true link and from row j, and the largest square among them."""
        x = self.original[i]
        true = [a - b for a, b in zip(x, self.protected[i], strict=True)]
        wrong = [a - b for a, b in zip(x, self.protected[j], strict=True)]
        return true, wrong, max(d * d for d in true + wrong)


# 1. The linked records.


def _linked(files: _Files, certificate: Mapping[str, Any]) -> int:
    distance, reach = _distance(files, certificate["parameters"])
    linked = sorted(set(certificate["linked"]))
    if len(linked) != len(certificate["linked"]) or (linked and not 0 <= linked[0] <= linked[-1] < files.records):
        raise ValueError
    for i in linked:
        own = distance([a - b for a, b in zip(files.original[i], files.protected[i], strict=True)])
        for j in range(files.rows):
            if j != i:
                _, wrong, largest = files.pair(i, j)
                if (distance(wrong) - own) * TIE.denominator <= reach * largest:
                    raise ProofBroken(f"Record {i + 1} is stated to be linked, and another row is as close as its own.")
    return len(linked)


def _distance(files: _Files, parameters: Any) -> tuple[Any, int]:
    """The squared distance in whole numbers, and what it can reach for squared differences of 1."""
    n, family = files.attributes, files.family
    flat = [Fraction(float(value)) for value in np.asarray(parameters, np.float64).ravel()]
    unit = max(value.denominator for value in flat)
    p = [int(value * unit) for value in flat]
    if family in ("weighted-mean", "owa"):
        if len(p) != n or min(p) < 0 or sum(p) <= 0:
            raise ProofBroken("The weights are not a weight for every attribute, none negative.")
        if family == "owa":
            return (lambda d: sum(w * c for w, c in zip(p, sorted((v * v for v in d), reverse=True), strict=True))), sum(p)
        return (lambda d: sum(w * v * v for w, v in zip(p, d, strict=True))), sum(p)
    if family == "bilinear":
        matrix = [p[n * i : n * i + n] for i in range(n)]
        if len(p) != n * n or any(matrix[i][j] != matrix[j][i] for i in range(n) for j in range(n)):
            raise ProofBroken("The matrix is not symmetric with a row for every attribute.")
        if not _positive(matrix):
            raise ProofBroken("The matrix is not positive semi-definite.")
        return (lambda d: sum(d[i] * d[j] * matrix[i][j] for i in range(n) for j in range(n))), n * sum(matrix[i][i] for i in range(n))
    _check_measure(files, p)
    return (lambda d: sum(rise * p[subset] for subset, rise in _nested([v * v for v in d]))), p[-1]


def _check_measure(files: _Files, p: list[int]) -> None:
    n = files.attributes
    if len(p) != 1 << n or p[0] != 0 or p[-1] <= 0:
        raise ProofBroken("The fuzzy measure has not a value for every set, 0 for the empty one.")
    if any(p[s] > p[s | 1 << k] for s in range(1 << n) for k in range(n)):
        raise ProofBroken("The fuzzy measure is not monotone.")
    if files.family == "choquet-submodular":
        for s in range(1 << n):
            for i, j in combinations([k for k in range(n) if not s >> k & 1], 2):
                if p[s | 1 << i] + p[s | 1 << j] + NEARLY * p[-1] < p[s | 1 << i | 1 << j] + p[s]:
                    raise ProofBroken("The fuzzy measure is not submodular.")
    if files.k_additive:
        for s in range(1 << n):
            if s.bit_count() > files.k_additive:
                interaction = sum((-1) ** (s.bit_count() - t.bit_count()) * p[t] for t in _subsets(s))
                if abs(interaction) > NEARLY * p[-1]:
                    raise ProofBroken(f"The fuzzy measure is not {files.k_additive}-additive.")


def _nested(values: Sequence[int]) -> Iterable[tuple[int, int]]:
    """The Choquet integral's terms: the sets of attributes that reach each value, and by how much the value rises."""
    left, below = (1 << len(values)) - 1, 0
    for k in sorted(range(len(values)), key=lambda k: values[k]):
        yield left, values[k] - below
        left ^= 1 << k
        below = values[k]


def _subsets(whole: int) -> Iterable[int]:
    subset = whole
    while True:
        yield subset
        if not subset:
            return
        subset = (subset - 1) & whole


# 2. The cuts.


def _cut(files: _Files, number: int, cut: Mapping[str, Any]) -> frozenset[int]:
    """The records of a cut that holds."""
    links, shares = cut["links"], [int(share) for share in cut["shares"]]
    if len(links) != len(shares) or not links or any(share < 0 for share in shares) or sum(shares) == 0:
        raise ProofBroken(f"Cut {number} is not a mixture of wrong links.")
    if any(i == j or not 0 <= i < files.records or not 0 <= j < files.rows for i, j in links):
        raise ProofBroken(f"Cut {number} names a link that is not a wrong one.")
    left = {"bilinear": _form_left, "choquet": _measure_left, "choquet-submodular": _measure_left}.get(files.family, _weights_left)
    if not left(files, links, shares, cut):
        raise ProofBroken(f"Cut {number} does not hold: its mixture leaves something to win.")
    return frozenset(int(i) for (i, _), share in zip(links, shares, strict=True) if share > 0)


def _weights_left(files: _Files, links: Sequence[Any], shares: list[int], _cut: Mapping[str, Any]) -> bool:
    """The mixed margin is linear in the weights: it suffices that no single weight wins."""
    total = [Fraction(0)] * files.attributes
    for (i, j), share in zip(links, shares, strict=True):
        true, wrong, largest = files.pair(i, j)
        if largest:
            own, other = [v * v for v in true], [v * v for v in wrong]
            if files.family == "owa":
                own.sort()
                other.sort()
            total = [t + Fraction(share * (b - a), largest) for t, a, b in zip(total, own, other, strict=True)]
    return max(total) <= TIE * sum(shares)


def _form_left(files: _Files, links: Sequence[Any], shares: list[int], _cut: Mapping[str, Any]) -> bool:
    """The mixed margin is the trace of a matrix times the parameters': it must be negative semi-definite, but for the tie."""
    n = files.attributes
    total = [[TIE * sum(shares) if i == j else Fraction(0) for j in range(n)] for i in range(n)]
    for (i, j), share in zip(links, shares, strict=True):
        true, wrong, largest = files.pair(i, j)
        if largest:
            for a in range(n):
                for b in range(n):
                    total[a][b] -= Fraction(share * (wrong[a] * wrong[b] - true[a] * true[b]), n * largest)
    return _positive(total)


def _measure_left(files: _Files, links: Sequence[Any], shares: list[int], cut: Mapping[str, Any]) -> bool:
    """Adding what a measure's own constraints cannot make negative, hardly anything but the whole set's value is left to win."""
    n = files.attributes
    whole = (1 << n) - 1
    total = [Fraction(0)] * (whole + 1)
    for (i, j), share in zip(links, shares, strict=True):
        true, wrong, largest = files.pair(i, j)
        if largest:
            for sign, difference in ((1, wrong), (-1, true)):
                for subset, rise in _nested([v * v for v in difference]):
                    total[subset] += Fraction(sign * share * rise, largest)
    constraints, weights = cut["constraints"], [int(weight) for weight in cut["constraint_shares"]]
    if len(constraints) != len(weights) or any(weight < 0 for weight in weights):
        return False
    for constraint, weight in zip(constraints, weights, strict=True):
        terms = {int(subset): int(sign) for subset, sign in constraint}
        if not (_is_monotonicity(terms, whole) or (files.family == "choquet-submodular" and _is_submodularity(terms, whole))):
            return False
        for subset, sign in terms.items():
            total[subset] += sign * weight
    if not files.k_additive:  # every set measures from 0 to 1
        most: Fraction = sum((t for t in total[1:whole] if t > 0), total[whole])
        return most <= TIE * sum(shares)
    few = [s for s in range(1, whole + 1) if s.bit_count() <= files.k_additive]
    mobius = {s: sum((total[t] for t in range(1, whole + 1) if t & s == s), Fraction(0)) for s in few}
    # Möbius' terms sum to 1, and one of k attributes is at most 2^(k-1) in size.
    rest = sum((abs(mobius[s] - mobius[1]) * (1 << s.bit_count() - 1) for s in few if s != 1), Fraction(0))
    return mobius[1] + rest <= TIE * sum(shares)


def _is_monotonicity(terms: dict[int, int], whole: int) -> bool:
    """mu(A with k) - mu(A) >= 0; the empty set is left out."""
    plus, minus = [s for s, sign in terms.items() if sign == 1], [s for s, sign in terms.items() if sign == -1]
    if len(plus) != 1 or len(minus) > 1 or len(terms) != len(plus) + len(minus) or not 0 < plus[0] <= whole:
        return False
    smaller = minus[0] if minus else 0
    return smaller & ~plus[0] == 0 and (plus[0] ^ smaller).bit_count() == 1


def _is_submodularity(terms: dict[int, int], whole: int) -> bool:
    """mu(A) + mu(B) - mu(A or B) - mu(A and B) >= 0; the empty set is left out."""
    plus, minus = [s for s, sign in terms.items() if sign == 1], [s for s, sign in terms.items() if sign == -1]
    if len(plus) != 2 or len(terms) != len(plus) + len(minus) or not all(0 < s <= whole for s in terms):
        return False
    return set(minus) == {plus[0] | plus[1], plus[0] & plus[1]} - {0}


def _positive(matrix: Sequence[Vector]) -> bool:
    """Whether a symmetric matrix is positive semi-definite: elimination meets no negative pivot, and none of zero beside an entry."""
    rows = [[Fraction(value) for value in row] for row in matrix]
    while rows:
        pivot, first = rows[0][0], rows[0]
        if pivot < 0 or (pivot == 0 and any(first[1:])):
            return False
        if pivot:
            rows = [[value - row[0] * first[k + 1] / pivot for k, value in enumerate(row[1:])] for row in rows[1:]]
        else:
            rows = [row[1:] for row in rows[1:]]
    return True


# 3. The bound.


def _needs(cuts: Iterable[frozenset[int]], least: int, until: float) -> bool:
    """Whether every set of records that meets all cuts has at least so many."""
    open_nodes: list[tuple[list[frozenset[int]], int]] = [(list(set(cuts)), least)]
    while open_nodes:
        sets, budget = open_nodes.pop()  # every cover of these must have at least `budget`
        while budget > 0 and (forced := next((s for s in sets if len(s) == 1), None)) is not None:
            sets, budget = [s for s in sets if not s & forced], budget - 1
        if budget <= 0 or frozenset() in sets:  # enough, or no cover at all
            continue
        if not sets:
            return False
        if time.monotonic() > until:
            raise ProofBroken("There was not time enough to check that the bound follows from the cuts. Allow more.")
        if _disjoint(sets) >= budget:
            continue
        size, cover = _packing(sets)
        if -(-size.numerator // size.denominator) >= budget:
            continue
        record = max(cover, key=lambda i: (min(cover[i], 1 - cover[i]), sum(i in s for s in sets)))
        open_nodes.append(([s - {record} for s in sets], budget))
        open_nodes.append(([s for s in sets if record not in s], budget - 1))
    return True


def _disjoint(sets: list[frozenset[int]]) -> int:
    """How many of the cuts, taken as they come from small to large, share no record."""
    met: set[int] = set()
    count = 0
    for s in sorted(sets, key=len):
        if not s & met:
            met |= s
            count += 1
    return count


def _cells_need(files: _Files, cells: Sequence[Any], cuts: Iterable[frozenset[int]], least: int, until: float) -> bool:
    """Whether in every cell, and so everywhere, at least so many records stay unlinked."""
    n = files.attributes
    if files.family not in ("weighted-mean", "owa"):
        raise ProofBroken("Only weights can be cut into cells.")
    seen: dict[tuple[int, int], list[int]] = {}
    alone = frozenset[int]().union(*(cut for cut in cuts if len(cut) == 1))
    # A corner is whole numbers over a power of 64. With it: the records lost in the cell, and its other cuts.
    corners = [([int(a == b) for b in range(n)], 0) for a in range(n)]
    waiting: list[tuple[list[tuple[list[int], int]], frozenset[int], list[frozenset[int]]]] = [(corners, alone, [])]
    for split, mixtures in cells:
        if not waiting:
            raise ProofBroken("The certificate has more cells than its cuts make.")
        corners, lost, several = waiting.pop()
        several = list(several)
        new: set[int] = set()
        for mixture in mixtures:
            records = _holds_at(files, corners, mixture, seen)
            if len(records) == 1:
                new |= records
            else:
                several.append(records)
        lost |= new
        if split:
            a, b, place = (int(value) for value in split)
            if not (0 <= a < n and 0 <= b < n and a != b and 0 < place < PLACES):
                raise ProofBroken("The certificate cuts a cell where it has no edge.")
            middle = _between(corners[a], corners[b], place)
            for moved in (a, b):
                waiting.append(([middle if k == moved else corner for k, corner in enumerate(corners)], lost, several))
        elif len(lost) < least and not _needs([s for s in several if not s & lost], least - len(lost), until):
            return False
    return not waiting


def _between(one: tuple[list[int], int], two: tuple[list[int], int], place: int) -> tuple[list[int], int]:
    """The corner at so many 64ths from one to the other."""
    power = max(one[1], two[1])
    a, b = ((PLACES - place) * PLACES ** (power - one[1]), place * PLACES ** (power - two[1]))
    return [a * p + b * q for p, q in zip(one[0], two[0], strict=True)], power + 1


def _holds_at(files: _Files, corners: Any, mixture: Any, seen: dict[tuple[int, int], list[int]]) -> frozenset[int]:
    """The records of a mixture that leaves nothing to win at any corner: shares of margins as they are, less the tie."""
    total = [0] * files.attributes
    records = set()
    for i, j, share in mixture:
        if i == j or not 0 <= i < files.records or not 0 <= j < files.rows or share < 0:
            raise ProofBroken("A cell names a link that is not a wrong one.")
        if (i, j) not in seen:
            true, wrong, largest = files.pair(i, j)
            own, other = [v * v for v in true], [v * v for v in wrong]
            if files.family == "owa":
                own.sort(reverse=True)
                other.sort(reverse=True)
            seen[i, j] = [TIE.denominator * (b - a) - largest for a, b in zip(own, other, strict=True)]
        if share:
            records.add(int(i))
            total = [t + share * m for t, m in zip(total, seen[i, j], strict=True)]
    if not records or any(sum(t * c for t, c in zip(total, corner, strict=True)) > 0 for corner, _ in corners):
        raise ProofBroken("A cut does not hold in its cell: its mixture leaves something to win.")
    return frozenset(records)


def _packing(sets: list[frozenset[int]]) -> tuple[Fraction, dict[int, float]]:
    """Weights on the cuts of which no record carries more than 1: no cover is smaller than their sum. And a fractional cover to branch on."""
    records = sorted(set().union(*sets))
    place = {record: at for at, record in enumerate(records)}
    row = [at for at, s in enumerate(sets) for _ in s]
    column = [place[record] for s in sets for record in s]
    matrix = csr_matrix((np.ones(len(row)), (row, column)), shape=(len(sets), len(records)))
    solved = linprog(np.ones(len(records)), A_ub=-matrix, b_ub=-np.ones(len(sets)), bounds=(0, None), method="highs")
    weights = [max(0, round(-float(weight) * WHOLE)) for weight in solved.ineqlin.marginals]
    load = dict.fromkeys(records, 0)
    for s, weight in zip(sets, weights, strict=True):
        for record in s:
            load[record] += weight
    return Fraction(sum(weights), max(WHOLE, *load.values())), dict(zip(records, solved.x.tolist(), strict=True))
