"""A thousand invented tables of persons with several rows, in households: are classes of k persons, and kept numbers of households, what was promised?

    python -m experiments.people             # the tables, then the clock: about a quarter of a minute
    python -m experiments.people --tables 100

What is promised is counted again here from the released rows by sets and dictionaries, which shares nothing with shoal. Then the check of a table
of a million rows is timed, counting persons and counting rows.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.checks.tables import check_file, check_release
from shoal.errors import ShoalError
from shoal.promises import Promise
from shoal.registry import make
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps, ready
from shoal.table import Table
from shoal.writing import write_table

QUASI = ("age", "sex", "zip")
METHODS = (
    ("mondrian", {}),
    ("mdav", {}),
    ("anti-unification-safe", {}),
    ("kactus", {"target": "job"}),
    ("mondrian", {"l": 2}),
    ("v-mdav", {}),
    ("infogain-mondrian", {"target": "job"}),
    ("anti-unification-safe", {"publish": "sets", "l": 2}),
)


class Case(NamedTuple):
    """A table, how it is protected, and what it must keep."""

    table: Table
    roles: Roles
    method: str
    parameters: dict[str, Any]
    k: int
    household_k: int


def invented(seed: int) -> Case:
    """Persons of one to six rows, in households. In some tables that Mondrian protects the age differs between rows of a person."""
    rng = np.random.default_rng([seed, 14])
    k, household_k = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    persons = int(rng.integers(3 * k, 14 * k))
    person = np.repeat(np.arange(persons), rng.integers(1, int(rng.choice([2, 3, 7])), persons))
    rng.shuffle(person)
    households = max(2, int(persons / rng.choice([1, 1.5, 3])))
    household = np.where(np.arange(persons) < households, np.arange(persons), rng.integers(0, households, persons))
    age, ill = rng.integers(20, 20 + int(rng.integers(2, 60)), persons)[person], rng.integers(0, 5, len(person))
    method, more = METHODS[seed % len(METHODS)]
    age = age + (rng.integers(0, 3, len(person)) if method == "mondrian" and seed // len(METHODS) % 3 == 2 and not more else 0)
    table = Table.of(
        {
            "who": rng.permutation(9 * persons)[:persons][person],
            "age": age,
            "sex": np.array(["f", "m"])[rng.integers(0, 2, persons)][person],
            "zip": np.array(list("uvwxyz"))[rng.integers(0, int(rng.integers(1, 7)), persons)][person],
            "house": household[person],
            "rooms": rng.integers(1, int(rng.integers(2, 4)), households)[household][person],
            "ill": np.array(["flu", "cold", "gout", "asthma", "burn"])[ill],
            "job": np.array(["a", "b"])[rng.integers(0, 2, len(person))],
        }
    )
    target = more.get("target")
    roles = Roles(
        quasi=QUASI,
        confidential=("ill",),
        person=("who",),
        household=("house",),
        other=("rooms",),
        target=target,
        link={"household": household_k},
    )
    return Case(table, roles, method, {key: value for key, value in more.items() if key != "target"} | {"k": k}, k, household_k)


def released(case: Case, seed: int) -> Release:
    """Protected as a user would."""
    step = make("method", case.method, case.parameters)
    table, roles = ready(case.table, case.roles, [step])
    return apply_steps(table, roles, [step], seed)


# ---- counted again, by plain Python ------------------------------------------------------------------------------------------------


def whose(case: Case, release: Release) -> list[Any]:
    """The person of each released row, from the original alone."""
    numbers = case.table.column("who").to_pylist()
    return [numbers[row] for row in release.source_row.tolist()]


def persons_in_classes(rows: Sequence[tuple[Any, ...]], persons: Sequence[Any]) -> list[int]:
    """How many different persons have each row of quasi-identifiers."""
    classes = defaultdict(set)
    for row, person in zip(rows, persons, strict=True):
        classes[row].add(person)
    return [len(inside) for inside in classes.values()]


def most_different(persons_of: dict[Any, set[Any]]) -> int:
    """How many values can be given to different persons who have them: one person after the other changes its mind (Kuhn 1955)."""
    taken: dict[Any, Any] = {}

    def gives(value: Any, asked: set[Any]) -> bool:
        for person in persons_of[value] - asked:
            asked.add(person)
            if person not in taken or gives(taken[person], asked):
                taken[person] = value
                return True
        return False

    return sum(gives(value, set()) for value in persons_of)


def households_alike(columns: dict[str, list[Any]], shared: Sequence[str]) -> list[int]:
    """For every kept number, how many households have the same rows, each as often."""
    members = defaultdict(list)
    for number, *row in zip(columns["house"], *(columns[name] for name in (*QUASI, *shared)), strict=True):
        if number is not None:
            members[number].append(tuple(row))
    looks = {number: frozenset(Counter(rows).items()) for number, rows in members.items()}
    alike = Counter(looks.values())
    return [alike[look] for look in looks.values()]


def constant_in_households(columns: dict[str, list[Any]]) -> list[str]:
    """Other released columns that are the same inside 95 % of the households that still have a number and two rows."""
    found = []
    for name in columns:
        if name in ("house", *QUASI):
            continue
        inside = defaultdict(list)
        for number, cell in zip(columns["house"], columns[name], strict=True):
            if number is not None:
                inside[number].append(cell)
        several = [cells for cells in inside.values() if len(cells) > 1]
        if several and sum(len(set(cells)) == 1 for cells in several) >= 0.95 * len(several):
            found.append(name)
    return found


class Counted(NamedTuple):
    """What went wrong in one table: nothing, one hopes."""

    classes: int
    below_k: int
    kept_households: int
    below_household_k: int
    person_told: int  # released columns that have the numbers of persons


def recount(case: Case, release: Release) -> Counted:
    """Everything of one release."""
    columns = {name: release.table.column(name).to_pylist() for name in release.table.columns}
    rows = list(zip(*(columns[name] for name in QUASI)))
    sizes = persons_in_classes(rows, whose(case, release))
    promised = next((promise.columns for promise in release.promises if promise.what == "household-k"), ())
    shared = {name for name in promised if name not in QUASI} | set(constant_in_households(columns))
    alike = households_alike(columns, sorted(shared))
    return Counted(
        len(sizes), sum(size < case.k for size in sizes), len(alike), sum(n < case.household_k for n in alike), int("who" in columns)
    )


# ---- the clock ---------------------------------------------------------------------------------------------------------------------


def timed(rows: int) -> None:
    """The check of k, and of k and l, counting rows and counting persons: of a table in memory, and of its CSV file."""
    rng = np.random.default_rng(14)
    persons = rng.integers(0, rows // 3, rows)
    quasi = {name: rng.integers(0, most, rows // 3)[persons].astype(str) for name, most in (("a", 50), ("b", 40), ("c", 10))}
    table = Table(pa.table(quasi | {"d": rng.integers(0, 12, rows).astype(str)}))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        write_table(table, file)
        for whats, where in itertools.product((("k-anonymity",), ("k-anonymity", "l-diversity")), ("in memory", "in a CSV file")):
            took = {}
            for unit, whose_rows in (("rows", None), ("persons", persons)):
                promises = tuple(Promise(what, 2, ("a", "b", "c"), None if what == "k-anonymity" else "d", unit) for what in whats)  # type: ignore[arg-type]
                release = Release(table, (Step("as it is", {}, ("a", "b", "c"), (), "", promises),), np.arange(rows), persons=whose_rows)
                check = partial(check_release, release) if where == "in memory" else partial(check_file, file, ",", promises, whose_rows)
                took[unit] = min(_seconds(check) for _ in range(5))
            ratio = took["persons"] / took["rows"]
            what = f"{rows:,} rows {where}, {' and '.join(whats)}"
            print(f"{what}: rows {took['rows']:.3f} s, persons {took['persons']:.3f} s, ratio {ratio:.2f}")


def _seconds(check: Callable[[], object]) -> float:
    begin = time.process_time()
    check()
    return time.process_time() - begin


def main() -> None:
    """Print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    total, refused = Counter(), Counter()
    for seed in itertools.count():
        if total["tables"] == asked.tables:
            break
        case = invented(seed)
        try:
            release = released(case, seed)
        except ShoalError as error:  # a sentence: nothing was released
            refused[f"{case.method}: {str(error)[:60]}..."] += 1
            if sum(refused.values()) > 2 * asked.tables:
                break
            continue
        total["tables"] += 1
        total.update(recount(case, release)._asdict())
    print(f"{total['tables']:,} tables: {total['classes']:,} classes, {total['below_k']} of them below k persons; {total['kept_households']:,} kept "
          f"household numbers, {total['below_household_k']} of them below household-k; {total['person_told']} with numbers of persons")  # fmt: skip
    for sentence, many in refused.most_common():
        print(f"  refused {many:,} times: {sentence}")
    timed(asked.rows)


if __name__ == "__main__":
    main()
