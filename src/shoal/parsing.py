"""Parsing: JSON and TOML of anybody's making, or a sentence that quotes nothing of them.

A thousand nested brackets are no file of shoal's, and end in a sentence like every other slip.
"""

from __future__ import annotations

import json
import math
import stat
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from shoal.errors import DataError

DEEPEST = 20  # levels of brackets in a certificate
LARGEST = 200 << 20  # bytes; no settings are so long


def parse_json(text: str, path: Path | str) -> Any:
    """What a JSON text says. NaN and Infinity are no JSON, and 1e999 is no number that can be held."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise DataError(f"{path} is not valid JSON (line {error.lineno}, column {error.colno}).") from None
    except ValueError:  # NaN, or a number of thousands of digits
        raise DataError(f"{path} is not valid JSON: it holds a number that is none.") from None
    except RecursionError:
        raise DataError(f"{path} is not valid JSON: it is nested too deeply.") from None


def parse_certificate(text: str) -> Any:
    """What the JSON of a certificate says, or a ValueError. A key that is there twice says two things, for one reader takes the first and
    another the last; and nothing of shoal's is nested as deep as `DEEPEST`."""
    given = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_each_key_once)
    level = [given]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())]
    if level:
        raise ValueError
    return given


def parse_toml(text: str, path: Path | str) -> dict[str, Any]:
    """What a TOML text says."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML{_place(str(error))}.") from None
    except ValueError:  # a number of thousands of digits, or a day that no calendar has
        raise DataError(f"{path} is not valid TOML: it holds a number or date that is none.") from None
    except RecursionError:
        raise DataError(f"{path} is not valid TOML: it is nested too deeply.") from None


def read_text(path: Path, largest: int | None = LARGEST) -> str:
    """The UTF-8 text of a plain file, with or without a byte order mark. A pipe may never end, and a device has no end."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
            raise DataError(f"{path} is not a plain file. Name a file.")
        if largest is not None and about.st_size > largest:
            raise DataError(f"{path} is larger than {largest >> 20} MB. Name a smaller file.")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder. Name a file.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text.") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'its name is none'}.") from None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError
    return number


def _place(message: str) -> str:
    """Where TOML went wrong. The rest of the message may quote a key or a value."""
    begin = message.rfind("(at ")
    return f" {message[begin:]}" if begin >= 0 else ""
