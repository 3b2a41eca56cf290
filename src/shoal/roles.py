"""Roles: what each column means for disclosure, declared once, checked once, passed everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, FloatArray
from shoal.distinct import rows_of, rows_with
from shoal.errors import RoleError, counted, did_you_mean
from shoal.hierarchy import Hierarchy
from shoal.reading import check_kind, is_code, kinds_of, read_as, with_recognized_dates, without_codes
from shoal.table import Kind, Table

ROLES = ("quasi", "confidential", "identifier", "person", "weight", "household", "other")
ROLE_NAMES = {"quasi": "quasi-identifier"}
Scale = Literal["numeric", "ordinal", "nominal"]
Rest = Literal["leave-out", "release"]
LINKED = ("person", "household")


class Kinds(Protocol):
    """Whatever says of what kind its columns are: a table, or rows elsewhere."""

    @property
    def orders(self) -> Mapping[str, tuple[str, ...]]: ...
    def kind(self, name: str) -> Kind: ...


@dataclass(frozen=True)
class Roles:
    """Each column has one role.

    identifier    names a person outright: removed from every release
    person        which rows are of one person: removed, and whatever is counted counts persons
    quasi         may be known to an intruder: protected
    confidential  what the intruder is after: released as it is
    weight        sampling weight: released as it is
    household     which records belong together: released under fresh random numbers
    other         released as it is

    What has no role is left out, unless `rest` says that it is released. `link` keeps numbers of persons or households that tell which rows
    belong together, where at least so many persons or households look alike (0: as many as k-anonymity is promised for).
    `nominal` and `ordinal` say how to read a column where its values do not: codes without an order, or levels from lowest to highest.
    `hierarchies` say how a column's values are grouped: what is generalized follows the tree.
    `missing` lists codes of a column that mean missing, `kinds` how a column is to be read, such as date:%d.%m.%Y.
    `target` names the column that whoever trains on the release wants to predict; it is never a quasi-identifier.
    """

    quasi: tuple[str, ...] = ()
    confidential: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    household: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    ordinal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: str | None = None
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    rest: Rest = "leave-out"
    link: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # set by `check`: columns without a role, where they are left out

    def __post_init__(self) -> None:
        for role in (*ROLES, "nominal"):
            given = getattr(self, role)
            object.__setattr__(self, role, (given,) if isinstance(given, str) else tuple(given))
        object.__setattr__(self, "ordinal", {str(c): tuple(map(str, levels)) for c, levels in self.ordinal.items()})
        object.__setattr__(self, "missing", {str(c): tuple(map(str, codes)) for c, codes in self.missing.items()})
        object.__setattr__(self, "kinds", {str(c): str(kind) for c, kind in self.kinds.items()})
        for column, kind in self.kinds.items():
            check_kind(column, kind)
        object.__setattr__(self, "hierarchies", {str(c): hierarchy_of(c, given) for c, given in self.hierarchies.items()})
        seen: dict[str, str] = {}
        for role in ROLES:
            for column in getattr(self, role):
                if column in seen:
                    first, second = (ROLE_NAMES.get(r, r) for r in (seen[column], role))
                    raise RoleError(
                        f"Column '{column}' is named twice as {first}."
                        if first == second
                        else f"Column '{column}' is given two roles, {first} and {second}. Keep one."
                    )
                seen[column] = role
        for role in LINKED:
            if len(getattr(self, role)) > 1:
                raise RoleError(
                    f"The role {role} is given to {len(getattr(self, role))} columns. One column says which rows belong together."
                )
        for role in self.link:
            if role not in LINKED or not getattr(self, role):
                raise RoleError(f"There is nothing to link by '{role}': no column has that role. Known: {', '.join(LINKED)}.", about=role)
        if self.target in (*self.quasi, *self.identifier, *self.person):
            raise RoleError(f"Column '{self.target}' is the target and a {ROLE_NAMES.get(seen[self.target], seen[self.target])}. Keep one.")

    @staticmethod
    def parse(given: Mapping[str, Any], folder: Path = Path()) -> Roles:
        """From a TOML table: lists of column names by role, [ordinal] with levels, [hierarchies] with rows, rules, or files in `folder`."""
        known = (*ROLES, "nominal", "ordinal", "target", "hierarchies", "missing", "kinds", "rest", "link")
        if not isinstance(given, Mapping):
            raise RoleError('roles must be a table of lists, such as [roles] then quasi = ["age", "zip"].')
        for key, value in given.items():
            if key not in known:
                raise RoleError(f"There is no role '{key}'.{did_you_mean(key, known)} Known: {', '.join(known)}.")
            if key == "ordinal":
                if not isinstance(value, Mapping) or not all(isinstance(levels, list | tuple) for levels in value.values()):
                    raise RoleError('ordinal must be a table of levels, such as [ordinal] then size = ["small", "large"].')
            elif key == "hierarchies":
                if not isinstance(value, Mapping):
                    raise RoleError('hierarchies must be a table of files or rules, such as [hierarchies] then job = "job.csv".')
            elif key in ("missing", "kinds", "link"):
                _check_table(key, value)
            elif key == "rest":
                if value not in get_args(Rest):
                    raise RoleError(f"rest must be {' or '.join(get_args(Rest))}.", about="rest")
            elif key == "target":
                if not isinstance(value, str):
                    raise RoleError("target must be the name of one column.")
            elif not isinstance(value, str) and not (isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)):
                raise RoleError(f"The role '{key}' needs a list of column names.")
        trees = {c: hierarchy_of(c, one, folder) for c, one in given.get("hierarchies", {}).items()}
        return Roles(**{**given, "hierarchies": trees})

    def plain(self) -> dict[str, Any]:
        """For a TOML file: only what was said."""
        lists = {role: list(getattr(self, role)) for role in (*ROLES, "nominal") if getattr(self, role)}
        target = {"target": self.target} if self.target else {}
        ordinal = {"ordinal": {c: list(levels) for c, levels in self.ordinal.items()}} if self.ordinal else {}
        trees = {c: one.plain for c, one in self.hierarchies.items()}
        more = {
            "missing": {c: list(map(_toml_code, codes)) for c, codes in self.missing.items()},
            "kinds": dict(self.kinds),
            "link": dict(self.link),
        }
        said = ({"rest": self.rest} if self.rest != "leave-out" else {}) | {key: value for key, value in more.items() if value}
        return lists | target | said | ordinal | ({"hierarchies": trees} if trees else {})

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that has a role."""
        return tuple(column for role in ROLES for column in getattr(self, role))

    @property
    def removed(self) -> tuple[str, ...]:
        """Every column that no release has as it was: what names a person, what numbers persons, and what has no role."""
        return (*self.identifier, *self.person, *self.left_out)

    def read(self, table: Table, protected: Sequence[str] = ()) -> Table:
        """The table as it is to be read: columns of the kinds given; quasi-identifiers, and `protected` columns besides, that hold dates in
        text as dates, and their codes for missing as missing, of which no method should take a mean. Other columns keep their codes.

        A table that was read so stays as it is.
        """
        for column, kind in self.kinds.items():
            if column in table.columns:
                table = read_as(table, column, kind, self.missing.get(column, ()))
        columns = [column for column in dict.fromkeys((*self.quasi, *protected)) if column in table.columns]
        scaled = (*self.kinds, *self.ordinal, *self.hierarchies, *table.orders)
        table = with_recognized_dates(table, [column for column in columns if column not in scaled], self.missing)
        return self.without_codes(table, protected)

    def without_codes(self, table: Table, protected: Sequence[str] = ()) -> Table:
        """The table with codes for missing taken out of what is protected as numbers or levels; a code that is one of the levels is a level."""
        for column, codes in self.missing.items():
            if column not in (*self.quasi, *protected) or column not in table.columns or column in table.cells:
                continue
            scale = self.scale(table, column)
            if scale == "ordinal":
                codes = tuple(code for code in codes if code not in self.levels(table, column))
            if scale == "ordinal" or (scale == "numeric" and table.kind(column) == "number"):
                table = without_codes(table, column, codes)
        return table

    def texts(self, table: Table) -> list[str]:
        """The columns of a file that hold text, as its release will too: dates in text among them."""
        kinds = {column: (table.kind(column), self.kinds.get(column, "")) for column in table.columns}
        return [
            column
            for column, (kind, given) in kinds.items()
            if given == "text" or (kind == "text" and given != "number") or (kind != "date" and given.startswith("date"))
        ]

    def scale(self, table: Kinds, column: str) -> Scale:
        """How a column's values compare: numbers and dates numeric, levels ordinal, the rest nominal."""
        if column in self.ordinal or (column in table.orders and column not in self.nominal):
            return "ordinal"
        if column in self.nominal and table.kind(column) != "date":  # a set of dates would list who was born when
            return "nominal"
        return "numeric" if table.kind(column) in ("number", "date", "empty") else "nominal"

    def levels(self, table: Table, column: str) -> tuple[str, ...]:
        """The levels of an ordinal column, lowest first."""
        return tuple(self.ordinal[column]) if column in self.ordinal else table.orders[column]

    def ordinal_codes(self, table: Table, column: str) -> FloatArray:
        """An ordinal column as 0, 1, 2, ... by level; NaN where missing."""
        return level_places(table, column, self.levels(table, column))

    def missing_levels(self, table: Table, column: str) -> BoolArray:
        """Which of a column's levels are no answer: missing, or a code for it."""
        codes = self.missing.get(column, ())
        return np.array([is_code(level, codes) for level in table.levels(column).to_pylist()], dtype=np.bool_)

    def check(self, table: Table) -> Roles:
        """Hold the roles against a table, once. Columns without a role are left out, or become `other` where the rest is released."""
        scaled = (*self.nominal, *self.ordinal, *self.hierarchies, *self.missing, *self.kinds)
        for column in (*self.named, *scaled, *((self.target,) if self.target else ())):
            if column not in table.columns:
                role = next((r for r in ROLES if column in getattr(self, r)), "target" if column == self.target else "")
                more = {"a hierarchy": self.hierarchies, "codes for missing": self.missing, "a kind": self.kinds}
                given = f"the role {ROLE_NAMES.get(role, role)}" if role else next((w for w, of in more.items() if column in of), "a scale")
                raise RoleError(
                    f"Column '{column}' is given {given}, but the table has no such column.{did_you_mean(column, table.columns)}",
                    about=column,
                )
        for column, levels in self.ordinal.items():
            _check_levels(table, column, (*levels, *(code for code in self.missing.get(column, ()) if code not in levels)))
        hierarchies = {column: self._grown(table, column, tree) for column, tree in self.hierarchies.items()}
        for column in self.quasi:
            self._check_text(table, column)
        for column in self.person:
            _check_persons(table, column)
        target = (self.target,) if self.target and self.target not in self.named else ()
        roleless = tuple(column for column in table.columns if column not in (*self.named, *target))
        released = roleless if self.rest == "release" else ()
        for column in released:
            if table.kind(column) == "text" and len(table) >= 20 and len(pc.unique(table.column(column))) == len(table):
                raise RoleError(
                    f"Column '{column}' has no role, and its text is different in every row, as a name or number would be. "
                    f"Make it an identifier to leave it out, or give it the role other to release it as it is.",
                    about=column,
                )
        orders = {column: levels for column, levels in table.orders.items() if column not in self.nominal}
        ordinal = {**orders, **self.ordinal}
        kinds = {**self.kinds, **kinds_of(table)}  # whoever reads the table again need not find them out
        left_out = () if released else roleless
        other = (*self.other, *target, *released)
        return replace(self, other=other, ordinal=ordinal, kinds=kinds, left_out=left_out, hierarchies=hierarchies)

    def tree_over(self, table: Table, column: str, tree: Hierarchy) -> Hierarchy:
        """A tree over all values of a column; over levels in their order."""
        values, levels = value_names(table, column), self.levels(table, column) if self.scale(table, column) == "ordinal" else ()
        if levels:
            place = {level: i for i, level in enumerate(levels)}
            values = sorted(values, key=lambda value: place.get(value or "", len(place)))
        return hierarchy_of(column, replace(tree, intervals=table.kind(column) in ("number", "date")), values=values, levels=levels)

    def _grown(self, table: Table, column: str, tree: Hierarchy) -> Hierarchy:
        grown = self.tree_over(table, column, tree)
        _check_leaves(table, column, grown)
        return grown

    def _check_text(self, table: Table, column: str) -> None:
        """Text that is nearly all numbers is a column of numbers with slips in it."""
        if table.kind(column) != "text" or self.scale(table, column) == "ordinal" or column in (*self.nominal, *self.hierarchies):
            return
        levels = table.levels(column).to_pylist()
        known = np.array([level is not None for level in levels], np.bool_)
        wrong = known & ~np.array([level is not None and _is_number(level) for level in levels], np.bool_)
        many, first = rows_with(table, column, wrong)
        if many and 2 * many <= rows_of(table, column)[known].sum():
            raise RoleError(
                f"Column '{column}' has {counted(many, 'value')} that {'is not a number' if many == 1 else 'are not numbers'}{first}. "
                "Read it as text by declaring it nominal, or clean it.",
                about=column,
            )


