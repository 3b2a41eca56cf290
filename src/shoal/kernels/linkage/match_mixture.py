"""Matching and other pairs told apart: a mixture of two distributions over agreement patterns with independent columns.

It is fitted to the counts of patterns by expectation-maximization; its logarithms are the weights that `agreement` links by.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray

SMALLEST = 1e-9  # probabilities are kept within [SMALLEST, 1 - SMALLEST]


class MatchMixture(NamedTuple):
    match_share: float  # share of pairs that match
    m: FloatArray  # probability that a column agrees in a matching pair
    u: FloatArray  # ... in any other pair
    iterations: int


def expectation_maximization(
    counts: IntArray,
    d: int,
    match_share: float,
    m: FloatArray | None = None,
    u: FloatArray | None = None,
    most_iterations: int = 1000,
    tolerance: float = 1e-7,
    hold_share: bool = False,
) -> MatchMixture:
    """Fit the mixture from a starting share of matches (for two files of n rows about the same people, 1 / n).

    By default matches start at agreement .9 and the others at the share of all pairs that agree: nearly all pairs are no match. Stops when
    no probability moves by more than `tolerance`. `hold_share` keeps a known share. The class that agrees more is the matches.
    """
    bits, count = _seen(counts, d)
    total = count.sum()
    if total == 0:
        raise ValueError("There are no pairs to fit.")
    share = float(np.clip(match_share, SMALLEST, 1 - SMALLEST))
    m = _clip(np.full(d, 0.9) if m is None else m)
    u = _clip(count @ bits / total if u is None else u)
    iterations = 0
    while iterations < most_iterations:
        iterations += 1
        log_match, log_other = _log_parts(bits, share, m, u)
        matching = count / (1.0 + np.exp(np.clip(log_other - log_match, -700, 700)))  # expected matches with each pattern
        others = count - matching
        matches = max(float(matching.sum()), SMALLEST)
        new_share = share if hold_share else float(np.clip(matches / total, SMALLEST, 1 - SMALLEST))
        new_m, new_u = _clip(matching @ bits / matches), _clip(others @ bits / max(float(others.sum()), SMALLEST))
        moved = max(abs(new_share - share), np.abs(new_m - m).max(initial=0.0), np.abs(new_u - u).max(initial=0.0))
        share, m, u = new_share, new_m, new_u
        if moved <= tolerance:
            break
    if not hold_share and m.sum() < u.sum():
        share, m, u = 1.0 - share, u, m
    return MatchMixture(share, m, u, iterations)


def log_likelihood(counts: IntArray, d: int, match_share: float, m: FloatArray, u: FloatArray) -> float:
    """Of pattern counts under a mixture; no iteration lowers it."""
    bits, count = _seen(counts, d)
    return float(count @ np.logaddexp(*_log_parts(bits, match_share, _clip(m), _clip(u))))


def weights(m: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Agreement and disagreement weights: logarithms, base 2, of how much likelier each is in a matching pair."""
    m, u = _clip(m), _clip(u)
    return np.log2(m / u), np.log2((1 - m) / (1 - u))


def _seen(counts: IntArray, d: int) -> tuple[FloatArray, FloatArray]:
    """The patterns that occur, as rows of zeros and ones, and how often they do."""
    if len(counts) != 1 << d:
        raise ValueError(f"{d} columns have {1 << d} patterns, not {len(counts)}.")
    pattern = np.flatnonzero(counts)
    return (pattern[:, None] >> np.arange(d) & 1).astype(np.float64), counts[pattern].astype(np.float64)


def _clip(p: FloatArray) -> FloatArray:
    return np.clip(np.asarray(p, dtype=np.float64), SMALLEST, 1 - SMALLEST)


def _log_parts(bits: FloatArray, share: float, m: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log probability of each pattern together with a match, and together with no match."""
    match, other = (np.log(s) + bits @ np.log(p) + (1 - bits) @ np.log(1 - p) for s, p in ((share, m), (1 - share, u)))
    return match, other
