"""How columns are read: dates in text, kinds that are given, codes that mean missing, and what look suggests of it."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Roles
from shoal.dates import found_form, read_dates
from shoal.errors import RoleError
from shoal.runs.recipe import roles_from
from shoal.suggest import codes_for_missing, look
from shoal.table import Table

BORN = ["31.01.1980", "1.2.1981", "05.06.1982", "24.12.1983"]


def form(*texts):
    found = found_form(texts, np.ones(len(texts), np.int64))
    return found and found.formats


def test_day_or_month_comes_first_as_a_number_above_twelve_tells():
    assert form("31.01.1980", "01.02.1981") == ("%d.%m.%Y",)
    assert form("01/02/1980", "12/31/1981") == ("%m/%d/%Y",)
    assert form("1980-02-01", "1981-2-3") == ("%Y-%m-%d",)
    assert form("1980/02/01", None) == ("%Y/%m/%d",)


def test_where_the_cells_do_not_tell_both_ways_are_left_open():
    assert form("01.02.1980", "03.04.1981") == ("%d.%m.%Y", "%m.%d.%Y")
    assert form("31.01.80", "01.02.81") == ("%d.%m.%y", "%m.%d.%y")  # the century is not told


@pytest.mark.parametrize("texts", [("19800131",), ("1.2.3", "31.1.1980"), ("red", "blue"), ("31.01/1980",), (None,), ()])
def test_other_texts_are_no_dates(texts):
    assert form(*texts) is None


def test_the_thirty_first_of_february_is_no_date():
    dates, wrong = read_dates(["28.02.1980", "31.02.1980", None], "%d.%m.%Y")
    assert dates.to_pylist() == [date(1980, 2, 28), None, None]
    assert wrong.tolist() == [False, True, False]


def test_protected_dates_in_text_are_dates_and_others_stay_as_they_are():
    read = Roles(quasi=("born",), confidential=("moved",)).read(Table.of({"born": BORN, "moved": BORN}))
    assert read.kind("born") == "date"
    assert read.column("born").to_pylist()[1] == date(1981, 2, 1)
    assert read.column("moved").to_pylist() == BORN
    assert read.written.column("born").to_pylist() == ["31.01.1980", "01.02.1981", "05.06.1982", "24.12.1983"]


def test_reading_twice_changes_nothing_and_checked_roles_remember_the_form():
    table, roles = Table.of({"born": BORN, "age": [30, 40, -9, 50]}), Roles(quasi=("born", "age"), missing={"age": [-9]})
    read = roles.read(table)
    checked = roles.check(read)
    assert checked.kinds == {"born": "date:%d.%m.%Y"}
    for again in (roles.read(read), checked.read(read), checked.read(table)):
        assert again.arrow.equals(read.arrow)
        assert again.date_formats == {"born": "%d.%m.%Y"}
    some = checked.read(table.take(np.array([1, 2])))  # which by themselves would not tell
    assert some.column("born").to_pylist() == [date(1981, 2, 1), date(1982, 6, 5)]


def test_a_person_is_asked_where_the_cells_do_not_tell():
    table = Table.of({"born": ["01.02.1980", "03.04.1981"]})
    with pytest.raises(RoleError, match=r"--kind born=date:%d\.%m\.%Y or --kind born=date:%m\.%d\.%Y"):
        Roles(quasi=("born",)).read(table)
    with pytest.raises(RoleError, match="century"):
        Roles(quasi=("born",)).read(Table.of({"born": ["31.01.80", "01.02.81"]}))
    assert Roles(confidential=("born",)).read(table).kind("born") == "text"
    assert Roles(quasi=("born",), kinds={"born": "text"}).read(table).kind("born") == "text"
    month_first = Roles(quasi=("born",), kinds={"born": "date:%m.%d.%Y"}).read(table)
    assert month_first.column("born").to_pylist() == [date(1980, 1, 2), date(1981, 3, 4)]


def test_a_slip_among_dates_is_told_by_row_and_never_shown():
    born = [f"{day:02}.01.1980" for day in range(1, 31)]
    born[6] = "secret"
    with pytest.raises(RoleError, match=r"1 value that is not a date of the form %d\.%m\.%Y \(first at row 7\)") as told:
        Roles(quasi=("born",)).read(Table.of({"born": born}))
    assert "secret" not in str(told.value)
    assert Roles(quasi=("born",), missing={"born": ["secret"]}).read(Table.of({"born": born})).column("born").null_count == 1
    with pytest.raises(RoleError, match="first at row 3"):  # the end of time is a code, which no mean should be taken of
        Roles(quasi=("born",)).read(Table.of({"born": [*born[:2], "31.12.9999", *born[7:]]}))
    few = Table.of({"born": [*born[:6], *map(str, "abcdef")]})
    with pytest.raises(RoleError, match="6 cells that read as dates"):
        Roles(quasi=("born",)).read(few)
    fewer = Table.of({"born": [*born[:1], *map(str, "abcdef")]})
    assert Roles(quasi=("born",)).read(fewer).kind("born") == "text"


def test_kinds_are_given():
    table = Table.of({"a": ["007", "8,5", None], "b": [19800131, 19811224, None], "c": [1, 2, 3]})
    read = Roles(other=("a", "b", "c"), kinds={"a": "number", "b": "date:%Y%m%d", "c": "text"}).read(table)
    assert read.column("a").to_pylist() == [7.0, 8.5, None]
    assert read.column("b").to_pylist() == [date(1980, 1, 31), date(1981, 12, 24), None]
    assert read.column("c").to_pylist() == ["1", "2", "3"]
    with pytest.raises(RoleError, match="first at row 2"):
        Roles(kinds={"a": "number"}).read(Table.of({"a": ["1", "x"]}))


@pytest.mark.parametrize("kind", ["day", "number:3", "date:%H", "date:%d.%m", "date:%d.%m.%y", ""])
def test_a_kind_that_is_none_is_refused(kind):
    with pytest.raises(RoleError, match="born"):
        Roles(kinds={"born": kind})


def test_codes_of_protected_numbers_are_missing_and_all_others_stay():
    table = Table.of({"age": [34, -9, 50, -1], "income": [1.5, -9.0, 2.5, 3.0], "sex": [1, 2, -9, 1], "ill": [1, -9, 2, 2]})
    codes = dict.fromkeys(table.columns, (-1, "-9"))
    roles = Roles(quasi=("age", "income", "sex"), confidential=("ill",), nominal=("sex",), missing=codes)
    read = roles.read(table)
    assert read.column("age").to_pylist() == [34, None, 50, None]
    assert read.column("income").to_pylist() == [1.5, None, 2.5, 3.0]
    assert read.column("sex").to_pylist() == [1, 2, -9, 1]  # without an order a code is a category
    assert read.column("ill").to_pylist() == [1, -9, 2, 2]
    assert roles.missing_levels(table, "ill").tolist() == [True, False, False]
    assert roles.missing_levels(table, "income").tolist() == [True, False, False, False]


def test_a_code_is_no_level_unless_it_is_listed():
    table, levels = Table.of({"size": ["small", "large", "refused"]}), ("small", "large")
    roles = Roles(quasi=("size",), ordinal={"size": levels}, missing={"size": ("refused",)})
    assert roles.read(table).column("size").to_pylist() == ["small", "large", None]
    listed = Roles(quasi=("size",), ordinal={"size": (*levels, "refused")}, missing={"size": ("refused",)})
    assert listed.read(table).column("size").to_pylist() == ["small", "large", "refused"]
    kept = Roles(confidential=("size",), ordinal={"size": levels}, missing={"size": ("refused",)})
    assert np.isnan(kept.check(kept.read(table)).ordinal_codes(table, "size")).tolist() == [False, False, True]


def test_no_mean_is_taken_of_codes():
    """-9 averaged with 34 is nobody's age."""
    table = Table.of({"age": [30, -9, 30, -9, 60, 60, 60, 60], "x": [1, 1, 1, 1, 2, 2, 2, 2]})
    release = shoal.protect(table, "mdav", k=4, roles=Roles(quasi=("age", "x"), missing={"age": (-9,)}))
    assert sorted(release.table.column("age").to_pylist()) == [30, 30, 30, 30, 60, 60, 60, 60]