def level_places(table: Table, column: str, levels: Sequence[str]) -> FloatArray:
    """Where each record's value stands among the levels; NaN where it is missing or none of them."""
    place = {level: i for i, level in enumerate(levels)}
    values = [np.nan if value is None else place.get(str(value), np.nan) for value in table.levels(column).to_pylist()]
    return np.array(values, dtype=np.float64)[table.codes(column)]


def _check_table(key: str, value: Any) -> None:
    """A table of columns: lists of codes, kinds, or numbers."""
    how = {
        "missing": "lists of codes, such as DIABDX = [-1, -9]",
        "kinds": 'kinds, such as born = "date:%d.%m.%Y"',
        "link": "numbers, such as person = 5",
    }
    right = {"missing": list | tuple, "kinds": str, "link": int}[key]
    listed = [code for codes in value.values() for code in codes] if key == "missing" and _all(value, right) else []
    if not _all(value, right) or not all(isinstance(code, str | int | float) for code in listed):
        raise RoleError(f"{key} must be a table of {how[key]}.", about=key)


def _all(value: Any, right: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, right) for one in value.values())


def _toml_code(code: str) -> str | int:
    """A number as a number."""
    try:
        return int(code) if len(code) < 19 and str(int(code)) == code else code
    except ValueError:
        return code


