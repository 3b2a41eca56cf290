"""Families of distances for linking, learned from known links, and the choice between them by cross-validation.

A family says in which space records are compared (values in deviations, each file by its own or both by the original's; or ranks), to which
power differences are taken, and how weights come about: all equal, from the mean difference of known links, from their covariance
(Mahalanobis), or learned on the smooth stand-in of `linkage_learning`. Ranks to a high power are for rank swapping, whose moves are bounded
in rank: there the largest difference counts and nothing else.

What is more elaborate must earn its place: beside the better of arithmetic mean and Mahalanobis, a family is chosen only where it is better
on links it has not seen, by more than the error of that comparison.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.groups import distinct_rows
from shoal.kernels.linkage import closer
from shoal.kernels.linkage.closer import Distance
from shoal.kernels.linkage.learning import Family as LinearKind
from shoal.kernels.linkage.learning import Links, features, lead, learn_form, learn_weights, linked, polish

Scaling = Literal["each", "original", "rank"]
How = Literal["equal", "spread", "mahalanobis", "weights", "ordered", "pairs", "form"]

FOLDS = 5
RIVALS = 24  # nearest protected records taken from each of a few distances
MOST_FITTED = 500  # known links on which learned families are compared
FEWEST = 30  # known links below which nothing is learned
PULL = 0.05
MOST_MAPPED = 24  # coordinates of a learned form
ERRORS = 2.0  # standard errors by which a family must be ahead


class LinkSpace(NamedTuple):
    """Both files as coordinates: numbers first, then codes; each coordinate belongs to an attribute."""

    known: FloatArray
    released: FloatArray
    attribute: IntArray
    numeric: int
    stands_for: IntArray | None = None  # how many released rows each row of `released` is, where it may be several


class Family(NamedTuple):
    how: How
    scaling: Scaling
    power: int


class Learned(NamedTuple):
    """A distance that is ready to link: a linear map of the numbers where there is one, then an aggregator."""

    family: Family
    by: Distance
    matrix: FloatArray | None = None


MEAN = Family("equal", "each", 2)
MAHALANOBIS = Family("mahalanobis", "original", 2)
PLAIN = (
    MEAN,
    MAHALANOBIS,
    Family("spread", "original", 2),
    Family("spread", "original", 1),
    *(Family("spread", "rank", power) for power in (2, 4, 8, 16)),
)
SQUARES = PLAIN[:3]  # those whose distance is Euclidean in some coordinates, as released sets and intervals need it


class Known(NamedTuple):
    """Known links: which of the intruder's records, their protected rows, and the protected rows hardest to tell from those."""

    rows: IntArray  # (k,)
    true: IntArray  # (k,)
    rivals: IntArray  # (k, m), -1 where there are fewer
    twins: FloatArray  # (k,)
    weight: FloatArray  # (k, m)

    def of(self, some: IntArray) -> "Known":
        """Some of the links."""
        return Known(self.rows[some], self.true[some], self.rivals[some], self.twins[some], self.weight[some])


LinkSpaces = Mapping[Scaling, LinkSpace]


def known_links(spaces: LinkSpaces, rows: IntArray, true: IntArray, found: Sequence[Learned], before: Known | None = None) -> Known:
    """Known links with their rivals: the nearest under each of the distances found, out of the whole protected file, and those `before`."""
    space = spaces["original"]
    same_as, first, size = distinct_rows(space.released, space.stands_for)
    if len(first) <= 2 * RIVALS:
        near = [np.tile(first, (len(rows), 1))]
    else:
        near = [] if before is None else [before.rivals]
        for one in found:
            protected, queries = placed(one, spaces)
            near.append(closer.nearest(protected, queries[rows], one.by, RIVALS).rows)
    rivals = np.sort(np.hstack(near), axis=1)
    rivals = np.where(rivals >= 0, first[same_as[rivals]], -1)
    rivals.sort(axis=1)
    again = np.zeros(rivals.shape, np.bool_)
    again[:, 1:] = rivals[:, 1:] == rivals[:, :-1]
    rivals = np.where(again | (same_as[rivals] == same_as[true][:, None]), -1, rivals)
    most = int((rivals >= 0).sum(axis=1).max(initial=1))
    rivals = -np.sort(-rivals, axis=1)[:, : max(most, 1)]
    return Known(rows, true, rivals, size[same_as[true]].astype(np.float64), size[same_as[rivals]].astype(np.float64))


