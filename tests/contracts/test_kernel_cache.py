"""Compiled code that was made against a kernel since changed is forgotten, and no other; a read-only installation keeps it elsewhere."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.kernels import _forget_stale_code
from tests.data import ROOT

SOURCES = {
    "trees/c45.py": "x = 1\n",
    "trees/groups.py": "z = 3\n",
    "kactus.py": "from shoal.kernels.trees.c45 import x\n",
    "top.py": "import numpy\nfrom shoal.kernels import groups, kactus\n",
    "below.py": "def f():\n    from shoal.kernels.trees import c45\n",
    "groups.py": "y = 2\n",
}


def compiled(folder: Path) -> set[str]:
    return {f"{path.parents[1].relative_to(folder)}/{path.name.split('.')[0]}".removeprefix("./") for path in folder.rglob("*.nbi")}


def test_only_what_imports_a_changed_kernel_is_compiled_again(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    _forget_stale_code(tmp_path)
    for name in SOURCES:
        cache = (tmp_path / name).parent / "__pycache__"
        cache.mkdir(exist_ok=True)
        (cache / f"{Path(name).stem}.f-1.py311.nbi").touch()
    _forget_stale_code(tmp_path)
    assert compiled(tmp_path) == {name.removesuffix(".py") for name in SOURCES}
    (tmp_path / "trees" / "c45.py").write_text("x = 10\n")
    _forget_stale_code(tmp_path)
    assert compiled(tmp_path) == {"groups", "trees/groups"}


# A small kernel, compiled and used; then where numba keeps its code.
USE = (
    "from shoal.kernels.univariate import optimal_univariate_groups as groups\n"
    "from numba import config\n"
    "print(groups([0.0, 1, 2, 3, 4], 2).tolist(), config.CACHE_DIR)"
)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """shoal's kernels where nobody may write, a home likewise, and a folder for temporary files."""
    installed = tmp_path / "installed"
    shutil.copytree(ROOT / "src" / "shoal" / "kernels", installed / "shoal" / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "arrays.py"):
        shutil.copy(ROOT / "src" / "shoal" / name, installed / "shoal" / name)
    (tmp_path / "home").mkdir()
    (tmp_path / "temporary").mkdir()
    closed = [tmp_path / "home", installed, *(path for path in installed.rglob("*") if path.is_dir())]
    for folder in closed:
        folder.chmod(0o555)
    yield tmp_path
    for folder in closed:
        folder.chmod(0o755)


def used(place: Path) -> tuple[str, Path, str]:
    """What the kernel gave, where its code is kept, and what was said; root is run without the right to write everywhere."""
    drop: list[str] = []
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv") or pytest.skip("root writes into read-only folders, and there is no setpriv to keep it from that")
        drop = [setpriv, "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
    own = {"HOME": str(place / "home"), "TMPDIR": str(place / "temporary"), "PYTHONPATH": str(place / "installed")}
    others = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run([*drop, sys.executable, "-c", USE], env={**others, **own}, capture_output=True, text=True, check=False)
    if drop and "setpriv: " in done.stderr:
        pytest.skip("this root may not give up rights, so nothing is read-only to it")
    assert done.returncode == 0, done.stderr
    groups, folder = done.stdout.strip().rsplit(" ", 1)
    return groups, Path(folder), done.stderr


def test_without_a_writable_folder_or_home_code_is_kept_in_a_private_temporary_folder(read_only: Path) -> None:
    groups, folder, told = used(read_only)
    assert groups == "[0, 0, 1, 1, 1]"
    assert folder.parent == read_only / "temporary"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert str(folder) in told
    assert len(told.splitlines()) == 1
    assert list(folder.rglob("*.nbi"))
    assert used(read_only) == (groups, folder, ""), "the same folder again, and not a word"


def test_a_temporary_folder_that_others_can_write_is_not_trusted(read_only: Path) -> None:
    _, folder, _ = used(read_only)
    folder.chmod(0o777)
    _, fresh, told = used(read_only)
    assert fresh != folder
    assert fresh.stat().st_mode & 0o777 == 0o700
    assert str(fresh) in told


def test_a_writable_home_keeps_the_code_without_a_word(read_only: Path) -> None:
    (read_only / "home").chmod(0o755)
    _, folder, told = used(read_only)
    assert folder.is_relative_to(read_only / "home" / ".cache" / "shoal")
    assert told == ""
