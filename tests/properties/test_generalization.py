"""Whatever the table, mixed, with missing values, duplicates and constant columns: no class below k or l, nothing lost, and every cell is true."""

import csv
import math
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import cell
from shoal.checks.tables import check_file, check_release
from shoal.checks.verify import verify
from shoal.hierarchy import Hierarchy
from shoal.measures import NCP
from shoal.methods import BalancedMondrian, InfogainMondrian, Kactus, KactusRefined, Mondrian
from shoal.randomness import chance_for, rng_for
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import protect_to_folder
from shoal.runs.sample import sample
from shoal.table import Table
from shoal.writing import write_table

unhurried = settings(deadline=None, max_examples=40, derandomize=True)  # the first example pays for compiling
METHODS = {method.name: method for method in (Mondrian, InfogainMondrian, BalancedMondrian, Kactus, KactusRefined)}
LEVELS = ("none", "low", "mid", "high")
QUASI = ("num", "whole", "day", "level", "city", "flag", "same", "gone")
CITIES = ("a", "b|c", "*", "{d}", "[1..2]", "e\\", "")


def mixed(rows, missing, distinct, seed):
    """Numbers, whole numbers with ties, dates, levels, words that look like the notation, flags, a constant and an empty column."""
    rng = np.random.default_rng(seed)
    most = max(rows, distinct)
    pick = rng.integers(0, distinct, rows) if distinct else np.arange(rows)
    base = {
        "num": np.exp(rng.normal(size=most))[pick],
        "whole": rng.integers(-3, 40, most)[pick],
        "day": rng.integers(0, 20_000, most)[pick].astype("int32"),
        "level": rng.choice(LEVELS, most)[pick],
        "city": rng.choice(CITIES, most)[pick],
        "flag": rng.random(most)[pick] < 0.5,
    }
    columns = {}
    for name, values in base.items():
        array = pa.array(values, mask=rng.random(rows) < missing)
        columns[name] = array.cast(pa.date32()) if name == "day" else array
    columns["same"] = pa.array(np.full(rows, 7))
    columns["gone"] = pa.nulls(rows)
    # a target that goes with a column, so that trees have something to ask for; both classes occur
    sick = np.where((base["whole"] > 18) ^ (rng.random(rows) < 0.1), "yes", "no").astype(object)
    sick[0], sick[-1] = "yes", "no"
    columns["sick"] = pa.array(sick)
    columns["ill"] = pa.array(rng.choice(["flu", "cold", "gout"], rows, p=[0.6, 0.3, 0.1]), mask=rng.random(rows) < missing / 2)
    columns["untouched"] = pa.array([f"{i % 7}" for i in range(rows)])
    return Table.of(pa.table(columns))


tables = st.builds(mixed, st.integers(2, 70), st.sampled_from([0.0, 0.0, 0.1, 0.6]), st.sampled_from([0, 0, 3, 12]), st.integers(0, 2**31))
ks = st.one_of(st.integers(2, 8), st.integers(2, 70))
seeds = st.integers(0, 2**31)


def diversity_of(values, missing):
    """Different and effective values, of those that count."""
    counted = Counter(value for value in values if value is not None or missing == "counted")
    shares = [count / sum(counted.values()) for count in counted.values()]
    return max(1, len(shares)), math.exp(-sum(s * math.log(s) for s in shares))


