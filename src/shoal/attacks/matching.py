"""Two files made comparable: what the intruder holds, and what was released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.cell import SUPPRESSED, cells_of, expected_numbers, is_generalized, read_all, value_shares
from shoal.contracts import Attack
from shoal.errors import DataError, ParameterError, TooManyCombinations, did_you_mean
from shoal.kernels.groups import class_ids
from shoal.kernels.scaling import Spread, standardized
from shoal.params import Params
from shoal.promises import Unit
from shoal.release import Release
from shoal.roles import Scale, level_places
from shoal.score import AttackResult, Knowledge, LooksFor, Risk, wilson
from shoal.table import Table

MOST_CORNERS = 16
MOST_LINKS = 2_000_000  # pairs of a person's records and released rows; beyond these, fewer persons are looked for, drawn at random
OF_PERSONS = "Counted in persons: a link to any row of a person finds it, and of several records the one that finds it best counts."


class LinkageAttack(Params):
    """An attack that looks for the record of each person the intruder knows."""

    risk: ClassVar[Risk] = "linkage"
    looks_for: ClassVar[LooksFor] = "records"

    def applies(self, original: Table, release: Release, knowledge: Knowledge) -> str:
        """Whatever is known can be compared."""
        return ""


class Persons(NamedTuple):
    """Whose each row of the original is, and how many persons were released."""

    of_row: IntArray
    released: int


class IntruderView(NamedTuple):
    """The intruder's records and the released ones, in the columns both have. Row `true_row[i]` was made from record i; -1: not released.

    Where persons are known, a link to any row of the right person is right: a record stands here once for each released row of its person.
    """

    columns: tuple[str, ...]  # numeric and ordinal ones first, then nominal ones, as in the arrays
    known: FloatArray  # numeric and ordinal columns, NaN where missing
    released: FloatArray
    known_nominal: IntArray  # codes shared by both files; of a released set, its most frequent value's
    released_nominal: IntArray
    exact: BoolArray  # which nominal columns were released as plain values; the others are compared through:
    known_shares: FloatArray  # the value as a corner of a simplex
    share_points: list[FloatArray]  # of each such column, its cells: the values of a set as the point between their corners
    share_codes: list[IntArray]  # and which cell each released row has
    sets: tuple[str, ...]  # columns released as sets or intervals
    true_row: IntArray
    rows: IntArray  # which originals the intruder knows
    persons: Persons | None = None  # where one has several rows that are not alike
    stands_for: IntArray | None = None  # how many released rows each row here is, where they are combinations
    every: list[Spread] | None = None  # then all released values of each column of `released`


def intruders_view(
    original: Table, release: Release, knowledge: Knowledge, rng: Generator, right: Literal["any row", "own row"] = "any row"
) -> IntruderView:
    """What the intruder can compare. A column the release no longer has as numbers is compared as categories.

    Where persons are known, the intruder looks for persons, and right is `any row` of the person, or only the record's own.
    """
    columns = knowledge.known_columns()
    if not columns:
        raise ParameterError("The intruder knows no column: there is no quasi-identifier. Name the columns the intruder knows.")
    for column in columns:
        for table, which in ((original, "original"), (release.table, "release")):
            if column not in table.columns:
                raise DataError(
                    f"The intruder is said to know '{column}', but the {which} has no such column.{did_you_mean(column, table.columns)}"
                )
    if len(release.source_row) != len(release.table) or (len(original) <= release.source_row.max(initial=-1)):
        raise DataError(
            "The release does not belong to this original: its rows point outside it. Attack a release with the run it came from."
        )
    sets = tuple(column for column in columns if is_generalized(original, release.table, column))
    rows, true_row, persons = _looked_for(original, release, knowledge, rng, bool(sets), right)
    scales = {column: _scale(original, release.table, knowledge, column) for column in columns}
    columns = (*(c for c in columns if scales[c] != "nominal"), *(c for c in columns if scales[c] == "nominal"))
    numbers = [column for column in columns if scales[column] != "nominal"]
    numeric = [_numeric(original, release, release.table, knowledge, column) for column in numbers]
    words = [column for column in columns if scales[column] == "nominal"]
    nominal = [_nominal(original, release.table, column) for column in words]
    exact = np.array([not is_generalized(original, release.table, column) for column in words], dtype=np.bool_)
    shares = [(column, *_shares(original, release, column)) for column, plain in zip(words, exact) if not plain]
    return IntruderView(
        columns,
        _stack([before[rows] for before, _ in numeric], len(rows), np.float64),
        _stack([after for _, after in numeric], len(release), np.float64),
        _stack([before[rows] for before, _ in nominal], len(rows), np.int64),
        _stack([after for _, after in nominal], len(release), np.int64),
        exact,
        _stack([corners[rows] for _, corners, _ in shares], len(rows), np.float64),
        [cells for _, _, cells in shares],
        [release.table.codes(column) for column, _, _ in shares],
        tuple(column for column in columns if column in sets),
        true_row,
        rows,
        persons,
        release.stands_for,
        None if release.stands_for is None else [_every(original, release, knowledge, column) for column in numbers],
    )


def _looked_for(
    original: Table, release: Release, knowledge: Knowledge, rng: Generator, sets: bool, right: Literal["any row", "own row"]
) -> tuple[IntArray, IntArray, Persons | None]:
    """The records the intruder knows, and the released row that would be right; of persons, all pairs of their records and released rows."""
    place = release.rows_of(len(original))
    if release.persons is None:
        rows = knowledge.known_rows(len(original), rng)
        return rows, place[rows], None
    of_row = original.codes(knowledge.roles.person[0])
    known = knowledge.known_rows(int(of_row.max(initial=-1)) + 1, rng)
    persons = Persons(of_row, len(np.unique(release.persons)))
    if right == "own row":
        rows = np.flatnonzero(np.isin(of_row, known))
        return rows, place[rows], persons
    columns = knowledge.known_columns()
    mine = _one_of_each(class_ids([original.codes(column) for column in columns])[0], of_row)
    theirs = np.arange(len(release))
    if sets:  # rows of one person in one class are one link
        theirs = _one_of_each(class_ids([release.table.codes(column) for column in columns])[0], release.persons)
    theirs = theirs[np.argsort(release.persons[theirs], kind="stable")]
    many = np.bincount(release.persons[theirs], minlength=int(of_row.max(initial=-1)) + 1)
    order = rng.permutation(known)
    pairs = np.cumsum((np.bincount(of_row[mine], minlength=len(many)) * np.maximum(many, 1))[order])
    tried = order[: max(1, int(np.searchsorted(pairs, MOST_LINKS, "right")))]  # persons, drawn at random where pairs are too many
    mine = mine[np.isin(of_row[mine], tried)]
    entries = np.maximum(many[of_row[mine]], 1)
    rows = np.repeat(mine, entries)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(entries) - entries, entries)
    first = np.cumsum(many) - many
    there = many[of_row[rows]] > 0
    return rows, np.where(there, theirs[np.where(there, first[of_row[rows]] + nth, 0)], -1), persons


def _one_of_each(classes: IntArray, persons: IntArray) -> IntArray:
    """A row of each class and person."""
    return np.asarray(np.unique(classes * (int(persons.max(initial=0)) + 1) + persons, return_index=True)[1])


def released_shares(view: IntruderView, rows: IntArray) -> FloatArray:
    """Sets of categories of some released rows as points."""
    return _stack([points[codes[rows]] for points, codes in zip(view.share_points, view.share_codes)], len(rows), np.float64)


def points(view: IntruderView, scaling: Literal["each", "original"], rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """The known records and some released rows in standard deviations, each file by its own mean and deviation or both by the original's.

    Where a column has a missing value on either side it gets a coordinate that is 1 where missing, and the missing value sits at the mean.
    """
    left, right = [], []
    for j in range(view.known.shape[1]):
        x, y = view.known[:, j], view.released[:, j]
        gone = np.isnan(x).any() or np.isnan(y).any()
        if gone:
            left.append(np.isnan(x).astype(np.float64))
            right.append(np.isnan(y[rows]).astype(np.float64))
        if np.isnan(x).all() or np.isnan(y).all():
            continue
        if scaling == "each":
            x, y = standardized(x), standardized(y, None if view.every is None else view.every[j])
        else:
            middle, deviation = np.nanmean(x), np.nanstd(x, ddof=1) if (~np.isnan(x)).sum() > 1 else 0.0
            x, y = ((side - middle) / (deviation or 1.0) for side in (x, y))
        left.append(np.nan_to_num(x))
        right.append(np.nan_to_num(y[rows]))
    left.append(view.known_shares)
    right.append(released_shares(view, rows))
    return _stack(left, len(view.known), np.float64), _stack(right, len(rows), np.float64)


def result(
    attack: Attack, view: IntruderView, share: FloatArray, chance: float, original_rows: int, note: str = "", **details: object
) -> AttackResult:
    """Hits with shared ties: `share` is 1 for a link found, 1/m where m records tie, 0 where another is preferred.

    Of persons, links of one record to several rows of its person add up, and the record counts that finds its person best.
    """
    per_record = np.full(original_rows, np.nan)
    unit: Unit = "rows"
    if view.persons is None:
        per_record[view.rows] = share
    else:
        share, per_record, unit, chance = *best_of_persons(view, share), "persons", 1 / view.persons.released
        note = f"{note} {OF_PERSONS}".strip()
    hit = float(share.sum())
    tied = int(((share > 0) & (share < 1)).sum())
    shared = f"{tied:,} {'records' if unit == 'rows' else unit} tie with others; each counts as its share." if tied else ""
    return AttackResult(
        attack.name,
        attack.title,
        tried=len(share),
        hit=hit,
        strict_hit=float((share == 1).sum()),
        chance=chance,
        interval=wilson(hit, len(share)),
        risk=attack.risk,
        note=" ".join(part for part in (note, shared) if part),
        details={"columns": list(view.columns), "tied": tied, **details},
        per_record=per_record,
        unit=unit,
    )


def best_of_persons(view: IntruderView, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each person tried the share of the record that finds it best; and the same for each row of the original, NaN where not tried."""
    assert view.persons is not None
    of_row = view.persons.of_row
    found = np.minimum(np.bincount(view.rows, share, minlength=len(of_row)), 1.0)
    found[found > 1 - 1e-9] = 1.0  # parts that add up to one
    best = np.full(int(of_row.max(initial=-1)) + 1, np.nan)
    np.fmax.at(best, of_row[view.rows], found[view.rows])
    return best[~np.isnan(best)], best[of_row]


