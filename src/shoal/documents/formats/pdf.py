"""PDF files. The text of the pages is read with the place of every character; the output is pictures of what was read and kept.

A PDF can hold words in more ways than can be listed: fonts whose letters are named wrongly, pictures, earlier versions, layers. So no
object of the old file enters the new one. Its pages are drawn, and from the drawing only the characters that were read and kept are
copied; what was removed is a label in their line. The new file has no text to search, so the same text stands beside it as .txt.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.document import Edit
from shoal.documents.formats.pieces import Collector, Opened, seen
from shoal.errors import DataError

MOST_PAGES = 3_000
INVISIBLE = (3, 7)  # text that is there to be found, not seen: the reading of a scan


@dataclass
class Line:
    """A line of a page: its characters, the page's index of each, and what becomes of it."""

    text: str
    characters: list[int]
    becomes: str = ""
    edits: Sequence[Edit] = ()


@dataclass
class Page:
    """A page's lines, and how many of its characters could not be read or are not seen."""

    lines: list[Line] = field(default_factory=list)
    unread: int = 0
    unseen: int = 0


def open_pdf(raw: bytes, name: str) -> Opened:
    """Take a PDF apart."""
    try:
        import pypdf  # noqa: F401 - what it is needed for comes later, and should not fail halfway
        import pypdfium2
    except ImportError:
        raise DataError("Reading PDF needs an extra: pip install 'shoal[documents]'.") from None
    try:
        file: Any = pypdfium2.PdfDocument(raw)
        count = len(file)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise DataError(f"{name} is encrypted. Take the password off first.") from None
        raise DataError(f"{name} is not a PDF, or is damaged. Open it and save it again.") from None
    if count > MOST_PAGES:
        raise DataError(f"{name} has more than {MOST_PAGES:,} pages. Cut it into documents first.")
    out = Collector()
    pages: list[Page] = []
    others: list[Line] = []  # read on the page but not part of it: comments and filled-in forms, which leave as text
    for i in range(count):
        try:
            page = _read_page(file, i)
        except pypdfium2.PdfiumError:
            raise DataError(f"{name} is damaged on page {i + 1}. Open it and save it again.") from None
        pages.append(page)
        _add_lines(page, f"page {i + 1}", out)
        if not page.lines:
            out.left_out.append(f"page {i + 1}, on which no text was found")
        if page.unread:
            out.left_out.append(f"characters on page {i + 1} that cannot be read")
    if any(page.lines for page in pages):
        _read_rest(raw, out, others)

    def save() -> list[tuple[str, bytes]]:
        lines = [line for page in pages for line in page.lines]
        text = _flowed(pages, others).encode("utf-8")
        if sum(page.unseen for page in pages) * 2 > sum(len(line.text) for line in lines):
            return [(".txt", text)]  # a scan with its reading behind it: the picture shows what no one checked
        from shoal.documents.formats.pdf_pictures import pictures

        try:
            return [(".pdf", pictures(file, pages)), (".pdf.txt", text)]
        except (pypdfium2.PdfiumError, MemoryError, OverflowError):
            raise DataError(f"{name} cannot be drawn anew: it is damaged, or its letters or pages are too large. Leave it out.") from None

    return Opened(out.finish(), save, out.left_out)


def _read_page(file: Any, index: int) -> Page:
    from pypdfium2 import raw as pdfium

    page = file[index]
    text_page = page.get_textpage()
    handle = text_page.raw
    found = Page()
    letters: list[str] = []
    characters: list[int] = []

    def end() -> None:
        if "".join(letters).strip():
            found.lines.append(Line("".join(letters), list(characters)))
        letters.clear()
        characters.clear()

    for i in range(text_page.count_chars()):
        code = pdfium.FPDFText_GetUnicode(handle, i)
        if code in (10, 13):
            end()
            continue
        if pdfium.FPDFText_HasUnicodeMapError(handle, i) == 1 or 0xE000 <= code <= 0xF8FF:
            found.unread += 1
            continue
        if pdfium.FPDFText_IsHyphen(handle, i) == 1:  # stands for the hyphen and the line's end
            letters.append("-")
            characters.append(i)
            end()
            continue
        letter = seen(chr(code)) if code <= 0x10FFFF else ""
        if not letter:
            continue
        if letter.strip() and not pdfium.FPDFText_IsGenerated(handle, i):
            text = pdfium.FPDFText_GetTextObject(handle, i)
            found.unseen += bool(text) and pdfium.FPDFTextObj_GetTextRenderMode(text) in INVISIBLE
        letters.append(" " if letter.isspace() else letter)
        characters.append(i)
    end()
    text_page.close()
    page.close()
    return found


