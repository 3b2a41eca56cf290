"""Several methods over many cases: Friedman's test as adjusted by Iman and Davenport, then Bonferroni-Dunn against one of them (Demsar 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats


@dataclass(frozen=True)
class Ranked:
    """Mean ranks (1 is best) over the cases, and what the tests say of them."""

    ranks: dict[str, float]
    cases: int
    chi_square: float
    f: float
    p_value: float
    critical: float  # a method differs from the control if their mean ranks are this far apart


def ranked(names: Sequence[str], accuracy: NDArray[np.float64], level: float = 0.05) -> Ranked:
    """accuracy: cases x methods."""
    cases, methods = accuracy.shape
    ranks = stats.rankdata(-accuracy, axis=1).mean(axis=0)
    chi_square = float(stats.friedmanchisquare(*accuracy.T).statistic)
    rest = cases * (methods - 1) - chi_square
    f = (cases - 1) * chi_square / rest if rest > 0 else float("inf")
    p_value = float(stats.f.sf(f, methods - 1, (methods - 1) * (cases - 1)))
    z = stats.norm.ppf(1 - level / 2 / (methods - 1))
    critical = float(z * np.sqrt(methods * (methods + 1) / 6 / cases))
    return Ranked(dict(zip(names, ranks.tolist())), cases, chi_square, f, p_value, critical)
