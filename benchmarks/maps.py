"""Maps: c-tca beside mdav-large and MDAV, the batch map beside minisom, and what wLVQ2 adds to a map.

CPU seconds; compiling is outside the clock. Every line prints its figure, its bar, and met or missed. minisom: pip install 'shoal[bench]'.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.maps
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.microaggregation import gauss, line, mix, sse, timed
from shoal import Release, Roles, Table
from shoal.kernels.lvq import majority, wlvq2
from shoal.kernels.mdav import mdav_groups
from shoal.kernels.refine import swap_refinement
from shoal.kernels.scaling import standardized
from shoal.kernels.som import EPOCHS, best_units, kohonen_units, map_shape, quantization_error, train
from shoal.methods import CTca, MdavLarge
from shoal.randomness import chance_for, rng_for

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ROWS, K = 100_000, 10
DECAY = {"sigma_decay_function": "linear_decay_to_one", "decay_function": "linear_decay_to_zero"}  # minisom's narrowest neighbourhood
SETS = ("Ecoli", "Electrical", "Glass", "Page blocks", "Waveform", "Yeast")


def protected(method: CTca | MdavLarge, table: Table, roles: Roles) -> tuple[float, Release]:
    """CPU seconds, and the release."""
    kept: list[Release] = []

    def run() -> IntArray:
        kept.append(method.protect(table, roles, chance_for(1)))
        return kept[0].source_row

    return timed(run)[0], kept[0]


def groups_of(release: Release, columns: tuple[str, ...]) -> IntArray:
    """The class of each original row."""
    rows = np.column_stack([release.table.number(c) for c in columns])
    groups = np.empty(len(rows), np.int64)
    groups[release.source_row] = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return groups


def large(points: Callable[[int], FloatArray], name: str) -> int:
    """The whole method on 100,000 x 7, from table to release."""
    values = points(ROWS)
    columns = tuple(f"c{j}" for j in range(values.shape[1]))
    table = Table.of(dict(zip(columns, values.T)))
    roles = Roles(quasi=columns).check(table)
    blocks, theirs = protected(MdavLarge(k=K), table, roles)
    maps, ours = protected(CTca(k=K), table, roles)
    found = groups_of(ours, columns)
    loss = sse(values, found) / sse(values, groups_of(theirs, columns))
    beside = f"{maps:.2f} s / {blocks:.2f} s, SSE {loss:.3f} of its, smallest group {np.bincount(found).min()}"
    return line(f"c-tca, times mdav-large: {ROWS:,} {name} k={K}", maps / blocks, 3, maps <= 3 * blocks, beside)


def against_minisom() -> int:
    """The same grid, data, start and number of epochs."""
    try:
        from minisom import MiniSom
    except ImportError:
        print("minisom is not installed: pip install 'shoal[bench]'")
        return 0
    missed = 0
    for name, x in (("mix", mix(5000)), ("gauss", gauss(5000))):
        rows, columns = map_shape(x, kohonen_units(len(x)))
        quick, _ = timed(lambda x=x, r=rows, c=columns: train(x, r, c).units)  # type: ignore[misc]
        ours = quantization_error(x, train(x, rows, columns).units)
        other = MiniSom(rows, columns, x.shape[1], sigma=max(rows, columns) / 4, learning_rate=0.5, random_seed=1, **DECAY)
        other.pca_weights_init(x)
        slow, _ = timed(lambda o=other, x=x: o.train(x, EPOCHS, use_epochs=True))  # type: ignore[misc]
        theirs = other.quantization_error(x)
        beside = f"{slow:.2f} s / {quick:.2f} s, {EPOCHS} epochs, {rows} x {columns} units, 5,000 x 7"
        missed += line(f"times minisom, {name}", slow / quick, 10, slow >= 10 * quick, beside)
        missed += line(f"quantization error / minisom's, {name}", ours / theirs, 1, ours <= theirs, f"{ours:.3f} / {theirs:.3f}")
    return missed


def _set(name: str) -> tuple[FloatArray, IntArray] | None:
    folder = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not (folder / "uci").is_dir():
        return None
    from experiments.zouinina_2020.sets import data

    one = data(name)
    x = np.column_stack([standardized(one.table.number(c)) for c in one.columns])
    return np.ascontiguousarray(x[:, x.std(axis=0) > 0]), one.table.codes("class").astype(np.int64)


def published_sets() -> int:
    """SSE against MDAV at k = 5 and 10, and wLVQ2 against the plain map, on the six sets of Zouinina et al. (2020)."""
    kept = {5: 0, 10: 0}
    better = 0
    for name in SETS:
        found = _set(name)
        if found is None:
            print("The UCI sets are not there; set SHOAL_DATA")
            return 0
        x, label = found
        columns = tuple(f"c{j}" for j in range(x.shape[1]))
        table = Table.of(dict(zip(columns, x.T)))
        roles = Roles(quasi=columns).check(table)
        for k, bar in ((5, 1.10), (10, 1.0)):
            groups = groups_of(protected(CTca(k=k), table, roles)[1], columns)
            plain = mdav_groups(x, k)
            ratio, refined = sse(x, groups) / sse(x, plain), sse(x, swap_refinement(x, plain, k)) / sse(x, plain)
            kept[k] += ratio <= bar
            said = f"mdav with swaps {refined:.3f}, smallest group {np.bincount(groups).min()}"
            line(f"c-tca, SSE / MDAV's: {name} k={k}", ratio, bar, ratio <= bar, said)
        units = train(x, *map_shape(x, kohonen_units(len(x)))).units
        best = best_units(x, units)[0]
        before = float((majority(best, label, len(units))[best] == label).mean())
        after = wlvq2(x, label, units, rng_for(1)).accuracy
        better += after >= before
        line(f"wLVQ2, accuracy over the map's: {name}", after - before, 0, after >= before, f"{before:.3f} -> {after:.3f}")
    missed = sum(line(f"sets within the bar at k={k}", kept[k], 4, kept[k] >= 4, "of 6") for k in kept)
    return missed + line("sets on which wLVQ2 is no worse", better, 6, better == 6, "of 6")


def main() -> int:
    """Print everything."""
    protected(CTca(k=3), *_small())  # compile outside the clock
    protected(MdavLarge(k=3), *_small())
    missed = against_minisom() + published_sets() + large(mix, "mix") + large(gauss, "gauss")
    print("all met" if missed == 0 else f"{missed} missed")
    return missed


def _small() -> tuple[Table, Roles]:
    table = Table.of({f"c{j}": column for j, column in enumerate(gauss(25_000).T)})
    return table, Roles(quasi=table.columns).check(table)


if __name__ == "__main__":
    raise SystemExit(main())
