"""TDS, TDR and kADET on tables that can be worked by hand: what each record shows, and where nothing more may be shown."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.checks.tables import check_release
from shoal.errors import DataError, ParameterError
from shoal.hierarchy import Hierarchy
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.trees.anonymous import Question, grow_anonymous, reached, spans_of
from shoal.methods import Kadet, Tdr, Tds
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps
from shoal.table import Table
from tests.data import data_path

METHODS = (Tds, Tdr, Kadet)


def protected(method, columns, quasi, **more):
    table = Table.of(columns)
    return method.protect(table, Roles(quasi=quasi, target="sick", **more).check(table), chance_for(0, "test"))


def shown(method, columns, quasi, **more):
    """The quasi-identifiers of each record, in the order of the original rows."""
    release = protected(method, columns, quasi, **more)
    assert all(one.holds for one in check_release(release))
    place = pa.array(np.argsort(release.source_row))
    return [release.table.column(name).take(place).to_pylist() for name in quasi]


# ---- top-down specialization and refinement -------------------------------------------------------------------------------------------

# town parts eight records into five and three, job into four and four; sick goes with job but for one.
EIGHT = {"town": list("nnnnnsss"), "job": list("aaaabbbb"), "sick": ["no", "no", "no", "yes", *["yes"] * 4]}


def test_tds_shows_what_gains_most_for_its_anonymity():
    # town: gain .3476 at a loss of 8 - 3 records, job: .5488 at a loss of 8 - 4. After job, town would leave one record of n and b alone.
    assert shown(Tds(k=2), EIGHT, ("town", "job")) == [["*"] * 8, list("aaaabbbb")]


def test_numbers_become_intervals_where_the_class_changes():
    columns = {"age": [21, 22, 23, 24, 25, 26, 27, 28], "sick": ["no"] * 3 + ["yes"] * 5}
    for method in (Tds(k=2), Tdr(k=2)):
        assert shown(method, columns, ("age",)) == [["[21..23]"] * 3 + ["[24..28]"] * 5]
    assert shown(Tds(k=4), columns, ("age",)) == [["*"] * 8]  # the best cut leaves three, and only the best is tried


def test_missing_is_above_all_numbers():
    columns = {"age": [21, 22, 23, 24, None, None], "sick": ["no"] * 3 + ["yes"] * 3}
    assert shown(Tds(k=2), columns, ("age",)) == [["[21..23]"] * 3 + ["{24|}"] * 3]
    assert shown(Kadet(k=2, confidence=0.5), columns, ("age",)) == [["[21..23]"] * 3 + ["{24|}"] * 3]


def test_tdr_discloses_a_value_where_tds_must_show_all_or_none():
    # x, y, z are of 3, 3 and 2 records; x is never sick, the others always. At k = 3, z may not be shown; x against the rest may.
    columns = {"town": list("xxxyyyzz"), "sick": ["no"] * 3 + ["yes"] * 5}
    assert shown(Tds(k=2), columns, ("town",)) == [list("xxxyyyzz")]
    assert shown(Tds(k=3), columns, ("town",)) == [["*"] * 8]
    assert shown(Tdr(k=3), columns, ("town",)) == [["x", "x", "x", "*", "*", "*", "*", "*"]]


def test_a_node_becomes_its_children_only_where_that_helps():
    # north and south differ in sick; inside south all are sick, so it stays one node; inside north it does not.
    tree = Hierarchy((("a", "north"), ("b", "north"), ("c", "south"), ("d", "south")))
    columns = {"town": list("aabbccdd"), "sick": ["no", "no", "yes", "yes", "yes", "yes", "yes", "yes"]}
    for method in (Tds(k=2), Tdr(k=2), Kadet(k=2, confidence=0.5)):
        release = protected(method, columns, ("town",), hierarchies={"town": tree})
        place = pa.array(np.argsort(release.source_row))
        assert release.table.column("town").take(place).to_pylist() == ["a", "a", "b", "b"] + ["{c|d}"] * 4
        assert release.table.labels["town"]["{c|d}"] == "south"


def test_the_spec_on_adult():
    table = _adult()
    for k, steps in ((5, 25), (10, 26), (100, 4)):
        release = Tds(k=k).protect(table, _adult_roles(table), chance_for(1))
        assert all(one.holds for one in check_release(release))
        assert release.made_by[0].outcome == {"specializations": steps}


def _adult():
    from shoal.files import read_table

    return read_table(data_path("adult", "adult_30162.csv"))


def _adult_roles(table):
    quasi = tuple(column for column in table.columns if column != "salary-class")
    trees = {c: Hierarchy.of(data_path("adult", "hierarchies", f"adult_hierarchy_{c}.csv")) for c in quasi}
    return Roles(quasi=quasi, target="salary-class", hierarchies=trees).check(table)


# ---- kADET ----------------------------------------------------------------------------------------------------------------------------


def test_a_split_that_would_leave_a_record_alone_is_not_taken():
    # Of the towns c has one record. Without a hierarchy all of them or none are shown; with one, north is told from south.
    columns = {"town": list("aaabbbc"), "sick": ["yes"] * 3 + ["no"] * 4}
    assert shown(Kadet(k=2, confidence=0.5), columns, ("town",)) == [["*"] * 7]
    tree = Hierarchy((("a", "north"), ("b", "south"), ("c", "south")))
    assert shown(Kadet(k=2, confidence=0.5), columns, ("town",), hierarchies={"town": tree}) == [["a"] * 3 + ["{b|c}"] * 4]
    assert shown(Kadet(k=4, confidence=0.5), columns, ("town",), hierarchies={"town": tree}) == [["*"] * 7]


def test_the_best_cut_of_those_that_keep_k():
    # Between 2 and 3 the class changes. At k = 3 that cut is not to be had; of those after 3, 4 and 5 the first leaves one error, the others more.
    columns = {"age": [1, 2, 3, 4, 5, 6, 7, 8], "sick": ["no"] * 2 + ["yes"] * 6}
    assert shown(Kadet(k=2, confidence=0.5), columns, ("age",)) == [["[1..2]"] * 2 + ["[3..8]"] * 6]
    assert shown(Kadet(k=3, confidence=0.5), columns, ("age",)) == [["[1..3]"] * 3 + ["[4..8]"] * 5]
    assert shown(Kadet(k=5, confidence=0.5), columns, ("age",)) == [["*"] * 8]


# In ward 0 a woman is well and a man sick; in ward 1 all are sick. Four records in ward 0, six in ward 1, five of either sex.
WARDS = {
    "sex": ["f", "f", "m", "m", "f", "f", "f", "m", "m", "m"],
    "ward": ["zero"] * 4 + ["one"] * 6,
    "sick": ["no", "no"] + ["yes"] * 8,
}
TWO = CodedHierarchy(np.array([[0, 1], [0, 0]], np.int32), np.array([[0.0, 0.0], [1.0, 1.0]]))


def test_spans_hold_k_where_leaves_need_not():
    # The root asks for ward: gain .7219 - .4 = .3219, of sex .7219 - .5 x .971 = .2364. Then ward 0 is parted by sex, two and two. An intruder who
    # knows the sex alone is left with five records of either: allowed up to k = 5. One who knows the ward too would be left with two.
    codes = np.array([[sex == "m", ward == "one"] for sex, ward in zip(WARDS["sex"], WARDS["ward"])], np.int32)
    target = np.array([one == "yes" for one in WARDS["sick"]], np.int64)
    columns, private = [TWO, TWO], [True, False]
    tree = grow_anonymous(codes, columns, private, target, 5)
    assert [None if one is None else one.question for one in tree.split] == [Question(1, 0, -1), Question(0, 0, -1), None, None, None]
    assert tree.counts.tolist() == [[2, 8], [2, 2], [0, 6], [2, 0], [0, 2]]
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1]
    assert spans_of(tree, codes, columns, private).span.tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 1, 1]
    assert reached(tree, codes, columns).tolist() == [3, 3, 4, 4, 2, 2, 2, 2, 2, 2]
    for publicly, k in (([True, True], 3), (private, 6)):  # there the root alone is split, and pruning takes that back: it saves no error
        grown = grow_anonymous(codes, columns, publicly, target, k, confidence=None)
        assert [None if one is None else one.question.column for one in grown.split] == [1, None, None]
        assert grow_anonymous(codes, columns, publicly, target, k).split == [None]


def test_what_no_intruder_knows_may_be_asked_for():
    assert shown(Kadet(k=5, private=("ward",)), WARDS, ("sex",), other=("ward",)) == [WARDS["sex"]]
    assert shown(Kadet(k=6, private=("ward",)), WARDS, ("sex",), other=("ward",)) == [["*"] * 10]
    release = protected(Kadet(k=5, private=("ward",)), WARDS, ("sex",), other=("ward",))
    assert release.table.column("ward").to_pylist() == [WARDS["ward"][row] for row in release.source_row]


def test_a_number_that_only_the_tree_sees_parts_no_span():
    # The private number tells everything, and is not shown by a method that did not get it; all records stay one class.
    columns = {"sex": list("fmfmfm"), "dose": [1, 2, 3, 7, 8, 9], "sick": ["no"] * 3 + ["yes"] * 3}
    assert shown(Kadet(k=2, private=("dose",), confidence=0.5), columns, ("sex",), other=("dose",)) == [["*"] * 6]


# ---- what all three refuse ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_refusals(method):
    table = Table.of(EIGHT)
    with pytest.raises(ParameterError, match="needs a target"):
        method(k=2).protect(table, Roles(quasi=("town", "job")).check(table), chance_for(0))
    with pytest.raises(ParameterError, match="keeps k alone"):
        protected(method(k=2, l=2), EIGHT, ("town",), confidential=("job",))
    with pytest.raises(DataError, match="8 rows, fewer than k = 9"):
        protected(method(k=9), EIGHT, ("town",))
    with pytest.raises(DataError, match="has one class only"):
        protected(method(k=2), {**EIGHT, "sick": ["yes"] * 8}, ("town",))
    with pytest.raises(ParameterError, match="is the target"):
        protected(method(k=2, columns=("town", "sick")), EIGHT, ("town",))


@pytest.mark.parametrize("method", METHODS)
def test_persons_are_counted_where_their_rows_agree_and_else_refused(method):
    # Each of four persons has two rows. Where age is the same in both, k = 2 is two persons; where it is not, rows would be counted.
    persons = [1, 1, 2, 2, 3, 3, 4, 4]
    columns = {"person": persons, "age": [21, 21, 22, 22, 41, 41, 42, 42], "sick": ["no"] * 4 + ["yes"] * 4}
    roles = {"quasi": ("age",), "target": "sick", "person": ("person",)}
    table = Table.of(columns)
    words = {"confidence": 0.5} if method is Kadet else {}
    release = apply_steps(table, Roles(**roles).check(table), [method(k=2, **words)], 1)
    assert sorted(release.table.column("age").to_pylist()) == ["[21..22]"] * 4 + ["[41..42]"] * 4
    assert [(one.value, one.unit) for one in release.promises] == [(2, "persons")]
    table = Table.of({**columns, "age": [21, 22, 23, 24, 41, 42, 43, 44]})
    with pytest.raises(ParameterError, match="counts rows, and rows of one person differ"):
        apply_steps(table, Roles(**roles).check(table), [method(k=2)], 1)


@pytest.mark.parametrize(
    ("private", "says"),
    [(("wart",), "no column 'wart'"), (("sex",), "cannot be private"), (("sick",), "cannot be private")],
)
def test_private_columns_are_others_and_released(private, says):
    with pytest.raises((DataError, ParameterError), match=says):
        protected(Kadet(k=2, private=private), WARDS, ("sex",), other=("ward",))


def test_a_kernel_that_is_given_nonsense_says_so():
    codes = np.zeros((3, 1), np.int32)
    for words, says in (
        ((codes, ["interval", "interval"], [True], np.zeros(3, int), 2), "2 columns described"),
        ((codes, ["interval"], [True], np.zeros(2, int), 2), "a class of the target"),
        ((codes, ["interval"], [True], np.zeros(3, int), 4), "not 4"),
    ):
        with pytest.raises(ValueError, match=says):
            grow_anonymous(*words)
