"""Generated tables, each through one method or a recipe of two, and what was promised counted again by code of its own.

A case fails if a promise is broken or was not made, if anything was lost or let out, or if anything but shoal's own error comes out, or one that
quotes a cell. shoal's own check finding a broken promise is a failure of the method.
"""

from __future__ import annotations

import csv
import datetime
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.checks.verify import verify
from shoal.errors import PromiseBroken, ShoalError
from shoal.files import read_table
from shoal.registry import make
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.recipe import Recipe, apply_steps, ready
from shoal.runs.run import check_kept, protect_to_folder
from shoal.table import Table
from shoal.writing import write_table
from torture.coding import CODING, wrongly_coded
from torture.drawing import ALONG_HIERARCHIES, CLOSE, DIVERSE, GENERALIZING, METHODS, WITHOUT_K, Case, Column, drawn
from torture.recount import Cells, broken, counted, covers, named, read_release, same
from torture.runner import Outcome
from torture.subjects import MEMORY, in_memory

NAME = "tables"
QUOTED = 6  # letters of a cell that no message has by chance
WARMED = 6 * len(METHODS)


def share(n: int) -> int:
    """One table each."""
    return n


def warm() -> None:
    """Kernels are compiled, or loaded."""
    for number in range(WARMED):
        run(number, 0)


def run(number: int, seed: int) -> Outcome:
    """One table."""
    case = drawn(number, seed)
    kind = METHODS[number % len(METHODS)]
    with tempfile.TemporaryDirectory(dir=MEMORY if in_memory() else None) as name:
        folder = Path(name)
        try:
            wrong = [*_protected(case, folder), *(_whole(case, folder) if case.whole else ())]
        except PromiseBroken as error:
            return Outcome(kind, f"shoal's own check: {error}")
        except ShoalError as error:
            quoted = _quoted(case, str(error), *case.columns, str(folder))
            return Outcome(kind, f"the message quotes a cell: {error}" if quoted else "", refused=True)
    return Outcome(kind, "; ".join(wrong))


def described(number: int, seed: int) -> str:
    """A case in words, to look into a failure."""
    case = drawn(number, seed)
    lines = [f"{case.rows} rows as {case.form}, missing {case.token!r}", f"steps {case.steps}", f"roles {case.roles}"]
    lines += [f"{name!r} ({column.kind}): {column.values[:60]}" for name, column in case.columns.items()]
    return "\n".join(lines)


# ---- the case through shoal -----------------------------------------------------------------------------------------------------------


def _protected(case: Case, folder: Path) -> list[str]:
    """As `protect_to_folder` does it, up to measures and attacks."""
    table, steps = _table(case, folder), tuple(make("method", name, given) for name, given in case.steps)
    original, roles = ready(table, Roles(**case.roles), steps)
    release = apply_steps(original, roles, steps, case.secret)
    file = folder / f"release.{'parquet' if original.format.kind == 'parquet' else 'csv'}"
    write_table(release.table, file)
    check_kept(file, release)
    return list(_wrong(case, release, file))


def _whole(case: Case, folder: Path) -> list[str]:
    """Everything that a run folder holds, and whether it verifies."""
    if case.form == "arrow":
        case = replace(case, form="parquet")
    file, steps = _file(case, folder), tuple(make("method", name, given) for name, given in case.steps)
    protect_to_folder(Recipe(file, Roles(**case.roles), steps), folder / "run", case.secret)
    written = next((folder / "run").glob("release.*"))
    found = verify(written, folder / "run" / "certificate.json")
    return [f"verify: {one.what}, said {one.promised}, found {one.found}" for one in found.checks if not one.holds]


def _table(case: Case, folder: Path) -> Table:
    return Table.of(_arrow(case)) if case.form == "arrow" else read_table(_file(case, folder))


