"""What leaves unprotected: columns that give a protected one away, told by hand; identifiers, unique columns, and what has no role."""

import re

import numpy as np
import pytest

import shoal
from shoal.certificate import read_certificate
from shoal.kernels.telling import binned, middle_ranks, spearman, told, told_ranks
from shoal.methods import Mdav, Mondrian, OptimalRecoding, TopCoding
from shoal.roles import Roles
from shoal.runs.leaves import looked_over, what_leaves
from shoal.runs.recipe import Recipe, apply_steps
from shoal.runs.run import load_run, protect_to_folder, refresh
from shoal.table import Table
from shoal.writing import write_table


def leaving(columns, roles, k=2):
    """Found beside quasi-identifiers that mdav has protected, as column -> (why, about)."""
    table = Table.of(columns)
    release = apply_steps(table, roles.check(table), [Mdav(k=k)], 1)
    return {one.column: (one.why, one.about) for one in release.leaves}, release


# ---- leaving each row out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "values", "right"),
    [
        ([0, 0, 0, 0], [1, 1, 1, 2], 3 / 4),  # each 1 sees two 1 and a 2; the 2 sees three 1
        ([0, 0], [1, 1], 1),
        ([0, 0], [1, 2], 0),  # each sees only the other
        ([0, 1, 2], [1, 1, 1], 0),  # alone in a group: nothing is told
        ([0, 0, 0], [1, 1, 2], 1 / 3),  # each 1 sees a 1 and a 2: half of two; the 2 is wrong
        ([0, 0, 0, 0], [1, 1, 2, 3], 2 / 3 / 4),  # each 1 sees 1, 2 and 3: a third of two
        ([0, 0, 0, 0], [1, 1, 2, 2], 0),  # a 1 sees more 2 than 1
        ([0, 0, 0, 1, 1, 1], [1, 1, 1, 2, 2, 2], 1),
    ],
)
def test_told_by_hand(groups, values, right):
    assert told(np.array(groups), np.array(values)) == pytest.approx(right)


def test_ranks_and_bins_by_hand():
    codes = np.array([0, 1, 1, 3])
    assert middle_ranks(codes).tolist() == [0, 1.5, 1.5, 3]
    assert binned(codes, 2).tolist() == [0, 0, 0, 1]
    assert np.bincount(binned(np.arange(1000), 50)).tolist() == [20] * 50
    every = np.ones(4, np.bool_)
    assert spearman(codes, np.array([5, 6, 6, 8]), every) == pytest.approx(1)
    assert spearman(codes, -codes + 3, every) == pytest.approx(-1)
    assert spearman(codes, np.zeros(4, np.int64), every) == 0
    assert spearman(np.array([0, 1, 2, 9]), np.array([0, 1, 2, 0]), np.array([True, True, True, False])) == pytest.approx(1)


# ---- what gives what away ------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
ROWS = 400
REGION = RNG.choice(4, ROWS, p=[0.2, 0.17, 0.39, 0.24])


def test_a_weight_that_follows_from_the_region_gives_it_back():
    found, release = leaving({"region": REGION.astype(str), "weight": 1250.5 * (1 + REGION)}, Roles(quasi=("region",), weight=("weight",)))
    assert found == {"weight": ("tells", "region")}
    (one,) = release.leaves
    assert one.share == 1
    assert one.guessing == pytest.approx(np.bincount(REGION).max() / ROWS, abs=0.006)
    assert release.warnings == (
        f"'weight' gives the protected 'region' away (it is right for 100% of the records, guessing for {one.guessing:.0%}). "
        "Make it a quasi-identifier, too, or leave it out.",
    )


def test_the_age_asked_again_gives_the_age_away():
    # A protected AGE15X was left beside AGE31X, AGE42X and AGE53X.
    survey = shoal.invented_survey(2000)
    roles = Roles(quasi=("AGE15X", "sex"), confidential=("DIABDX",), other=("AGE31X", "AGE42X", "AGE53X", "SMOKES"))
    release = shoal.protect(survey, "mondrian", k=5, roles=roles, seed=1)
    assert {one.column for one in release.leaves} == {"AGE31X", "AGE42X", "AGE53X"}
    assert {one.about for one in release.leaves} == {"AGE15X"}
    for column in ("AGE31X", "AGE42X", "AGE53X"):
        assert sum(line.startswith(f"'{column}' gives the protected 'AGE15X' away") for line in release.warnings) == 1
    all_protected = shoal.protect(survey, "mondrian", k=5, quasi=["AGE15X", "AGE31X", "AGE42X", "AGE53X"], seed=1)
    assert all_protected.leaves == ()


