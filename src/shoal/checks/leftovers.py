"""The independent search of redacted documents: are removed texts in the files that were written?

It is made once all files lie where they will be released from. It shares no code with the readers, the writers or the search that each
document has passed by itself, and reads with other libraries where there are any. Found is what a reader would see: the same words in the
same order, whole, whatever their case and spaces, oftener than was decided. A name of one word that stands in small letters is another
word (Brown, brown).
"""

from __future__ import annotations

import email
import html.parser
import io
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.header import decode_header, make_header
from pathlib import Path
from xml.etree import ElementTree

from shoal.checks.values import formulas_among
from shoal.errors import PromiseBroken

FEWEST_LETTERS, FEWEST_DIGITS = 3, 5  # what is shorter is found anywhere by chance
TECHNICAL = ("content-", "mime-version")
LINES = frozenset(
    ["p", "div", "td", "th", "tr", "li", "ul", "ol", "table", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "title", "pre", "tab", "cr"]
)


@dataclass(frozen=True)
class WrittenDocument:
    """The files of one document below the folder, or the row of it where it is a cell of a table; what was removed from it, and what may
    stand in it: replacements, and what was decided to stay."""

    files: tuple[str, ...]
    removed: tuple[str, ...]
    may: tuple[str, ...] = ()
    row: int | None = None


@dataclass(frozen=True)
class Leftovers:
    """How many files were read, how many removed texts were looked for, and how many of them are in a file of their own document."""

    files: int
    texts: int
    too_short: int
    found: int
    formulas: int = 0  # cells of a CSV that a spreadsheet program might run


