"""The documentation is complete, up to date, and runs."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import shoal
from shoal.certificate import FORMAT
from shoal.example import invented_patients
from shoal.registry import known
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import protect_to_folder
from shoal.writing import write_table
from tests.data import ROOT
from tests.documents.tiny_wordnet import write_wordnet

DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
TABLES = ("method", "measure", "attack")
COLLECTIONS = ("collection-method", "collection-measure", "collection-attack")
KINDS = (*TABLES, *COLLECTIONS)


def _own(kind: Any) -> dict[str, type[Any]]:
    """shoal's own: a plug-in that happens to be installed has its pages elsewhere."""
    return {name: cls for name, cls in known(kind).items() if cls.__module__.startswith("shoal.")}


REGISTERED = [(kind, name, cls) for kind in KINDS for name, cls in _own(kind).items()]


def _folder(kind: str) -> str:
    """Of pages: methods, or collections/methods."""
    family, _, what = kind.rpartition("-")
    return f"{family}s/{what}s" if family else f"{what}s"


def _page(kind: str, name: str) -> str:
    return (DOCS / _folder(kind) / f"{name}.md").read_text(encoding="utf-8")


def _blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def _toml(page: Path) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def _generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_has_a_page_and_every_page_a_name(kind: str) -> None:
    assert {page.stem for page in (DOCS / _folder(kind)).glob("*.md")} == set(_own(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_index_lists_every_page(kind: str) -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert [name for name in _own(kind) if f"({_folder(kind)}/{name}.md)" not in index] == []


def test_what_is_generated_is_up_to_date() -> None:
    generate = _generate()
    assert [page.name for page in generate.out_of_date()] == [], "run python docs/generate.py"


def test_the_schema_is_that_of_certificates() -> None:
    """What a run writes names its kind, and has no field that the schema lacks nor lacks one that it asks for."""
    schema = json.loads((DOCS / "certificate.schema.json").read_text(encoding="utf-8"))
    assert set(schema["discriminator"]["mapping"]) == {"table", "collection", "documents"}
    for kind, place in schema["discriminator"]["mapping"].items():
        part = schema["$defs"][place.rpartition("/")[2]]
        assert part["properties"]["kind"]["const"] == kind
        assert part["properties"]["format"]["const"] == FORMAT
        assert not part["additionalProperties"]


def test_a_stale_parameter_table_is_noticed() -> None:
    generate = _generate()
    page = _page("method", "mdav").replace("Smallest group size", "Something else")
    assert generate.filled(page, "parameters", generate.parameter_table(known("method")["mdav"])) != page


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name, _ in REGISTERED])
def test_page_has_its_parts(kind: str, name: str) -> None:
    page = _page(kind, name)
    assert page.startswith(f"# `{name}`: ")
    parts = ["## Parameters", "## Example", "```python", "Reference"]
    parts += ["issing"] if kind in TABLES else []
    parts += ["## When to use it, and when not"] if kind != "measure" else ["```text"]
    parts += ["## What it promises, and what not", "## What an intruder gets"] if kind.endswith("method") else ["## How to read it"]
    assert [part for part in parts if part not in page] == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name, _ in REGISTERED])
def test_page_shows_measured_figures(kind: str, name: str) -> None:
    measured = re.search(r"<!-- measured -->(.*?)<!-- /measured -->", _page(kind, name), flags=re.DOTALL)
    assert measured
    assert measured[1].count("\n|") >= 4, "run python docs/generate.py --census census.csv"


@pytest.mark.parametrize(("name", "cls"), _own("collection-method").items())
def test_page_of_a_method_of_collections_promises_what_it_does(name: str, cls: type[Any]) -> None:
    assert ("**k-anonymity of vectors**" in _page("collection-method", name)) == ("k-anonymity" in cls.guarantees)


@pytest.mark.parametrize(("name", "cls"), _own("method").items())
def test_method_page_promises_what_the_method_does(name: str, cls: type[Any]) -> None:
    page = " ".join(_page("method", name).split())
    if "k-anonymity" in cls.guarantees:
        assert "**k-anonymity over the columns it is given**" in page
        assert "does not give k-anonymity" not in page
    else:
        assert "does not give k-anonymity" in page
        assert "**k-anonymity" not in page


def test_readme_table_promises_what_the_methods_do() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, cls in _own("method").items():
        row = next((line for line in readme.splitlines() if line.startswith(f"| [{name}]")), "")
        assert row, f"README's table lacks {name}"
        promise = row.split("|")[2]
        assert ("k-anonymity" in promise) == ("k-anonymity" in cls.guarantees), row


def test_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


@pytest.mark.parametrize("page", [page for page in PAGES if _blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if DOCS / "collections" in page.parents:  # wherever tests run, with a WordNet that has the nouns of the examples
        monkeypatch.setenv("SHOAL_WORDNET", str(write_wordnet(tmp_path / "wordnet")))
    for number, block in enumerate(_blocks(page), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]
    lost = [link for link in links if link.split("#")[0] and not (page.parent / link.split("#")[0]).exists()]
    assert lost == []


def test_readme_can_be_read_in_one_sitting() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("| [")]) <= 172  # a row of a method is looked up, not read


def test_every_version_is_in_the_changelog_with_its_date() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [heading for heading in headings if not re.fullmatch(r"\d+\.\d+\.\d+, \d{4}-\d{2}-\d{2}", heading)] == []
    assert headings[0].split(",")[0] == shoal.__version__


def test_readme_gives_every_extra_a_reason() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [extra for extra in extras if f"`{extra}` (" not in readme] == []


def test_make_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    assert phony
    assert [name for name in phony[1].split() if not re.search(rf"^{name}:.*  ## \S", makefile, flags=re.MULTILINE)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if _toml(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_toml_blocks_parse(page: Path) -> None:
    assert all(tomllib.loads(block) for block in _toml(page))


def test_the_recipe_shown_does_what_its_page_says(tmp_path: Path) -> None:
    write_table(invented_patients(200), tmp_path / "patients.csv")
    (tmp_path / "recipe.toml").write_text(_toml(DOCS / "recipes.md")[0], encoding="utf-8")
    certificate = protect_to_folder(Recipe.read(tmp_path / "recipe.toml"), tmp_path / "run")
    assert [(one.value, one.columns) for one in certificate.promises] == [(5, ("age", "sex", "zip", "education"))]
    assert [one.name for one in certificate.measures] == ["t-closeness", "k-anonymity", "l-diversity", "cell-loss", "il"]


def test_the_roles_shown_fit_the_patients() -> None:
    roles = Roles.parse(tomllib.loads(_toml(DOCS / "roles.md")[0])).check(invented_patients(200))
    assert roles.other == ()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_place_on_a_machine(page: Path) -> None:
    assert not re.search(r"(^|[\s\"'`(])(/(home|Users|work|tmp|root|mnt|opt)/|~/|[A-Z]:\\)", page.read_text(encoding="utf-8"))
