"""Compiled code that was made against a kernel since changed is forgotten, and no other."""

from pathlib import Path

from shoal.kernels import _forget_stale_code

SOURCES = {
    "trees.py": "x = 1\n",
    "kactus.py": "from shoal.kernels.trees import x\n",
    "top.py": "import numpy\nfrom shoal.kernels import groups, kactus\n",
    "groups.py": "y = 2\n",
}


def compiled(folder: Path) -> set[str]:
    return {path.name.split(".")[0] for path in (folder / "__pycache__").glob("*.nbi")}


def test_only_what_imports_a_changed_kernel_is_compiled_again(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    _forget_stale_code(tmp_path)
    for name in SOURCES:
        (tmp_path / "__pycache__" / f"{Path(name).stem}.f-1.py311.nbi").touch()
    _forget_stale_code(tmp_path)
    assert compiled(tmp_path) == {"trees", "kactus", "top", "groups"}
    (tmp_path / "trees.py").write_text("x = 10\n")
    _forget_stale_code(tmp_path)
    assert compiled(tmp_path) == {"groups"}