def test_ranks_tell_where_values_do_not():
    size = RNG.permutation(ROWS).astype(float)
    found, _ = leaving(
        {"turnover": size, "tax": np.exp(size / 80) + RNG.normal(0, 0.01, ROWS)}, Roles(quasi=("turnover",), confidential=("tax",))
    )
    assert found["tax"][1] == "turnover"
    mirrored, _ = leaving({"turnover": size, "left": -size}, Roles(quasi=("turnover",), other=("left",)))
    assert mirrored["left"][1] == "turnover"


def test_levels_and_words_are_held_against_each_other():
    level = np.array(["low", "middle", "high"])[RNG.choice(3, ROWS)]
    code = {"low": "L", "middle": "M", "high": "H"}
    roles = Roles(quasi=("level",), other=("code",), ordinal={"level": ("low", "middle", "high")})
    found, _ = leaving({"level": level, "code": [code[one] for one in level]}, roles)
    assert found == {"code": ("tells", "level")}


def test_an_identifier_copied_relabelled_or_in_other_rows_is_named_and_not_which():
    number = RNG.permutation(9000)[:ROWS] + 1000
    patient = np.repeat(RNG.permutation(9000)[: ROWS // 4], 4)
    columns = {
        "age": RNG.integers(20, 90, ROWS),
        "number": number,
        "patient": patient,
        "same": number.astype(str),
        "moved": RNG.permutation(number),
    }
    columns |= {"hashed": [f"x{one * 7 % 9001}" for one in patient], "free": RNG.permutation(ROWS) + 0.5}
    roles = Roles(quasi=("age",), identifier=("number", "patient"), other=("same", "moved", "hashed", "free"))
    found, release = leaving(columns, roles)
    assert found == {"same": ("identifier", None), "moved": ("identifier", None), "hashed": ("identifier", None), "free": ("unique", None)}
    assert not any("'number'" in line or "'patient'" in line for line in release.warnings)
    assert [one.why for one in release.leaves] == ["identifier"] * 3 + ["unique"]  # worst first


def test_fresh_numbers_of_households_are_no_identifiers_but_tell_what_members_share():
    home = np.repeat(np.arange(ROWS // 4), 4)
    columns = {
        "region": REGION[home].astype(str),
        "age": RNG.integers(20, 90, ROWS),
        "home": home,
        "address": [f"street {one}" for one in home],
    }
    found, _ = leaving(columns, Roles(quasi=("region", "age"), household=("home",), identifier=("address",)))
    assert found == {"home": ("tells", "region")}


def test_a_shared_column_still_tells_where_numbers_were_kept():
    # Couples of two kinds, ten of each, and ten that are like no other; the weight follows from the region.
    home = np.repeat(np.arange(60), 2)
    region = np.array(["n", "s"])[home % 2]
    age = np.where(home < 50, 30 + 10 * (np.arange(120) % 2), np.arange(120))
    columns = {"region": region, "age": age, "home": home, "weight": np.where(region == "n", 10.0, 20.0)}
    roles = Roles(quasi=("region", "age"), household=("home",), weight=("weight",), link={"household": 5})
    table = Table.of(columns)
    release = apply_steps(table, roles.check(table), [Mondrian(k=5)], 1)
    assert 0 < release.table.missing("weight").sum() < 120
    assert {one.column: (one.why, one.about) for one in release.leaves} == {"weight": ("tells", "region")}


def test_nothing_is_said_of_few_rows_or_of_columns_that_say_nothing():
    found, _ = leaving({"x": [1, 2, 3, 4], "y": [4, 1, 3, 2]}, Roles(quasi=("x",), other=("y",)))
    assert found == {}
    infinite = np.where(np.arange(ROWS) == 3, np.inf, REGION)
    assert leaving({"x": np.arange(ROWS), "y": infinite, "flag": REGION > 1}, Roles(quasi=("x",), other=("y", "flag")))[0] == {}
    found, _ = leaving({"x": np.arange(ROWS), "y": [7] * ROWS, "z": [None] * ROWS}, Roles(quasi=("x",), other=("y", "z")))
    assert found == {}


# ---- ten lines, and one ----------------------------------------------------------------------------------------------------------


def test_ten_are_named_and_the_rest_counted(tmp_path):
    age = RNG.integers(20, 90, ROWS)
    columns = {"age": age, **{f"age{i:02d}": age + i for i in range(13)}, "hobby": REGION}
    roles = Roles(quasi=("age",), rest="release")
    write_table(Table.of(columns), tmp_path / "ages.csv")
    certificate = protect_to_folder(Recipe(tmp_path / "ages.csv", roles, (Mdav(k=3),)), tmp_path / "run", seed=1)
    assert [one.column for one in certificate.leaves] == [f"age{i:02d}" for i in range(10)]
    assert sum("gives the protected 'age' away" in line for line in certificate.warnings) == 10
    assert "3 further columns give something away in one of these ways." in certificate.warnings
    assert read_certificate(tmp_path / "run" / "certificate.json").leaves == certificate.leaves
    again = refresh(load_run(tmp_path / "run"))  # from the files, without what the run knew
    assert again.leaves == certificate.leaves


def test_columns_without_a_role_are_left_out_and_counted_in_one_line(tmp_path):
    # The warning was a wall of 1,800 column names.
    wide = shoal.example.invented_wide(120)
    roles = Roles(quasi=("AGE15X", "sex"), confidential=("DIABDX",), identifier=("person_id",))
    release = shoal.protect(wide, "mondrian", k=5, roles=roles, seed=1)
    assert release.table.columns == ("sex", "AGE15X", "DIABDX")
    assert release.warnings[0] == "1,827 columns without a role were left out."
    write_table(wide, tmp_path / "wide.csv")
    certificate = protect_to_folder(Recipe(tmp_path / "wide.csv", roles, (Mondrian(k=5),)), tmp_path / "run", seed=1)
    assert certificate.roles.left_out == 1827
    assert "1,827 columns without a role were left out." in certificate.warnings
    assert max(map(len, certificate.warnings)) < 300
    one = shoal.protect({"x": [1, 2, 3], "y": [1, 1, 1]}, "mdav", k=3, quasi="x")
    assert one.warnings == ("1 column without a role was left out.",)


def test_a_release_is_looked_over_once():
    table = Table.of({"x": [1, 2, 3, 4], "y": [1, 1, 2, 2]})
    roles = Roles(quasi=("x",), other=("y",)).check(table)
    release = apply_steps(table, roles, [Mdav(k=2)], 1)
    assert looked_over(table, release, roles) is release
    assert what_leaves(table, release, roles) == release.leaves


def test_bands_of_age_give_the_age_away_though_they_are_text():
    rng = np.random.default_rng(5)
    ages = rng.integers(18, 90, 400)
    bands = [f"{age // 5 * 5} to {age // 5 * 5 + 4}" for age in ages.tolist()]
    columns = {"age": ages, "zip": rng.integers(0, 9, 400), "band": bands, "colour": rng.choice(["red", "blue"], 400)}
    found, _ = leaving(columns, Roles(quasi=("age", "zip"), other=("band", "colour")))
    assert found == {"band": ("rank", "age")}


def test_ranks_are_told_by_the_other_rows_of_a_group():
    every = np.ones(4, np.bool_)
    assert told_ranks(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), every) == pytest.approx(1)
    assert told_ranks(np.arange(4), np.arange(4), every) == 0  # alone in a group: nothing is told
    assert told_ranks(np.array([0, 0, 0, 0]), np.arange(4), every) == 0  # the others of one group rise where the row falls


def test_codes_that_nobody_declared_are_said_without_a_value():
    survey = shoal.invented_survey(300)
    roles = Roles(quasi=("sex", "AGE15X"), confidential=("DIABDX",), person=("person_id",))
    said = [line for line in shoal.protect(survey, "mondrian", k=5, roles=roles).warnings if "seem to mean missing" in line]
    assert said == [
        "'AGE15X', 'DIABDX': negative numbers seem to mean missing, and count as answers. Declare them with --missing-code "
        "(shoal look names them)."
    ]
    declared = Roles(
        quasi=("sex", "AGE15X"), confidential=("DIABDX",), person=("person_id",), missing={"AGE15X": (-1,), "DIABDX": (-1, -7, -8, -9)}
    )
    assert not [line for line in shoal.protect(survey, "mondrian", k=5, roles=declared).warnings if "seem to mean" in line]


def test_rows_of_a_person_that_can_be_put_together_again_are_counted():
    """Ann's two rows share a job that nobody else has; Bea and Cy share theirs."""
    table = {"who": [1, 1, 2, 2, 3, 3], "age": [30, 30, 31, 31, 32, 32], "job": ["a", "a", "b", "b", "b", "b"], "day": [1, 2, 3, 4, 5, 6]}
    release = shoal.protect(table, Mdav(k=3), quasi="age", person="who", roles=None, rest="leave-out")
    assert not [line for line in release.warnings if "put together" in line]
    roles = Roles(quasi=("age",), person=("who",), other=("job", "day"))
    (said,) = [line for line in shoal.protect(table, Mdav(k=3), roles=roles).warnings if "put together" in line]
    assert said.startswith("Rows of one person can be put together again: of 3 persons with several rows 33% have")


def test_dates_of_birth_in_text_give_the_age_away():
    survey = shoal.invented_survey(400)
    release = shoal.protect(survey, "mondrian", k=5, quasi=["AGE15X", "sex"], person="person_id", roles=None, rest="release")
    assert ("born", "AGE15X") in {(one.column, one.about) for one in release.leaves}


def test_rows_that_fall_into_the_group_for_all_others_are_counted():
    rows = [["1000", "10*", "*"], ["1001", "10*", "*"]]
    table = {"zip": ["1000"] * 60 + ["1001"] * 50 + ["2000"] * 30 + ["2001"] * 10}
    roles = Roles.parse({"quasi": ["zip"], "hierarchies": {"zip": {"rows": rows, "other": "Elsewhere"}}})
    release = shoal.protect(table, "recoding", k=5, lowest={"zip": 1}, roles=roles)
    assert "Of 'zip', 40 rows of 150 had no group of their own in its hierarchy: they fell into 'Elsewhere'." in release.warnings
    covered = shoal.protect({"zip": table["zip"][:110]}, "recoding", k=5, lowest={"zip": 1}, roles=roles)
    assert not [warning for warning in covered.warnings if "fell into" in warning]
    few = shoal.protect({"zip": ["1000"] * 40 + ["2000"] * 10}, "recoding", k=5, lowest={"zip": 1}, roles=roles)
    assert "Some values of 'zip' had no group of their own in its hierarchy: they fell into 'Elsewhere'." in few.warnings


def test_cells_made_of_changed_values_are_not_said_to_be_true():
    table = {"age": [20 + i % 70 for i in range(300)]}
    roles = Roles.parse({"quasi": ["age"], "hierarchies": {"age": "width 5 from 0, then 10, 20"}})
    steps = (TopCoding(limit={"age": 75}), OptimalRecoding(k=10, lowest={"age": 2}))
    release = shoal.protect(table, *steps, roles=roles)
    cells = zip((table["age"][at] for at in release.source_row), release.table.column("age").to_pylist())
    wrong = [before for before, cell in cells if before >= float(re.split(r", |\.\.", cell[1:-1])[1]) + 1]
    assert wrong
    said = [warning for warning in release.warnings if "need not be true" in warning]
    assert said == [
        "recoding made cells of 'age' after top-coding had changed its values: a cell tells of the changed value, and need not be true "
        "of the original one."
    ]
    alone = shoal.protect(table, OptimalRecoding(k=10), roles=roles)
    assert not [warning for warning in alone.warnings if "need not be true" in warning]


def test_a_hierarchy_that_no_step_uses_is_named():
    table = {"age": [20 + i % 70 for i in range(300)], "illness": ["flu", "cold", "gout"] * 100}
    trees = {"age": "ages", "illness": [["flu", "air", "*"], ["cold", "air", "*"], ["gout", "joint", "*"]]}
    roles = Roles.parse({"quasi": ["age"], "confidential": ["illness"], "hierarchies": trees})
    said = shoal.protect(table, "local-recoding", k=10, roles=roles).warnings
    assert [one for one in said if "was not used" in one] == ["The hierarchy of 'illness' was not used: no step protects that column."]
