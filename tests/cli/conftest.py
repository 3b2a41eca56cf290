"""The command line as a user meets it: what it prints, what it leaves on disk, how it ends."""

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from shoal.cli import main

SECRET = "SECRET_8231"  # planted in cells: it may be in a release, and nowhere else
SOURCE = Path(__file__).resolve().parents[2] / "src"
ROLES = ("--quasi", "age,income", "--confidential", "diagnosis", "--identifier", "name", "--other", "zip")


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


def listing(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, hidden files too, with its bytes."""
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() and os.access(p, os.R_OK) else None for p in sorted(folder.rglob("*"))
    }


def patients(rows: int = 60) -> list[list[str]]:
    """A header and invented rows; the name, and nothing else, is a secret."""
    made = [["name", "age", "zip", "income", "diagnosis"]]
    for i in range(rows):
        made.append(
            [f"{SECRET}_{i}", str(20 + i * 7 % 53), f"0{8000 + i % 5}", f"{1000 + i * 37 % 911}.5", ("flu", "asthma", "migraine")[i % 3]]
        )
    return made


def write_csv(path: Path, rows: list[list[str]], delimiter: str = ",", **how) -> Path:
    with path.open("w", newline="", **{"encoding": "utf-8", **how}) as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return path


def read_csv(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.fixture
def desk(tmp_path):
    """An empty folder to work in."""
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


@pytest.fixture
def table(desk):
    return write_csv(desk / "patients.csv", patients())


@pytest.fixture
def shoal(monkeypatch, capsys):
    """Run a command in this process."""

    def run(*words) -> Ran:
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def process():
    """Run a command in a process of its own."""

    def run(*words, **how) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "shoal", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=120,
            **{"env": {**os.environ, "PYTHONPATH": str(SOURCE)}, **how},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def refused(shoal, desk):
    """A mistake: exit 2, one line on stderr, no cell value, no traceback, and the folder is as it was."""

    def run(*words, says: str = "", code: int = 2, by=shoal) -> str:
        before = listing(desk)
        ran = by(*words)
        assert_refused(ran, says, code)
        assert listing(desk) == before, "something was written, or the input was changed"
        return ran.err

    return run


def assert_refused(ran: Ran, says: str, code: int = 2) -> None:
    assert ran.code == code, ran
    assert "Traceback" not in ran.err
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    assert ran.err.startswith("shoal: ")
    assert ran.err.strip().endswith((".", "?", "...")), ran.err
    assert ran.out == ""
    assert SECRET not in ran.err
    assert says.lower() in ran.err.lower(), f"{says!r} not in {ran.err!r}"


@pytest.fixture
def released(shoal, desk):
    """Something that works: exit 0, it verifies, and no public file but the release holds a secret."""

    def run(*words, out: Path | None = None) -> Path:
        folder = out or desk / "run"
        ran = shoal(words[0], "-o", folder, *words[1:])
        assert ran.code == 0, ran.err
        assert "Traceback" not in ran.err
        assert SECRET not in ran.out + ran.err
        check_folder(folder)
        file = next(folder.glob("release*"))
        verified = shoal("verify", file, folder / "certificate.json")
        assert verified.code == 0, verified.out
        return folder

    return run


def check_folder(folder: Path) -> None:
    names = {p.name for p in folder.iterdir()}
    assert names - {"release.csv", "release.parquet", "release"} == {"certificate.json", "report.html", "recipe.toml", "private"}
    for name in ("certificate.json", "report.html"):
        assert SECRET not in (folder / name).read_text(encoding="utf-8"), f"{name} holds a cell value"
    assert (folder / "private").stat().st_mode & 0o777 == 0o700
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in (folder / "private").iterdir())
    assert not [p for p in folder.parent.iterdir() if p.name.startswith(f".{folder.name}-")], "a temporary folder was left"
