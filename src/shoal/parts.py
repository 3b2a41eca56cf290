"""Rows in a folder of Parquet files, one file after the other: names and types are those of the first, and all others must have them."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import DataError, counted
from shoal.files import first_bytes

STRETCH = 1 << 19  # rows looked at together
ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
CERTIFICATE = "certificate.json"  # a folder that has one is a run folder
CELLS = 1 << 24  # looked at together, of tables with many columns


class Part(NamedTuple):
    """One file, and what tells that nobody has changed it since."""

    path: Path
    rows: int
    size: int
    changed: int  # nanoseconds


class Stretch(NamedTuple):
    """Some row groups of a file, and which row of all the first of them is."""

    part: Part
    groups: tuple[int, ...]
    first: int
    rows: int


@dataclass(frozen=True)
class Parts:
    """Files that hold one table between them."""

    files: tuple[Part, ...]
    schema: pa.Schema

    @staticmethod
    def of(paths: Sequence[Path]) -> Parts:
        """Files whose columns have the same names and types; anything else is refused, by the number of the file and the column."""
        files, schema = [], None
        for number, path in enumerate(paths, 1):
            part, found = looked_at(path)
            _refuse_names(found.names)
            schema = schema or found
            _refuse_other(f"{path} (file {number} of {len(paths)})", schema, found)
            files.append(part)
        if schema is None:
            raise DataError("There is no Parquet file to read.")
        return Parts(tuple(files), schema)

    @property
    def rows(self) -> int:
        """Of all files."""
        return sum(part.rows for part in self.files)

    @property
    def paths(self) -> list[str]:
        """Where the files are."""
        return [str(part.path) for part in self.files]

    def ends(self, column: str) -> tuple[int, int] | None:
        """The smallest and largest of whole numbers or days, where the files say them; None where they do not."""
        type_, at = self.schema.field(column).type, self.schema.get_field_index(column)
        if not pa.types.is_integer(type_) and not pa.types.is_date32(type_):
            return None
        low, high = [], []
        for part in self.files:
            about = _metadata(part)
            for group in range(about.num_row_groups):
                told = about.row_group(group).column(at).statistics
                if told is None or not told.has_min_max:
                    return None
                low.append(_as_number(told.min))
                high.append(_as_number(told.max))
        return (min(low), max(high)) if low else None

    def stretches(self) -> list[Stretch]:
        """The files cut at their row groups, of about as many rows as are looked at together."""
        found, first = [], 0
        for part in self.files:
            groups: list[int] = []
            many = 0
            for group, rows in enumerate(_rows_of_groups(part)):
                if groups and many + rows > STRETCH:
                    found.append(Stretch(part, tuple(groups), first, many))
                    first, groups, many = first + many, [], 0
                groups.append(group)
                many += rows
            if groups:
                found.append(Stretch(part, tuple(groups), first, many))
                first += many
        return found


def batches(stretch: Stretch, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.Table]]:
    """The rows of a stretch, and which row of all the first of them is; row groups that are too long are cut."""
    first = stretch.first
    try:
        refuse_changed(stretch.part)
        with pq.ParquetFile(stretch.part.path, pre_buffer=False) as file:
            together = max(1, min(STRETCH, CELLS // max(len(columns or file.schema_arrow.names), 1)))
            for batch in file.iter_batches(together, row_groups=list(stretch.groups), columns=columns):
                yield first, pa.Table.from_batches([batch])
                first += batch.num_rows
        refuse_changed(stretch.part)
    except (pa.ArrowException, OSError):  # its message may quote a cell
        raise _gone(stretch.part) from None


def seen(path: Path) -> Part:
    """A file whose rows are not counted."""
    about = os.stat(path)
    return Part(Path(os.path.abspath(path)), 0, about.st_size, about.st_mtime_ns)


def refuse_changed(part: Part) -> None:
    """Rows that were counted must be those that are released."""
    try:
        now = os.stat(part.path)
    except OSError:
        raise _gone(part) from None
    if (now.st_size, now.st_mtime_ns) != (part.size, part.changed):
        raise DataError(f"{part.path} was changed while it was read. Nothing was released; begin again when nobody writes there.")


def files_of(given: Sequence[Path]) -> list[Path]:
    """Files, and the table files inside folders, by name. What is hidden or begins with an underscore is passed over, as writers mean it; so is
    what was released there."""
    found: list[Path] = []
    for path in given:
        if not path.is_dir():
            found.append(path)
            continue
        try:
            inside = sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith(ENDINGS))
        except OSError as error:
            raise DataError(f"{path} cannot be looked into: {error.strerror}.") from None
        inside = [p for p in inside if not any(name.startswith((".", "_")) for name in p.relative_to(path).parts)]
        runs = {above.parent for above in path.rglob(CERTIFICATE)} - {path}
        inside = [p for p in inside if not runs & {*p.parents}]
        if not inside:
            raise DataError(f"The folder {path} holds no table: no file that ends with {', '.join(ENDINGS)}.")
        found += inside
    if len({_itself(path) for path in found}) < len(found):
        raise DataError("A file is named twice: its rows would count twice. Name each file once.")
    return found


def _itself(path: Path) -> object:
    """What a file is, whatever it is called: it may have two names."""
    try:
        about = path.stat()
        return about.st_dev, about.st_ino
    except OSError:
        return os.path.realpath(path)


def are_parquet(paths: Sequence[Path]) -> bool:
    """Whether files are Parquet, all or none."""
    kinds = [is_parquet(path) for path in paths]
    for path, kind in zip(paths, kinds):
        if kind != kinds[0]:
            raise DataError(
                f"{path} is {'Parquet' if kind else 'not Parquet'}, and {paths[0]} is{' not' if kind else ''}. Give files of one kind."
            )
    return kinds[0]


def is_parquet(path: Path) -> bool:
    """By its first bytes; of a file that is there, can be read and is not empty."""
    return first_bytes(path) == b"PAR1"


def looked_at(path: Path) -> tuple[Part, pa.Schema]:
    """A Parquet file, and the types of its columns."""
    if not is_parquet(path):
        raise DataError(f"{path} is not Parquet.")
    try:
        about = os.stat(path)
        with pq.ParquetFile(path) as file:
            return Part(
                Path(os.path.abspath(path)), file.metadata.num_rows, about.st_size, about.st_mtime_ns
            ), file.schema_arrow.remove_metadata()
    except Exception:  # of every kind, with messages that may quote a cell
        raise DataError(f"{path} starts like Parquet but is damaged.") from None


def _as_number(value: int | datetime.date) -> int:
    return (value - datetime.date(1970, 1, 1)).days if isinstance(value, datetime.date) else value


def _metadata(part: Part) -> pq.FileMetaData:
    try:
        refuse_changed(part)
        return pq.read_metadata(part.path)
    except (pa.ArrowException, OSError):
        raise _gone(part) from None


def _gone(part: Part) -> DataError:
    return DataError(f"{part.path} is damaged, or went away while it was read. Nothing was released.")


def _rows_of_groups(part: Part) -> list[int]:
    about = _metadata(part)
    return [about.row_group(i).num_rows for i in range(about.num_row_groups)]


def _refuse_names(names: Sequence[str]) -> None:
    """Names that would be taken for one another, or for columns that rows have on their way."""
    if not names:
        raise DataError("The files have no columns.")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise DataError(f"The column name '{name}' appears {times} times. Rename the columns so that each is different.")
    if any(name.startswith("\x00") for name in names):
        raise DataError("The name of a column begins with a zero byte. Rename it.")


def _refuse_other(file: str, schema: pa.Schema, found: pa.Schema) -> None:
    if schema.names != found.names:
        lacks = [name for name in schema.names if name not in found.names]
        more = [name for name in found.names if name not in schema.names]
        how = f"lacks '{lacks[0]}'" if lacks else f"has '{more[0]}' besides" if more else "has them in another order"
        raise DataError(
            f"{file} has other columns than the first: it {how} ({counted(len(found.names), 'column')}, the first "
            f"{len(schema.names)}). All files must have the same columns in the same order."
        )
    for name in schema.names:
        if schema.field(name).type != found.field(name).type:
            raise DataError(
                f"Column '{name}' is {found.field(name).type} in {file}, and {schema.field(name).type} in the first. Give it one "
                "type in all files.",
                about=name,
            )
