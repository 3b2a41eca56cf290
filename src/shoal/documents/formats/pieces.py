"""A file taken apart: the stretches of text in it, in order, and how each is put back.

Reading and writing take a file apart by the same code, so an offset into `Document.text` means the same place to both. What a kind
of file holds besides (pictures, scripts, identifiers of the program that wrote it) is not taken along: only what was read can leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shoal.document import Document, Edit, Part
from shoal.errors import ParameterError

# Soft hyphens, zero-width and direction marks, tag characters: they break a name in two for a search and nobody sees them.
# Joiners are letters' shapes in Persian or Hindi and stay there; between Latin letters they do nothing else.
_UNSEEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]|(?<=[A-Za-z\u00c0-\u024f])[\u200c\u200d]+(?=[A-Za-z\u00c0-\u024f])"
)
# What XML cannot hold and no reader sees; line ends and tabs are not among them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

_TELLING = re.compile(r"[^\W\d_]{2}|\d\D?\d\D?\d\D?\d")  # words or long numbers, among what does not leave

Put = Callable[[str, Sequence[Edit]], None]


def seen(text: str) -> str:
    """The text without the marks that nobody sees, with one kind of line end."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    if text.replace("\n", "").replace("\t", "").replace("\u00a0", "").isprintable():  # most are, and this is much the fastest way to see it
        return text
    return _CONTROL.sub("", text if text.isascii() else _UNSEEN.sub("", text))


@dataclass
class Piece:
    """A stretch of text. `put` is given what it becomes, and the edits inside it; without `put` it is a line end or a tab, and stays.

    What does not `leave` is shown to whoever decides, and is in no output: properties, tracked deletions, targets of links.
    """

    part: str
    text: str
    put: Put | None = None
    leaves: bool = True


@dataclass
class Opened:
    """A file's pieces, the things in it that hold no text shoal can read, and how to write it with the pieces put back.

    `save` gives the endings and the contents of the files to write, the one of the same kind, or its text, first.
    """

    pieces: list[Piece]
    save: Callable[[], list[tuple[str, bytes]]]
    left_out: list[str] = field(default_factory=list)

    def text(self) -> str:
        """What `Document.text` is."""
        return "".join(piece.text for piece in self.pieces)

    def leaving(self) -> str:
        """The text without what leaves with no output."""
        return "".join(piece.text for piece in self.pieces if piece.leaves)

    def document(self, name: str, kind: str, digest: str) -> Document:
        """As a noun. What could not be read is a part without length, so that a report can count it."""
        parts: list[Part] = []
        at = 0
        for piece in self.pieces:
            end = at + len(piece.text)
            if parts and parts[-1].name == piece.part:
                parts[-1] = Part(piece.part, parts[-1].start, end)
            else:
                parts.append(Part(piece.part, at, end))
            at = end
        parts += [Part(f"{what} (left out)", at, at) for what in self.left_out]
        return Document(name, self.text(), kind, tuple(parts), digest)


class Collector:
    """Pieces in the making: adds line ends between parts and blocks, never two in a row."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.shown: dict[tuple[str, str], None] = {}
        self.left_out: list[str] = []

    def add(self, part: str, text: str, put: Put | None) -> None:
        """A stretch that leaves, with the edits in it."""
        if self.pieces and self.pieces[-1].part != part:
            self.end()
        self.pieces.append(Piece(part, text, put))

    def show(self, part: str, text: str | None) -> None:
        """A stretch that is read, for whoever decides, and leaves with no output. It comes after all that leaves, so it breaks no name."""
        text = " ".join(seen(text or "").split())
        if _TELLING.search(text) and text not in ("true", "false"):
            self.shown[part, text] = None

    def mark(self, part: str, what: str) -> None:
        """A tab or a line break inside a block."""
        self.pieces.append(Piece(part, what))

    def end(self) -> None:
        """The end of a block or part."""
        if self.pieces and not self.pieces[-1].text.endswith("\n"):
            self.pieces.append(Piece(self.pieces[-1].part, "\n"))

    def finish(self) -> list[Piece]:
        """All pieces: what leaves, then what does not, each said once."""
        self.end()
        by_part: dict[str, list[str]] = {}
        for part, text in self.shown:
            by_part.setdefault(part, []).append(text)
        return self.pieces + [Piece(part, f"{text}\n", leaves=False) for part, texts in by_part.items() for text in texts]


def checked(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits in order; they must lie in the text and not overlap."""
    ordered = sorted(edits, key=lambda edit: edit.start)
    before = 0
    for edit in ordered:
        if not before <= edit.start < edit.end <= len(text):
            raise ParameterError(
                f"An edit of characters {edit.start} to {edit.end} overlaps another or lies outside the text, which has {len(text)}."
            )
        before = edit.end
    return ordered


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits, which are in order, made."""
    out, at = [], 0
    for edit in edits:
        out += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*out, text[at:]])


def put_back(pieces: Sequence[Piece], edits: Sequence[Edit]) -> str:
    """Make the edits in the pieces. One that spans several is written into the first and takes its share from the rest.

    Gives the text that the output should read as.
    """
    ordered = [Edit(edit.start, edit.end, seen(edit.replacement)) for edit in checked("".join(p.text for p in pieces), edits)]
    written: set[int] = set()
    out: list[str] = []
    at = first = 0
    for piece in pieces:
        end = at + len(piece.text)
        while first < len(ordered) and ordered[first].end <= at:
            first += 1
        inside, i = [], first
        while i < len(ordered) and ordered[i].start < end:
            edit = ordered[i]
            if piece.put is not None:
                new = "" if i in written else edit.replacement
                written.add(i)
                inside.append(Edit(max(edit.start, at) - at, min(edit.end, end) - at, new))
            i += 1
        text = edited(piece.text, inside)
        if piece.put is not None:
            piece.put(text, inside)
        if piece.leaves:
            out.append(text)
        at = end
    return "".join(out)