def _check_persons(table: Table, column: str) -> None:
    """Every row is of somebody."""
    many, first = rows_with(table, column, np.asarray(table.levels(column).is_null()))
    if many:
        raise RoleError(
            f"Column '{column}' says whose each row is, and {counted(many, 'row')}{first} "
            f"{'has' if many == 1 else 'have'} no number. Give each a number, a new one where it is nobody else's.",
            about=column,
        )
    if table.kind(column) == "text":
        levels = table.levels(column).to_pylist()
        written = len({text.strip().casefold() for text in levels})
        if written < len(levels):
            raise RoleError(
                f"Column '{column}' says whose each row is, and {counted(len(levels) - written, 'name')} of its {len(levels):,} differ from "
                "another in blanks or capital letters only: are these the same person? Write each person one way.",
                about=column,
            )


def hierarchy_of(
    column: str, given: Any, folder: Path = Path(), values: Sequence[str | None] | None = None, levels: Sequence[str] = ()
) -> Hierarchy:
    """A column's hierarchy from what was given for it; over some values, where they are known, which may be levels."""
    try:
        tree = Hierarchy.of(given, folder)
        return tree if values is None else tree.grown(values, levels)
    except RoleError as error:
        raise RoleError(f"Column '{column}': {error}", about=column) from None


