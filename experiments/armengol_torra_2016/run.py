"""Print ours, published and difference for Tables 1 and 2 of Armengol & Torra, and what the safe form and its rivals keep at the same k."""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from experiments.data import data_path
from experiments.kisilevich_2010.sets import ADULT
from shoal import Roles, Table
from shoal.contracts import Method
from shoal.kernels.groups import class_ids
from shoal.measures.certainty import NCP
from shoal.methods import AntiUnification, AntiUnificationSafe, BalancedMondrian, InfogainMondrian, Kactus, KactusRefined, Mondrian
from shoal.randomness import chance_for, rng_for
from shoal.release import Release
from shoal.runs.learning import decision_tree, matrices
from shoal.runs.sample import sample

HERE = Path(__file__).parent
KS = (5, 10, 20, 30)
QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
SALARY = "salary"
ROLES = Roles(quasi=QUASI, confidential=(SALARY,), target=SALARY, nominal=QUASI)
COMBINATIONS: dict[str, Callable[[int], Method]] = {
    "(<,>)": lambda k: AntiUnification(k=k, conditions=("<", ">"), passes="once"),
    "(>,<)": lambda k: AntiUnification(k=k, conditions=(">", "<"), passes="until-nothing"),
}
SAFE: dict[str, Callable[[int], Method]] = {
    "safe (<,>)": lambda k: AntiUnificationSafe(k=k, order="fewest-first"),
    "safe (>,<)": lambda k: AntiUnificationSafe(k=k, order="most-first"),
    "safe, least suppressed": lambda k: AntiUnificationSafe(k=k),
    "the same, sets with counts": lambda k: AntiUnificationSafe(k=k, publish="counts"),
    "the same, two different salaries": lambda k: AntiUnificationSafe(k=k, l=2),
}
RIVALS: dict[str, Callable[[int], Method]] = {
    "mondrian": lambda k: Mondrian(k=k, publish="counts"),
    "kactus": lambda k: Kactus(k=k),
    "kactus-refined": lambda k: KactusRefined(k=k),
    "infogain-mondrian": lambda k: InfogainMondrian(k=k),
    "balanced-mondrian": lambda k: BalancedMondrian(k=k),
}
S1_ROWS = 11_486
SEED = 2016


def main(words: Sequence[str] | None = None) -> None:
    """Every table, or those named."""
    parser = argparse.ArgumentParser(prog="python -m experiments.armengol_torra_2016", description=__doc__)
    parser.add_argument("--table", choices=list(TABLES), action="append", help="this table alone; may be given more than once")
    parser.add_argument(
        "--weka", type=Path, help="weka.jar (Debian's package weka has one): also train real J48 on the same rows; needs java"
    )
    given = parser.parse_args(words)
    if given.weka and not given.weka.is_file():
        sys.exit(f"There is no file {given.weka}. Debian's package weka puts it into /usr/share/java.")
    for name in given.table or TABLES:
        before = time.process_time()
        TABLES[name](Adult(), given.weka)
        print(f"({name}: {time.process_time() - before:.0f} CPU seconds)\n", flush=True)


class Adult:
    """adult.data to protect, and the three sets of rows to test on. '?' is a value when patterns are sought, and missing when a tree is grown."""

    def __init__(self) -> None:
        self.table = _read("adult.data")
        self.plain = _with_missing(self.table)
        some = np.sort(rng_for(SEED, "S1").choice(len(self.table), S1_ROWS, replace=False))
        self.tests = {"S1": self.plain.take(some), "uci": _with_missing(_read("adult.test")), "DB": self.plain}

    def accuracy(self, points: Table, repeat: NDArray[np.int64] | None = None) -> dict[str, float]:
        """Of shoal's C4.5, per cent, by test set. repeat: how often each row is used."""
        rows = _with_missing(points)
        rows = rows if repeat is None else rows.take(np.repeat(np.arange(len(rows)), repeat))
        names = self.plain.levels(SALARY).to_pylist()
        found = {}
        for name, tested in self.tests.items():
            train, test, nominal = matrices(rows, tested, QUASI, self.plain, ROLES)
            said = decision_tree(train, test, nominal, _classes(rows, names), len(names), SEED)
            found[name] = 100 * float((said == _classes(tested, names)).mean())
        return found


def _read(name: str) -> Table:
    """The eight quasi-identifiers and the class, age in bins of five years."""
    lines = [[cell.strip().rstrip(".") for cell in line.split(",")] for line in data_path("adult", name).read_text().splitlines()]
    rows = [dict(zip((*ADULT, SALARY), line)) for line in lines if len(line) == len(ADULT) + 1]
    for row in rows:
        age = int(row["age"])
        row["age"] = "low-19" if age < 20 else "high-90" if age >= 90 else f"{age // 5 * 5}-{age // 5 * 5 + 4}"
    return Table.of({column: pa.array([row[column] for row in rows]) for column in (*QUASI, SALARY)})


