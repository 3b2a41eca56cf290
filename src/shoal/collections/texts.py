"""Texts with what is known of them, to build a space of; from a column of a table, or from lines of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shoal.errors import DataError, did_you_mean
from shoal.files import read_table
from shoal.parsing import parse_json, read_text


@dataclass(frozen=True)
class Texts:
    """Texts with their names, and labels and authors where they are known; what could not be read, with a sentence each."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    authors: tuple[str, ...] | None = None
    failed: Mapping[str, str] = field(default_factory=dict)


def texts_of_column(source: Path, column: str, label: str = "", author: str = "") -> Texts:
    """One text per row of a CSV, Parquet or JSONL file; `label` and `author` name further columns."""
    wanted = [name for name in (column, label, author) if name]
    rows = list(_json_lines(source, wanted) if source.suffix.lower() in (".jsonl", ".ndjson") else _table_rows(source, wanted))
    return Texts(
        tuple(row[column] for row in rows),
        tuple(f"row-{number}" for number in range(1, len(rows) + 1)),
        tuple(row[label] for row in rows) if label else None,
        tuple(row[author] for row in rows) if author else None,
    )


def _table_rows(source: Path, wanted: Sequence[str]) -> Iterator[dict[str, str]]:
    table = read_table(source, text=list(wanted))
    cells = [table.column(name).to_pylist() for name in wanted]
    for row in zip(*cells):
        yield {name: "" if cell is None else str(cell) for name, cell in zip(wanted, row)}


def _json_lines(source: Path, wanted: Sequence[str]) -> Iterator[dict[str, str]]:
    for number, line in enumerate(read_text(source, None).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line, source)
            yield {name: "" if row[name] is None else str(row[name]) for name in wanted}
        except (DataError, TypeError):
            raise DataError(f"{source}, line {number}: this is not an object in JSON.") from None
        except KeyError as missing:
            near = did_you_mean(str(missing.args[0]), row)
            raise DataError(f"{source}, line {number}: there is no field '{missing.args[0]}'.{near}") from None