def search_written(folder: Path, documents: Sequence[WrittenDocument]) -> Leftovers:
    """Look into every file below a folder for what was removed from its document. A file that belongs to none is a defect, as one that
    cannot be read is."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if there != {file for one in documents for file in one.files}:
        raise PromiseBroken("The files that were written are not those that were checked, so none is released. Please report it.")
    texts = short = found = 0
    cells: dict[str, list[str]] = {}
    for one in documents:
        needles = [text for text in dict.fromkeys(one.removed) if long_enough(text)]
        texts, short = texts + len(needles), short + len(set(one.removed)) - len(needles)
        if not needles:
            continue
        try:
            readings = list(_readings_of(folder, one, cells))
        except Exception:  # of many libraries; what they say may quote the file
            raise PromiseBroken("A written file could not be read again to be searched, so none is released. Please report it.") from None
        may = [_Reading.of(text) for text in one.may]
        found += sum(_is_left(_Needle.of(text), readings, may) for text in needles)
    tables = {file for one in documents if one.row is not None for file in one.files if file.endswith(".csv")}
    return Leftovers(len(there), texts, short, found, sum(_formulas(cells.get(file) or _column(folder / file)) for file in tables))


def long_enough(text: str) -> bool:
    """Whether finding a text says anything: one or two letters, or a few digits, stand anywhere."""
    letters = [letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum()]
    return len(letters) >= (FEWEST_DIGITS if all(map(str.isdigit, letters)) else FEWEST_LETTERS)


def _formulas(cells: list[str]) -> int:
    import pyarrow as pa

    return int(formulas_among(pa.array(cells, pa.string())).sum())


# ---- counting ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    """A text, one space wherever there are some: in its own case, and in none."""

    cased: str
    folded: str

    @staticmethod
    def of(text: str) -> _Reading:
        cased = " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())
        return _Reading(cased, cased.casefold())


@dataclass(frozen=True)
class _Needle:
    """A removed text, and whether small letters make another word of it."""

    folded: str
    is_name: bool

    @staticmethod
    def of(text: str) -> _Needle:
        reading = _Reading.of(text)
        return _Needle(reading.folded, reading.cased.isalpha() and reading.cased[0].isupper())

    def stands(self, reading: _Reading) -> tuple[int, int]:
        """How often it is there, and how often so that it cannot be another word."""
        times = _times(self.folded, reading.folded)
        return times, times - (_times(self.folded, reading.cased) if times and self.is_name else 0)


def _is_left(needle: _Needle, readings: Sequence[_Reading], may: Sequence[_Reading]) -> bool:
    """Whether it stands in some reading of the file oftener than it may."""
    for reading in readings:
        times, sure = needle.stands(reading)
        if times:
            allowed = [needle.stands(one) for one in may]
            if times > sum(every for every, _ in allowed) and sure > max(sum(certain for _, certain in allowed), 0):
                return True
    return False


def _times(needle: str, text: str) -> int:
    """How often the needle stands in a text with neither letter nor digit touching it."""
    count, at = 0, text.find(needle)
    while at >= 0:
        end = at + len(needle)
        before = at > 0 and needle[0].isalnum() and text[at - 1].isalnum()
        after = end < len(text) and needle[-1].isalnum() and text[end].isalnum()
        count += not before and not after
        at = text.find(needle, at + 1 if before or after else end)
    return count


# ---- reading ----------------------------------------------------------------------------------------------------------------


def _readings_of(folder: Path, one: WrittenDocument, cells: dict[str, list[str]]) -> Iterator[_Reading]:
    for file in one.files:
        if one.row is not None:
            if file not in cells:
                cells[file] = _column(folder / file)
            yield _Reading.of(cells[file][one.row])
        else:
            yield _Reading.of(Path(file).stem)
            yield from map(_Reading.of, _texts(Path(file).suffix.lower(), (folder / file).read_bytes()))


def _column(path: Path) -> list[str]:
    """The cells of a table of one column."""
    import pyarrow as pa
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    if path.suffix.lower() == ".parquet":
        table = pq.read_table(path, partitioning=None)
    else:
        names = pacsv.read_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)).column_names
        table = pacsv.read_csv(
            path,
            read_options=pacsv.ReadOptions(block_size=max(1 << 20, path.stat().st_size + 1)),
            parse_options=pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
    return [cell or "" for cell in table.column(0).to_pylist()]


def rows_of(path: Path) -> int:
    """How many rows a released column of texts has; none where it cannot be read."""
    try:
        return len(_column(path))
    except Exception:  # of many kinds; what they say may quote the file
        return 0


def letters_of(path: Path) -> int:
    """How many letters and other signs a reader of a file finds at most; its bytes where it is a table, holds pictures or cannot be read."""
    raw, ending = path.read_bytes(), path.suffix.lower()
    if ending in (".pdf", ".csv", ".parquet"):
        return len(raw)
    try:
        return sum(len("".join(text.split())) for text in _texts(ending, raw))
    except Exception:  # of many libraries; what they say may quote the file
        return len(raw)


def _texts(ending: str, raw: bytes) -> Iterator[str]:
    """What a reader of a file sees, once with nothing and once with a space where its marks stand."""
    if ending == ".docx":
        yield from _word(raw)
    elif ending == ".pdf":
        yield from _pdf(raw)
    elif ending == ".eml":
        yield from _mail(raw)
    elif ending == ".html":
        yield from _page(raw.decode("utf-8", "replace"))
    else:
        yield raw.decode("utf-8", "replace")


def _word(raw: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        for name in file.namelist():
            if name.startswith("word/"):
                root = ElementTree.fromstring(file.read(name))
                lines = ((" " if one.tag.rpartition("}")[2] in LINES else "") + (one.text or "") for one in root.iter())
                yield "".join(lines)
                yield " ".join(root.itertext())


def _pdf(raw: bytes) -> Iterator[str]:
    import logging

    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # what it says of a broken file quotes the file
    yield from (page.extract_text() for page in PdfReader(io.BytesIO(raw)).pages)


def _mail(raw: bytes) -> Iterator[str]:
    endings = {"text/html": ".html", "application/pdf": ".pdf"}
    for part in email.message_from_bytes(raw).walk():
        for key, value in part.items():
            if not key.lower().startswith(TECHNICAL):
                yield str(make_header(decode_header(str(value))))
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):
            type_ = part.get_content_type()
            yield from _texts(".docx" if type_.endswith("wordprocessingml.document") else endings.get(type_, ".txt"), content)


def _page(text: str) -> Iterator[str]:
    page = _Page()
    page.feed(text)
    page.close()
    yield "".join(page.together)
    yield " ".join(page.apart)
    yield " ".join(page.aside)


class _Page(html.parser.HTMLParser):
    """The words of a web page, and those that only its source shows."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.together: list[str] = []
        self.apart: list[str] = []
        self.aside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.together.append(" " if tag in LINES else "")
        self.aside += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.together.append(" " if tag in LINES else "")

    def handle_data(self, data: str) -> None:
        self.together.append(data)
        self.apart.append(data)

    def handle_comment(self, data: str) -> None:
        self.aside.append(data)
