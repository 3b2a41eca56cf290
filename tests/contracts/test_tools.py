"""What `make lowest` and `make check` rest on, worked by hand."""

import pytest

from tests.data import ROOT
from tools.lowest import pins
from tools.nearest_tests import nearest

PROJECT = (
    '[project]\ndependencies = ["numpy{0}"]\n[project.optional-dependencies]\n'
    'documents = ["lxml>=5"]\nsign = ["cryptography>=42"]\ndev = ["pandas>=2.1", "ruff>=0.6"]\n'
)
SOURCES = {"src/shoal/methods/noise.py": "class Noise:\n", "src/shoal/kernels/__init__.py": "def _own(): ...\n"}
TESTS = {
    "tests/known/test_masking.py": "Noise(p=1)",
    "tests/cli/test_noise_levels.py": "",
    "tests/known/test_table.py": "Table",
    "tests/contracts/test_kernel_cache.py": "import shoal.kernels",
}


def test_the_lowest_versions_are_those_declared() -> None:
    assert pins(PROJECT.format(">=1.26")) == ["numpy==1.26", "lxml==5", "cryptography==42", "pandas==2.1"]
    assert len(pins((ROOT / "pyproject.toml").read_text(encoding="utf-8"))) > 15
    for bound in ("", ">1", ">=1,<2"):
        with pytest.raises(SystemExit, match="lower bound"):
            pins(PROJECT.format(bound))


def test_the_nearest_tests_bear_the_name_or_name_what_is_defined() -> None:
    assert nearest(["src/shoal/methods/noise.py"], SOURCES, TESTS) == ["tests/cli/test_noise_levels.py", "tests/known/test_masking.py"]
    assert "tests/contracts/test_kernel_cache.py" in nearest(["src/shoal/kernels/__init__.py"], SOURCES, TESTS)
    assert nearest(["tests/known/test_table.py", "Makefile"], SOURCES, TESTS) == ["tests/known/test_table.py"]
    assert nearest(["docs/roles.md"], SOURCES, TESTS) == ["tests/docs/test_docs.py"]
