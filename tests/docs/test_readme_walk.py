"""README's commands, typed in order in one folder, by somebody who has built the archive, then the wheel, and installed it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest
import setuptools

import shoal
from shoal.errors import ShoalError
from shoal.kernels import _forget_stale_code
from shoal.text.wordnet import find_wordnet
from tests.data import ROOT
from tests.documents.tiny_wordnet import NOUNS, write_wordnet

MADE = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*.egg-info", "build", "dist", "demo", ".*_cache", ".hypothesis")
LETTERS = ("oil price", "oil drilling", "price of wheat", "wheat harvest", "oil harvest", "drilling companies")
QUERIES = '[[utility]]\nname = "oil"\nwords = "oil price"\n\n[[risk]]\nname = "names"\nwords = "Larsen Whitfield"\n'


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [shlex.split(line.removeprefix("$ "), comments=True) for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def run(*words: str | Path, at: Path, **env: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    done = subprocess.run(words, cwd=at, env={**own, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked where nothing else is."""
    if int(setuptools.__version__.split(".")[0]) < 77:
        pytest.skip("building shoal needs setuptools 77 or newer; `make test` brings it")
    place = tmp_path_factory.mktemp("archive")
    shutil.copytree(ROOT, place / "checkout", ignore=MADE)
    run(sys.executable, "-c", f"from setuptools.build_meta import build_sdist as b; b({str(place)!r})", at=place / "checkout")
    with tarfile.open(place / f"shoal-{shoal.__version__}.tar.gz") as packed:
        packed.extractall(place, filter="data")
    return place / f"shoal-{shoal.__version__}"


@pytest.fixture(scope="module")
def installed(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh environment, which has shoal from the wheel and the rest from the environment of the tests."""
    place = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-c", f"from setuptools.build_meta import build_wheel as b; b({str(place)!r})", at=archive)
    run(sys.executable, "-m", "venv", "--without-pip", place / "venv", at=place)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(place / "venv")}))
    (packages / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")) + "\n")
    words = ("install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", next(place.glob("*.whl")))
    run(sys.executable, "-m", "pip", "--python", place / "venv" / "bin" / "python", *words, at=place)
    _take_compiled_code(packages / "shoal" / "kernels")
    return place / "venv" / "bin"


def _take_compiled_code(kernels: Path) -> None:
    """What was compiled for the checkout is good for the wheel: numba compares sources. An older numba compares times, and compiles anew."""
    _forget_stale_code(kernels)
    source = ROOT / "src" / "shoal" / "kernels"
    for path in source.rglob("*.nb[ic]"):
        there = kernels / path.relative_to(source)
        there.parent.mkdir(exist_ok=True)
        shutil.copy2(path, there)


def test_the_archive_holds_what_is_kept(archive: Path) -> None:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("what is kept is known to git, and this is no checkout")
    kept = run("git", "ls-files", at=ROOT).stdout.splitlines()
    assert [path for path in kept if (ROOT / path).exists() and not (archive / path).exists()] == []


def test_the_wheel_carries_its_licences(installed: Path) -> None:
    licences = next(installed.parent.rglob(f"shoal-{shoal.__version__}.dist-info")) / "licenses"
    assert (licences / "LICENSE").exists()
    assert (licences / "src" / "shoal" / "documents" / "data" / "LICENCES.md").exists()


def test_readme_is_walked_from_beginning_to_end(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    for number, words in enumerate(LETTERS):
        letter = f"Dear Mr. Larsen,\n\nthe {words} is as Anna Whitfield of Imagine Inc. wrote. Call 212-555-0147.\n"
        (tmp_path / "letters" / f"{number}.txt").write_text(letter, encoding="utf-8")
    (tmp_path / "seeds.txt").write_text("weapon\n", encoding="utf-8")
    (tmp_path / "queries.toml").write_text(QUERIES, encoding="utf-8")
    try:
        wordnet = str(find_wordnet())
    except ShoalError:  # a small one will do that knows the seed and the words of the letters
        words = {word for letter in LETTERS for word in letter.split()}
        wordnet = str(write_wordnet(tmp_path / "wordnet", [*NOUNS, *((word, "entity", "in a letter") for word in sorted(words))]))
    walked = commands()
    assert len(walked) > 15
    for program, *words in walked:
        assert "Traceback" not in run(installed / program, *words, at=tmp_path, SHOAL_WORDNET=wordnet).stderr