def configured(name, table, k, seed, publish=None):
    """A method of that name with one of its choices each: k up to the number of rows, diversity up to what the table has."""
    missing = ("ignored", "counted")[seed // 11 % 2]
    has, effective = diversity_of(table.column("ill").to_pylist(), missing)
    words = {"k": min(k, len(table)), "publish": publish or ("counts", "sets", "intervals")[seed % 3], "missing": missing}
    asks = seed // 3 % 4
    if asks == 1:
        words["l"] = 1 + seed // 12 % has
    elif asks == 2:
        words["entropy"] = 1 + (effective - 1) * (seed // 12 % 5) / 4
    elif asks == 3 and "kactus" not in name:
        words["t"] = (0.1, 0.3, 0.7)[seed // 12 % 3]
    if "kactus" in name:
        words["inducer"] = ("c4.5", "cart")[seed // 5 % 2]
    if name == "kactus":
        words["show"] = ("path", "path-and-agreed")[seed // 7 % 2]
    if name == "balanced-mondrian" and asks == 0:
        words["classes"] = ("together", "apart")[seed // 7 % 2]
    return METHODS[name](**words)


def protected(method, table, quasi, seed):
    roles = Roles(quasi=quasi, confidential=("ill",), target="sick", ordinal={"level": LEVELS}, rest="release").check(table)
    return method.protect(table, roles, chance_for(seed, "test")), roles


def rows_of(table, columns):
    return list(zip(*(table.column(column).to_pylist() for column in columns)))


def allows(text, value):
    """Whether a released cell is true of the original value, which is text, a number or None."""
    one = cell.read(text)
    if one.suppressed:
        return True
    if one.interval:
        return value is not None and one.interval[0] <= cell.to_number(value) <= one.interval[1]
    return any(
        (part is None and value in (None, ""))
        or part == value
        or (ends and value is not None and ends[0] <= cell.to_number(value) <= ends[1])
        for part, ends in zip(one.values, one.within or (None,) * len(one.values))
    )


def farthest(release, about):
    """Largest distance of a class from the whole, by hand."""
    inside = defaultdict(list)
    for *key, value in rows_of(release.table, (*release.promises[0].columns, about)):
        inside[tuple(key)].append(value)
    whole = Counter(release.table.column(about).to_pylist())
    return max(sum(abs(v.count(x) / len(v) - whole[x] / len(release)) for x in whole) / 2 for v in inside.values())


@pytest.mark.parametrize("name", METHODS)
@settings(unhurried, max_examples=60)
@given(table=tables, k=ks, seed=seeds)
def test_no_violation_nothing_lost_everything_true(name, table, k, seed):
    quasi = QUASI[seed % 3 : 1 + seed % 3 + seed % (len(QUASI) - 2)]
    method = configured(name, table, k, seed)
    before = table.arrow
    release, roles = protected(method, table, quasi, seed)
    # nothing lost, nothing doubled
    assert sorted(release.source_row.tolist()) == list(range(len(table)))
    assert release.warnings == tuple(w for w in release.warnings if "left the release" not in w)
    # classes, counted here
    classes = Counter(rows_of(release.table, quasi))
    assert min(classes.values()) >= method.k
    ill = defaultdict(list)
    for *key, value in rows_of(release.table, (*quasi, "ill")):
        ill[tuple(key)].append(value)
    for values in ill.values():
        different, effective = diversity_of(values, method.missing)
        assert different >= method.l
        assert effective >= method.entropy - 1e-9
    if getattr(method, "t", 1) < 1:
        assert farthest(release, "ill") <= method.t + 1e-9
    # a suppressed cell as a wildcard: whoever could be in a class, at least k could
    if len(classes) <= 60:
        for one in classes:
            alike = (size for other, size in classes.items() if all(x == y or "*" in (x, y) for x, y in zip(one, other)))
            assert sum(alike) >= method.k
    # what is promised is what was asked for, and the independent check agrees
    assert release.promises[0].columns == quasi
    assert all(found.holds for found in check_release(release))
    # every cell is true of its row; the rest goes along unchanged
    source = table.take(release.source_row)
    for column in table.columns:
        released = release.table.column(column)
        if column not in quasi:
            assert released.equals(source.column(column))
            continue
        for text, value in zip(released.to_pylist(), source.column(column).cast(pa.string()).to_pylist()):
            assert allows(text, value), (column, text, value)
    assert release.table.columns == table.columns
    assert table.arrow.equals(before)
    # a penalty is a share
    score = NCP().measure(table, release, roles)
    assert 0 <= score.value <= 1


@pytest.mark.parametrize("name", METHODS)
@settings(unhurried, max_examples=15)
@given(table=tables, k=ks, seed=seeds)
def test_promises_hold_in_the_written_files(name, table, k, seed):
    method = configured(name, table, k, seed)
    release, _ = protected(method, table, QUASI, seed)
    with TemporaryDirectory() as folder:
        for kind in ("csv", "parquet"):
            path = Path(folder) / f"release.{kind}"
            write_table(release.table, path)
            if kind == "csv":
                with path.open(encoding="utf-8", newline="") as file:
                    rows = [tuple(row[column] for column in QUASI) for row in csv.DictReader(file)]
            else:
                columns = pq.read_table(path).to_pydict()  # sets are lists
                rows = list(zip(*(map(str, columns[column]) for column in QUASI)))
            assert len(rows) == len(table)
            assert min(Counter(rows).values()) >= method.k
            assert all(found.holds for found in check_file(path, ",", release.promises))


@pytest.mark.parametrize("name", METHODS)
@settings(unhurried, max_examples=20)
@given(table=tables, k=ks, seed=seeds)
def test_means_are_k_anonymous_too_and_seeds_repeat(name, table, k, seed):
    method = configured(name, table, k, seed, "mean")
    first, second = (protected(method, table, QUASI, seed)[0] for _ in range(2))
    assert min(Counter(rows_of(first.table, QUASI)).values()) >= method.k
    assert first.table.arrow.equals(second.table.arrow)
    assert first.source_row.tolist() == second.source_row.tolist()


@pytest.mark.parametrize("name", ["kactus", "kactus-refined"])
@unhurried
@given(table=tables, k=ks, seed=seeds)
def test_dropping_loses_fewer_than_k_and_counts_them(name, table, k, seed):
    k = min(k, len(table))
    release, roles = protected(METHODS[name](k=k, leftover="drop"), table, QUASI, seed)
    dropped = len(table) - len(release)
    assert dropped < k
    assert len(set(release.source_row.tolist())) == len(release)
    source = table.take(release.source_row)
    for column in ("sick", "ill", "untouched"):  # each row still knows where it came from
        assert release.table.column(column).equals(source.column(column))
    assert min(Counter(rows_of(release.table, QUASI)).values()) >= k
    assert any("left the release" in warning for warning in release.warnings) == (dropped > 0)
    score = NCP().measure(table, release, roles)
    assert dropped / len(table) <= score.value + 1e-12
    assert score.value <= 1


@pytest.mark.parametrize("name", METHODS)
@settings(unhurried, max_examples=20)
@given(table=tables, k=ks, seed=seeds)
def test_draws_are_values_the_cells_allow(name, table, k, seed):
    release, _ = protected(configured(name, table, k, seed), table, QUASI, seed)
    drawn = sample(release.table, rng_for(seed, "draw"))
    assert len(drawn) == len(release)
    for column in QUASI:
        points = drawn.column(column).cast(pa.string()).to_pylist()
        for text, point in zip(release.table.column(column).to_pylist(), points):
            one = cell.read(text)
            assert point is None if one.suppressed else allows_number_or_text(one, text, point), (column, text, point)


def allows_number_or_text(one, text, point):
    if point is None or allows(text, point):
        return point is not None or None in one.values or "" in one.values
    return any(
        value is not None and ends is None and _same(value, point)
        for value, ends in zip(one.values, one.within or (None,) * len(one.values))
    )


def _same(value, point):
    try:
        return float(value) == float(point)
    except ValueError:
        return False


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", METHODS)
def test_a_run_verifies(name, kind, tmp_path):
    table = mixed(40, 0.1, 0, 5)
    if kind == "csv":  # a file cannot hold an empty text
        table = table.with_columns({"city": [c or None for c in table.column("city").to_pylist()]})
    write_table(table, tmp_path / f"table.{kind}")
    roles = Roles(quasi=QUASI, confidential=("ill",), target="sick", ordinal={"level": LEVELS}, other=("untouched",))
    method = METHODS[name](k=4, l=2)
    certificate = protect_to_folder(Recipe(tmp_path / f"table.{kind}", roles, (method,)), tmp_path / "run", seed=1)
    assert [(p.what, p.value, p.about, p.holds) for p in certificate.promises] == [
        ("k-anonymity", 4, None, True),
        ("l-diversity", 2, "ill", True),
    ]
    assert verify(tmp_path / "run" / f"release.{kind}", tmp_path / "run" / "certificate.json").holds


# ---- hierarchies ---------------------------------------------------------------------------------------------------------------------


@st.composite
def trees(draw):
    """Any tree over the cities, deep or flat, with values that no record has, in any order of rows."""
    leaves = draw(st.permutations([*filter(None, CITIES), "nobody", "nowhere; at all"]))
    paths = [[leaf] for leaf in leaves]
    parts = len(leaves)
    for level in range(draw(st.integers(0, 3))):
        parts = draw(st.integers(1, parts))
        joined = draw(st.lists(st.integers(0, parts - 1), min_size=len(leaves), max_size=len(leaves)))
        group = {path[-1]: f"{level}:{joined[i]}" for i, path in enumerate(paths)}
        paths = [[*path, group[path[-1]]] for path in paths]
    return Hierarchy(tuple(map(tuple, draw(st.permutations(paths)))))


@pytest.mark.parametrize("name", METHODS)
@settings(unhurried, max_examples=30)
@given(table=tables, tree=trees(), k=ks, seed=seeds)
def test_a_hierarchy_covers_every_group_by_one_of_its_nodes(name, table, tree, k, seed):
    table = table.with_columns({"city": [city or None for city in table.column("city").to_pylist()]})
    method = configured(name, table, k, seed)
    roles = Roles(
        quasi=("whole", "city"),
        confidential=("ill",),
        target="sick",
        ordinal={"level": LEVELS},
        hierarchies={"city": tree},
        rest="release",
    ).check(table)
    release = method.protect(table, roles, chance_for(seed, "test"))
    assert min(Counter(rows_of(release.table, roles.quasi)).values()) >= method.k
    assert all(found.holds for found in check_release(release))
    nodes = {frozenset(row[0] for row in tree.rows if row[level:] == path) for row in tree.rows for level, path in tails(row)}
    inside = defaultdict(set)
    for text, value in zip(release.table.column("city").to_pylist(), table.take(release.source_row).column("city").to_pylist()):
        assert allows(text, value), (text, value)
        inside[text].add(value)
    for text in inside:
        values = set(cell.read(text).values) - {None}
        assert not values or frozenset(values) in nodes, text
    score = NCP().measure(table, release, roles)
    assert 0 <= score.value <= 1
    # a recipe carries it
    assert Roles.parse(roles.plain()) == roles


def tails(row):
    return [(level, row[level:]) for level in range(len(row))]