def test_codes_and_kinds_of_a_column_that_is_not_there_are_refused():
    table = Table.of({"age": [1, 2]})
    for given in ({"missing": {"agee": (-9,)}}, {"kinds": {"agee": "text"}}):
        roles = Roles(quasi=("age",), **given)
        with pytest.raises(RoleError, match=r"agee.*Did you mean 'age'"):
            roles.check(roles.read(table))
    roles = Roles(quasi=("age",), missing={"age": (-9,)})  # a code that does not occur is fine
    roles.check(roles.read(table))


def test_codes_and_kinds_in_a_roles_file(tmp_path):
    file = tmp_path / "roles.toml"
    file.write_text('quasi = ["born"]\n[missing]\nDIABDX = [-1, "-7", "refused"]\n[kinds]\nborn = "date:%d.%m.%Y"\n')
    roles = roles_from(file, tables={"missing": {"SMOKES": ("-9",)}})
    assert roles.missing == {"DIABDX": ("-1", "-7", "refused"), "SMOKES": ("-9",)}
    assert roles.plain()["missing"] == {"DIABDX": [-1, -7, "refused"], "SMOKES": [-9]}
    assert roles.kinds == {"born": "date:%d.%m.%Y"}
    file.write_text("[missing]\nDIABDX = -1\n")
    with pytest.raises(RoleError, match="lists of codes"):
        roles_from(file)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, -1, -7, -8, -9], ("-1", "-7", "-8", "-9")),
        ([0, 1, 35, 80, -1], ("-1",)),
        ([10.5, 20.25, -99], ("-99",)),
        ([-2, -1, 0, 1, 2], ()),  # a scale around nought
        ([-1, 1], ()),
        ([-3, -2, -1, 0, 4, 30], ()),  # degrees
        ([1, 2, -37], ()),  # no code of a survey
        ([-1, -2, -3, -4, -5, -6, 3], ()),
        ([-9, -9], ()),
        ([1, 2, 3], ()),
        (["a", "b"], ()),
    ],
)
def test_codes_that_seem_to_mean_missing(values, codes):
    assert codes_for_missing(Table.of({"x": values}), "x") == codes