def _with_missing(table: Table) -> Table:
    return table.with_columns(
        {
            column: pa.array([None if text == "?" else text for text in table.levels(column).to_pylist()], pa.string()).take(
                pa.array(table.codes(column))
            )
            for column in QUASI
        }
    )


def _classes(table: Table, names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([float(names.index(name)) for name in table.levels(SALARY).to_pylist()])[table.codes(SALARY)]


def _published(table: str) -> dict[tuple[str, str, int], float]:
    with (HERE / "published.csv").open() as file:
        return {(r["model"], r["quantity"], int(r["k"])): float(r["value"]) for r in csv.DictReader(file) if r["table"] == table}


def _beside(ours: float, theirs: float, digits: int = 2) -> str:
    return f"{ours:.{digits}f} / {theirs:.{digits}f} / {ours - theirs:+.{digits}f}"


def _protected(adult: Adult, method: Method) -> Release:
    return method.protect(adult.table, ROLES, chance_for(SEED, "protect"))


def _points(release: Release) -> Table:
    return sample(release.table, rng_for(SEED, "sample"))


# ---- Table 1 -----------------------------------------------------------------------------------------------------------------


def _table_1(adult: Adult, weka: Path | None) -> None:
    said = _published("1")
    print("Table 1: accuracy of trees trained on the patterns, per cent. Cells: ours / published / difference.\n")
    rows: list[list[object]] = []
    real: list[list[object]] = []
    original = adult.accuracy(adult.plain)
    for name in adult.tests:
        rows.append(["DB", name, *(_beside(original[name], said["DB", name, k]) for k in KS)])
    if weka:
        found = _j48(weka, adult, adult.plain)
        real += [["DB", name, *(_beside(found[name], said["DB", name, k]) for k in KS)] for name in adult.tests]
    for model, make in COMBINATIONS.items():
        once: list[dict[str, float]] = []
        weighted: list[dict[str, float]] = []
        j48: list[dict[str, float]] = []
        for k in KS:
            release = _protected(adult, make(k))
            points = _points(release)
            once.append(adult.accuracy(points))
            weighted.append(adult.accuracy(points, release.table.number("support").astype(np.int64)))
            if weka:
                j48.append(_j48(weka, adult, points))
        for name in adult.tests:
            rows.append([f"{model}, a row per pattern", name, *(_beside(a[name], said[model, name, k]) for a, k in zip(once, KS))])
        for name in adult.tests:
            rows.append([f"{model}, by support", name, *(_beside(a[name], said[model, name, k]) for a, k in zip(weighted, KS))])
        if weka:
            real += [
                [f"{model}, a row per pattern", name, *(_beside(a[name], said[model, name, k]) for a, k in zip(j48, KS))]
                for name in adult.tests
            ]
    heads = ["model", "test", *(f"K = {k}" for k in KS)]
    _print("shoal's C4.5", heads, rows)
    if weka:
        _print("WEKA's J48", heads, real)
    majority = 100 * float(np.bincount(adult.tests["uci"].codes(SALARY)).max() / len(adult.tests["uci"]))
    print(f"S1 is drawn anew ({S1_ROWS:,} of DB); always saying the commoner class is right for {majority:.2f} % of uci.\n")


# ---- Table 2 -----------------------------------------------------------------------------------------------------------------


def _table_2(adult: Adult, weka: Path | None) -> None:
    said = _published("2")
    print("Table 2: patterns, and records that satisfy none. Cells: ours / published / difference.\n")
    rows: list[list[object]] = []
    for model, make in COMBINATIONS.items():
        found = []
        for k in KS:
            release = _protected(adult, make(k))
            found.append({"patterns": len(release), "rest": len(adult.table) - _satisfying(adult, release)})
        for quantity in ("patterns", "rest"):
            cells = [_beside(f[quantity], said[model, quantity, k], 0) for f, k in zip(found, KS)]
            rows.append([model, quantity, *cells])
        part = [f"{100 * (f['rest'] / said[model, 'rest', k] - 1):+.1f} %" for f, k in zip(found, KS)]
        rows.append([model, "rest, of the published", *part])
    _print("Table 2", ["model", "", *(f"K = {k}" for k in KS)], rows)


def _satisfying(adult: Adult, release: Release) -> int:
    """Records that satisfy a pattern of their own class, counted from the released list alone."""
    table = release.table
    columns = (*QUASI, SALARY)
    shown = np.column_stack([np.array([t != "*" for t in table.levels(c).to_pylist()])[table.codes(c)] for c in columns])
    hit = np.zeros(len(adult.table), np.bool_)
    for mask in np.unique(shown, axis=0):
        mine = table.take(np.flatnonzero((shown == mask).all(axis=1)))
        keep = [c for c, there in zip(columns, mask) if there]
        both = [np.unique(np.concatenate([_texts(mine, c), _texts(adult.table, c)]), return_inverse=True)[1] for c in keep]
        ids, _ = class_ids(both)
        hit |= np.isin(ids[len(mine) :], ids[: len(mine)])
    return int(hit.sum())


def _texts(table: Table, column: str) -> NDArray[np.str_]:
    return np.array([text.removeprefix("\\") for text in table.levels(column).to_pylist()])[table.codes(column)]


# ---- beyond the paper --------------------------------------------------------------------------------------------------------


def _safe(adult: Adult, weka: Path | None) -> None:
    said = _published("prototype")
    print("One row per record, k-anonymous: what is kept at the same k. Trees are shoal's C4.5, tested on uci.\n")
    print(
        f"original: {adult.accuracy(adult.plain)['uci']:.2f}"
        + (f" (J48 {_j48(weka, adult, adult.plain)['uci']:.2f})" if weka else "")
        + "\n"
    )
    heads = [
        "method",
        "K",
        "smallest class",
        "groups",
        "lost",
        "accuracy",
        *(["J48"] if weka else []),
        "indifferent per record",
        "NCP",
        "in one-class groups",
        "prototype: accuracy",
    ]
    rows: list[list[object]] = []
    for name, make in (SAFE | RIVALS).items():
        for k in KS:
            release = _protected(adult, make(k))
            ids, number = class_ids([release.table.codes(c) for c in QUASI])
            size = np.bincount(ids)
            differs = sum(
                np.array([t is not None and t[:1] in ("*", "{") for t in release.table.levels(c).to_pylist()])[release.table.codes(c)]
                for c in QUASI
            )
            salary = release.table.codes(SALARY)
            pure = np.maximum(*(np.bincount(ids, salary == c, number) for c in (0, 1))) == size
            points = _points(release)
            real = [_j48(weka, adult, points)["uci"]] if weka else []
            ncp = NCP().measure(adult.table, release, ROLES).value
            theirs = said.get((name.removeprefix("safe "), "uci", k), "")
            lost = len(adult.table) - len(release)
            rows.append(
                [
                    name,
                    k,
                    int(size.min()),
                    number,
                    lost,
                    adult.accuracy(points)["uci"],
                    *real,
                    float(np.mean(differs)),
                    ncp,
                    f"{100 * size[pure].sum() / size.sum():.0f} %",
                    theirs,
                ]
            )
    _print("Indifferent: cells that are suppressed or hold more than one value", heads, rows)


def _j48(weka: Path, adult: Adult, points: Table) -> dict[str, float]:
    """WEKA's J48 with its defaults, per cent, by test set."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder) / "train.arff"
        _write_arff(train, _with_missing(points), adult)
        for name, tested in adult.tests.items():
            test = Path(folder) / "test.arff"
            _write_arff(test, tested, adult)
            call = ["java", "-Xmx2g", "-cp", str(weka), "weka.classifiers.trees.J48", "-t", str(train), "-T", str(test)]
            lines = subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()
            found[name] = float([line.split()[-2] for line in lines if line.startswith("Correctly")][-1])
    return found


def _write_arff(path: Path, table: Table, adult: Adult) -> None:
    """Nominal attributes with all values that occur anywhere."""
    columns = (*QUASI, SALARY)
    lines = ["@relation adult"]
    for c in columns:
        known = sorted({v for one in (adult.plain, adult.tests["uci"]) for v in one.levels(c).to_pylist() if v is not None})
        lines.append(f"@attribute '{c}' {{{','.join(repr(v) for v in known)}}}")
    cells = [np.array(["?" if v is None else repr(v) for v in table.levels(c).to_pylist()])[table.codes(c)] for c in columns]
    path.write_text("\n".join([*lines, "@data", *map(",".join, zip(*cells))]) + "\n")


def _print(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    said = [
        [f"{cell:.3f}" if isinstance(cell, float) and cell < 1 else f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in rows
    ]
    widths = [max(len(line[i]) for line in [list(heads), *said]) for i in range(len(heads))]
    print(f"{title}\n")
    for line in [list(heads), ["-" * w for w in widths], *said]:
        print("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip())
    print()


TABLES: dict[str, Callable[[Adult, Path | None], None]] = {"1": _table_1, "2": _table_2, "safe": _safe}