def _add_lines(page: Page, part: str, out: Collector) -> None:
    """A piece for every line. A word that a hyphen cuts at the line's end is one word to whoever looks for names."""
    for line, following in zip(page.lines, [*page.lines[1:], None]):
        cut = _cut(line, following)
        out.add(part, line.text[:-1] if cut == "word" else line.text, _putter(line, cut))
        if not cut:
            out.end()


def _cut(line: Line, following: Line | None) -> str:
    """Whether a line ends inside a "word", after a "hyphen" that belongs there (Jean-Paul), or in neither."""
    text = line.text
    if following is None or len(text) < 2 or text[-1] not in "-\u2010" or not text[-2].isalnum() or not following.text[:1].isalnum():
        return ""
    return "word" if text[-2].islower() and following.text[:1].islower() else "hyphen"


def _putter(line: Line, cut: str = "") -> Any:
    def put(becomes: str, edits: Sequence[Edit]) -> None:
        last = len(line.text) - 1
        if cut == "word" and edits and edits[-1].end == last:  # the hyphen goes with the half word before it
            edits = [*edits[:-1], Edit(edits[-1].start, last + 1, edits[-1].replacement)]
        line.becomes, line.edits = becomes, edits

    return put


def _flowed(pages: Sequence[Page], others: Sequence[Line]) -> str:
    """The text beside the pictures, as it was read: pages, then comments and forms."""
    out = []
    for page in pages:
        for line, following in zip(page.lines, [*page.lines[1:], None]):
            out.append(line.becomes + ("" if _cut(line, following) else "\n"))
    return "".join(out) + "".join(f"{line.becomes}\n" for line in others)


def _read_rest(raw: bytes, out: Collector, others: list[Line]) -> None:
    """What stands in the file and not on its pages. Comments and forms leave as text; names, dates and titles of the file do not."""
    from pypdf import PdfReader

    def text_of(thing: Any) -> str | None:
        thing = thing.get_object() if hasattr(thing, "get_object") else thing
        return thing if isinstance(thing, str) else None

    def keep(part: str, text: str | None) -> None:
        text = seen(text or "").strip()
        if text:
            line = Line(text, [])
            others.append(line)
            out.end()
            out.add(part, text, _putter(line))

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # what it says of a broken file quotes the file
    try:
        reader = PdfReader(io.BytesIO(raw))
        if reader.is_encrypted:
            reader.decrypt("")
        for value in (reader.metadata or {}).values():
            out.show("properties", text_of(value))
        xmp = reader.xmp_metadata
        if xmp is not None:
            out.show("properties", " ".join(_words_of_xml(xmp.rdf_root)))
        for title in _titles(reader.outline):
            out.show("bookmark", title)
        for page in reader.pages:
            for annotation in _annotations(page):
                keep("comment", text_of(annotation.get("/Contents")) if annotation.get("/Subtype") != "/Widget" else None)
                out.show("author", text_of(annotation.get("/T")) if annotation.get("/Subtype") != "/Widget" else None)
                action = annotation.get("/A")
                action = action.get_object() if action is not None else {}
                out.show("link", text_of(action.get("/URI")) if isinstance(action, dict) else None)
        for field_name, form in (reader.get_fields() or {}).items():
            out.show("form field", field_name)
            keep("form field", text_of(form.get("/V", "")))
        for attached in reader.attachments:
            out.show("attachment's name", attached)
            out.left_out.append("attached file")
    except Exception:  # a file that one library shows and the other cannot take apart; nothing of this would leave
        out.left_out.append("properties that could not be read")


def _annotations(page: Any) -> Iterator[Any]:
    for annotation in page.get("/Annots", None) or []:
        found = annotation.get_object()
        if isinstance(found, dict):
            yield found


def _titles(outline: Any) -> Iterator[str]:
    for entry in outline:
        if isinstance(entry, list):
            yield from _titles(entry)
        else:
            yield str(entry.title)


def _words_of_xml(node: Any) -> Iterator[str]:
    if node.nodeType == node.TEXT_NODE:
        yield node.data
    for child in node.childNodes:
        yield from _words_of_xml(child)
