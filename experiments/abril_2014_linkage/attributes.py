"""Section 5.4.5: Tables 5.15, 5.16 and 5.18 to 5.20, Figures 5.8 and 5.9: what learned parameters say about columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from experiments.abril_2014_linkage.distances import best_of, best_of_noisy, counted
from experiments.abril_2014_linkage.files import FloatArray, Pair, microaggregated, noisy
from experiments.abril_2014_linkage.paper import print_table, published, watched, with_spread
from shoal.kernels.linkage.aggregation import Aggregator, Choquet, WeightedMean
from shoal.kernels.linkage.fuzzy_measures import monotone_hull
from shoal.report.drawing import standalone
from shoal.report.telling_columns import LEAST_DRAWN, lattice

MEASURES = {"5.18": "M4-28", "5.19": "M6-853"}
FIGURES = {"5.8": "5.18", "5.9": "5.19"}


def table_5_15(samples: int, seconds: float) -> None:
    """Weights where column j has noise of j per cent."""
    found = [best_of_noisy(sample, seconds) for sample in watched(range(samples), "Table 5.15")]
    weights = np.array([_weights(one.by) for one in found])
    ideal = 1 / np.arange(1, weights.shape[1] + 1) ** 2
    _by_column("5.15", "weight", weights, "Table 5.15, weights of the best weighted mean", {"1/p², scaled": ideal / ideal.sum()}, 4)
    rates = ", ".join(f"{one.strict:g}" for one in found)
    theirs = np.array(list(published("5.15").values()))
    _on_our_files("weights", WeightedMean(theirs / theirs.sum()), [noisy(sample) for sample in range(samples)])
    print(f"Ours link {rates} (published 100). Many weights link all: ours are those with the widest margin.\n")


def table_5_16(samples: int, seconds: float) -> None:
    """What each column finds alone."""
    strict, shared = [], []
    for sample in watched(range(samples), "Table 5.16"):
        x, y = noisy(sample).standardized()
        alone = [counted(WeightedMean.equal(1), x[:, [j]], y[:, [j]]) for j in range(x.shape[1])]
        strict.append([one.strict for one in alone])
        shared.append([one.shared for one in alone])
    means = np.mean(strict, axis=0)
    _by_column("5.16", "rate", np.array(shared), "Table 5.16, per cent linked by one column alone, shared", {"strict": means}, 2)


def table_5_20(samples: int, seconds: float) -> None:
    """Weights for M6-853."""
    weights = np.array([_weights(best_of("M6-853", sample, "weighted-mean", seconds).by) for sample in range(samples)])
    theirs = {(f"V{key.index('1') + 1}", "weight"): value for (key, _), value in published("5.20").items()}
    _by_column("5.20", "weight", weights, "Table 5.20, weights of the best weighted mean for M6-853", {}, 4, theirs)
    printed = np.array([theirs[f"V{j + 1}", "weight"] for j in range(weights.shape[1])])
    _on_our_files("weights", WeightedMean(printed / printed.sum()), [microaggregated("M6-853", sample) for sample in range(samples)])
    print()


def _by_column(
    table: str, what: str, values: FloatArray, title: str, more: Mapping[str, FloatArray], digits: int,
    theirs: Mapping[tuple[str, str], float] | None = None,
) -> None:  # fmt: skip
    said = theirs or published(table)
    mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=min(1, len(values) - 1))
    rows: list[list[object]] = []
    for j in range(values.shape[1]):
        printed = said[f"V{j + 1}", what]
        rows.append([f"V{j + 1}", *map(float, (mean[j], deviation[j], printed, mean[j] - printed, *(v[j] for v in more.values())))])
    print_table(title, ["", "ours", "sd", "published", "difference", *more], rows, digits)


def fuzzy_measure(table: str, samples: int, seconds: float) -> None:
    """Tables 5.18 and 5.19."""
    name, said = MEASURES[table], _published_measure(table)
    all_of = measures(table, samples, seconds)
    mean, deviation = all_of.mean(axis=0), all_of.std(axis=0, ddof=min(1, samples - 1))
    n = _columns(mean)
    order = sorted(range(1 << n), key=lambda s: _digits(s, n))
    rows = [[_digits(s, n), *map(float, (mean[s], deviation[s], said[s], mean[s] - said[s]))] for s in order]
    title = f"Table {table}, fuzzy measure for {name}; the first digit is the first column"
    print_table(title, ["set", "ours", "sd", "published", "difference"], rows, 4)
    inner = np.arange(1, (1 << n) - 1)
    alike = [float(spearmanr(one[inner], said[inner]).statistic) for one in all_of]
    print(f"Rank correlation with the published measure, by sample: {', '.join(f'{a:.2f}' for a in alike)}.")
    pairs = [microaggregated(name, sample) for sample in range(samples)]
    _on_our_files("measure", Choquet(said), pairs)
    _on_our_files(
        "measure, its digits read from the last column to the first,", Choquet(said[[int(_digits(s, n), 2) for s in range(1 << n)]]), pairs
    )
    print(f"Ours links {with_spread(best_of(name, sample, 'choquet', seconds).strict for sample in range(samples))} % strict.")
    print("Many measures link as much: ours has the widest margin.\n")


def _on_our_files(what: str, by: Aggregator, pairs: Sequence[Pair]) -> None:
    """Printed parameters tried on our samples: a check of how they are read."""
    found = [counted(by, *pair.standardized()) for pair in pairs]
    strict, shared = (with_spread(getattr(one, key) for one in found) for key in ("strict", "shared"))
    print(f"The published {what} on our files: {strict} % strict, {shared} % shared.")


def figure(number: str, samples: int, seconds: float, out: Path | None) -> None:
    """The lattice, ours (the mean of all samples' measures, which is one) and published: by size of set, and drawn."""
    table = FIGURES[number]
    name, ours, theirs = MEASURES[table], measures(table, samples, seconds).mean(axis=0), _published_measure(table)
    n = _columns(ours)
    least = LEAST_DRAWN if number == "5.9" else 0.0
    lines = []
    for size in range(n, -1, -1):
        sets = sorted((s for s in range(1 << n) if s.bit_count() == size), key=lambda s: _digits(s, n), reverse=True)
        for who, measure in (("ours", ours), ("published", theirs)):
            shown = [f"{_digits(s, n)} {measure[s]:.3f}" for s in sets if measure[s] >= least]
            lines.append(
                (
                    f"{size} column{'s' * (size != 1)}" if who == "ours" else "",
                    who,
                    f"{len(shown)} of {len(sets)}: " + ("  ".join(shown) or "none"),
                )
            )
    kept = {who: {s for s in range(1 << n) if measure[s] >= LEAST_DRAWN} for who, measure in (("ours", ours), ("published", theirs))}
    print(f"Figure {number}, lattice for {name}" + (f", sets of at least {LEAST_DRAWN:g}" if least else ""))
    for label, who, line in lines:
        print(f"{label:10}  {who:9}  {line}")
    both = len(kept["ours"] & kept["published"])
    print(f"At {LEAST_DRAWN:g} or more: ours {len(kept['ours'])} sets, published {len(kept['published'])}, {both} of them the same.")
    if out is None:
        print("--out FOLDER draws it.\n")
        return
    out.mkdir(parents=True, exist_ok=True)
    for who, measure in (("ours", ours), ("published", theirs)):
        sets_of = [{"columns": [f"V{i + 1}" for i in range(n) if s >> i & 1], "value": float(measure[s])} for s in range(1 << n)]
        path = out / f"figure_{number.replace('.', '_')}_{who}.svg"
        path.write_text(standalone(lattice(sets_of)), encoding="utf-8")
        print(f"Drawn: {path}")
    print()


def measures(table: str, samples: int, seconds: float) -> FloatArray:
    """The best measure of every sample."""
    found = [best_of(MEASURES[table], sample, "choquet", seconds).by for sample in watched(range(samples), f"Table {table}")]
    return np.array([by.measure for by in found if isinstance(by, Choquet)])


def _published_measure(table: str) -> FloatArray:
    """By bit mask. The thesis writes the first column first ("1000" has the first of M4-28), though its Example 10 writes it last."""
    said = published(table)
    measure = np.zeros(len(said))
    for (digits, _), value in said.items():
        measure[sum(1 << i for i, digit in enumerate(digits) if digit == "1")] = value
    return np.asarray(monotone_hull(measure) / measure.max())  # printed digits are rounded


def _weights(by: object) -> FloatArray:
    assert isinstance(by, WeightedMean)
    return by.weights


def _columns(measure: FloatArray) -> int:
    return len(measure).bit_length() - 1


def _digits(s: int, n: int) -> str:
    return "".join(str(s >> i & 1) for i in range(n))
