"""Contract checks for whoever writes a method, measure or attack: each raises AssertionError with the sentence that is broken.

    from shoal.testing import check_method
    def test_mine(): check_method(MyMethod)

Parameters without a default, or other choices of those with one, are given by name: `check_method(MyMethod, k=4)`. Tables are made in memory
and small. shoal runs the same checks over everything that is registered.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from shoal.checks.tables import check_release
from shoal.contracts import Scope
from shoal.errors import DataError, ParameterError, ShoalError
from shoal.promises import KINDS
from shoal.randomness import chance_for, rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import AttackResult, Better, Knowledge, Needs, Risk, Score
from shoal.table import Table
from shoal.testing_tables import ROWS, InParts, emptied, levelled, reordered, scrambled, table_of, tables, unprotected


def check_method(cls: type[Any], **parameters: Any) -> None:
    """Raise AssertionError unless a method keeps the contract of `shoal.contracts.Method`."""
    method = _check_named(cls, parameters, ("scope", "guarantees", "adds", "counts_persons", "reads", "follows", "protect"))
    _hold(cls.scope in get_args(Scope), cls, f"scope must be one of {', '.join(get_args(Scope))}, not {cls.scope!r}")
    _hold(isinstance(cls.guarantees, tuple), cls, "guarantees must be a tuple of names, empty where nothing is promised")
    _hold(re.search(r"\b(19|20)\d\d\b", cls.__doc__ or ""), cls, "the docstring must say where it comes from: authors and year")
    taken = 0
    for name, (table, roles) in tables().items():
        try:
            release = method.protect(table, roles, chance_for(1))
        except ParameterError as error:
            refused = any(f"'{column}'" in str(error) for column in roles.quasi)
            _hold(refused, cls, f"on the table '{name}' it refuses without naming the column: {error}")
            continue
        taken += 1
        _check_release(cls, name, method, table, roles, release)
    _hold(taken, cls, "it takes none of the tables: numeric, ordinal or nominal")
    table, roles = tables()["numeric"]
    nobody = replace(roles, quasi=(), other=(*roles.other, *roles.quasi))
    _raises(cls, "without a quasi-identifier", ParameterError, lambda: method.protect(table, nobody, chance_for(1)))
    if "k" in cls.model_fields:
        larger = cls(**{**parameters, "k": ROWS + 1})
        _raises(cls, f"with k = {ROWS + 1} on {ROWS} rows", DataError, lambda: _on_its_own_kind(larger))
    for rows in (1, 2):
        for name, (table, roles) in tables().items():
            few = table.take(np.arange(rows))
            try:
                release = method.protect(few, roles, chance_for(1))
            except ShoalError as error:
                _hold(str(error).endswith((".", "?")), cls, f"on {rows} row(s) of '{name}' it must say why it cannot, in a sentence")
            else:
                _check_rows(cls, f"on {rows} row(s) of '{name}'", few, roles, release)


def check_measure(cls: type[Any], **parameters: Any) -> None:
    """Raise AssertionError unless a measure keeps the contract of `shoal.contracts.Measure`."""
    measure = _check_named(cls, parameters, ("better", "needs", "step", "applies", "measure"))
    _hold(cls.needs in get_args(Needs), cls, f"needs must be release or original, not {cls.needs!r}")
    _hold(cls.step is None or cls.step > 0, cls, "step must be a number above 0, or None where it is not published of few records")
    for name, (table, roles) in tables().items():
        where = f"on the table '{name}'"
        order = rng_for(2).permutation(len(table))
        unchanged = unprotected(table, roles, order)
        score = _score(cls, measure, where, table, unchanged, roles)
        compares = _compares(measure, table, unchanged, roles)
        _hold(not compares or cls.needs == "original", cls, f"{where} it looks at the original, so its needs are not the release alone")
        if score.value is not None and score.better == "lower" and score.bounds[0] == 0 and compares:
            _hold(abs(score.value) <= 1e-9, cls, f"{where} nothing was changed, so it must be 0, not {score.value}")
        for what, release in (
            ("unchanged", unchanged),
            ("shuffled", scrambled(table, roles, order)),
            ("levelled", levelled(table, roles)),
            ("emptied", emptied(table, roles)),
        ):
            first = _score(cls, measure, f"{where}, {what}", table, release, roles)
            again = _score(cls, measure, f"{where}, {what}", *reordered(table, release), roles)
            _hold(_same(first.value, again.value), cls, f"{where}, {what}, row order changes it from {first.value} to {again.value}")
    table, roles = tables()["mixed"]
    for what, few, given in (
        ("one row", table.take(np.arange(1)), roles),
        ("no quasi-identifier", table, replace(roles, quasi=(), other=(*roles.other, *roles.quasi))),
        ("nothing confidential", table, replace(roles, confidential=(), other=(*roles.other, "secret"))),
    ):
        _score(cls, measure, f"with {what}", few, unprotected(few, given, np.arange(len(few))), given)


def check_attack(cls: type[Any], **parameters: Any) -> None:
    """Raise AssertionError unless an attack keeps the contract of `shoal.contracts.Attack`."""
    attack = _check_named(cls, parameters, ("risk", "applies", "attack"))
    linkage = cls.risk == "linkage"
    taken = 0
    for name, (table, roles) in tables().items():
        where, order, knowledge = f"on the table '{name}'", rng_for(3).permutation(len(table)), Knowledge(roles)
        release = unprotected(table, roles, order)
        try:
            found = _attacked(cls, attack, where, table, release, knowledge)
        except (DataError, ParameterError) as error:
            _hold(str(error).endswith((".", "?")), cls, f"{where} it must say why it cannot attack, in a sentence")
            continue
        taken += 1
        if linkage:
            hits = _shared_hits(cls, table, roles)
            _hold(
                math.isclose(found.hit, hits, rel_tol=1e-9),
                cls,
                f"{where} nothing was protected, so it must hit each record with 1 / class size, {hits:g} in all, not {found.hit:g}",
            )
            for what, alike in (("the same", levelled(table, roles)), ("empty", emptied(table, roles))):
                level = _attacked(cls, attack, f"{where}, every record {what}", table, alike, knowledge)
                hits = _shared_hits(cls, alike.table, roles)
                _hold(
                    math.isclose(level.hit, hits),
                    cls,
                    f"{where} every released record is {what}, so ties share one hit, {hits:g} records, not {level.hit:g}",
                )
                _hold(level.strict_hit == 0, cls, f"{where} all released records tie, so no hit is strict, yet {level.strict_hit:g} are")
        _check_order(cls, attack, where, table, release, knowledge)
        fewer = Knowledge(roles, roles.quasi[:1], 5)
        _hold(_attacked(cls, attack, where, table, release, fewer).tried == 5, cls, f"{where} the intruder knows 5 records, so 5 are tried")
        half = _attacked(cls, attack, where, table, release, Knowledge(roles, None, 0.5))
        _hold(
            half.tried == ROWS // 2, cls, f"{where} the intruder knows half of {ROWS} records, so {ROWS // 2} are tried, not {half.tried}"
        )
        part = replace(release, table=release.table.take(np.arange(6)), source_row=release.source_row[:6])
        got = _attacked(cls, attack, f"{where}, six rows released", table, part, knowledge)
        _hold(got.hit <= 6 + 1e-9, cls, f"{where} six records were released, so at most six are hit, not {got.hit:g}")
        nobody = Knowledge(replace(roles, quasi=()))
        _raises(
            cls,
            "when the intruder knows no column",
            ParameterError,
            lambda r=release, t=table, n=nobody: attack.attack(t, r, n, rng_for(1)),
        )
    _hold(taken, cls, "it attacks none of the tables: numeric, ordinal or nominal")
    _check_chance(cls, attack)


def _check_named(cls: type[Any], parameters: dict[str, Any], needs: Sequence[str]) -> Any:
    """Name, title, explanation, frozen parameters that survive being written down; gives the object itself."""
    for part in ("name", "title", *needs):
        _hold(hasattr(cls, part), cls, f"it has no {part}")
    _hold(re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cls.name), cls, f"name must be lower-case words joined by hyphens, not {cls.name!r}")
    _hold(cls.title, cls, "title must say what a person would call it")
    _hold(cls.__doc__ and "__doc__" in vars(cls) and cls.summary().endswith((".", ":")), cls, "its own docstring must open with a sentence")
    thing = cls(**parameters)
    given = thing.given()
    _hold(_json(given), cls, "given() must be plain JSON values")
    _hold(cls.parse(given) == thing, cls, "parse(given()) must give the same parameters back")
    words = {key: str(value) for key, value in given.items() if isinstance(value, str | int | float)}
    _hold(cls.parse({**given, **words}) == thing, cls, "its parameters must be readable from the words of a command line")
    for key, value in (given or {"surprise": 1}).items():
        try:
            setattr(thing, key, value)
        except Exception:  # every way of refusing will do
            continue
        raise AssertionError(f"{cls.__name__}: it must be frozen, but {key} can be set.")
    for row in cls.reference():
        _hold(row[3], cls, f"the parameter {row[0]} has no description")
    _raises(cls, "given a parameter it does not have", ParameterError, lambda: cls(**parameters, no_such_parameter=1))
    return thing


def _check_release(cls: type[Any], name: str, method: Any, table: Table, roles: Roles, release: Release) -> None:
    """Nothing it was given has changed, chance comes from the generator alone, and every promise holds."""
    (fresh, fresh_roles), given = tables()[name], method.given()
    where = f"on the table '{name}'"
    told: list[tuple[int, int]] = []
    again = method.protect(table, roles, chance_for(1), lambda what, done, of: told.append((done, of)))
    other = method.protect(table, roles, chance_for(2))
    _hold(table.arrow.equals(fresh.arrow), cls, f"{where} protect() changes the table it is given")
    _hold(all((table.codes(c) == fresh.codes(c)).all() for c in table.columns), cls, f"{where} protect() changes the table's codes")
    _hold(roles == fresh_roles and method.given() == given, cls, f"{where} protect() changes the roles or itself")
    _hold(all(0 <= done <= of for done, of in told), cls, f"{where} progress must be told 0 <= done <= of")
    same = again.table.arrow.equals(release.table.arrow) and np.array_equal(again.source_row, release.source_row)
    _hold(same, cls, f"{where} the same generator must give the same release, a second time too")
    _check_rows(cls, where, table, roles, release)
    _hold(
        len(release) == 1 or not np.array_equal(release.source_row, other.source_row),
        cls,
        f"{where} two generators must give differently ordered rows",
    )
    for one in (release, other):
        _hold(
            len(one) == 1 or not np.array_equal(one.source_row, np.arange(len(one))),
            cls,
            f"{where} rows must be shuffled, and are in their old order",
        )
    if cls.scope != "table":
        _check_parts(cls, where, method, table, roles, release)
    for step in release.made_by:
        _hold(step.method == cls.name and _json(dict(step.parameters)), cls, f"{where} its step must carry its name and plain parameters")
    covered = {promise.what for promise in release.promises}
    guaranteed = set(method.guarantees)  # which may depend on its parameters
    _hold(guaranteed <= covered, cls, f"{where} it guarantees {', '.join(sorted(guaranteed))} but does not promise it for any columns")
    for promise in release.promises:
        _hold(promise.what in KINDS, cls, f"{where} it promises {promise.what!r}, which nothing can check")
    for found in check_release(release):
        _hold(found.holds, cls, f"{where} it promises {found.what}: {found.promised:g}, but {found.found:g} was counted")


def _check_parts(cls: type[Any], where: str, method: Any, table: Table, roles: Roles, release: Release) -> None:
    """One batch equals many, and one order of rows another: the same records get the same cells."""
    whole = _who_got_what(table, release)
    for parts in (2, 5):
        made = method.protect(InParts(table, parts), roles, chance_for(1))
        _hold(_who_got_what(table, made) == whole, cls, f"{where} rows in {parts} batches are released otherwise than in one")
    order = rng_for(12).permutation(len(table))
    moved = table.take(order)
    made = method.protect(moved, roles, chance_for(1))
    _hold(_who_got_what(moved, made) == whole, cls, f"{where} its scope is {cls.scope}, yet the order of rows changes the release")


def _who_got_what(table: Table, release: Release) -> list[str]:
    """Every original row beside what became of it; rows that are equal are interchangeable, so only how many is said."""
    before, after = table.plain.to_pylist(), release.table.plain.to_pylist()
    return sorted(repr((list(before[row].values()), list(after[i].values()))) for i, row in enumerate(release.source_row.tolist()))


def _check_rows(cls: type[Any], where: str, table: Table, roles: Roles, release: Release) -> None:
    """The right columns, the right rows, and everything the method says it left alone is as it was."""
    columns = tuple(column for column in table.columns if column not in roles.identifier)
    adds = getattr(cls, "adds", ())
    if adds:  # a released row stands for several records: it has the columns it was made from, and what it adds about them
        columns = tuple(column for column in columns if column in (*roles.quasi, *roles.confidential))
    expected = (*columns, *adds)
    _hold(release.table.columns == expected, cls, f"{where} the release must have the columns {expected}, not {release.table.columns}")
    _hold(not release.table.arrow.schema.metadata, cls, f"{where} the release carries metadata, such as an index")
    source = release.source_row
    warned = any("row" in warning or "record" in warning for warning in release.warnings)
    _hold(
        len(release) == len(table) or warned, cls, f"{where} {len(table)} rows went in and {len(release)} came out, and no warning says so"
    )
    _hold(len(source) == len(release), cls, f"{where} source_row must name the original of every released row")
    distinct = len(set(source.tolist())) == len(source) and set(source.tolist()) <= set(range(len(table)))
    _hold(distinct, cls, f"{where} source_row must be a permutation of the rows")
    _hold(release.made_by, cls, f"{where} the release does not say how it was made")
    touched = {column for step in release.made_by for column in step.columns}
    _hold(touched <= set(columns), cls, f"{where} its step names columns that the release does not have")
    for column in columns:
        before, after = table.column(column).to_pylist(), release.table.column(column).to_pylist()
        _hold(not any(value != value for value in after), cls, f"{where} column '{column}' holds NaN; missing must be null")
        if column in roles.household:
            partition = len(set(zip((before[row] for row in source), after))) == len(set(after)) == len({before[row] for row in source})
            _hold(partition, cls, f"{where} households must be renumbered one to one")
        elif column not in touched:
            _hold(
                [before[row] for row in source] == after, cls, f"{where} source_row is wrong, or '{column}' changed though no step names it"
            )


def _score(cls: type[Any], measure: Any, where: str, original: Table, release: Release, roles: Roles) -> Score:
    score: Score = measure.measure(original, release, roles)
    value, (low, high) = score.value, score.bounds
    _hold(score.name == cls.name and score.title, cls, f"{where} the score must carry the measure's name and a title")
    _hold(
        score.better == cls.better and cls.better in get_args(Better),
        cls,
        f"{where} better must be lower, higher or neither, as its class says",
    )
    why = measure.applies(original, release, roles)
    _hold(not why or (score.value is None and score.note == why), cls, f"{where} it says that it does not apply, and still has a value")
    _hold(value is not None or score.note, cls, f"{where} it gives no value and no note that says why")
    numbers = [value, *score.per_column.values(), *(score.interval or ())]
    _hold(all(n is None or math.isfinite(n) for n in numbers), cls, f"{where} it gives NaN or infinity: {numbers}")
    inside = value is None or ((low is None or value >= low - 1e-9) and (high is None or value <= high + 1e-9))
    _hold(inside, cls, f"{where} its value {value} is outside its bounds {score.bounds}")
    _hold(_json(score.public()), cls, f"{where} public() must be plain JSON values")
    _hold(
        score.per_record is None or len(score.per_record) == len(release), cls, f"{where} per_record must have one number per released row"
    )
    return score


def _attacked(
    cls: type[Any], attack: Any, where: str, original: Table, release: Release, knowledge: Knowledge, seed: int = 4
) -> AttackResult:
    found: AttackResult = attack.attack(original, release, knowledge, rng_for(seed))
    again = attack.attack(original, release, knowledge, rng_for(seed))
    _hold(found.hit == again.hit and found.chance == again.chance, cls, f"{where} the same generator must give the same result")
    _hold(found.name == cls.name and found.title, cls, f"{where} the result must carry the attack's name and a title")
    _hold(found.risk == cls.risk and cls.risk in get_args(Risk), cls, f"{where} the result must carry the risk its class names")
    why = attack.applies(original, release, knowledge)
    _hold(not why, cls, f"{where} it says that it does not apply, and still attacks: {why}")
    _hold(1 <= found.tried <= len(original), cls, f"{where} it tried {found.tried} of {len(original)} records")
    ordered = -1e-9 <= found.strict_hit <= found.hit + 1e-9 and found.hit <= found.tried + 1e-9
    _hold(ordered, cls, f"{where} 0 <= strict_hit <= hit <= tried must hold, got {found.strict_hit}, {found.hit}, {found.tried}")
    _hold(0 <= found.chance <= 1, cls, f"{where} chance must be a rate, got {found.chance}")
    low, high = found.interval
    _hold(
        0 <= low <= found.rate + 1e-9 and found.rate - 1e-9 <= high <= 1,
        cls,
        f"{where} the interval {low, high} does not hold {found.rate}",
    )
    _hold(_json(found.public()), cls, f"{where} public() must be plain JSON values")
    if found.per_record is not None:
        tried = ~np.isnan(found.per_record)
        fits = (
            len(tried) == len(original)
            and tried.sum() == found.tried
            and math.isclose(found.per_record[tried].sum(), found.hit, abs_tol=1e-9)
        )
        _hold(fits, cls, f"{where} per_record must hold each original's share of the hits, NaN where not tried")
    return found


def _check_order(cls: type[Any], attack: Any, where: str, table: Table, release: Release, knowledge: Knowledge) -> None:
    """Where chance decides nothing, neither does the order of rows. Where it does, a tie broken by chance is no row order either."""
    hits = {attack.attack(table, release, knowledge, rng_for(seed)).hit for seed in (4, 5, 6)}
    moved = attack.attack(*reordered(table, release), knowledge, rng_for(4)).hit
    if len(hits) == 1:
        _hold(math.isclose(moved, hits.pop(), abs_tol=1e-9), cls, f"{where} the order of rows changes its hits to {moved:g}")


def _check_chance(cls: type[Any], attack: Any) -> None:
    """Where quasi-identifiers are torn from their records, the attack does as well as blind guessing; the luckiest of many forms may do better."""
    rows = 200
    rng = np.random.default_rng(11)
    table, roles = table_of({name: rng.permutation(rows).astype(float).tolist() for name in "xyz"})
    found = _attacked(cls, attack, "on shuffled columns", table, scrambled(table, roles, rng.permutation(rows)), Knowledge(roles)).textbook
    sure = 5 * math.sqrt(max(found.chance, 1 / rows) / rows)
    message = f"columns were shuffled, so it must do about as well as blind guessing ({found.chance:.3f}), not {found.rate:.3f}"
    _hold(abs(found.rate - found.chance) <= sure, cls, message)


def _compares(measure: Any, table: Table, release: Release, roles: Roles) -> bool:
    """Whether it holds the release against the original at all, or looks at the release alone, as class sizes do."""
    other = table.with_columns({c: table.take(np.arange(len(table)) // 2).column(c) for c in roles.quasi})
    first, second = (measure.measure(one, release, roles) for one in (table, other))
    told = [(score.interval, dict(score.per_column), dict(score.details), score.note) for score in (first, second)]
    return not _same(first.value, second.value) or (measure.needs == "release" and told[0] != told[1])


def _on_its_own_kind(method: Any) -> None:
    """Protect the first table whose columns the method takes."""
    refusals: list[ParameterError] = []
    for table, roles in tables().values():
        try:
            method.protect(table, roles, chance_for(1))
        except ParameterError as error:
            refusals.append(error)
        else:
            return
    raise refusals[0]


def _shared_hits(cls: type[Any], table: Table, roles: Roles) -> float:
    """What whoever knows everything hits where ties are shared: each record 1 / class size; or, where it looks for households, 1 / households alike."""
    records = list(_tuples(table, roles.quasi))
    if cls.looks_for != "households":
        return len(Counter(records))
    homes: dict[Any, list[str]] = {}
    for home, record in zip(table.column(roles.household[0]).to_pylist(), records):
        homes.setdefault(home, []).append(repr(record))
    looks = Counter(tuple(sorted(members)) for members in homes.values())
    return sum(len(look) for look in looks)


def _tuples(table: Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(column).to_pylist() for column in columns))


def _same(one: float | None, two: float | None) -> bool:
    return one is two or (one is not None and two is not None and math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-9))


def _json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _raises(cls: type[Any], when: str, kind: type[ShoalError], call: Any) -> None:
    try:
        call()
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{cls.__name__}: {when} it must raise {kind.__name__}, not {type(error).__name__}.") from error
    raise AssertionError(f"{cls.__name__}: {when} it must raise {kind.__name__}, and does not.")


def _hold(holds: object, cls: type[Any], sentence: str) -> None:
    if not holds:
        raise AssertionError(f"{cls.__name__}: {sentence}.")
