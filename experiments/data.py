"""Where the data of the experiments lies. None of it is part of the project; README.md beside this file says where each file comes from."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def data_path(*parts: str) -> Path:
    """A file below the folder named by SHOAL_DATA, or below a folder `shared/data` beside the checkout; ends the run with a sentence if absent."""
    folder = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
    path = folder.joinpath(*parts)
    if not path.is_file():
        sys.exit(
            f"{Path(*parts)} is not in {folder}. Set SHOAL_DATA to the folder that holds it; experiments/README.md says where to get it."
        )
    return path
