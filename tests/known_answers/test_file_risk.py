"""The risk of a file as it is: published tables, persons counted by hand, missing cells, and what is said."""

import csv
import io

import pytest

import shoal
from shoal.errors import DataError, ParameterError, RoleError
from shoal.roles import Roles
from tests.data import data_path
from tests.known_answers.test_special_uniques import GUIDE

COLUMNS = ("residence", "sex", "education", "labour")


def guide():
    return dict(zip(COLUMNS, map(list, zip(*(row.split() for row in GUIDE)))))


def records(found):
    return list(csv.DictReader(io.StringIO(found.records())))


def test_the_guides_table():
    found = shoal.risk(guide(), quasi=COLUMNS, fraction=0.01, score="ihsn")
    assert (found.unit, found.rows, found.persons, found.classes, found.smallest_class) == ("rows", 10, None, 7, 1)
    assert (found.unique, found.special, found.below) == (4, 4, {2: 4, 3: 10, 5: 10, 10: 10})
    assert found.histogram == {1: 4, 2: 3}
    assert found.scores.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    assert found.dis[[2, 4, 7]] == pytest.approx([0.005120313, 0.010702061, 0.008775093], abs=1e-9)
    assert found.class_size.tolist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert (found.keys, found.keys_tell, found.keys_all_found) == ((("education", "labour"),), 0.7, True)
    assert (found.sets_not_looked_at, found.notes) == (0, ())


def test_what_each_column_tells():
    found = shoal.risk(guide(), quasi=COLUMNS)
    told = {one.column: one for one in found.columns}
    assert (told["education"].distinct, told["education"].distinction, told["education"].separation) == (5, 0.5, pytest.approx(0.8))
    assert found.scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    # Of 34. Rural, and urban with unemployed; three alone by education, and two pairs of row 5; two pairs each of rows 5 and 8.
    parts = {"residence": 6 + 2, "sex": 2 + 2 + 2, "education": 3 * 6 + 2 + 2, "labour": 4 * 2}
    assert {one.column: one.part_of_scores for one in found.columns} == {column: pytest.approx(part / 34) for column, part in parts.items()}
    two = found.sizes[1]
    assert (two.columns, two.sets, two.telling, two.distinction, two.unique) == (2, 6, ("education", "labour"), 0.7, 4)
    assert two.separation == pytest.approx(0.9333, abs=1e-4)


def test_the_five_rows_of_arx():
    """Sex .4 and .6, state .6 and .7, age .6 and .8, sex and state .8 and .9, any set with age and another 1."""
    table = {"sex": ["m", "f", "f", "m", "f"], "state": ["a", "a", "a", "b", "c"], "age": [1, 2, 3, 2, 1]}
    found = shoal.risk(table, quasi=["sex", "state", "age"])
    assert [(one.distinction, one.separation) for one in found.columns] == [
        (0.4, pytest.approx(0.6)),
        (0.6, pytest.approx(0.7)),
        (0.6, pytest.approx(0.8)),
    ]
    assert found.keys == (("sex", "age"), ("state", "age"))
    assert shoal.risk(table, quasi=["sex", "state", "age"], tells=0.8).keys == (("sex", "state"), ("sex", "age"), ("state", "age"))


def test_what_is_written_of_records():
    """Numbers and names of columns, the most special first; no cell."""
    found = shoal.risk(guide(), quasi=COLUMNS)
    rows = records(found)
    assert [row["row"] for row in rows] == ["5", "8", "3", "7", "1", "2", "4", "6", "9", "10"]
    assert rows[0]["special_on"] == "residence; sex + education; sex + labour; education + labour"
    assert rows[1] == {
        "row": "8",
        "class_size_rows": "1",
        "score": "10",
        "special_uniques": "3",
        "special_on": "education; residence + labour; sex + labour",
    }
    assert (rows[-1]["score"], rows[-1]["special_on"]) == ("0", "")
    assert not [cell for cells in guide().values() for cell in cells if cell in found.records()]
    assert "5" in {row["row"] for row in records(shoal.risk(guide(), quasi=COLUMNS, fraction=0.1)) if row["dis_suda"] != "0"}


def test_nothing_of_single_records_is_said_of_the_file():
    assert not {"scores", "dis", "class_size", "special_sets"} & set(shoal.risk(guide(), quasi=COLUMNS).plain())


VISITS = {
    "who": ["a", "a", "b", "b", "c", "d"],
    "town": ["x", "x", "x", "x", "y", "y"],
    "ward": ["1", "1", "1", "1", "1", "2"],
}


def test_persons_whose_rows_agree_are_one_record_each():
    found = shoal.risk(VISITS, quasi=["town", "ward"], person="who")
    assert (found.unit, found.rows, found.persons, found.classes, found.unique) == ("persons", 6, 4, 3, 2)
    assert found.scores.tolist() == [0, 0, 0, 0, 1, 1]  # d: ward 2 alone; c: town y and ward 1
    assert [one.special for one in found.sizes] == [1, 1]
    assert found.special == 2
    assert [one.distinction for one in found.columns] == [0.5, 0.5]
    assert found.class_size.tolist() == [2, 2, 2, 2, 1, 1]
    in_rows = shoal.risk(VISITS, quasi=["town", "ward"])
    assert (in_rows.unit, in_rows.below[3]) == ("rows", 2)


