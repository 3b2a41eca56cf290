"""Damage: bytes cut, flipped, doubled, joined and made up; JSON and zip files damaged where it hurts."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

NUMBERS = [
    b"-1",
    b"0",
    b"1e999",
    b"NaN",
    b"-0",
    b"99999999999999999999999999",
    b"9223372036854775808",
    b"4294967296",
    b"0.1e-400",
    b"1" * 5000,
]
PIECES = [
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x00" * 64,
    b"\xff" * 64,
    b'"',
    b"'",
    b"\r",
    b"\n\n",
    b";",
    b",",
    b"\t",
    b"\\",
    b"\xc3\x28",
]
PIECES += [b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"(" * 3000, b"<b>" * 3000, b"<!ENTITY x 'y'>", b"&#0;&#xD800;", b"%s%n", b"=1+1"]
PIECES += ["\u202e\u0000\ud7ff\ufffe".encode(), "\U0001f600".encode() * 9, "ſﬁı".encode(), b"\xed\xa0\x80", b"x" * 140_000]
VALUES: list[Any] = [None, True, -1, 0, 1e308, 10**40, "", "x", "\x00", [], {}, [[]], [None], {"a": None}, "9" * 400, ["a", 1], -0.5, "NaN"]


def damaged(raw: bytes, other: bytes, draw: random.Random) -> bytes:
    """Some bytes, damaged in one to three ways; `other` is what pieces may come from."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        raw = draw.choice(_WAYS)(raw, other, draw)
    return raw


def damaged_json(raw: bytes, other: bytes, draw: random.Random) -> bytes:
    """The same for JSON: half the time it stays JSON, and says something else."""
    if draw.random() < 0.5:
        with suppress(ValueError, RecursionError):
            return json.dumps(_other_value(json.loads(raw), draw)).encode()
    return damaged(raw, other, draw)


def damaged_lines(raw: bytes, other: bytes, draw: random.Random) -> bytes:
    """The same for lines of JSON."""
    lines = raw.splitlines(keepends=True)
    if lines and draw.random() < 0.7:
        at = draw.randrange(len(lines))
        lines[at] = damaged_json(lines[at], other, draw).rstrip(b"\n") + b"\n"
        return b"".join(lines)
    return damaged(raw, other, draw)


def damaged_zip(raw: bytes, other: bytes, draw: random.Random) -> bytes:
    """The same for zip files: members damaged, exchanged, lost, doubled and renamed, inside a sound archive."""
    if draw.random() < 0.35:
        return damaged(raw, other, draw)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as file:
            members = [(name, file.read(name)) for name in file.namelist()]
    except Exception:  # it is damaged already
        return damaged(raw, other, draw)
    if not members:
        return damaged(raw, other, draw)
    at, to = draw.randrange(len(members)), draw.randrange(len(members))
    name, content = members[at]
    way = draw.choice(("damage", "damage", "damage", "swap", "drop", "twice", "rename", "empty"))
    if way == "damage":
        members[at] = (name, damaged(content, members[to][1], draw))
    elif way == "swap":
        members[at], members[to] = (name, members[to][1]), (members[to][0], content)
    elif way == "drop":
        del members[at]
    elif way == "twice":
        members.append((name, members[to][1]))
    elif way == "rename":
        members[at] = (draw.choice(("", "/", "../up.xml", "a" * 300, "word/", "\x7f", name.upper(), "word//document.xml")), content)
    else:
        members[at] = (name, b"")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as file:
        for name, content in members:
            file.writestr(_info(name), content)
    return out.getvalue()


def _info(name: str) -> zipfile.ZipInfo:
    """A member of any name: the module takes no empty one."""
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    return info


def _other_value(value: Any, draw: random.Random) -> Any:
    """The same structure, with something else in one place."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(list(value))
        way = draw.random()
        if way < 0.1:
            return {one: inner for one, inner in value.items() if one != key}
        if way < 0.2:
            return {**value, draw.choice(("", "more", key.upper(), "\x00")): draw.choice(VALUES)}
        return {**value, key: _other_value(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        if draw.random() < 0.2:
            return draw.choice((value[:at], [*value, value[at]], value[::-1], value * 50))
        return [*value[:at], _other_value(value[at], draw), *value[at + 1 :]]
    return draw.choice(VALUES)


# ---- ways -----------------------------------------------------------------------------------------------------------------------


def _cut(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    return raw[: draw.randrange(len(raw) + 1)]


def _beheaded(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    return raw[draw.randrange(len(raw) + 1) :]


def _flipped(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    changed = bytearray(raw)
    for _one in range(draw.choice((1, 1, 2, 5, 30)) if raw else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _overwritten(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    at, long = draw.randrange(len(raw) + 1), draw.choice((1, 2, 4, 8))
    return raw[:at] + draw.choice((b"\x00", b"\xff", b"\x7f", b"\x80")) * long + raw[at + long :]


def _doubled(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    a, b = _stretch(raw, draw)
    return raw[:b] + raw[a:b] * draw.choice((1, 1, 2, 20)) + raw[b:]


def _removed(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    a, b = _stretch(raw, draw)
    return raw[:a] + raw[b:]


def _spliced(raw: bytes, other: bytes, draw: random.Random) -> bytes:
    return raw[: draw.randrange(len(raw) + 1)] + other[draw.randrange(len(other) + 1) :]


def _inserted(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(raw) + 1)
    return raw[:at] + draw.choice(PIECES) + raw[at:]


def _other_number(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    digits = [i for i, one in enumerate(raw) if 48 <= one <= 57]
    if not digits:
        return raw
    a = b = draw.choice(digits)
    while b < len(raw) and 48 <= raw[b] <= 57:
        b += 1
    return raw[:a] + draw.choice(NUMBERS) + raw[b:]


def _other_encoding(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    return raw.decode("latin-1").encode(draw.choice(("utf-16", "utf-16-le", "utf-32", "utf-8", "utf-7")), "replace")


def _lines_shuffled(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


def _emptied(raw: bytes, _: bytes, draw: random.Random) -> bytes:
    return draw.choice((b"", b" ", b"\n", b"\x00"))


def _stretch(raw: bytes, draw: random.Random) -> Sequence[int]:
    return sorted((draw.randrange(len(raw) + 1), draw.randrange(len(raw) + 1)))


_WAYS: tuple[Callable[[bytes, bytes, random.Random], bytes], ...] = (
    _cut,
    _beheaded,
    _flipped,
    _flipped,
    _overwritten,
    _doubled,
    _removed,
    _spliced,
    _inserted,
    _inserted,
    _other_number,
    _other_number,
    _other_encoding,
    _lines_shuffled,
    _emptied,
)