def value_names(table: Table, column: str) -> list[str | None]:
    """The text of each of a column's distinct values, in the order of its codes."""
    return [text and text.removesuffix(".000000") for text in table.levels(column).cast(pa.string()).to_pylist()]


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _check_levels(table: Table, column: str, levels: tuple[str, ...]) -> None:
    if len(set(levels)) < len(levels):
        raise RoleError(f"The levels of '{column}' name a level twice.")
    strange = np.array([v is not None and str(v) not in levels for v in table.levels(column).to_pylist()], np.bool_)
    many, first = rows_with(table, column, strange)
    if many:
        raise RoleError(
            f"Column '{column}' has {counted(many, 'value')} outside its {counted(len(levels), 'level')}{first}. "
            "Add the level, or clean the column.",
            about=column,
        )


def _check_leaves(table: Table, column: str, hierarchy: Hierarchy) -> None:
    names = value_names(table, column)
    known = np.array([name is not None for name in names], np.bool_)
    strange = (hierarchy.places(names) < 0) & known if hierarchy.rows else known
    found, first = rows_with(table, column, strange)
    if found:
        many, rows = counted(int(strange.sum()), "value"), f"in {counted(found, 'row')}{first}"
        if hierarchy.rule:
            raise RoleError(
                f"Column '{column}' has {many}, {rows}, that the rule '{hierarchy.rule}' makes no group of. "
                f"Clean the column, or put them into a group of their own: '{hierarchy.rule}, else Other'.",
                about=column,
            )
        raise RoleError(
            f"Column '{column}' has {many} outside its hierarchy of {counted(len(hierarchy.leaves), 'value')}, {rows}. "
            "Add a row for each value to the hierarchy, put them into a group of their own (FILE, else Other), or clean the column.",
            about=column,
        )
