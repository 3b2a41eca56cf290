"""ARCHITECTURE.md stays one page, names every part, and names nothing that is not there."""

import re
from pathlib import Path

from shoal.promises import KINDS
from tests.data import ROOT

SOURCE = ROOT / "src" / "shoal"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([^`\n]+)`", PAGE)


def test_it_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= 100


def test_every_part_is_named() -> None:
    parts = {f"{path.name}/" if path.is_dir() else path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    parts -= {"__init__"}
    assert parts - set(NAMED) == set()


def test_every_file_it_names_is_there() -> None:
    paths = [name for name in NAMED if re.fullmatch(r"[\w./]+\.(py|md|json)", name)]
    paths += [name for name in NAMED if name.endswith("/")]
    assert len(paths) > 30
    places = (SOURCE, ROOT, SOURCE / "kernels", ROOT / "tests" / "contracts")
    assert [path for path in paths if path != "private/" and not any((place / path).exists() for place in places)] == []


def test_every_kind_of_promise_is_on_the_certificates_page() -> None:
    page = Path(ROOT / "docs" / "certificate.md").read_text(encoding="utf-8")
    assert [name for name in KINDS if f"| `{name}` |" not in page] == []
