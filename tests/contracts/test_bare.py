"""What shoal does where nothing but its dependencies is installed; `make bare` runs it there, and here the others are out of sight."""

import os
import subprocess
import sys
from pathlib import Path

from shoal.documents.extra import PACKAGES
from tests.data import ROOT

HIDDEN = (*PACKAGES, "pandas", "polars", "spacy", "pytest", "hypothesis")
HIDE = f"""
import sys
from importlib.machinery import PathFinder

class Bare:
    def find_spec(name, path=None, target=None):
        return None if name.split(".")[0] in {HIDDEN!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
"""
ARROW = """
import pyarrow as pa, shoal
patients = shoal.invented_patients(60)
release = shoal.protect(patients.arrow, "noise", quasi=["age"], identifier=["name"])
assert isinstance(release.data, pa.Table) and len(release.data) == 60
"""


def run(code: str, place: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run([sys.executable, "-c", HIDE + code], cwd=place, env=env, capture_output=True, text=True, check=False)


def typed(line: str, place: Path) -> subprocess.CompletedProcess[str]:
    return run(f"sys.argv = {line.split()!r}\nfrom shoal.cli import main\nmain()", place)


def test_arrow_goes_in_and_comes_out(tmp_path: Path) -> None:
    done = run(ARROW, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_table_is_released_and_verified_at_the_keyboard(tmp_path: Path) -> None:
    for line in (
        "shoal example patients.csv --rows 60",
        "shoal look patients.csv -o roles.toml",
        "shoal protect patients.csv --roles roles.toml --method mdav -p k=5 -o run",
        "shoal verify run/release.csv run/certificate.json",
    ):
        done = typed(line, tmp_path)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_documents_say_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Anna Larsen called 212-555-0147 about the oil price.\n")
    done = typed("shoal documents detect letter.txt -o case", tmp_path)
    assert (done.returncode, done.stderr) == (2, "shoal: Working with documents needs an extra: pip install 'shoal[documents]'.\n")
    assert not (tmp_path / "case").exists()
