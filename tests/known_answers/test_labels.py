"""Names of groups in releases: in the file and in what is handed out; read back, measured and attacked as the sets they stand for."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.certificate import read_certificate
from shoal.checks.verify import verify
from shoal.files import read_table
from shoal.hierarchy import Hierarchy
from shoal.methods import Mondrian
from shoal.registry import make
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import load_run, protect_to_folder, refresh
from shoal.table import Format
from shoal.writing import write_table

TREE = [[f"t{i}", f"region {i % 2}", "*"] for i in range(6)]
ROLES = Roles(quasi=("town", "age"), confidential=("ill",), hierarchies={"town": TREE, "age": "width 5 from 0, then 10, 20"})


def towns(rows=40):
    return pd.DataFrame(
        {
            "town": [f"t{i % 6}" for i in range(rows)],
            "age": [20 + (7 * i) % 37 for i in range(rows)],
            "ill": ["x" if i % 3 else "y" for i in range(rows)],
        }
    )


def test_what_is_handed_out_has_the_names(tmp_path):
    release = shoal.protect(towns(), Mondrian(k=8), roles=ROLES)
    assert set(release.data["town"]) <= {"*", "region 0", "region 1", *(row[0] for row in TREE)}
    assert all(text.startswith(("[", "*")) and (text == "*" or text.endswith(")")) for text in release.data["age"])
    inside = set(release.table.column("town").to_pylist())
    assert inside <= {"*", "{t0|t2|t4}", "{t1|t3|t5}", *(row[0] for row in TREE)}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_run_is_read_back_as_it_was_made(tmp_path, kind):
    path = tmp_path / f"towns.{kind}"
    write_table(shoal.Table.of(towns()), path)
    certificate = protect_to_folder(Recipe(path, ROLES, (Mondrian(k=8),)), tmp_path / "run", seed=1)
    labels = certificate.release.labels
    assert set(labels) == {"town", "age"}
    assert all(said == {"region 0": "{t0|t2|t4}", "region 1": "{t1|t3|t5}"}[name] for name, said in labels["town"].items())
    assert labels["age"].get("[20, 40)", "[20..39]") == "[20..39]"
    again = load_run(tmp_path / "run").release.table
    made = shoal.protect(towns(), Mondrian(k=8), roles=ROLES, seed=1).table
    for column in ("town", "age"):
        assert sorted(map(str, again.column(column).to_pylist())) == sorted(map(str, made.column(column).to_pylist()))
    before = {one.name: one.value for one in certificate.measures}
    assert {one.name: one.value for one in refresh(load_run(tmp_path / "run")).measures} == before
    assert verify(tmp_path / "run", tmp_path / "run" / "certificate.json").holds


def test_values_that_only_the_original_has_are_not_told(tmp_path):
    """A prefix says what it holds; which codes there are is the table's own."""
    frame = towns().assign(zip=[f"0{8000 + i * 37}" for i in range(40)])
    write_table(shoal.Table.of(frame), tmp_path / "t.csv")
    roles = Roles(quasi=("zip",), confidential=("ill",), nominal=("zip",), hierarchies={"zip": "mask=*"})
    certificate = protect_to_folder(Recipe(tmp_path / "t.csv", roles, (Mondrian(k=4),)), tmp_path / "run")
    assert set(certificate.release.labels["zip"].values()) <= {None}
    assert certificate.release.labels["zip"]
    shown = set(read_table(tmp_path / "run" / "release.csv", text=["zip"]).column("zip").to_pylist())
    assert all(text == "*" or text in certificate.release.labels["zip"] or text in set(frame["zip"]) for text in shown)
    loaded = load_run(tmp_path / "run").release.table.column("zip").to_pylist()
    assert all(text == "*" or text.startswith("{") or text in set(frame["zip"]) for text in loaded)


def test_a_name_that_stands_for_two_sets_or_for_missing_is_not_used():
    """'other' is a value, and a group of two; 'none' is how the file writes what is missing."""
    tree = Hierarchy((("other", "other", "*"), ("odd", "other", "*"), ("a", "fine", "*"), ("b", "fine", "*")))
    frame = pd.DataFrame(
        {"x": ["other"] * 4 + ["odd"] * 2 + ["other"] * 2 + ["a", "b"] * 4, "ill": list("xy") * 8, "n": [1] * 4 + [2] * 4 + [3] * 8}
    )
    release = shoal.protect(frame, Mondrian(k=4), roles=Roles(quasi=("x", "n"), confidential=("ill",), hierarchies={"x": tree}))
    assert set(release.data["x"]) <= {"other", "{other|odd}", "fine", "a", "b", "*"}
    table = shoal.Table.of(frame)
    question = Hierarchy((("other", "none", "*"), ("odd", "none", "*"), ("a", "fine", "*"), ("b", "fine", "*")))
    given = replace(table, format=Format(missing="none"))
    made = shoal.protect(given, Mondrian(k=8), roles=Roles(quasi=("x",), confidential=("ill",), hierarchies={"x": question}))
    assert "none" not in set(made.data["x"])