def test_persons_whose_rows_differ_are_alone_with_their_own_rows():
    """Ward 2 is a's alone, in two rows; what pairs of records would be counted for has no value, and the reason is said."""
    table = {"who": ["a", "a", "a", "b"], "ward": ["2", "2", "1", "1"], "sex": ["f"] * 4}
    found = shoal.risk(table, quasi=["ward", "sex"], person="who")
    assert found.scores.tolist() == [1, 1, 0, 0]
    assert (found.unique, found.special, found.sizes[0].special) == (1, 1, 1)
    assert (found.columns[0].distinction, found.columns[0].separation, found.sizes[0].telling, found.keys) == (None, None, (), None)
    assert "differ" in found.notes[0]
    with pytest.raises(ParameterError, match="same in all rows of a person"):
        shoal.risk(table, quasi=["ward", "sex"], person="who", fraction=0.1)


def test_rows_that_may_be_one_person_are_said():
    found = shoal.risk(VISITS, Roles(quasi=("town", "ward"), identifier=("who",)))
    assert "give it the role person" in found.notes[0]


def test_codes_for_missing_are_in_no_special_unique():
    table = {"age": [30, 30, 40, 40, -9], "sex": ["f", "f", "m", "m", "x"]}
    told = shoal.risk(table, Roles(quasi=("age", "sex"), missing={"age": ("-9",), "sex": ("x",)}))
    assert told.scores.tolist() == [0, 0, 0, 0, 0]
    assert told.unique == 1  # in its class, missing is a value of its own
    assert told.notes == ("1 row lacks an answer: missing is a value of its own in classes and keys, and in no special unique.",)
    assert shoal.risk(table, quasi=["age", "sex"]).scores[4] == 2


def test_a_bounded_search_says_what_it_did_not_look_at():
    found = shoal.risk(guide(), quasi=COLUMNS, size=1, fraction=0.5)
    assert found.sets_not_looked_at == 11
    assert "more than 1 column were not looked at, 11 of all 15" in found.notes[0]
    assert "DIS-SUDA needs all sets" in found.notes[1]
    assert found.dis is None
    assert (found.keys, found.keys_all_found) == ((), False)


def test_where_only_keys_are_left_to_look_for():
    """All rows are in pairs, so larger sets have no special unique; what tells the pairs apart is on larger ones."""
    table = {f"c{j}": [i >> j & 1 for i in range(8) for _ in range(2)] for j in range(3)}
    found = shoal.risk(table, quasi=list(table), size=2)
    assert found.special == 0
    assert found.notes == ("Sets of more than 2 columns were not looked at, 1 of all 7 sets: keys that need more columns are not counted.",)


def test_sentences_do_not_comfort():
    pairs = {"sex": ["f", "f", "m", "m"]}
    assert shoal.risk(pairs, quasi="sex").sentence.startswith(
        "No row is alone on this column: the smallest class has 2 rows, which may share"
    )
    assert "population is not estimated" in shoal.risk(guide(), quasi=COLUMNS).sentence


def test_what_cannot_be_counted():
    with pytest.raises(ParameterError, match="shoal look"):
        shoal.risk(guide())
    with pytest.raises(RoleError, match="Did you mean 'labour'"):
        shoal.risk(guide(), quasi=["labor"])
    with pytest.raises(DataError, match="no rows"):
        shoal.risk({"age": []}, quasi="age")
    with pytest.raises(ParameterError, match="at most 100"):
        shoal.risk({f"c{j}": [1] for j in range(101)}, quasi=[f"c{j}" for j in range(101)])
    with pytest.raises(ParameterError, match="fewer than 28 columns"):
        shoal.risk({f"c{j}": [1] for j in range(30)}, quasi=[f"c{j}" for j in range(30)], fraction=0.1)
    for wrong in ({"size": 0}, {"tells": 0.0}, {"tells": 1.5}, {"fraction": 2.0}, {"score": "skinner"}):
        with pytest.raises(ParameterError):
            shoal.risk(guide(), quasi=COLUMNS, **wrong)
    with pytest.raises(ParameterError, match="not both"):
        shoal.risk(guide(), Roles(quasi=COLUMNS), quasi=COLUMNS)


def test_one_row_and_forty_columns():
    found = shoal.risk({f"c{j}": [1] for j in range(40)}, quasi=[f"c{j}" for j in range(40)])
    assert (found.unique, len(found.keys), found.sets_not_looked_at) == (1, 40, 0)
    assert found.columns[0].separation is None  # there is no pair


def test_adult():
    table = shoal.read_table(data_path("adult", "adult_30162.csv"))
    quasi = [column for column in table.columns if column != "salary-class"]
    found = shoal.risk(table, quasi=quasi)
    assert [one.special for one in found.sizes] == [2, 1198, 13852, 20569, 9287, 1616, 119, 5]
    assert (found.special, found.classes) == (14021, 18109)