def placed(learned: Learned, spaces: LinkSpaces) -> tuple[FloatArray, FloatArray]:
    """Protected and known records in the coordinates its aggregator reads."""
    space = spaces[learned.family.scaling]
    if learned.matrix is None:
        return space.released, space.known
    n = space.numeric
    return tuple(np.hstack([side[:, :n] @ learned.matrix, side[:, n:]]) for side in (space.released, space.known))  # type: ignore[return-value]


def learn(family: Family, spaces: LinkSpaces, known: Known, pull: float = PULL) -> Learned:
    """The distance of a family that known links call for; `pull` is how hard learned weights are held to where they start."""
    space = spaces[family.scaling]
    n = int(space.attribute.max(initial=-1)) + 1
    ones = np.ones(n)
    if family.how == "equal":
        return Learned(family, Distance("weighted", ones / n, family.power, space.attribute, space.numeric))
    spread = _spread(space, known, family.power, n)
    if family.how == "spread":
        return Learned(family, Distance("weighted", 1 / spread / (1 / spread).sum(), family.power, space.attribute, space.numeric))
    if family.how in ("mahalanobis", "form"):
        return _form(family, space, known, spread, 4 * pull)
    kind: LinearKind = {"weights": "weighted", "ordered": "ordered", "pairs": "pairs"}[family.how]  # type: ignore[assignment]
    learned = Learned(family, Distance(kind, ones, family.power, space.attribute, space.numeric))
    start = np.full(n, 1 / n) if kind == "ordered" else 1 / spread / (1 / spread).sum()
    if kind == "pairs":
        a, b = np.triu_indices(n, 1)
        both = np.repeat(np.minimum(start[a], start[b]), 2)  # an attribute that moved much counts for little in a pair, too
        start = np.concatenate([0.7 * start, 0.3 / max(1, n - 1) * both])
        start /= start.sum()
    weights = learn_weights(_links(learned, spaces, known), start, pull if kind != "ordered" else pull / 5)
    return learned._replace(by=learned.by._replace(weights=weights))


def polished(learned: Learned, spaces: LinkSpaces, known: Known) -> Learned:
    """The same family with its weights moved to where most of the known links are found without a tie. Forms are left as they are."""
    if learned.matrix is not None or learned.by.kind == "choquet":
        return learned
    weights = polish(learned.by.weights, _links(learned, spaces, known))
    least = 1e-9 * weights.max()  # a weight of nothing would make records tie that differ
    return learned._replace(by=learned.by._replace(weights=np.maximum(weights, least)))


def evaluated(learned: Learned, spaces: LinkSpaces, known: Known) -> tuple[FloatArray, FloatArray]:
    """Of each known record, against its rivals: the share of a hit, and how far ahead the true match is, between 0 and 1."""
    links = _links(learned, spaces, known)
    return linked(learned.by.weights, links), lead(learned.by.weights, links, learned.by.power)


class Choice(NamedTuple):
    """What cross-validation says: each family's rate on links it did not learn from, and the family chosen."""

    chosen: Family
    rates: dict[Family, float]


def choose(spaces: LinkSpaces, known: Known, plain: Sequence[Family], rng: Generator, told: Callable[[int, int], object]) -> Choice:
    """The family whose true matches are farthest ahead among links it has not seen: of the plain ones, and of those learned around the best.

    How far ahead says more than hit or miss: two hundred links cannot tell apart rates that differ by a few points.
    """
    order = rng.permutation(len(known.rows))
    if len(order) > MOST_FITTED:
        order = order[:MOST_FITTED]
    parts = np.array_split(order, FOLDS)
    ahead: dict[Family, FloatArray] = {}
    rates: dict[Family, float] = {}

    def tried(family: Family) -> None:
        held = [evaluated(learn(family, spaces, known.of(np.setdiff1d(order, part))), spaces, known.of(part)) for part in parts]
        rates[family] = float(np.concatenate([share for share, _ in held]).mean())
        ahead[family] = np.concatenate([far for _, far in held])

    for done, family in enumerate(plain):
        tried(family)
        told(done + 1, len(plain) + 2)
    best = _foremost(ahead)
    for done, family in enumerate(_richer(best, spaces[best.scaling].numeric)):
        tried(family)
        told(len(plain) + done + 1, len(plain) + 2)
    return Choice(_foremost(ahead), rates)


def _richer(best: Family, coordinates: int) -> list[Family]:
    """What is worth learning around the best of the plain families."""
    if best.scaling == "rank":
        return [Family("weights", "rank", best.power), Family("ordered", "rank", 2)]
    weights = Family("weights", "original", 2)
    return [weights, Family("form", "original", 2)] if coordinates <= MOST_MAPPED else [weights]  # a form has a number for every two


