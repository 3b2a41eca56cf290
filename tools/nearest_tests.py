"""The test files nearest to what changed since the last commit: what `make check` runs, in seconds. `make test` runs all.

Run from the repository's root: python -m tools.nearest_tests
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

DEFINED = re.compile(r"^(?:class|def) ([A-Za-z]\w+)", re.MULTILINE)
NEAREST = 2  # test files for each changed file


def changed() -> list[str]:
    """Files that differ from the last commit, new ones too."""
    asked = (["git", "diff", "--name-only", "--diff-filter=d", "HEAD"], ["git", "ls-files", "--others", "--exclude-standard"])
    return [line for words in asked for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()]


def nearest(changed: Iterable[str], sources: Mapping[str, str], tests: Mapping[str, str]) -> list[str]:
    """Of changed tests each; of a page those of the documentation; of a changed source the nearest ones."""
    found: set[str] = set()
    for path in changed:
        if path in tests:
            found.add(path)
        elif path.endswith(".md"):
            found.add("tests/docs/test_docs.py")
        elif path in sources:
            far = {test: _distance(path, sources[path], test, text) for test, text in tests.items()}
            found |= set(sorted(tests, key=far.__getitem__)[:NEAREST])
    return sorted(found)


def _distance(path: str, source: str, test: str, text: str) -> tuple[bool, bool, bool, int, int, str]:
    """Nearest is a test that bears the file's name, then one that imports it, then one of its room, then one that names what it defines."""
    parts = Path(path.removesuffix("/__init__.py").removesuffix(".py")).parts[1:]
    name, module = parts[-1].removesuffix("s"), ".".join(parts)  # shoal/kernels/__init__.py is tested by test_kernel_cache
    defined = set(DEFINED.findall(source))
    named = sum(word in defined for word in re.findall(r"\w+", text))
    room = Path(path).parent.name not in Path(test).parts
    return (
        name not in Path(test).stem.removeprefix("test_"),
        not re.search(rf"\b{re.escape(module)}\b", text),
        room,
        -named,
        len(text),
        test,
    )


def _texts(folder: str, pattern: str) -> dict[str, str]:
    return {path.as_posix(): path.read_text(encoding="utf-8") for path in Path(folder).rglob(pattern)}


if __name__ == "__main__":
    sys.stdout.write(" ".join(nearest(changed(), _texts("src", "*.py"), _texts("tests", "test_*.py"))) + "\n")