def test_no_name_tells_who_was_suppressed():
    """Six are suppressed whole for towns that hardly anybody has: the names of what is released have none of these."""
    frame = towns(46).assign(town=["t0"] * 20 + ["t2"] * 20 + ["lonely"] * 3 + ["odd"] * 3)
    tree = [[town, "inland", "*"] for town in ("t0", "t2", "lonely", "odd")]
    roles = Roles(quasi=("town",), confidential=("ill",), hierarchies={"town": tree})
    release = shoal.protect(shoal.Table.of(frame), "recoding", k=5, suppress=0.2, highest={"town": 0}, roles=roles)
    assert sorted(set(release.table.column("town").to_pylist())) == ["*", "t0", "t2"]
    assert set(release.table.labels["town"]) <= {"t0", "t2"}


def test_a_certificate_whose_names_are_not_the_files_is_refused(tmp_path):
    path = tmp_path / "towns.csv"
    write_table(shoal.Table.of(towns()), path)
    protect_to_folder(Recipe(path, ROLES, (Mondrian(k=8),)), tmp_path / "run", seed=1)
    place = tmp_path / "run" / "certificate.json"
    text = place.read_text()
    for change in ({"region 9": "{t0|t2}"}, {"*": "{t0}"}):
        given = json.loads(text)
        given["release"]["labels"]["town"] |= change
        place.write_text(json.dumps(given))
        assert not verify(tmp_path / "run" / "release.csv", place).holds
    place.write_text(text)
    assert read_certificate(place).release.labels


def test_a_name_that_reads_as_another_cell_is_not_used():
    """Of levels in pairs the last stands alone, here one that is called *: its group is written as the value, never as a suppressed cell."""
    release = shoal.protect(
        pd.DataFrame({"index": ["{a|b}", "high", "*"] * 4, "ill": ["x", "y", "x"] * 4}),
        "recoding",
        k=4,
        roles=Roles(
            quasi=("index",), confidential=("ill",), ordinal={"index": ("{a|b}", "high", "*")}, hierarchies={"index": "groups of 2"}
        ),
        lowest={"index": 1},
    )
    assert set(release.data["index"]) == {"{a|b} to high", "\\*"}


def test_a_column_of_nothing_keeps_its_rule():
    table = pd.DataFrame({"age": [20, 30, 40, 50] * 3, "born": pd.Series([None] * 12, dtype="datetime64[ns]"), "ill": ["x", "y"] * 6})
    roles = Roles(quasi=("age", "born"), confidential=("ill",), target="ill", hierarchies={"born": "month, year"})
    release = shoal.protect(table, "kactus", k=3, roles=roles, publish="mean")
    assert release.data["born"].isna().all()


def test_incognito_counts_rows_and_says_so():
    visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "age": [20, 21, 20, 21, 20, 21], "ill": list("xyxyxy")})
    with pytest.raises(shoal.ShoalError, match="incognito counts rows"):
        shoal.protect(visits, "incognito", k=2, quasi=["age"], person=["who"], confidential=["ill"])


def test_codes_without_those_that_nothing_is_left_of():
    from shoal.methods.along_hierarchies import _numbered_anew

    assert _numbered_anew(np.array([[4, -1], [9, 2], [4, 0]], np.int32)).tolist() == [[0, -1], [1, 1], [0, 0]]
    assert _numbered_anew(np.array([7, 5, 7], np.int32)).tolist() == [[1], [0], [1]]


@pytest.mark.parametrize("method", ["kactus-refined", "balanced-mondrian", "mondrian", "local-recoding", "tds"])
def test_a_group_with_gaps_says_the_same_whoever_releases_it(method):
    """Odd numbers are no interval: other numbers lie between them."""
    frame = pd.DataFrame({"x": list(range(80)), "ill": ["x" if i % 2 else "y" for i in range(80)]})
    tree = Hierarchy(tuple((str(i), "odd" if i % 2 else "even") for i in range(80)))
    roles = Roles(quasi=("x",), confidential=(), target="ill", hierarchies={"x": tree})
    release = shoal.protect(frame, method, k=30, roles=roles)
    assert set(release.data["x"]) <= {"odd", "even", "*"}
    told = {name: said for said, name in release.table.labels["x"].items() if name != "*"}
    assert all(said == "{" + "|".join(str(i) for i in range(80) if i % 2 == (name == "odd")) + "}" for name, said in told.items())


def test_a_certificate_that_may_suppress_less_than_the_file_shows_is_refused(tmp_path):
    table = towns(46).assign(town=["t0"] * 20 + ["t2"] * 20 + ["lonely"] * 3 + ["odd"] * 3)
    write_table(shoal.Table.of(table), tmp_path / "towns.csv")
    tree = [[town, "inland", "*"] for town in ("t0", "t2", "lonely", "odd")]
    roles = Roles(quasi=("town",), confidential=("ill",), hierarchies={"town": tree})
    method = make("method", "recoding", {"k": 5, "suppress": 0.2, "highest": {"town": 0}})
    protect_to_folder(Recipe(tmp_path / "towns.csv", roles, (method,)), tmp_path / "run", seed=1)
    path = tmp_path / "run" / "certificate.json"
    assert verify(tmp_path / "run", path).holds
    given = json.loads(path.read_text(encoding="utf-8"))
    given["steps"][0]["parameters"]["suppress"] = 0.05  # 6 of 46 are
    path.write_text(json.dumps(given), encoding="utf-8")
    assert [one.what for one in verify(tmp_path / "run", path).checks if not one.holds] == [
        "steps that suppress more rows than they say they may"
    ]
