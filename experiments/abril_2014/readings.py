"""Section 5.4.2: distance-based linkage (d²AM) of 400 of the 1080 Census records, over the masking methods, under six readings.

The thesis says that 400 records were selected and protected, ten times. It does not say whether the file was protected before or after the
selection, whether the intruder looks in the 400 or in all 1080, and whether values were standardized before grouping.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.data import data_path
from shoal import Knowledge, Release, Roles, Table, read_table
from shoal.attacks import DistanceLinkage
from shoal.contracts import Method
from shoal.methods import IndividualRanking, Mdav, Noise, PcaProjection, RankSwapping, ZProjection
from shoal.methods.coordinates import Standardize
from shoal.randomness import rng_for
from shoal.runs.recipe import apply_steps

KNOWN = 400
COLUMNS = 7
SAMPLES = 10
Files = Literal["sampled", "whole", "first"]
NoiseReading = Literal["deviation", "variance", "correlated"]


@dataclass(frozen=True)
class Reading:
    """One way to understand the set-up."""

    files: Files
    standardize: Standardize
    means: str


READINGS: Mapping[str, Reading] = {
    "sampled": Reading("sampled", "deviation", "protect all 1080, draw 400, link them with the same 400 protected"),
    "sampled-raw": Reading("sampled", "none", "as sampled, values not standardized before grouping"),
    "whole": Reading("whole", "deviation", "protect all 1080, draw 400, link them with all 1080 protected"),
    "whole-raw": Reading("whole", "none", "as whole, values not standardized before grouping"),
    "first": Reading("first", "deviation", "draw 400, protect those, link"),
    "first-raw": Reading("first", "none", "as first, values not standardized before grouping"),
}
BEST = {"5.5": "sampled", "5.6": "sampled", "5.7": "sampled", "5.8": "first"}  # the reading nearest to each published table
NOISE_READINGS: Mapping[NoiseReading, str] = {
    "deviation": "deviation of the noise is p % of the column's deviation",
    "variance": "variance of the noise is p % of the column's variance",
    "correlated": "p % of the deviation, with the data's covariance",
}

KS = tuple(range(3, 21))
PARAMETERS: Mapping[str, tuple[int, ...]] = {
    **{f"Mic{kind}": KS for kind in ("IR", "Z", "PCP", "2", "3", "4", "5", "6", "All")},
    "Rank swapping": tuple(range(1, 8)),
    "Additive noise": (1, 2, 4, 6, 8, 10, 12, 14, 16),
}
RANDOM = ("Rank swapping", "Additive noise")
GROUPS_BY_DISTANCE = ("MicPCP", "Mic2", "Mic3", "Mic4", "Mic5", "Mic6", "MicAll")  # the others do not see whether values are standardized


@dataclass(frozen=True)
class Rates:
    """Percentages of correct links, one per sample. Strict: a tie is a failure; shared: a tie among m counts 1/m."""

    strict: NDArray[np.float64]
    shared: NDArray[np.float64]


Found = Mapping[int, Rates]  # by parameter


def steps(method: str, parameter: int, standardize: Standardize, noise: NoiseReading = "deviation") -> list[Method]:
    """A masking method of section 5.4.2. Mic2 to Mic6 are MDAV on consecutive columns, a block a step."""
    columns = census().columns
    if method == "MicIR":
        return [IndividualRanking(k=parameter)]
    if method == "MicZ":
        return [ZProjection(k=parameter)]
    if method == "MicPCP":
        return [PcaProjection(k=parameter, standardize=standardize)]
    if method == "Rank swapping":
        return [RankSwapping(p=parameter)]
    if method == "Additive noise":
        share = parameter / 100
        return [Noise(p=share**0.5 if noise == "variance" else share, correlation="data" if noise == "correlated" else "none")]
    width = COLUMNS if method == "MicAll" else int(method.removeprefix("Mic"))
    return [Mdav(k=parameter, columns=columns[i : i + width], standardize=standardize) for i in range(0, COLUMNS, width)]


@cache
def census() -> Table:
    """The thesis's V1 to V7: the first seven columns (its Table 5.3 has their means, its Table 5.2 names four of them wrongly)."""
    table = read_table(data_path("casc", "census.csv"))
    return table.without(table.columns[COLUMNS:])


def drawn(sample: int) -> NDArray[np.int64]:
    """Which 400 records; the same for every method and reading."""
    return np.sort(rng_for(2014, "sample", sample).choice(len(census()), KNOWN, replace=False))


def linked(method: str, parameter: int, reading: Reading, samples: int, noise: NoiseReading = "deviation") -> Rates:
    """Protect and attack, once per sample."""
    table, attack = census(), DistanceLinkage(scale="each", linking="nearest")
    roles = Roles(quasi=table.columns).check(table)
    masking = steps(method, parameter, reading.standardize, noise)
    release = None
    rates = []
    for sample in range(samples):
        rows = drawn(sample)
        mine = table.take(rows)
        if reading.files == "first":
            result = attack.attack(mine, apply_steps(mine, roles, masking, sample), Knowledge(roles), rng_for(sample, "attack"))
        else:
            if release is None or method in RANDOM:
                release = apply_steps(table, roles, masking, sample)
            if reading.files == "sampled":
                place = np.argsort(release.source_row)
                part = Release.given(release.table.take(place[rows]), np.arange(KNOWN), roles)
                result = attack.attack(mine, part, Knowledge(roles), rng_for(sample, "attack"))
            else:
                result = attack.attack(table, release, Knowledge(roles, records=KNOWN), rng_for(sample, "attack"))
        rates.append((100 * result.strict_hit / result.tried, 100 * result.rate))
    strict, shared = np.array(rates).T
    return Rates(strict, shared)


def all_linked(readings: Sequence[str], parameters: Mapping[str, Sequence[int]], samples: int) -> dict[str, dict[str, Found]]:
    """Rates by reading, method and parameter, on all cores. A method that does not see the raw values is run once for both."""
    jobs: dict[tuple[str, str, int], tuple[str, int, Reading]] = {}
    for name in readings:
        for method, values in parameters.items():
            for value in values:
                reading = READINGS[name]
                kept = reading if method in GROUPS_BY_DISTANCE else READINGS[reading.files]
                jobs[name, method, value] = (method, value, kept)
    different = list(dict.fromkeys(jobs.values()))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        rates = dict(zip(different, pool.map(linked, *zip(*different), repeat(samples), chunksize=4)))
    return {
        name: {method: {value: rates[jobs[name, method, value]] for value in values} for method, values in parameters.items()}
        for name in readings
    }


def noise_linked(parameters: Sequence[int], samples: int) -> dict[NoiseReading, Found]:
    """What p of additive noise may mean, under the reading of the files that is nearest to Table 5.8."""
    return {how: {p: linked("Additive noise", p, READINGS[BEST["5.8"]], samples, how) for p in parameters} for how in NOISE_READINGS}
