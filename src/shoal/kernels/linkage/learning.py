"""Learning a distance from known links: a smooth stand-in for the number of links found, then a polish on that number itself.

Every known record comes with the differences to its true match and to its rivals, the protected records hardest to tell from it. A record is
linked when log d(true) is below log d(rival) for all of them. The stand-in is the mean over records of a sigmoid of
log d(true) - softmin log d(rival), which L-BFGS brings down; a pull towards the start keeps it from learning single records by heart.

Weighted mean, OWA and 2-additive Choquet integrals are one problem: weights, not negative and summing to 1, for features of the differences
(the differences, the sorted differences, the differences with the smaller and the larger of each two). The polish walks along one weight at a
time: each rival bounds the stretch of that weight on which its record is linked, and sorting the ends gives the best place exactly.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray

Family = Literal["weighted", "ordered", "pairs"]

SHARPNESS = 4.0  # of the sigmoid, in units of log distance
WARMTH = 0.15  # of the soft minimum
MOST_STEPS = 80
TIE = 1e-12


class Links(NamedTuple):
    """Features of known records: k records, m rivals at most, f features. Absent rivals are marked and take no part."""

    true: FloatArray  # (k, f)
    rival: FloatArray  # (k, m, f)
    there: BoolArray  # (k, m)
    twins: FloatArray  # (k,) protected rows identical to the true one, itself included
    weight: FloatArray  # (k, m) how many protected rows a rival stands for

    def of(self, records: IntArray) -> "Links":
        """Some of the records."""
        return Links(self.true[records], self.rival[records], self.there[records], self.twins[records], self.weight[records])


def features(differences: FloatArray, family: Family) -> FloatArray:
    """What the weights of a family multiply, attributes along the last axis."""
    if family == "ordered":
        return np.sort(differences, axis=-1)[..., ::-1]
    if family == "pairs":
        a, b = np.triu_indices(differences.shape[-1], 1)
        both = np.stack(
            [np.minimum(differences[..., a], differences[..., b]), np.maximum(differences[..., a], differences[..., b])], axis=-1
        )
        return np.concatenate([differences, both.reshape(*differences.shape[:-1], -1)], axis=-1)
    return differences


def shares(true: FloatArray, rival: FloatArray, links: Links) -> FloatArray:
    """1 / number tied for the closest where the true match is among them, else 0; from distances."""
    rival = np.where(links.there, rival, np.inf)
    closer = (rival < (true * (1 - TIE))[:, None]).any(axis=1)
    tied = links.twins + np.where(rival <= (true * (1 + TIE))[:, None], links.weight, 0.0).sum(axis=1)
    return np.where(closer, 0.0, 1 / tied)


def linked(weights: FloatArray, links: Links) -> FloatArray:
    """The share of each record that weights link."""
    return shares(links.true @ weights, _times(links.rival, weights), links)


def lead(weights: FloatArray, links: Links, power: int) -> FloatArray:
    """How far the true match is ahead of its nearest rival: a sigmoid of the ratio of squared distances, shared by twins."""
    true, rival = links.true @ weights, np.where(links.there, _times(links.rival, weights), np.inf)
    ratio = np.log(rival.min(axis=1, initial=np.inf) + 1e-300) - np.log(true + 1e-300)
    return np.asarray(1 / (1 + np.exp(-np.clip(SHARPNESS * ratio * 2 / power, -50, 50))) / links.twins)


def _times(rival: FloatArray, weights: FloatArray) -> FloatArray:
    return (rival.reshape(-1, rival.shape[-1]) @ weights).reshape(rival.shape[:-1])


def _stand_in(true: FloatArray, rival: FloatArray, there: BoolArray) -> tuple[float, FloatArray, FloatArray]:
    """The sum over records of the sigmoid, and its slopes in d(true) and in each d(rival)."""
    by_true, by_rival = np.zeros(len(true)), np.zeros(rival.shape)
    tiny = 1e-12 * float(rival.mean()) + 1e-300
    return _slopes(true, rival, there, tiny, by_true, by_rival), by_true, by_rival


@njit(cache=True)
def _slopes(
    true: FloatArray, rival: FloatArray, there: BoolArray, tiny: float, by_true: FloatArray, by_rival: FloatArray
) -> float:  # pragma: no cover
    value = 0.0
    for i in range(len(true)):
        least = np.inf
        for j in range(rival.shape[1]):
            if there[i, j] and rival[i, j] < least:
                least = rival[i, j]
        if least == np.inf:
            continue
        least = np.log(least + tiny)
        total = 0.0
        for j in range(rival.shape[1]):
            if there[i, j]:
                by_rival[i, j] = np.exp(-(np.log(rival[i, j] + tiny) - least) / WARMTH)
                total += by_rival[i, j]
        u = SHARPNESS * (np.log(true[i] + tiny) - least + WARMTH * np.log(total))
        part = 1 / (1 + np.exp(-min(max(u, -50.0), 50.0)))
        slope = SHARPNESS * part * (1 - part)
        value += part
        by_true[i] = slope / max(true[i], 1e-300)
        for j in range(rival.shape[1]):
            if there[i, j]:
                by_rival[i, j] *= -slope / total / max(rival[i, j], 1e-300)
    return value


def _minimum(loss: Callable[[FloatArray], tuple[float, FloatArray]], start: FloatArray) -> FloatArray:
    from scipy.optimize import minimize  # half a second that only this needs

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS}).x)


def learn_weights(links: Links, start: FloatArray, pull: float) -> FloatArray:
    """Weights that sum to 1, none of them zero: logits pulled towards those of `start`."""
    origin = np.log(np.maximum(start, 1e-12))
    k = len(links.true)

    def loss(logits: FloatArray) -> tuple[float, FloatArray]:
        e = np.exp(logits - logits.max())
        w = e / e.sum()
        true, rival = links.true @ w, _times(links.rival, w)
        value, by_true, by_rival = _stand_in(true, rival, links.there)
        by_weight = (by_true @ links.true + by_rival.ravel() @ links.rival.reshape(-1, len(w))) / k
        moved = logits - origin
        return float(value / k + pull * (moved @ moved) / len(w)), w * (by_weight - by_weight @ w) + 2 * pull * moved / len(w)

    found = _minimum(loss, origin)
    e = np.exp(found - found.max())
    return np.asarray(e / e.sum())


def learn_form(links: Links, pull: float) -> FloatArray:
    """A linear map A for signed differences u, so that |A u| finds most: pulled towards the identity, so hand in whitened differences."""
    d = links.true.shape[1]
    k, m = links.there.shape
    flat = links.rival.reshape(k * m, d)

    def loss(given: FloatArray) -> tuple[float, FloatArray]:
        a = given.reshape(d, d)
        t, r = links.true @ a.T, flat @ a.T
        true, rival = (t * t).sum(axis=1), (r * r).sum(axis=1).reshape(k, m)
        value, by_true, by_rival = _stand_in(true, rival, links.there)
        grad = 2 * ((t * by_true[:, None]).T @ links.true + (r * by_rival.reshape(-1, 1)).T @ flat) / k
        moved = a - np.eye(d)
        return float(value / k + pull * (moved * moved).sum() / d), (grad + 2 * pull * moved / d).ravel()

    return _minimum(loss, np.eye(d).ravel()).reshape(d, d)


def polish(weights: FloatArray, links: Links, rounds: int = 4) -> FloatArray:
    """Raise the number of records linked without a tie, one weight at a time, each to its exact best place given the others."""
    best = np.array(weights)
    count = _strictly(best, links)
    single = links.twins == 1
    gap = np.where(links.there[..., None], links.rival - links.true[:, None, :], 0.0)
    for _ in range(rounds):
        before = count
        for f in range(len(best)):
            rest = best.copy()
            rest[f] = 0.0
            level, slope = _times(gap, rest), gap[..., f]
            place = _best_place(level, slope, links.there, single)
            if place is None:
                continue
            tried = rest
            tried[f] = place
            tried = tried / tried.sum()
            found = _strictly(tried, links)
            if found > count:
                best, count = tried, found
        if count == before:
            break
    return best


def _strictly(weights: FloatArray, links: Links) -> int:
    true, rival = links.true @ weights, _times(links.rival, weights)
    ahead = (rival > (true * (1 + TIE))[:, None]) | ~links.there
    return int((ahead.all(axis=1) & (links.twins == 1)).sum())


def _best_place(level: FloatArray, slope: FloatArray, there: BoolArray, single: BoolArray) -> float | None:
    """Where on t > 0 the most records have level + t slope > 0 for all their rivals; None where nowhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -level / slope
    low = np.where(there & (slope > 0), crossing, 0.0).max(axis=1, initial=0.0)
    high = np.where(there & (slope < 0), crossing, np.inf).min(axis=1, initial=np.inf)
    never = (there & (slope == 0) & (level <= 0)).any(axis=1) | ~single
    ok = ~never & (high > np.maximum(low, 0.0))
    if not ok.any():
        return None
    ends = np.concatenate([low[ok], high[ok]])
    step = np.concatenate([np.ones(ok.sum()), -np.ones(ok.sum())])
    order = np.lexsort((step, ends))  # an interval that ends where another begins does not overlap it
    ends, covered = ends[order], np.cumsum(step[order])
    at = int(np.argmax(covered))
    left, right = ends[at], ends[at + 1] if at + 1 < len(ends) else np.inf
    if np.isfinite(right):
        return float((left + right) / 2) if left > 0 else float(right / 2)
    return float(2 * left) if left > 0 else None
