"""Several confidential columns, codes for missing, and persons whose rows differ: small tables worked by hand."""

import numpy as np
import pytest

import shoal
from shoal.checks.tables import check_release
from shoal.errors import DataError, ParameterError
from shoal.kernels.dissolve import dissolve
from shoal.kernels.kactus import anonymize
from shoal.kernels.masks import Demand, mask_groups
from shoal.kernels.mondrian import mondrian_groups
from shoal.promises import Promise
from shoal.roles import Roles
from shoal.runs.compare import compare, recipes_of
from shoal.table import Table

EIGHT = list(range(1, 9))
TURNS, PAIRS, HALVES = ["a", "b"] * 4, ["p", "p", "q", "q"] * 2, ["u"] * 4 + ["v"] * 4


def classes(release, column="x"):
    """The original rows of each released cell."""
    found: dict[str, list[int]] = {}
    for cell, row in zip(release.table.column(column).to_pylist(), release.source_row.tolist()):
        found.setdefault(str(cell), []).append(row)
    return sorted(sorted(rows) for rows in found.values())


def cut(method="mondrian", roles=None, given=None, **columns):
    roles = roles or Roles(quasi=("x",), confidential=tuple(c for c in columns if c != "x"))
    release = shoal.protect(
        Table.of({"x": EIGHT, **columns}), method, roles=roles, seed=1, **({"k": 2, "l": 2} if given is None else given)
    )
    assert all(one.holds for one in check_release(release))
    return release


