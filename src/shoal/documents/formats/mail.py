"""E-mail. Who wrote to whom about what, the texts and the attachments shoal can read leave; the trail of servers does not."""

from __future__ import annotations

import base64
import email
import re
from collections.abc import Callable, Iterator, Sequence
from email.header import Header, decode_header
from email.message import Message
from pathlib import PurePosixPath
from typing import TypeVar

from shoal.document import Edit
from shoal.documents.formats.html import open_page
from shoal.documents.formats.pieces import Collector, Opened, Piece, seen
from shoal.documents.formats.read import KINDS, decode, open_text
from shoal.errors import DataError

HEADERS = {
    "from": "From",
    "sender": "Sender",
    "to": "To",
    "cc": "Cc",
    "bcc": "Bcc",
    "reply-to": "Reply-To",
    "subject": "Subject",
    "date": "Date",
}
TECHNICAL = {"mime-version", "content-type", "content-transfer-encoding", "content-disposition", "content-id", "content-language"}
_TYPES = {
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".html": "text/html",
    ".eml": "message/rfc822",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
DEEPEST = 4  # messages inside messages

_T = TypeVar("_T")
OpenBytes = Callable[[str, bytes, str, int], Opened]


def open_mail(raw: bytes, name: str, open_bytes: OpenBytes, depth: int = 0) -> Opened:
    """Take an .eml file apart. `open_bytes` takes its attachments apart."""
    if raw.startswith((b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or b"\x00" in raw[:4096]:
        raise DataError(f"{name} is not an e-mail: it is no text. Give it the ending of its kind.")
    message = _of_the_library(lambda: email.message_from_bytes(raw), name)
    if not {key.lower() for key in message.keys()} & {*HEADERS, "message-id", "received", "content-type"}:  # noqa: SIM118 - a message is no dict
        raise DataError(f"{name} is not an e-mail: it begins with no header such as From or Subject. Give it the ending of its kind.")
    out = Collector()
    headers: list[tuple[str, list[str]]] = []
    for key, value in _of_the_library(message.items, name):
        _header(key.lower(), str(value), out, headers)
    bodies: list[Opened] = []
    attached: list[Opened] = []
    for part in _of_the_library(lambda: list(_parts(message)), name):
        _part(part, name, open_bytes, depth, out, bodies, attached)
    out.end()
    leaving = out.pieces
    shown = [piece for piece in out.finish() if not piece.leaves]
    for prefix, opened in [("", one) for one in bodies] + [(f"attachment:{i} ", one) for i, one in enumerate(attached, 1)]:
        for piece in opened.pieces:
            piece.part = piece.part if not prefix else prefix.strip() if piece.part == "body" else prefix + piece.part
            (leaving if piece.leaves else shown).append(piece)
        if leaving and not leaving[-1].text.endswith("\n"):
            leaving.append(Piece(leaving[-1].part, "\n"))
        out.left_out += opened.left_out

    def save() -> list[tuple[str, bytes]]:
        return [(".eml", _message(headers, bodies, attached, depth).encode("ascii"))]

    return Opened(leaving + shown, save, out.left_out)


def _header(key: str, value: str, out: Collector, headers: list[tuple[str, list[str]]]) -> None:
    text = " ".join(seen(_decoded(value)).split())
    if key not in HEADERS:
        if key not in TECHNICAL:
            out.show(key, text)
        return
    if text:
        held = [text]

        def put(new: str, _: Sequence[Edit]) -> None:
            held[0] = new

        headers.append((HEADERS[key], held))
        out.end()
        out.add(key, text, put)


def _decoded(value: str) -> str:
    """A header with its encoded words as text."""
    try:
        found = decode_header(re.sub(r"\r?\n(?=[ \t])", "", value))
    except (LookupError, ValueError, email.errors.HeaderParseError):
        return value
    return "".join(
        chunk if isinstance(chunk, str) else _lenient(chunk, None if charset == "unknown-8bit" else charset) for chunk, charset in found
    )


def _lenient(raw: bytes, charset: str | None) -> str:
    for encoding in (charset or "utf-8", "utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except (UnicodeError, LookupError, ValueError):  # some encodings of Python fail as they like
            continue
    return raw.decode("latin-1")


def _of_the_library(read: Callable[[], _T], name: str) -> _T:
    """What the library for mail says of a message. Of one that breaks the rules it may say nothing, and fail in any way at all."""
    try:
        return read()
    except (RecursionError, MemoryError):
        raise
    except Exception:
        raise DataError(f"{name} breaks the rules of e-mail and cannot be taken apart. Save it again with a program for mail.") from None


def _bytes_of(part: Message) -> bytes:
    """What a part holds."""
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        return inner[0].as_bytes() if isinstance(inner, list) and inner and isinstance(inner[0], Message) else b""
    try:
        raw = part.get_payload(decode=True)
    except UnicodeError:  # of an encoding that no text is in; what it is in is found out, as where none is said
        part.del_param("charset")
        raw = part.get_payload(decode=True)
    return raw if isinstance(raw, bytes) else b""


def _parts(message: Message) -> Iterator[Message]:
    """The leaves of a message; a message attached to it is one, and is taken apart by itself."""
    inner = message.get_payload() if message.is_multipart() else None
    if isinstance(inner, list) and message.get_content_type() != "message/rfc822":
        for part in inner:
            if isinstance(part, Message):
                yield from _parts(part)
    else:
        yield message


def _part(
    part: Message, name: str, open_bytes: OpenBytes, depth: int, out: Collector, bodies: list[Opened], attached: list[Opened]
) -> None:
    """A text is a body unless it is marked as a file; a file is opened if its kind is known, and else left out."""
    type_ = part.get_content_type()
    file = _of_the_library(lambda: _decoded(part.get_filename() or ""), name)
    out.show("attachment's name", file)
    is_file = bool(file) or part.get_content_disposition() == "attachment"
    try:
        raw = _of_the_library(lambda: _bytes_of(part), name)
        charset = _of_the_library(part.get_content_charset, name)
    except DataError:
        out.left_out.append("attachment that could not be read")
        return
    if type_ == "message/rfc822":
        kind = "eml"
    else:
        kind = KINDS.get(PurePosixPath(file).suffix.lower(), "") or next((e[1:] for e, t in _TYPES.items() if t == type_), "")
    if not raw.strip():
        return
    try:
        if type_ == "text/html":
            (attached if is_file else bodies).append(open_page(raw, name, charset))
        elif type_.startswith("text/") and kind in ("", "txt", "md"):
            (attached if is_file else bodies).append(open_text(decode(raw, name, charset)))
        elif kind and depth < DEEPEST:
            attached.append(open_bytes(kind, raw, name, depth + 1))
        else:
            out.left_out.append("attachment of a kind that is not read")
    except DataError:  # encrypted, damaged, without text: it does not leave
        out.left_out.append("attachment that could not be read")


def _message(headers: list[tuple[str, list[str]]], bodies: list[Opened], attached: list[Opened], depth: int) -> str:
    """The new message. It is written here, so that neither dates nor chance enter it."""
    top = "".join(f"{key}: {Header(_one_line(held[0]), _charset(held[0]), header_name=key).encode()}\n" for key, held in headers)
    texts = [one.save()[0] for one in bodies]
    files = [one.save()[0] for one in attached]
    inner = [_leaf(_TYPES[ending], raw) for ending, raw in texts]
    if len(inner) > 1:
        same = [ending for ending, _ in texts] == [".txt", ".html"]
        inner = [_multipart("alternative" if same else "mixed", inner, f"=_shoal_texts_{depth}")]
    for i, (ending, raw) in enumerate(files, 1):
        inner.append(_leaf(_TYPES[ending], raw, f"attachment-{i}{ending}"))
    if not inner:
        inner = [_leaf("text/plain", b"\n")]
    whole = inner[0] if len(inner) == 1 and not files else _multipart("mixed", inner, f"=_shoal_parts_{depth}")
    return f"{top}MIME-Version: 1.0\n{whole}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _charset(text: str) -> str:
    return "us-ascii" if text.isascii() else "utf-8"


def _leaf(type_: str, raw: bytes, file: str = "") -> str:
    """A part in base64, which holds no line that could be taken for a boundary; one of plain ASCII as it is."""
    plain = type_ == "message/rfc822" or (type_.startswith("text/") and raw.isascii() and b"=_shoal" not in raw and _short_lines(raw))
    body = raw.decode("ascii") if plain else base64.encodebytes(raw).decode("ascii")
    charset = '; charset="utf-8"' if type_.startswith("text/") else ""
    placed = f'Content-Disposition: attachment; filename="{file}"\n' if file else ""
    return f"Content-Type: {type_}{charset}\nContent-Transfer-Encoding: {'7bit' if plain else 'base64'}\n{placed}\n{body}"


def _short_lines(raw: bytes) -> bool:
    return all(len(line) < 900 and not line.startswith(b"From ") for line in raw.split(b"\n"))


def _multipart(kind: str, parts: list[str], boundary: str) -> str:
    body = "".join(f"--{boundary}\n{part.removesuffix(chr(10))}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n{body}--{boundary}--\n'
