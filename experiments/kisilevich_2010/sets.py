"""The data sets of the paper's Table 1, as far as they can be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from experiments.data import data_path
from shoal import Roles, Table

ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex"),
    *("capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
# Section 5.5: all 14 columns, and the two smaller sets of quasi-identifiers; the other columns are released as they are.
Q_SETS = {
    "14/14": ADULT,
    "11/14": tuple(c for c in ADULT if c not in ("relationship", "race", "capital-loss")),
    "8/14": ("age", "workclass", "fnlwgt", "occupation", "sex", "capital-gain", "hours-per-week", "native-country"),
}
# name in Table 2: file, separator, columns left out, column of the class
FILES: dict[str, tuple[tuple[str, ...], str | None, tuple[int, ...], int]] = {
    "Japanese Credit": (("uci", "crx", "crx.data"), ",", (), 15),
    "Pima Diabetes": (("uci", "pima", "pima-indians-diabetes.data"), ",", (), 8),
    "Glass": (("uci", "glass", "glass.data"), ",", (0,), 10),
    "Ionosphere": (("uci", "ionosphere", "ionosphere.data"), ",", (), 34),
    "Nurse": (("uci", "nursery", "nursery.data"), ",", (), 8),
    "TTT": (("uci", "tic-tac-toe", "tic-tac-toe.data"), ",", (), 9),
    "Vehicle": (("uci", "vehicle", "vehicle_all.dat"), None, (), 18),
    "Waveform": (("uci", "waveform-noise", "waveform-+noise.data"), ",", (), 40),
    "German credit": (("uci", "german", "german.data"), None, (), 20),
}
CLASS = "class"


@dataclass(frozen=True)
class Data:
    """A table whose class is to be predicted, and which of its columns are quasi-identifiers."""

    name: str
    halves: str  # data sets of the same rows are cut into the same halves
    table: Table = field(repr=False, compare=False)
    roles: Roles = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def features(self) -> list[str]:
        """All but the class."""
        return [c for c in self.table.columns if c != CLASS]


@cache
def small(name: str) -> Data:
    """One of the nine smaller ones; every column is a quasi-identifier, as in section 5.4."""
    parts, separator, left_out, target = FILES[name]
    rows = [[cell.strip() for cell in line.split(separator)] for line in data_path(*parts).read_text().splitlines() if line.strip()]
    used = [j for j in range(len(rows[0])) if j not in left_out and j != target]
    columns = {f"A{j + 1}": [row[j] for row in rows] for j in used}
    return _data(name, name, columns, [row[target] for row in rows], list(columns))


@cache
def adult(quasi: str = "14/14", complete: bool = True, every: int = 1) -> Data:
    """Both files of Adult together: the 45,222 complete rows, or all 48,842; or one row of so many."""
    rows = []
    for name in ("adult.data", "adult.test"):
        for line in data_path("adult", name).read_text().splitlines():
            cells = [cell.strip() for cell in line.rstrip(".").split(",")]
            if len(cells) == 15 and not (complete and "?" in cells):
                rows.append(cells)
    rows = rows[::every]
    label = "Adult" if complete else "Adult, all rows"
    columns = {name: [row[j] for row in rows] for j, name in enumerate(ADULT)}
    return _data(f"{label} {quasi}", label, columns, [row[14] for row in rows], Q_SETS[quasi])


def _data(name: str, halves: str, columns: dict[str, list[str]], classes: list[str], quasi: Sequence[str]) -> Data:
    typed: dict[str, list[float | None] | list[str | None]] = {c: _typed(cells) for c, cells in columns.items()}
    text = tuple(c for c, cells in typed.items() if any(isinstance(cell, str) for cell in cells))
    table = Table.of({**typed, CLASS: [f"class {one}" for one in classes]})
    return Data(name, halves, table, Roles(quasi=tuple(quasi), nominal=text, target=CLASS, rest="release").check(table))


def _typed(cells: list[str]) -> list[float | None] | list[str | None]:
    try:
        numbers = [None if cell == "?" else float(cell) for cell in cells]
    except ValueError:
        return [None if cell == "?" else cell for cell in cells]
    whole = all(number is None or number.is_integer() for number in numbers)
    return [None if number is None else int(number) for number in numbers] if whole else numbers
