"""Certificates of earlier versions, said in the words of this one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import DataError
from shoal.promises import Promise


def of_format_1(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Certificates of shoal 0.1: those of tables are read; others said less than is needed now."""
    if given.get("kind") is not None:
        raise DataError(f"{path} was written by shoal 0.1, which said less of {given['kind']}. Make it again with this version.")
    try:
        promises = [
            {**one, "unit": made.kind.unit, "sentence": made.sentence}
            for one in given["promises"]
            for made in [Promise(one["what"], one["value"], tuple(one["columns"]), one.get("about"))]
        ]
        attacks = [{**one, "risk": "interval" if one["name"] == "interval-disclosure" else "linkage"} for one in given["attacks"]]
        return {**given, "kind": "table", "promises": promises, "attacks": attacks}
    except (KeyError, TypeError):
        raise DataError(f"{path} is not a certificate written by shoal.") from None