def _file(case: Case, folder: Path) -> Path:
    if case.form == "parquet":
        pq.write_table(_arrow(case), folder / "input.parquet")
        return folder / "input.parquet"
    mark = {"semicolon": ";", "tab": "\t", "decimal-comma": ";"}.get(case.form, ",")
    path = folder / "input.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=mark, lineterminator="\n")
        writer.writerow(case.columns)
        for row in range(case.rows):
            writer.writerow([_written(case, column, column.values[row]) for column in case.columns.values()])
    return path


def _written(case: Case, column: Column, value: Any) -> str:
    if value is None:
        return case.token
    if column.kind == "date-text":
        return str(value.strftime("%d.%m.%Y"))
    text = str(value)
    return text.replace(".", ",") if case.form == "decimal-comma" and isinstance(value, float) else text


def _arrow(case: Case) -> pa.Table:
    arrays = {}
    for name, column in case.columns.items():
        values = column.values
        if column.kind == "date-text":
            values = [None if value is None else value.strftime("%d.%m.%Y") for value in values]
        broken_up = any(isinstance(value, float) for value in values)
        arrays[name] = pa.array([float(v) if v is not None and broken_up else v for v in values])
    return pa.table(arrays)


# ---- what must hold -------------------------------------------------------------------------------------------------------------------


def _wrong(case: Case, release: Release, file: Path) -> Iterator[str]:
    written = release.table.format
    cells = read_release(file, written.delimiter, written.missing)
    source = release.source_row.tolist()
    patterns = case.steps[-1][0] == "anti-unification"
    yield from _wrong_promises(case, release, cells, source)
    yield from _missing_promises(case, release)
    yield from _wrong_rows(case, release, cells, source, patterns)
    yield from _not_covered(case, release, cells, source)
    removed = {*case.role("identifier"), *(() if "person" in case.roles.get("link", {}) else case.role("person"))}
    if removed & set(cells):
        yield f"columns that should be gone are there: {sorted(removed & set(cells))}"
    for sentence in release.warnings:
        if _quoted(case, sentence, *case.columns):
            yield f"a warning quotes a cell: {sentence}"


def _wrong_promises(case: Case, release: Release, cells: Cells, source: list[int]) -> Iterator[str]:
    person = case.role("person")
    whose = [case.columns[person[0]].values[row] for row in source] if person else None
    for one in release.promises:
        persons = whose if one.unit == "persons" else None
        found = counted(one.what, one.columns, one.about, one.ignores, cells, persons)
        if broken(one.what, one.value, found):
            yield f"{one.what} of {one.about or 'rows'} over {one.columns}: promised {one.value}, recounted {found}"


def _missing_promises(case: Case, release: Release) -> Iterator[str]:
    """What the parameters ask for must be among the promises, unless a later step has changed the columns again."""
    made = {(one.what.removeprefix("ordered-"), float(one.value), frozenset(one.columns), one.about) for one in release.promises}
    for at, (name, given) in enumerate(case.steps):
        columns = frozenset(_columns(case, given))
        later = {c for _, more in case.steps[at + 1 :] for c in _columns(case, more)}
        if columns & later:
            continue
        asked: list[tuple[str, float, str | None]] = []
        if name not in WITHOUT_K and "subsets" not in given:
            asked.append(("k-anonymity", given.get("k", 10), None))
        for about in case.role("confidential"):
            asked += [("l-diversity", given["l"], about)] if name in DIVERSE and given.get("l", 1) > 1 else []
            asked += [("entropy-l-diversity", given["entropy"], about)] if name in DIVERSE and given.get("entropy", 1) > 1 else []
            asked += [("t-closeness", given["t"], about)] if name in CLOSE and given.get("t", 1) < 1 else []
        for what, value, about in asked:
            if about not in later and (what, float(value), columns, about) not in made:
                yield f"{what} {value} of {about or 'rows'} was asked of {name}, and is not promised"
    if case.role("person") and any(one.unit == "rows" for one in release.promises):
        yield "a promise counts rows where persons are told"


