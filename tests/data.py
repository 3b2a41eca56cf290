"""Where the real data of known answers lies. None of it is part of the project, so a test without it is skipped, with the reason."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def data_path(*parts: str) -> Path:
    """A file below the folder named by SHOAL_DATA, or ../shared/data from the project's root."""
    folder = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{Path(*parts)} is not in {folder}; set SHOAL_DATA to the folder that holds it")
    return path
