"""Print ours, published and difference for the tables of Abril (2014) that need masking and distance-based linkage alone."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.abril_2014.census import PROTOTYPE, QUANTITIES, assessed, map_files, map_points
from experiments.abril_2014.readings import (
    BEST,
    COLUMNS,
    KNOWN,
    NOISE_READINGS,
    PARAMETERS,
    READINGS,
    SAMPLES,
    Found,
    Rates,
    all_linked,
    census,
    noise_linked,
)
from shoal import Roles, Table
from shoal.methods import Mdav, Noise, RankSwapping
from shoal.randomness import chance_for

HERE = Path(__file__).parent
TITLES = {
    "5.6": "Table 5.6, rank swapping: p, per cent of the records",
    "5.7": "Table 5.7, Mic2: MDAV on blocks of two columns, by k",
    "5.8": "Table 5.8, additive noise: p, per cent of the standard deviation",
}
# Which deviation the thesis printed. Rates are whole records out of 400, so the printed means and deviations fit one divisor only.
DIVISOR = {"5.6": 0, "5.7": 1, "5.8": 1}
Published = Mapping[str, Mapping[tuple[str, str], Mapping[str, str]]]  # by table, then by (method, parameter)
UNFINISHED = ("Mic3", "Mic4", "Mic5", "Mic6")


def main(words: Sequence[str] | None = None) -> None:
    """Everything, in the order of the thesis."""
    given = _options(words)
    parameters = {m: values[:: max(1, len(values) // 3)] for m, values in PARAMETERS.items()} if given.quick else PARAMETERS
    samples = 2 if given.quick else SAMPLES
    published = _published()
    if given.quick:
        print(
            f"Quick: {samples} samples instead of {SAMPLES}, some parameters, no comparison of readings. Averages over parameters will differ.\n"
        )
    _table_2_2()
    census()  # if it is not there, say so now
    print("Linking: a few seconds." if given.quick else "Linking, six readings: some minutes.", file=sys.stderr, flush=True)
    chosen = BEST if given.reading == "best" else dict.fromkeys(BEST, given.reading)
    found = all_linked(sorted(set(chosen.values())) if given.quick else list(READINGS), parameters, samples)
    print(f"Distance-based linkage (d²AM), {KNOWN} Census records, first {COLUMNS} columns, {samples} samples. Rates in per cent.\n")
    _table_5_5(published, found[chosen["5.5"]], chosen["5.5"])
    for number in TITLES:
        _by_parameter(number, published, found[chosen[number]], chosen[number])
    if not given.quick:
        _which_reading(published, found)
        _which_noise(published, parameters["Additive noise"], samples)
        _unfinished(published, found)
    _prototype(2 if given.quick else SAMPLES)
    if given.out:
        _map(Path(given.out))


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.abril_2014", description=main.__doc__)
    says = "how the set-up of section 5.4.2 is understood; best: for each table the reading nearest to it"
    parser.add_argument("--reading", choices=["best", *READINGS], default="best", help=says)
    parser.add_argument("--quick", action="store_true", help="two samples, few parameters, no comparison of readings")
    parser.add_argument("--out", metavar="FOLDER", help="also draw the R-U map (Figure 2.6) into this folder, as SVG and HTML")
    return parser.parse_args(words)


# ---- section 2.4 -------------------------------------------------------------------------------------------------------------


def _table_2_2() -> None:
    with (HERE / "table_2_2.csv").open() as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    table = Table.of({name: [row[name] for row in rows] for name in ("age", "salary")})
    release = Mdav(k=2).protect(table, Roles(quasi=("age", "salary")).check(table), chance_for(0, "table 2.2"))
    place = np.argsort(release.source_row)
    cells = []
    for name in ("age", "salary"):
        for i, value in enumerate(release.table.number(name)[place]):
            cells.append(
                [f"{name}, row {i + 1}", f"{rows[i][name]:g}", value, rows[i][f"masked_{name}"], value - rows[i][f"masked_{name}"]]
            )
    _print("Table 2.2, MDAV with k = 2", ["cell", "original", "ours", "published", "difference"], cells, 1)
    print("Table 2.3 is not a permutation of its input (46 and 14,000 vanish), so no rank swapping gives it.")
    print("Table 2.4 is one random draw whose seed is not known, so it cannot be reproduced.\n")


# ---- section 5.4.2 -----------------------------------------------------------------------------------------------------------


def _published() -> Published:
    """By table, then by (method, parameter)."""
    tables: dict[str, dict[tuple[str, str], Mapping[str, str]]] = {}
    with (HERE / "published.csv").open() as file:
        for row in csv.DictReader(file):
            tables.setdefault(row["table"], {})[row["method"], row["parameter"]] = row
    return tables


def _said(reading: str) -> str:
    return f"Reading '{reading}': {READINGS[reading].means}"


def _average(found: Found) -> tuple[float, float]:
    """(strict, shared), over parameters and samples."""
    return float(np.mean([r.strict for r in found.values()])), float(np.mean([r.shared for r in found.values()]))


def _table_5_5(published: Published, found: Mapping[str, Found], reading: str) -> None:
    rows = []
    for (method, _), row in published["5.5"].items():
        strict, shared = _average(found[method])
        value = float(row["mean"])
        rows.append([method, strict, shared, value, strict - value, shared - value])
    heads = ["method", "ours, strict", "ours, shared", "published", "difference, strict", "difference, shared"]
    _print(f"Table 5.5, average percentage of correct links. {_said(reading)}", heads, rows, 2)


def _by_parameter(number: str, published: Published, found: Mapping[str, Found], reading: str) -> None:
    rows: list[list[object]] = []
    for (method, parameter), row in published[number].items():
        rates = found[method].get(int(parameter))
        if rates is None:
            continue
        sd = float(rates.shared.std(ddof=DIVISOR[number]))
        ours = [float(rates.strict.mean()), float(rates.shared.mean()), sd, sd / len(rates.shared) ** 0.5]
        theirs = [float(row[key]) for key in ("mean", "sd", "se")]
        rows.append([parameter, *ours, *theirs, ours[0] - theirs[0], ours[1] - theirs[0], ours[2] - theirs[1]])
    columns = np.array([[float(str(cell)) for cell in row[1:]] for row in rows])
    rows.append(["average", *columns.mean(axis=0).tolist()])
    heads = ["", "ours, strict", "ours, shared", "sd", "se", "published", "its sd", "its se", "diff., strict", "diff., shared", "diff., sd"]
    _print(f"{TITLES[number]}. {_said(reading)}", heads, rows, 2)


def _distance(published: Mapping[tuple[str, str], Mapping[str, str]], found: Mapping[str, Found]) -> tuple[float, float]:
    """Root mean square difference (strict, shared) over the rows of one of Tables 5.6 to 5.8."""
    gaps = []
    for (method, parameter), row in published.items():
        rates: Rates = found[method][int(parameter)]
        gaps.append([rates.strict.mean() - float(row["mean"]), rates.shared.mean() - float(row["mean"])])
    strict, shared = np.sqrt((np.array(gaps) ** 2).mean(axis=0))
    return float(strict), float(shared)


def _which_reading(published: Published, found: Mapping[str, Mapping[str, Found]]) -> None:
    rows: list[list[object]] = []
    for name, methods in found.items():
        averages = {m: _average(methods[m]) for m, _ in published["5.5"]}
        gaps = [np.array(averages[m]) - float(row["mean"]) for (m, _), row in published["5.5"].items()]
        whole = [g for g, (m, _) in zip(gaps, published["5.5"]) if m not in UNFINISHED]
        cells: list[object] = [name]
        for part in (gaps, whole):
            cells += np.sqrt((np.array(part) ** 2).mean(axis=0)).tolist()
        for number in TITLES:
            cells += _distance(published[number], methods)
        rows.append(cells)
    heads = ["reading"]
    heads += [f"{table}, {ties}" for table in ("5.5", "5.5 finished", *TITLES) for ties in ("strict", "shared")]
    _print("Root mean square difference from the published rates, in points, by reading", heads, rows, 2)
    print("'5.5 finished' leaves out Mic3 to Mic6, of which the thesis evaluated a part only.")
    for name, reading in READINGS.items():
        print(f"  {name:12} {reading.means}")
    print()


def _which_noise(published: Published, parameters: Sequence[int], samples: int) -> None:
    rows = []
    for how, found in noise_linked(parameters, samples).items():
        rows.append([NOISE_READINGS[how], _average(found)[1], 97.428, _distance(published["5.8"], {"Additive noise": found})[1]])
    _print("What p of additive noise means (Table 5.8)", ["reading", "ours, average", "published", "root mean square"], rows, 2)


def _unfinished(published: Published, found: Mapping[str, Mapping[str, Found]]) -> None:
    """Table 5.4: would the k that finished explain Table 5.5?"""
    rows: list[list[object]] = []
    for name in ("sampled", "first"):
        for method in UNFINISHED:
            row = published["5.5"][method, ""]
            means = {k: float(rates.shared.mean()) for k, rates in found[name][method].items()}
            finished = int(row["datasets"]) / SAMPLES
            weights = np.clip(finished - np.arange(len(means)), 0, 1)
            values = np.array(list(means.values()))
            small, large = (float((v * weights).sum() / weights.sum()) for v in (values, values[::-1]))
            reached = [k for k, v in means.items() if abs(v - float(row["mean"])) <= 2]
            ks = "none" if not reached else str(reached[0]) if len(reached) == 1 else f"{reached[0]} to {reached[-1]}"
            cells: list[object] = [name, method, f"{row['datasets']} of {len(means) * SAMPLES}"]
            rows.append([*cells, values.mean(), small, large, float(row["mean"]), ks])
    heads = ["reading", "method", "finished", "all k", "smallest k only", "largest k only", "published", "k within 2 points"]
    _print("Table 5.4: averages (shared) over the datasets that may have finished", heads, rows, 2)


# ---- section 2.5 -------------------------------------------------------------------------------------------------------------


def _prototype(draws: int) -> None:
    """Methods that use chance are drawn several times; their own deviation tells whether a difference is one of chance."""
    with (HERE / "prototype.csv").open() as file:
        said = {row["method"]: row for row in csv.DictReader(file)}
    rows: list[list[object]] = []
    for label, method in PROTOTYPE.items():
        by_chance = isinstance(method, RankSwapping | Noise)
        runs = [assessed(method, seed)[0] for seed in range(draws if by_chance else 1)]
        ours = {name: float(np.mean([run[name] for run in runs])) for name in QUANTITIES}
        theirs = {name: float(said[label][name]) for name in QUANTITIES}
        rows.append([label, f"ours, {draws} draws" if by_chance else "ours", *(ours[name] for name in QUANTITIES)])
        if len(runs) > 1:
            rows.append(["", "sd of a draw", *(float(np.std([run[name] for run in runs], ddof=1)) for name in QUANTITIES)])
        rows.append(["", "prototype", *(theirs[name] for name in QUANTITIES)])
        rows.append(["", "difference", *(ours[name] - theirs[name] for name in QUANTITIES)])
    heads = ["method", "", "k", "SSE %", "IL", "IL1s", "PIL", "ID", "DBRL", "PRL", "DR"]
    _print("All 13 Census columns, 1080 records, against the prototype", heads, rows, 3)
    print("PRL links each record by itself to its best match, with the share of matches estimated by EM.")
    print("The prototype's rank swapping and noise are one draw.\n")


def _map(folder: Path) -> None:
    svg, page = map_files(map_points())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ru_map.svg").write_text(svg, encoding="utf-8")
    (folder / "ru_map.html").write_text(page, encoding="utf-8")
    print(f"The R-U map is in {folder / 'ru_map.svg'} and {folder / 'ru_map.html'}.")


# ---- paper -------------------------------------------------------------------------------------------------------------------


def _print(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], digits: int) -> None:
    """An aligned table: words to the left, numbers to the right."""
    text = [[f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *text)]
    words = [all(isinstance(row[j], str) for row in rows) for j in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(c.ljust(w) if word else c.rjust(w) for c, w, word in zip(cells, widths, words)).rstrip()

    print(title)
    print(line(heads))
    print("  ".join("-" * w for w in widths))
    print("\n".join(line(row) for row in text) + "\n")
