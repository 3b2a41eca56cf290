"""A slice of `make torture`: some cases of every part. And what the chamber rests on: its recount finds what is broken, a killed run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torture import tables
from torture.drawing import METHODS
from torture.faults import PAIRS
from torture.recount import broken, counted, covers, read_release
from torture.runner import Done, Outcome, how_to_repeat, run_parts, table_of
from torture.tampering import KINDS

EACH = 8  # tables of each method


@pytest.mark.parametrize("method", METHODS)
def test_generated_tables_keep_what_is_promised(method: str) -> None:
    first = METHODS.index(method)
    outcomes = {number: tables.run(number, seed=20_262) for number in range(first, EACH * len(METHODS), len(METHODS))}
    assert {number: outcome.failure for number, outcome in outcomes.items() if outcome.failure} == {}
    assert {outcome.kind for outcome in outcomes.values()} == {method}
    assert sum(outcome.refused for outcome in outcomes.values()) <= EACH / 2, "a method that refuses most tables is not tested by them"


@pytest.mark.parametrize("part", ["faults", "damaged", "tampering"])
def test_some_of_the_other_parts(part: str, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="the extra sign is not installed")
    pytest.importorskip("lxml", reason="the extra documents is not installed")
    done = run_parts([part], 1, 20_260, tmp_path / "progress.jsonl", lambda _: None, workers=1)
    assert [f"{how_to_repeat(one, 20_260)}: {one.outcome.failure}" for one in done if one.outcome.failure] == []
    assert len(done) >= 14


def test_the_bars_can_be_met() -> None:
    """As many kinds of tampering, of each sort, as the bar asks for; faults of every kind in every command."""
    assert len({kind.name for kind in KINDS}) >= 60
    assert sum(not kind.shown for kind in KINDS) >= 20
    assert len(set(PAIRS)) == len(PAIRS) == 42


CELLS = {"zip": ["1", "1", "2", "2", "2"], "illness": ["a", "a", "a", "b", None], "income": ["1", "2", "3", "4", "9007199254740993"]}


@pytest.mark.parametrize(
    ("what", "about", "persons", "found"),
    [
        ("k-anonymity", None, None, 2),
        ("k-anonymity", None, [1, 1, 2, 3, 4], 1),
        ("l-diversity", "illness", None, 1),
        ("l-diversity", "income", [1, 1, 2, 3, 4], 1),
        ("entropy-l-diversity", "income", None, 2),
        ("t-closeness", "income", None, 0.6),
        ("ordered-t-closeness", "income", None, (0.3 + 0.6 + 0.4 + 0.2) / 4),
    ],
)
def test_promises_recounted_by_hand(what: str, about: str | None, persons: list[int] | None, found: float) -> None:
    assert counted(what, ["zip"], about, ("",), CELLS, persons) == pytest.approx(found)
    assert broken(what, found + (-0.1 if "closeness" in what else 0.1), found)
    assert not broken(what, found, found)


def test_households_are_alike_where_all_that_they_share_is() -> None:
    cells = {"home": ["1", "1", "2", "2", None], "sex": ["f", "m", "m", "f", "f"], "street": ["a", "a", "b", "b", "c"]}
    assert counted("household-k", ["sex"], "home", (), cells, None) == 1  # the street tells them apart
    assert counted("household-k", ["sex"], "home", (), cells | {"street": ["a", "a", "a", "a", "c"]}, None) == 2


@pytest.mark.parametrize(
    ("cell", "value", "allowed"),
    [
        ("*", "x", True),
        ("\\*", "*", True),
        ("\\*", "x", False),
        ("{a\\|b|c*3}", "a|b", True),
        ("{a\\|b|c*3}", "c", True),
        ("{a\\|b|c*3}", None, False),
        ("{*2|Blue}", None, True),
        ("[1..2.5]", 2.5, True),
        ("[1..2.5]", 3, False),
        ("{0*9|[18..25]*3}", 20, True),
        (("\\*", None), "*", True),
        ((), "x", True),
        (None, "x", False),
    ],
)
def test_what_a_cell_allows(cell: str | tuple[str | None, ...] | None, value: object, allowed: bool) -> None:
    assert covers(cell, value) is allowed


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text('a;"b;c"\n"1\n2";?\n;x\n', encoding="utf-8")
    assert read_release(tmp_path / "release.csv", ";", "?") == {"a": ["1\n2", None], "b;c": [None, "x"]}


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    progress, said = tmp_path / "progress.jsonl", list[str]()
    kept = [{"part": "tables", "number": n, "seed": 7, "kind": "mdav", "refused": False, "failure": "broke" if n else ""} for n in (0, 1)]
    progress.write_text("".join(json.dumps(one) + "\n" for one in kept) + '{"part": "tab', encoding="utf-8")
    done = run_parts(["tables"], 2, 7, progress, said.append)
    assert done == [Done("tables", 0, Outcome("mdav")), Done("tables", 1, Outcome("mdav", "broke"))]
    assert said == ["2 cases were done before: going on."]
    assert how_to_repeat(done[1], 7) == "python -m torture --part tables --case 1 --seed 7"
    assert table_of(done).splitlines()[-1].split() == ["tables", "all", "2", "0", "1"]