def _foremost(ahead: Mapping[Family, FloatArray]) -> Family:
    """The one farthest ahead; a form, with a number for every two columns, must beat the others as clearly as these must beat the first two."""
    best = base = max((MEAN, MAHALANOBIS), key=lambda family: (round(float(ahead[family].mean()), 12), family == MEAN))
    for family in sorted(ahead, key=lambda family: family.how == "form"):
        against = {base, best} if family.how == "form" else {base}
        if ahead[family].mean() > ahead[best].mean() + 1e-12 and all(_clearly(ahead[family] - ahead[other]) for other in against):
            best = family
    return best


def _clearly(gain: FloatArray) -> bool:
    """Whether a gain is more than chance makes of so many links."""
    return bool(gain.mean() > ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))


def _spread(space: LinkSpace, known: Known, power: int, n: int) -> FloatArray:
    """The mean difference of known links in each attribute, and a trace of the mean difference to the middle of the release."""
    x, y = space.known[known.rows], space.released[known.true]
    middle = np.where(np.arange(y.shape[1]) < space.numeric, _mean(space.released, space.stands_for), -1.0)
    usual = _differences(space, x, np.broadcast_to(middle, x.shape), power, n).mean(axis=0)
    spread = _differences(space, x, y, power, n).mean(axis=0)
    return np.asarray(np.maximum(spread, 1e-9 * np.where(usual > 0, usual, 1.0)))


def _mean(released: FloatArray, stands_for: IntArray | None) -> FloatArray:
    """Of each coordinate over all released rows."""
    return np.asarray(released.mean(axis=0) if stands_for is None else stands_for @ released / stands_for.sum())


def _differences(space: LinkSpace, x: FloatArray, y: FloatArray, power: int, n: int) -> FloatArray:
    out = np.zeros((*np.broadcast_shapes(x.shape[:-1], y.shape[:-1]), n))
    for j, a in enumerate(space.attribute):
        gap = x[..., j] - y[..., j]
        out[..., a] += np.abs(gap) ** power if j < space.numeric else gap != 0
    return out


def _links(learned: Learned, spaces: LinkSpaces, known: Known) -> Links:
    """What the weights of a distance multiply, for known links and their rivals."""
    space = spaces[learned.family.scaling]
    by = learned.by
    there = known.rivals >= 0
    x, y = space.known[known.rows], space.released
    own, others = y[known.true], y[np.maximum(known.rivals, 0)]
    if learned.matrix is not None:
        m = space.numeric
        x, own, others = (np.concatenate([part[..., :m] @ learned.matrix, part[..., m:]], axis=-1) for part in (x, own, others))
    space = LinkSpace(x, own, by.attribute, by.numeric)
    if by.kind == "choquet":
        raise ValueError("A full fuzzy measure is counted by linking, not against rivals.")
    true, rival = (_differences(space, a, b, by.power, by.attributes) for a, b in ((x, own), (x[:, None, :], others)))
    return Links(features(true, by.kind), features(rival, by.kind), there, known.twins, known.weight)


def _form(family: Family, space: LinkSpace, known: Known, spread: FloatArray, pull: float) -> Learned:
    """Numbers whitened by the covariance of known differences, and mapped further where that is learned; codes by their own spread."""
    m = space.numeric
    x, y = space.known[known.rows][:, :m], space.released[:, :m]
    gap = x - y[known.true]
    cov = np.atleast_2d(np.cov(gap, rowvar=False)) if len(gap) > 1 and m else np.eye(m)
    variance, axes = np.linalg.eigh(np.nan_to_num(cov))
    variances = _mean((y - _mean(y, space.stands_for)) ** 2, space.stands_for)
    both = np.var(x, axis=0).max(initial=0.0) + variances.max(initial=0.0)
    matrix = axes / np.sqrt(np.maximum(variance, 1e-9 * (both or 1.0)))
    codes = space.attribute[m:]
    weights = np.concatenate([np.ones(m), 1 / spread[codes]])
    attribute = np.arange(len(weights))
    if family.how == "form" and m:
        there = known.rivals >= 0
        rival = (x[:, None, :] - y[np.maximum(known.rivals, 0)]) @ matrix
        matrix = matrix @ learn_form(Links(gap @ matrix, rival, there, known.twins, known.weight), pull).T
    return Learned(family, Distance("weighted", weights, 2, attribute, m), matrix)