def test_l_is_kept_for_each_of_two_columns():
    assert classes(cut(ill=TURNS)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    both = cut(ill=TURNS, pay=PAIRS)  # two neighbours have one pay
    assert classes(both) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [(one.what, one.about) for one in both.promises] == [("k-anonymity", None), ("l-diversity", "ill"), ("l-diversity", "pay")]
    assert classes(cut(ill=TURNS, pay=PAIRS, town=HALVES)) == [[0, 1, 2, 3, 4, 5, 6, 7]]


def test_t_is_kept_for_each_column_by_its_scale():
    release = cut(given={"k": 2, "t": 0.5}, ill=TURNS, pay=[1, 1, 2, 2, 1, 1, 2, 2])
    assert [(one.what, one.about) for one in release.promises[1:]] == [("t-closeness", "ill"), ("ordered-t-closeness", "pay")]
    assert classes(release) == [[0, 1], [2, 3], [4, 5], [6, 7]]  # two of one pay: half of all would have to move
    assert classes(cut(given={"k": 2, "t": 0.49}, ill=TURNS, pay=[1, 1, 2, 2, 1, 1, 2, 2])) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize("method", ["mondrian", "anti-unification-safe", "kactus", "kactus-refined", "c-tca", "k-tca"])
@pytest.mark.parametrize("codes", [{}, {"ill": ("-9",)}], ids=["missing", "a code for it"])
def test_missing_counts_for_no_value_unless_asked(method, codes):
    gone = -9 if codes else None
    roles = Roles(quasi=("x",), confidential=("ill",), other=("y",), target="y", missing=codes)
    columns = {"ill": [1, gone, 2, gone, 1, gone, 2, gone], "y": HALVES}
    words = {"l": 2} if method == "k-tca" else {"k": 2, "l": 2}
    release = cut(method, roles, words, **columns)
    assert release.promises[-1] == Promise("l-diversity", 2, ("x",), "ill", ignores=("", *codes.get("ill", ())))
    for rows in classes(release):
        assert len({columns["ill"][row] for row in rows} - {gone}) >= 2
    counted = cut(method, roles, words | {"missing": "counted"}, **columns)
    assert counted.promises[-1].ignores == ()
    if method == "mondrian":
        assert classes(release) == [[0, 1, 2, 3], [4, 5, 6, 7]]
        assert classes(counted) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_a_code_is_known_where_gaps_have_made_its_column_decimal():
    roles = Roles(quasi=("x",), confidential=("ill",), missing={"ill": (-9,)})
    release = cut(roles=roles, ill=[1.0, -9.0, 2.0, None, 1.0, None, 2.0, -9.0])
    assert classes(release) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert release.promises[1].ignores == ("", "-9")
    assert all(one.holds for one in check_release(release))


def test_entropy_is_that_of_real_values_and_closeness_that_of_all_cells():
    ill = ["a", None, "b", None, "a", None, "b", None]
    release = cut(given={"k": 2, "entropy": 2.0, "t": 0.3}, ill=ill)
    assert classes(release) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [(one.what, one.ignores) for one in release.promises[1:]] == [("entropy-l-diversity", ("",)), ("t-closeness", ())]
    assert [one.found for one in check_release(release)[1:]] == [pytest.approx(2), pytest.approx(0)]


@pytest.mark.parametrize("method", ["mondrian", "anti-unification-safe", "c-tca"])
def test_what_is_missing_does_not_make_the_whole_table_diverse(method):
    with pytest.raises(DataError, match=r"1 value of 'ill' \(1.00 effective\), not counting what is missing, so no group can have more"):
        cut(method, ill=["a", None] * 4)
    with pytest.raises(DataError, match=r"0 values of 'ill'"):
        cut(method, ill=[None] * 8)


# ---- kernels: a column twice asks no more than once, and what counts for nothing is not counted ---------------------------------------


def test_a_sensitive_column_given_twice_changes_no_group():
    rng = np.random.default_rng(3)
    codes, ill, draws = rng.integers(0, 6, (80, 2)).astype(np.int32), rng.integers(-1, 4, 80), rng.random(80)
    ordered, positions, twice = np.array([True, True]), [np.arange(6.0)] * 2, np.column_stack([ill, ill])
    words = {"l": 3, "entropy_l": 2.0}
    once = mondrian_groups(codes, ordered, positions, 4, sensitive=ill, **words)
    assert np.array_equal(once, mondrian_groups(codes, ordered, positions, 4, sensitive=twice, **words))
    stricter = mondrian_groups(codes, ordered, positions, 4, sensitive=twice, l=[1, 3], entropy_l=[2.0, 1.0])
    assert np.array_equal(once, stricter)
    parent, node = np.array([-1, 0, 0, 1, 1]), rng.integers(0, 5, 80)
    assert np.array_equal(anonymize(parent, node, 4, draws, ill, 3, 2.0), anonymize(parent, node, 4, draws, twice, [3, 3], 2.0))
    one, both = (mask_groups(codes, Demand(4, given.astype(np.int32), 3, 2.0), draws) for given in (ill, twice))
    assert np.array_equal(one, both)
    points, units = codes.astype(float), rng.random((20, 2)) * 6
    near = ((points[:, None] - units) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(dissolve(points, units, near, 4, ill, 3), dissolve(points, units, near, 4, twice, 3))
    for groups in (once, one, dissolve(points, units, near, 4, ill, 3)):
        assert all(len(set(ill[groups == g]) - {-1}) >= 3 for g in set(groups.tolist()))


# ---- persons whose rows differ ---------------------------------------------------------------------------------------------------------

WHOSE = ["A", "A", "B", "B", "C", "C", "D", "D"]
STAYS = Roles(quasi=("x",), person=("who",), confidential=("ill",))


@pytest.mark.parametrize("method", ["mondrian", "infogain-mondrian", "balanced-mondrian"])
def test_k_is_of_persons_where_their_rows_differ(method):
    roles = Roles(quasi=("x",), person=("who",), other=("y",), target="y")
    release = cut(method, roles, {"k": 2}, who=WHOSE, y=PAIRS)
    assert all(len({WHOSE[row] for row in rows}) >= 2 for rows in classes(release))
    if method == "mondrian":
        assert classes(release) == [[0, 1, 2, 3], [4, 5, 6, 7]]  # pairs of rows would be one person each
    assert release.promises == (Promise("k-anonymity", 2, ("x",), unit="persons"),)
    assert "who" not in release.table.columns


def test_l_counts_persons_where_each_has_one_value():
    constant = ["flu", "flu", "flu", "flu", "cold", None, "flu", "flu"]
    release = cut(roles=STAYS, who=WHOSE, ill=constant)
    assert classes(release) == [[0, 1, 2, 3, 4, 5, 6, 7]]
    assert [one.unit for one in release.promises] == ["persons", "persons"]
    with pytest.raises(ParameterError, match=r"l cannot be promised in persons: .* and 'ill' differs between them too"):
        cut(roles=STAYS, who=WHOSE, ill=TURNS)


def test_what_cannot_be_counted_in_persons_is_refused():
    for asked in ({"entropy": 1.5}, {"t": 0.5}):
        with pytest.raises(ParameterError, match=r"in persons would need one row of each. Ask for k and l"):
            cut(roles=STAYS, given={"k": 2, **asked}, who=WHOSE, ill=TURNS)
    with pytest.raises(DataError, match=r"4 persons, fewer than k = 5. Use k of at most 4"):
        cut(roles=STAYS, given={"k": 5}, who=WHOSE, ill=TURNS)
    apart = Roles(quasi=("x",), person=("who",), other=("y",), target="y")
    with pytest.raises(ParameterError, match="Use classes=together"):
        cut("balanced-mondrian", apart, {"k": 2, "classes": "apart"}, who=WHOSE, y=PAIRS)


@pytest.mark.parametrize("method", ["mdav", "anti-unification-safe", "kactus", "noise", "rank-swapping", "k-tca"])
def test_methods_that_count_rows_name_those_that_count_persons(method):
    roles = Roles(quasi=("x",), person=("who",), other=("y",), target="y")
    with pytest.raises(ParameterError, match=f"{method} counts rows.* Use mondrian or infogain-mondrian or balanced-mondrian"):
        cut(method, roles, {} if method in ("noise", "rank-swapping", "k-tca") else {"k": 2}, who=WHOSE, y=PAIRS)


def test_persons_are_counted_in_every_step():
    roles = Roles(quasi=("x", "z"), person=("who",))
    steps = [shoal.registry.make("method", "mondrian", {"k": 2, "columns": [column]}) for column in ("x", "z")]
    table = Table.of({"x": EIGHT, "z": [1, 5, 2, 6, 3, 7, 4, 8], "who": WHOSE})
    release = shoal.protect(table, *steps, roles=roles, seed=1)
    assert [one.unit for one in release.promises] == ["persons", "persons"]
    assert classes(release, "x") == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert classes(release, "z") == [[0, 2], [1, 3], [4, 6], [5, 7]]


# ---- hierarchies that nobody follows ---------------------------------------------------------------------------------------------------

TREE = {"ill": [["a", "all"], ["b", "all"]]}


@pytest.mark.parametrize("method", ["mdav", "noise", "rank-swapping", "anti-unification-safe"])
def test_a_hierarchy_that_is_not_followed_is_refused(method):
    roles = Roles(quasi=("x",), hierarchies={"x": [[str(x), "low" if x < 5 else "high"] for x in EIGHT]})
    with pytest.raises(ParameterError, match=r"Column 'x' is given a hierarchy, and .* does not follow it.*mondrian"):
        cut(method, roles, {})


def test_a_hierarchy_that_is_followed_or_of_another_column_is_not_refused():
    roles = Roles(quasi=("ill",), other=("x",), hierarchies=TREE)
    assert cut("anti-unification-safe", roles, {"k": 2, "publish": "sets"}, ill=TURNS).promises
    roles = Roles(quasi=("x",), other=("ill",), hierarchies=TREE)
    assert cut("mdav", roles, {"k": 2}, ill=TURNS).promises


def test_in_a_comparison_a_hierarchy_goes_to_the_methods_that_follow_it(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("ill,x\n" + "\n".join(f"{ill},{x}" for ill, x in zip(TURNS, EIGHT)) + "\n")
    roles = Roles(quasi=("ill", "x"), hierarchies=TREE)
    rows = compare(recipes_of(path, ["mondrian", "mdav"], roles, {"k": "2"}), 1)
    assert [row.label for row in rows] == ["mondrian k=2", "mdav k=2"]
    with pytest.raises(ParameterError, match="'ill' is given a hierarchy, and mdav does not follow it"):
        compare(recipes_of(path, ["mdav"], roles, {"k": "2"}), 1)


# ---- as it was seen on real data -------------------------------------------------------------------------------------------------------


def test_no_class_of_hospital_stays_has_fewer_than_k_patients():
    stays = Table.of(shoal.invented_visits(2000))
    roles = Roles(quasi=("sex", "zip", "age", "admitted"), person=("patient_id",), confidential=("diagnosis",))
    release = shoal.protect(stays, "mondrian", k=5, roles=roles, seed=1)
    whose, patients = stays.column("patient_id").to_pylist(), {}
    for row, *cells in zip(release.source_row.tolist(), *(release.table.column(column).to_pylist() for column in roles.quasi)):
        patients.setdefault(tuple(cells), set()).add(whose[row])
    assert min(map(len, patients.values())) >= 5


def test_every_class_of_a_survey_has_two_real_answers_to_each_question():
    survey, questions = Table.of(shoal.invented_survey(1500)), ("DIABDX", "HIBPDX", "ASTHDX")
    codes = ("-1", "-7", "-8", "-9")
    assert any(str(level) in codes for level in survey.levels("DIABDX").to_pylist())
    roles = Roles(quasi=("sex", "education", "AGE53X"), confidential=questions, missing=dict.fromkeys(questions, codes))
    release = shoal.protect(survey, "mondrian", k=5, l=2, roles=roles, seed=1)
    for question in questions:
        answers, inside = survey.column(question).to_pylist(), {}
        for row, *cells in zip(release.source_row.tolist(), *(release.table.column(column).to_pylist() for column in roles.quasi)):
            inside.setdefault(tuple(cells), set()).add(str(answers[row]))
        assert min(len(found - {*codes, "None"}) for found in inside.values()) >= 2
