"""Compiled code that was made against a kernel since changed is forgotten, and no other."""

from pathlib import Path

from shoal.kernels import _forget_stale_code

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