def _scale(original: Table, released: Table, knowledge: Knowledge, column: str) -> Scale:
    scale = knowledge.roles.scale(original, column)
    return "nominal" if scale == "ordinal" and is_generalized(original, released, column) else scale


def _numeric(original: Table, release: Release, released: Table, knowledge: Knowledge, column: str) -> tuple[FloatArray, FloatArray]:
    """Numbers and places of levels on both sides; the table `released` is that of the release, or of all values of the column."""
    if _scale(original, released, knowledge, column) == "ordinal":
        levels = knowledge.roles.levels(original, column)
        return level_places(original, column, levels), level_places(released, column, levels)
    before = original.number(column)
    if released.kind(column) != "text":
        return before, released.number(column)
    # sets and intervals stand at their expected value, suppressed cells at the middle of everything
    return before, np.nan_to_num(expected_numbers(released, column), nan=_middle(before, original, release, column))


def _middle(before: FloatArray, original: Table, release: Release, column: str) -> float:
    """The mean of all originals; 0 where none is known."""
    if release.originals is None:
        return float(np.nanmean(before)) if (~np.isnan(before)).any() else 0.0
    values = release.values_before(original, column)
    known = Spread(values.table.number(column), values.rows).known
    return known.mean if known.total else 0.0


def _every(original: Table, release: Release, knowledge: Knowledge, column: str) -> Spread:
    """All released values of a column, as the intruder reads them; where there are too many to be counted, those of the combinations."""
    assert release.stands_for is not None
    try:
        counts = release.counts([column])
        table, rows = counts.table, counts.rows
    except TooManyCombinations:
        table, rows = release.table, release.stands_for
    return Spread(_numeric(original, release, table, knowledge, column)[1], rows)


