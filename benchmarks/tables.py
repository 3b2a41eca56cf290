"""Tables for benchmarks. Of recoding: Adult with its hierarchies, as codes; copies of it of any length; and Adult with fifteen columns. Of
engines: files of as many rows as one likes.

Adult is `adult_30162.csv`, columns in its order. A hierarchy counts the leaves of its file, of which the table has only some. The table of
fifteen columns takes six more from `adult.data`, the same rows, with hierarchies over the values that occur.

Files of many rows are drawn from a pool of invented persons, so that combinations stay what they are however many rows there are.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.trees import data_folder
from shoal.arrays import Int32Array, IntArray
from shoal.kernels.coded_hierarchy import CodedHierarchy

ADULT = "adult_30162.csv"
EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
NINE = (*EIGHT, "salary-class")
NAMES = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex")
NAMES = (*NAMES, "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class")  # of adult.data
MORE = ("relationship", "hours-per-week", "capital-gain", "capital-loss", "fnlwgt", "education-num")
REDRAWN, SEED = 0.3, 452_220
PERSONS = ("age", "zip", "sex", "education", "marital", "occupation", "hours", "country")
MEASURED = ("height", "weight", "pulse", "systolic", "diastolic", "glucose", "creatinine")
A_FILE = 1_000_000  # rows


class CodedTable(NamedTuple):
    """Distinct combinations of the columns, how many rows have each, and the hierarchy of each column."""

    codes: Int32Array
    rows: IntArray
    hierarchies: list[CodedHierarchy]


def folder() -> Path | None:
    """Where Adult is, if it is there with its hierarchies."""
    place = data_folder()
    there = all((place / name).exists() for name in (ADULT, "adult.data", "adult.test", "hierarchies"))
    if not there:
        print("left out: Adult with its hierarchies is not there (set SHOAL_DATA)")
    return place if there else None


def adult(columns: Sequence[str] = NINE, place: Path | None = None) -> CodedTable:
    """The 30,162 rows."""
    place = place or data_folder()
    rows = list(csv.DictReader((place / ADULT).open(), delimiter=";"))
    trees = [_file(place, name) for name in columns]
    codes = np.column_stack([_places(tree, [row[name] for row in rows]) for name, tree in zip(columns, trees)])
    return _counted(codes, [_coded(tree) for tree in trees])


def adult_copies(rows: int, columns: Sequence[str] = EIGHT, place: Path | None = None) -> CodedTable:
    """The 45,222 complete rows of both files over and over, three tenths of all cells redrawn evenly from the leaves of their hierarchy: of
    452,220 rows most are then different, and the best levels lose about what they lose of the table the bar was set on (.27)."""
    place = place or data_folder()
    base = _complete(place, ("adult.data", "adult.test"))
    trees = [_file(place, name) for name in columns]
    whole = np.column_stack([_places(tree, [row[NAMES.index(name)] for row in base]) for name, tree in zip(columns, trees)])
    rng = np.random.default_rng(SEED)
    codes = whole[np.arange(rows) % len(whole)]
    for j in range(len(columns)):
        drawn = rng.random(rows) < REDRAWN
        codes[drawn, j] = rng.integers(0, len(trees[j]), int(drawn.sum()))
    return _counted(codes, [_coded(tree) for tree in trees])


def adult_fifteen(place: Path | None = None) -> CodedTable:
    """The nine columns, and relationship, hours, capital gain and loss, eighths of fnlwgt, and education in years."""
    place = place or data_folder()
    base = _complete(place, ("adult.data",))
    column = {name: [row[j] for row in base] for j, name in enumerate(NAMES)}
    number = {name: np.array(column[name], np.int64) for name in MORE[1:]}
    cuts = np.quantile(number["fnlwgt"], np.arange(1, 8) / 8)
    more = [
        _levels(np.unique(column["relationship"], return_inverse=True)[1].reshape(-1)),
        _levels(number["hours-per-week"], lambda x: x // 5, lambda x: x // 10, lambda x: x // 20),
        _levels(number["capital-gain"], lambda x: np.where(x == 0, 0, 1 + x // 5000)),
        _levels(number["capital-loss"], lambda x: np.where(x == 0, 0, 1 + x // 500)),
        _levels(np.searchsorted(cuts, number["fnlwgt"], side="right"), lambda x: x // 2),
        _levels(number["education-num"], lambda x: x // 4),
    ]
    trees = [_file(place, name) for name in NINE]
    codes = [_places(tree, column[name]) for name, tree in zip(NINE, trees)] + [codes for codes, _ in more]
    return _counted(np.column_stack(codes), [_coded(tree) for tree in trees] + [hierarchy for _, hierarchy in more])


def _complete(place: Path, files: Sequence[str]) -> list[list[str]]:
    rows = []
    for name in files:
        for text in (place / name).read_text().splitlines():
            cells = [cell.strip() for cell in text.rstrip(".").split(",")]
            if len(cells) == len(NAMES) and "?" not in cells:
                rows.append(cells)
    return rows


def _file(place: Path, column: str) -> list[list[str]]:
    return list(csv.reader((place / "hierarchies" / f"adult_hierarchy_{column}.csv").open(), delimiter=";"))


def _places(tree: list[list[str]], values: list[str]) -> IntArray:
    place = {row[0]: i for i, row in enumerate(tree)}
    return np.array([place[value] for value in values])


def _coded(levels: list[list[str]]) -> CodedHierarchy:
    """Of a tree, a row for each leaf: nodes are numbered as they first come."""
    nodes = np.empty((len(levels[0]), len(levels)), np.int32)
    for level in range(len(nodes)):
        number: dict[str, int] = {}
        nodes[level] = [number.setdefault(row[level], len(number)) for row in levels]
    leaves = [np.bincount(level)[level] for level in nodes]
    return CodedHierarchy(nodes, (np.array(leaves) - 1) / max(len(levels) - 1, 1))


def _levels(values: IntArray, *groups: object) -> tuple[IntArray, CodedHierarchy]:
    """The codes of a column, and the hierarchy that these groups of its values make, with one group of all on top."""
    distinct, codes = np.unique(values, return_inverse=True)
    names = [distinct, *(group(distinct) for group in groups), np.zeros(len(distinct))]  # type: ignore[operator]
    return codes.reshape(-1), _coded([[str(level[i]) for level in names] for i in range(len(distinct))])


def _counted(codes: IntArray, hierarchies: list[CodedHierarchy]) -> CodedTable:
    distinct, rows = np.unique(codes.astype(np.int32), axis=0, return_counts=True)
    return CodedTable(distinct, rows.astype(np.int64), hierarchies)


def write_persons(place: Path, rows: int, pool: int, target: bool = False) -> list[Path]:
    """Files of rows with the eight columns of a person each, drawn from a pool of so many; a target of four classes leans on three of them."""
    rng = np.random.default_rng(SEED)

    def skewed(values: int, by: float) -> IntArray:
        return np.minimum(rng.random(pool) ** by * values, values - 1).astype(np.int64)

    persons = [rng.normal(45, 20, pool).clip(0, 99), skewed(400, 1.5), rng.integers(0, 2, pool), skewed(16, 1.7), skewed(7, 1.5)]
    persons += [skewed(15, 1.2), rng.normal(38, 10, pool).clip(1, 80), skewed(40, 4.0)]
    columns = {name: values.astype(np.int64) for name, values in zip(PERSONS, persons)}
    if target:
        leaning = columns["age"] / 25 + columns["education"] / 4 + columns["hours"] / 20 + rng.normal(0, 1, pool)
        columns["income"] = np.searchsorted(np.quantile(leaning, [0.4, 0.7, 0.9]), leaning).astype(np.int64)

    def some(first: int, many: int) -> pa.Table:
        at = np.random.default_rng([SEED, first]).integers(0, pool, many)
        return pa.table({name: values[at] for name, values in columns.items()})

    return _in_files(place, rows, some)


def write_measured(place: Path, rows: int) -> list[Path]:
    """Files of rows with seven numbers each: correlated and skewed, and hardly two alike."""
    loading = np.random.default_rng(SEED).normal(size=(3, len(MEASURED)))

    def some(first: int, many: int) -> pa.Table:
        rng = np.random.default_rng([SEED, first])
        values = np.exp(0.5 * (rng.normal(size=(many, 3)) @ loading + 0.5 * rng.normal(size=(many, len(MEASURED)))))
        return pa.table(dict(zip(MEASURED, values.T)))

    return _in_files(place, rows, some)


def _in_files(place: Path, rows: int, some: Callable[[int, int], pa.Table]) -> list[Path]:
    place.mkdir()
    paths = []
    for first in range(0, rows, A_FILE):
        paths.append(place / f"rows-{first // A_FILE:03d}.parquet")
        pq.write_table(some(first, min(A_FILE, rows - first)), paths[-1])
    return paths
