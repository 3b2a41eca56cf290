"""Imports go one way, nothing heavy is loaded by `import shoal`, and no message names a path of somebody's machine."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "shoal"
MODULES = sorted(SOURCE.rglob("*.py"))

NOUNS = {
    "arrays",
    "bins",
    "certificate",
    "published",
    "counts",
    "csv_cells",
    "csv_lines",
    "dates",
    "distinct",
    "errors",
    "old_certificates",
    "once",
    "parsing",
    "promises",
    "table",
    "files",
    "folders",
    "formulas",
    "writing",
    "unfinished",
    "reading",
    "roles",
    "suggest",
    "hierarchy",
    "inputs",
    "hierarchy_rules",
    "suggest_hierarchy",
    "release",
    "score",
    "signing",
    "document",
    "params",
    "parts",
    "randomness",
    "example",
    "cell",
    "rows",
    "unforeseen",
    "versions",
}
CONTRACTS = {"contracts", "registry"}
TEXT = {"text"}  # words, WordNet and search, for documents and collections alike
FAMILIES = {"methods", "measures", "attacks", "documents", "collections"}
TESTING = {"testing", "testing_tables", "testing_collections"}

# What each part may import of shoal, besides itself: a part, or one module of it. "" is the package itself, which holds the version and loads
# names lazily. ARCHITECTURE.md has the same as a table.
ALLOWED = {
    "kernels": {"arrays"},
    **dict.fromkeys(NOUNS, NOUNS | {""}),
    **dict.fromkeys(CONTRACTS, NOUNS | CONTRACTS),
    "text": NOUNS | {"kernels"},
    **dict.fromkeys(FAMILIES, NOUNS | CONTRACTS | TEXT | {"kernels"}),
    # what things declare, but nothing that made the release they count
    "checks": NOUNS - {"bins", "counts", "distinct", "rows", "randomness", "formulas"} | {"registry"},
    "report": NOUNS | {"contracts", "documents", "shoal.runs.patterns"},  # the types it draws
    "runs": NOUNS | CONTRACTS | FAMILIES | TEXT | {"kernels", "checks", "report"},
    "engines": NOUNS | CONTRACTS | {"runs", "checks"},
    "api": NOUNS | CONTRACTS | {"checks", "runs", "engines"},
    "spark": NOUNS | CONTRACTS | {"api", "checks", "runs", "engines"},
    **dict.fromkeys(TESTING, NOUNS | CONTRACTS | TESTING | {"checks", "collections"}),
    "cli": NOUNS | CONTRACTS | TEXT | {"", "api", "runs", "checks", "report", "documents", "collections", "engines"},
    "__main__": {"cli"},
    "": NOUNS | {"api", "runs", "documents"},  # only for type checkers; the test of light imports below sees what is really loaded
}
HEAVY = (
    "torch",
    "spacy",
    "pyspark",
    "duckdb",
    "matplotlib",
    "pandas",
    "polars",
    "numba",
    "flask",
    "fastapi",
    "sklearn",
    "scipy",
    "pyarrow",
    "numpy",
)


def part_of(module: str) -> str:
    """shoal.kernels.mdav -> kernels; shoal -> ''."""
    return module.split(".")[1] if "." in module else ""


def module_name(path: Path) -> str:
    words = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def imports(path: Path) -> Iterator[str]:
    """Every module a file imports, at the top or inside a function; `from shoal import x` counts as shoal.x where that is a module."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            for name in node.names:
                inner = f"{module}.{name.name}"
                is_module = (SOURCE.parent / Path(*inner.split("."))).with_suffix(".py").exists() or (
                    SOURCE.parent / Path(*inner.split("."))
                ).is_dir()
                yield inner if is_module else module


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_go_one_way(path):
    mine = part_of(module_name(path))
    assert mine in ALLOWED, f"{module_name(path)} is new: say in this test what it may import"
    for module in imports(path):
        if module.split(".")[0] == "shoal" and part_of(module) != mine:
            assert {part_of(module), module} & ALLOWED[mine], f"{module_name(path)} must not import {module}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_nothing_imports_experiments_benchmarks_or_tests(path):
    assert not {"experiments", "benchmarks", "tests", "pytest"} & {module.split(".")[0] for module in imports(path)}


def test_only_the_registry_loads_modules_by_name():
    users = {module_name(path) for path in MODULES if "import_module(" in path.read_text(encoding="utf-8")}
    assert users <= {"shoal", "shoal.registry"}


def test_the_rule_would_catch_a_wrong_import(tmp_path):
    """The walk sees imports inside functions, relative ones, and modules named by `from package import module`."""
    wrong = SOURCE / "kernels" / "nowhere.py"  # never written: only its place matters
    text = "def f():\n    from ..methods import mdav\n    from shoal import table\n    import shoal.cli.app\n"
    seen = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            one = tmp_path / "one.py"
            one.write_text(ast.unparse(node))
            seen |= {part_of(module) for module in _imports_as_if(one, wrong)}
    assert seen == {"methods", "table", "cli"}


def _imports_as_if(path: Path, place: Path) -> list[str]:
    class Placed(type(path)):  # reads one file, stands at the place of another
        def read_text(self, *_args, **_words):
            return path.read_text()

    return list(imports(Placed(place)))


def test_import_shoal_is_light():
    code = f"import sys, shoal; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=SOURCE.parent)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "import shoal; [getattr(shoal, name) for name in shoal.__all__]",
        "import shoal.methods, shoal.measures, shoal.attacks, shoal.runs.run, shoal.runs.compare, shoal.testing, shoal.cli.app, shoal.cli.verbs",
    ],
)
def test_nothing_optional_is_ever_loaded(code):
    """numba and numpy are needed to work; a table library, a plotting library or a web framework never is."""
    optional = [name for name in HEAVY if name not in ("numba", "scipy", "pyarrow", "numpy")]
    code += f"; import sys; print([name for name in {optional!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=SOURCE.parent)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_no_text_names_a_place_on_a_machine(path):
    texts = [
        n.value for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    found = [text for text in texts if re.search(r"(^|[\s'\"(=])(/(home|Users|work|tmp|root|mnt|opt|var|etc)(/|\b)|[A-Z]:\\|~/)", text)]
    assert not found