def test_look_suggests_codes_and_forms_of_the_survey():
    survey = shoal.invented_survey(300)
    roles = shoal.suggest_roles(survey)
    assert roles.missing["DIABDX"] == ("-1", "-7", "-8", "-9")
    assert roles.missing["AGE15X"] == ("-1",)
    assert "household_income" not in roles.missing
    assert roles.kinds == {"born": "date:%d.%m.%Y"}
    assert "born" in roles.quasi
    assert {"DIABDX", "SMOKES"} <= set(roles.nominal)  # yes and no
    seen = {one.column: one for one in look(survey)}
    assert seen["born"].kind == "date"
    assert "-1, -7, -8, -9 seem to mean missing" in seen["DIABDX"].because
    assert Roles.parse(roles.plain()) == roles


def test_look_asks_where_the_cells_do_not_tell():
    (seen,) = look(Table.of({"born": ["01.02.1980", "03.04.1981", "01.02.1980"]}))
    assert seen.role == "quasi"
    assert "--kind born=date:%d.%m.%Y or --kind born=date:%m.%d.%Y" in seen.because


def test_intervals_of_dates_end_with_months_and_no_set_lists_a_date():
    """Complaint 5: birth dates in text were released as sets of exact dates."""
    born = ["03.05.1980", "24.07.1981", "05.05.1980", "07.07.1981", "11.02.1990", None, None, None]
    table = Table.of({"born": born, "x": [1, 1, 1, 1, 2, 2, 2, 2]})
    for publish in ("counts", "sets", "intervals"):
        release = shoal.protect(table, "mondrian", k=4, publish=publish, quasi=["born", "x"])
        cells = set(release.table.column("born").to_pylist())
        beside = "{[1990-02-01..1990-02-28]|*3}" if publish == "counts" else "{[1990-02-01..1990-02-28]|}"
        assert cells == {"[1980-05-01..1981-07-31]", beside}
    one = Table.of({"born": ["24.12.1980"] * 4 + ["24.12.1990"] * 4})
    assert set(shoal.protect(one, "mondrian", k=4, quasi=["born"]).table.column("born").to_pylist()) == {"1980-12-24", "1990-12-24"}


def test_a_column_that_only_a_step_names_is_read_as_dates_too():
    from shoal.methods import Mondrian

    release = shoal.protect(Table.of({"born": BORN, "x": [1, 2, 3, 4]}), Mondrian(k=2, columns=("born",)), quasi=["x"])
    assert all(text.startswith("[198") for text in release.table.column("born").to_pylist())


def test_dates_come_back_as_they_were_written():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"born": ["31.01.1980", "02.02.1980", "24.12.1990", "26.12.1990"]})
    release = shoal.protect(frame, "mdav", k=2, quasi=["born"])
    assert sorted(release.data["born"]) == ["01.02.1980", "01.02.1980", "25.12.1990", "25.12.1990"]
    assert shoal.measure(frame, release, "k-anonymity")["k-anonymity"].value == 2
    assert 0 < shoal.measure(frame, release, "cell-loss")["cell-loss"].value < 0.2  # a day in eleven years


@pytest.mark.parametrize(
    ("cells", "asks"),
    [
        ([f"{1 + i % 28} {month} 2023" for i, month in enumerate(["Mar", "April", "dec"] * 20)], True),
        ([f"{1 + i % 28:02d}.03.2023 08:00" for i in range(60)], True),
        (["24.08.1976", "02.11.1980", "unknown"] * 20, True),
        ([19760400 + 1 + i % 28 for i in range(60)], True),
        ([f"{i % 7} to {i % 7 + 4}" for i in range(60)], False),
        ([f"3/{i % 9}" for i in range(60)], False),
        (["may", "june", "will"] * 20, False),
        ([20_000_000 + i * 4711 for i in range(60)], False),
        ([float(i) for i in range(60)], False),
    ],
)
def test_a_person_is_asked_where_exact_dates_would_leave(cells, asks):
    table = shoal.Table.of({"seen": cells, "x": range(60)})
    roles = shoal.Roles(quasi=("seen", "x"))
    if asks:
        with pytest.raises(RoleError, match="that read as dates, and is no column of dates as it is: exact dates would be released"):
            roles.read(table)
        shoal.Roles(quasi=("seen", "x"), kinds={"seen": table.kind("seen")}).read(table)  # whoever says that they are none is believed
    else:
        assert roles.read(table).kind("seen") == table.kind("seen")


def test_a_code_in_half_precision_is_known():
    cells = pa.array([1.5, -9.9, 2.5, -9.9], pa.float32())
    table = shoal.Table.of({"ill": cells})
    assert shoal.Roles(confidential=("ill",), missing={"ill": ("-9.9",)}).missing_levels(table, "ill").tolist() == [True, False, False]