def _nominal(original: Table, released: Table, column: str) -> tuple[IntArray, IntArray]:
    """The same code for the same text on both sides; missing is a value of its own. Of a set, its most frequent value counts."""
    before, after = original.levels(column).cast(pa.string()), released.levels(column).cast(pa.string())
    if is_generalized(original, released, column):
        cells = read_all(after.to_pylist())
        likely = [one.values[int(np.argmax(one.counts))] if one.values else SUPPRESSED for one in cells]
        after = pa.array(likely, pa.string())
    codes = Table.of({"both": pa.concat_arrays([before, after])}).codes("both")
    return codes[: len(before)][original.codes(column)], codes[len(before) :][released.codes(column)]


def _shares(original: Table, release: Release, column: str) -> tuple[FloatArray, FloatArray]:
    """Each original's value as a corner of a simplex of side 1, a set as the point between its values' corners, a suppressed cell as all are.

    Beyond MOST_CORNERS values the corners are spread over a sphere of that many dimensions by draws that are always the same.
    """
    values = release.values_before(original, column)
    names = [None if v is None else str(v) for v in values.table.column(column).cast(pa.string()).to_pylist()]
    place = {name: i for i, name in enumerate(names)}
    corners = np.eye(len(names)) / np.sqrt(2)
    if len(names) > MOST_CORNERS:
        corners = np.random.default_rng(len(names)).standard_normal((len(names), MOST_CORNERS))
        corners /= np.sqrt(2) * np.linalg.norm(corners, axis=1, keepdims=True)
    whole = values.rows / values.total
    cells = []
    for one in cells_of(release.table, column):
        shares = {place[value]: share for value, share in value_shares(one).items() if value in place}
        cells.append(sum((share * corners[i] for i, share in shares.items()), np.zeros(corners.shape[1])) if shares else whole @ corners)
    return corners[values.places(original)], np.array(cells)


def _stack(parts: Sequence[NDArray[Any]], rows: int, kind: type) -> NDArray[Any]:
    return np.ascontiguousarray(np.column_stack(parts)).astype(kind) if parts else np.empty((rows, 0), kind)