def _wrong_rows(case: Case, release: Release, cells: Cells, source: list[int], patterns: bool) -> Iterator[str]:
    rows = len(next(iter(cells.values())))
    if rows != len(source):
        yield f"the file has {rows} rows, the release {len(source)}"
        return
    dropping = any(given.get("leftover") in ("drop", "suppress") or given.get("suppress") for _, given in case.steps)
    if not patterns and (len(set(source)) != len(source) or (len(source) != case.rows and not dropping)):
        yield f"{len(source)} of {case.rows} rows came out"
    if len(source) < case.rows and not any("left the release" in one or "discarded" in one for one in release.warnings):
        yield "rows are gone and no warning says so"
    changed = {column for step in release.made_by for column in step.columns}
    for name in case.columns:
        if name not in cells or name in changed or name in (*case.role("household"), *case.role("person")):
            continue
        if patterns and case.role("person"):  # a pattern has a value of the person, from whichever of its rows
            continue
        column = case.columns[name]
        olds = [column.values[row] for row in source]
        gone = column.codes if name in case.role("quasi") else ()  # which are read as missing, whether or not a step looks at the column
        if not all(same(new, old) or (new is None and str(old) in gone) for new, old in zip(cells[name], olds)):
            yield f"column {name!r} is not what it was"
    for name in case.role("confidential"):
        if name not in cells:
            yield f"the confidential column {name!r} is gone"


def _not_covered(case: Case, release: Release, cells: Cells, source: list[int]) -> Iterator[str]:
    """Methods that generalize stay true: a released cell allows what stood there."""
    for at, (name, given) in enumerate(case.steps):
        columns = set(_columns(case, given))
        others = {c for i, (_, more) in enumerate(case.steps) if i != at for c in _columns(case, more)}
        if name in CODING:
            yield from _wrongly_coded(case, name, given, columns - others, cells, source)
        true = name in (*GENERALIZING, "anti-unification", "recode") or given.get("replacement") == "cell"
        if not true or given.get("publish") in ("mean", "labels"):
            continue
        for column in (columns - others) & set(cells):
            if column not in release.table.cells and name in ALONG_HIERARCHIES:  # not recoded at all
                if not all(_is_kept(cells[column][place], case.columns[column], row) for place, row in enumerate(source)):
                    yield f"{name}: column {column!r} was to stay as it was"
                continue
            values, codes = case.columns[column].values, case.columns[column].codes
            for place, row in enumerate(source):
                value = values[row]
                shown = cells[column][place]
                allowed = covers(shown, value) or (str(value) in codes and covers(shown, None))
                if not (allowed or named(shown, value, case.columns[column].hierarchy, case.columns[column].levels)):
                    yield f"{name}: a cell of {column!r} does not cover what stood there: {shown!r} for {value!r}"
                    break


def _columns(case: Case, given: dict[str, Any]) -> tuple[str, ...]:
    """Those a step protects: named, named by what it is given for each, or all quasi-identifiers."""
    each = next((given[key] for key in ("limit", "cuts", "map") if isinstance(given.get(key), dict)), ())
    return tuple(given.get("columns") or each or case.role("quasi"))


def _wrongly_coded(case: Case, name: str, given: dict[str, Any], columns: set[str], cells: Cells, source: list[int]) -> Iterator[str]:
    for column in columns & set(cells):
        one = case.columns[column]
        if one.kind == "number":
            olds = [None if str(one.values[row]) in one.codes else one.values[row] for row in source]
            yield from (f"{column!r}: {what}" for what in wrongly_coded(name, given, olds, cells[column]))


def _is_kept(cell: Any, column: Column, row: int) -> bool:
    """Whether a cell is what stood there; a code for missing may be missing."""
    value = column.values[row]
    return same(cell, value) or (cell is None and str(value) in column.codes)


def _quoted(case: Case, sentence: str, *beside: str) -> bool:
    """Whether a sentence holds a cell; names of columns, and what is said beside, are none."""
    for one in sorted((*beside, *METHODS), key=len, reverse=True):
        sentence = sentence.replace(one, " ")
    cells = {_plain(value) for column in case.columns.values() for value in column.values if value is not None}
    return any(len(one) >= QUOTED and one in sentence for one in cells)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
