"""The lowest versions that pyproject.toml allows, one pin to a line: what `make lowest` installs.

Run from the repository's root: python -m tools.lowest
"""

import re
import sys
import tomllib
from pathlib import Path

LOWEST = re.compile(r"([\w-]+)>=([\w.]+)")


def pins(pyproject: str) -> list[str]:
    """Of every dependency and every extra; tools that only look at the code (ruff, mypy, setuptools) and test runners stay as new as they are."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    tried = [
        *project["dependencies"],
        *extras["documents"],
        *extras["sign"],
        *(line for line in extras["dev"] if line.startswith(("pandas", "polars"))),
    ]
    found = [LOWEST.fullmatch(line) for line in tried]
    if None in found:
        raise SystemExit("Every dependency needs one lower bound, name>=version, or its lowest version cannot be tried.")
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    sys.stdout.write("\n".join(pins(Path("pyproject.toml").read_text(encoding="utf-8"))) + "\n")
