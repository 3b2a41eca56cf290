"""A file can be read in one sitting, and a function at one glance: at most 400 lines, and 70."""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
LONGEST_FILE, LONGEST_FUNCTION = 400, 70


def test_no_file_is_too_long():
    lengths = {_place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {place: lines for place, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_function_is_too_long():
    too_long = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = _lines(node)
                if lines > LONGEST_FUNCTION:
                    too_long[f"{_place(path)}: {node.name}"] = lines
    assert too_long == {}


def test_a_long_function_would_be_noticed():
    text = "def f():\n" + "    x = 1\n" * LONGEST_FUNCTION
    assert _lines(ast.parse(text).body[0]) == LONGEST_FUNCTION + 1


def _lines(node: ast.stmt) -> int:
    """From `def` to the last line; decorators are not counted."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def _place(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()
