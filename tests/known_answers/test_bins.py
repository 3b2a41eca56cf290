"""Bins worked by hand: how wide they are, which one a value is in, up to where it reaches, and what a release says of them."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import bins
from shoal.bins import Bin, Extent, bins_for, coarser, last_values, narrowest, told
from shoal.counts import Counts
from shoal.methods import Mondrian
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.table import Table

SECOND = 1_000_000
DAY = 86_400 * SECOND


@pytest.mark.parametrize(
    ("extent", "most", "width", "many"),
    [
        (Extent(0, 482_110, 48_211, "whole"), 10_000, "50", 9643),
        (Extent(0, 499_999, 48_211, "whole"), 10_000, "50", 10_000),
        (Extent(0, 500_000, 48_211, "whole"), 10_000, "100", 5001),  # one bin more than there may be
        (Extent(-3, 3, 7, "whole"), 4, "2", 4),  # -4..-3, -2..-1, 0..1, 2..3
        (Extent(0.0, 1.0, 20_000, "numbers"), 10_000, "0.0002", 5001),  # of 0.0001 there is one too many
        (Extent(0.0, 0.99995, 20_000, "numbers"), 10_000, "0.0001", 10_000),
        (Extent(1e70, 3e70, 20_000, "numbers"), 10_000, "5e+66", 4001),
        (Extent(-25_000, 20_000, 40_000, "days"), 10_000, "5 days", 9001),
        (Extent(0, 10_000 * SECOND - 1, 20_000, "moments"), 10_000, "1 second", 10_000),
        (Extent(0, 5 * 365 * DAY, 20_000, "moments"), 10_000, "6 hours", 7301),
        (Extent(0, 100 * 365 * DAY, 20_000, "moments"), 10_000, "5 days", 7301),
    ],
)
def test_the_narrowest_round_width_that_makes_few_enough(extent, most, width, many):
    found = narrowest(extent, most)
    assert (found.width, found.many(extent)) == (width, many)


def test_only_columns_with_more_than_ten_thousand_values_are_cut():
    at, above = Extent(0, 99_999, 10_000, "whole"), Extent(0, 99_999, 10_001, "whole")
    assert dict(bins_for({"at": at, "above": above, "nothing": None})) == {"above": Bin(10, 1, "whole")}


def test_numbers_that_do_not_fit_are_left_as_they_are():
    assert not bins_for({"account": Extent(0, 2**63 + 5, 20_000, "whole")})


def test_whole_numbers_are_cut_downwards_below_zero_too():
    table = Table.of({"x": [-6, -5, -1, 0, 4, 5, None]})
    counts = table.counts(["x"], {"x": Bin(5, 1, "whole")})
    assert counts.table.column("x").to_pylist() == [-10, -5, 0, 5, None]
    assert counts.rows.tolist() == [1, 2, 2, 1, 1]
    assert last_values(counts.table, "x").to_pylist() == [-6, -1, 4, 9, None]
    assert counts.places(table).tolist() == [0, 1, 1, 2, 2, 3, 4]
    assert counts.places(table.take(np.array([6, 2, 4]))).tolist() == [4, 1, 2]
    assert counts.table.bins == {"x": Bin(5, 1, "whole")}


def test_numbers_at_the_edges_of_bins():
    """0.3 begins a bin, and the number just below it is in the one before, also where their products with ten are the same."""
    below = [float(np.nextafter(one, 0)) for one in (0.3, 0.7, 1.1)]
    values = [0.3, 0.7, 1.1, *below, -0.1, -0.05, 0.0]
    one = Bin(1, 10, "numbers")
    assert one.numbers(np.array(values)).tolist() == [3, 7, 11, 2, 6, 10, -1, -1, 0]
    counts = Table.of({"x": values}).counts(["x"], {"x": one})
    assert counts.table.column("x").to_pylist() == [-0.1, 0.0, 0.2, 0.3, 0.6, 0.7, 1.0, 1.1]
    assert last_values(counts.table, "x").to_pylist() == [0.0, 0.1, 0.3, 0.4, 0.7, 0.8, 1.1, 1.2]


def cut_and_last(values, one):
    table = Table.of(pa.table({"x": values})).counts(["x"], {"x": one}).table
    return table.column("x"), last_values(table, "x")


def test_whole_numbers_kept_as_floating_point_end_with_a_whole_number():
    low, last = cut_and_last(pa.array([12.0, -1.0, None]), Bin(10, 1, "whole"))
    assert (low.to_pylist(), last.to_pylist()) == ([-10.0, 10.0, None], [-1.0, 19.0, None])
    assert pa.types.is_float64(low.type)


def test_small_and_decimal_numbers_become_wide_enough():
    low, _ = cut_and_last(pa.array([-32_768, 32_767], pa.int16()), Bin(10, 1, "whole"))
    assert (low.to_pylist(), low.type) == ([-32_770, 32_760], pa.int64())
    low, last = cut_and_last(pa.array([Decimal("0.29"), Decimal("0.30")]), Bin(1, 10, "numbers"))
    assert (low.to_pylist(), last.to_pylist()) == ([0.2, 0.3], [0.3, 0.4])
    low, _ = cut_and_last(pa.array([0.3, 2.5], pa.float32()), Bin(1, 2, "numbers"))
    assert (low.to_pylist(), low.type) == ([0.0, 2.5], pa.float64())


def test_days_stay_days_and_within_the_calendar():
    day = datetime.date
    low, last = cut_and_last(pa.array([day(1969, 12, 31), day(1970, 1, 1), day(9999, 12, 31), day(1, 1, 1), None]), Bin(500, 1, "days"))
    assert low.type == pa.date32()
    assert low.to_pylist()[:3] == [day(1, 1, 1), day(1970, 1, 1) - datetime.timedelta(500), day(1970, 1, 1)]
    assert last.to_pylist()[1:] == [day(1969, 12, 31), day(1971, 5, 15), day(9999, 12, 31), None]
    low, _ = cut_and_last(pa.array([day(1970, 1, 4)]).cast(pa.date64()), Bin(2, 1, "days"))
    assert (low.to_pylist(), low.type) == ([day(1970, 1, 3)], pa.date64())


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_are_cut_alike_in_every_unit(unit):
    times = [datetime.datetime(1969, 12, 31, 23, 59, 30), datetime.datetime(2020, 5, 1, 10, 7, 59)]
    low, last = cut_and_last(pa.array(times, pa.timestamp(unit)), Bin(60 * SECOND, 1, "moments"))
    assert low.cast(pa.timestamp("us")).to_pylist() == [times[0].replace(second=0), times[1].replace(second=0)]
    assert low.type == pa.timestamp(unit)
    ends = {"s": 0, "ms": 999_000, "us": 999_999, "ns": 999_999}[unit]
    assert last.cast(pa.timestamp("us"), safe=False).to_pylist()[1] == datetime.datetime(2020, 5, 1, 10, 7, 59, ends)
    assert last.cast(pa.timestamp("us"), safe=False).to_pylist()[0] == datetime.datetime(1969, 12, 31, 23, 59, 59, ends)


def test_times_of_a_zone_are_cut_and_written_in_utc():
    low, last = cut_and_last(
        pa.array([3600 * SECOND + 5], pa.int64()).cast(pa.timestamp("us", tz="Europe/Berlin")), Bin(60 * SECOND, 1, "moments")
    )
    assert (low.cast(pa.string()).to_pylist(), last.to_pylist()) == (
        ["1970-01-01 01:00:00.000000"],
        [datetime.datetime(1970, 1, 1, 1, 0, 59, 999_999)],
    )


def test_a_nanosecond_before_1970_is_before_it():
    low, _ = cut_and_last(pa.array([-1, 0], pa.int64()).cast(pa.timestamp("ns")), Bin(SECOND, 1, "moments"))
    assert low.cast(pa.int64()).to_pylist() == [-1_000_000_000, 0]


def test_the_last_moment_of_nanoseconds():
    values = pa.array([2**63 - 1, -(2**63) + 1_000_000], pa.int64()).cast(pa.timestamp("ns"))
    low, last = cut_and_last(values, Bin(DAY, 1, "moments"))
    assert (low.cast(pa.int64()).to_numpy() <= np.sort(values.cast(pa.int64()).to_numpy())).all()
    assert last.cast(pa.int64()).to_pylist()[1] // 1000 == (2**63 - 1) // 1000


def test_how_far_columns_go():
    table = Table.of(
        pa.table(
            {
                "whole": [3, 1, None],
                "float": [3.0, 1.0, None],
                "part": [0.5, 1.0, None],
                "day": pa.array([0, 5, None], pa.int32()).cast(pa.date32()),
                "time": pa.array([2, 1, 1]).cast(pa.timestamp("ms")),
                "gone": pa.array([None, None, None], pa.float64()),
            }
        )
    )
    assert table.extent("whole") == Extent(1, 3, 2, "whole")
    assert table.extent("float") == Extent(1, 3, 2, "whole")
    assert table.extent("part") == Extent(0.5, 1, 2, "numbers")
    assert table.extent("day") == Extent(0, 5, 2, "days")
    assert table.extent("time") == Extent(1000, 2000, 2, "moments")
    assert table.extent("gone") is None


def test_coarser_bins_come_one_column_and_one_round_width_at_a_time():
    extents = {"income": Extent(0, 999_999, 90_000, "whole"), "age": Extent(0, 4_999, 5000, "whole"), "sex": None}
    now = bins_for(extents)
    seen = [now]
    while (now := coarser(now, extents)) is not None:
        seen.append(now)
    widths = [{column: one.width for column, one in each.items()} for each in seen]
    assert widths[:5] == [
        {"income": "100"},
        {"income": "200"},  # 5,000 bins, as many as ages
        {"income": "500"},
        {"income": "500", "age": "2"},
        {"income": "500", "age": "5"},
    ]
    assert widths[-1] == {"income": "10000", "age": "50"}  # a hundred bins each
    assert all(one.many(extents[column]) >= 100 for column, one in seen[-1].items())


def test_parts_that_were_cut_add_up():
    one = {"x": Bin(10, 1, "whole")}
    parts = [Table.of({"x": [1, 12, 19]}), Table.of({"x": [9, 15, 33]})]
    merged = Counts.merged([part.counts(["x"], one) for part in parts])
    assert (merged.table.column("x").to_pylist(), merged.rows.tolist()) == ([0, 10, 30], [2, 3, 1])
    assert merged.table.bins == one


def test_a_column_that_is_replaced_is_no_longer_one_of_bins():
    cut = Table.of({"x": [1, 12], "y": [1, 2]}).counts(["x", "y"], {"x": Bin(10, 1, "whole")}).table
    assert cut.with_columns({"x": [5, 6]}).bins == {}
    assert list(cut.with_columns({"y": [5, 6]}).bins) == ["x"]


def test_what_is_said():
    assert told({"income": Bin(100, 1, "whole"), "born": Bin(1, 1, "days"), "seen": Bin(7200 * SECOND, 1, "moments")}) == tuple(
        f"Column '{column}' was cut into bins of {width} before anything was counted: it has too many different values to count each."
        for column, width in (("income", "100"), ("born", "1 day"), ("seen", "2 hours"))
    )


INCOME = [11, 17, 18, 24, 33, 38, 41, 59]


@pytest.mark.parametrize(
    ("publish", "cells"),
    [
        ("intervals", ["[10..29]"] * 4 + ["[30..59]"] * 4),
        ("sets", ["{[10..19]|[20..29]}"] * 4 + ["{[30..39]|[40..49]|[50..59]}"] * 4),
        ("counts", ["{[10..19]*3|[20..29]}"] * 4 + ["{[30..39]*2|[40..49]|[50..59]}"] * 4),
        ("mean", [(3 * 14.5 + 24.5) / 4] * 4 + [(2 * 34.5 + 44.5 + 54.5) / 4] * 4),
    ],
)
def test_eight_incomes(monkeypatch, publish, cells):
    """Five bins at most, so bins of 10: three in 10..19, one in 20..29, two in 30..39, one each in 40..49 and 50..59; four and four."""
    monkeypatch.setattr(bins, "MANY_VALUES", 5)
    release = Mondrian(k=4, publish=publish).protect(Table.of({"income": INCOME}), Roles(quasi=("income",)), chance_for(1))
    assert [cell for _, cell in sorted(zip(release.source_row.tolist(), release.table.column("income").to_pylist()))] == cells
    assert release.made_by[0].outcome == {"bins": {"income": "10"}}
    assert [one for one in release.warnings if "bins of 10" in one]


def test_a_group_in_one_bin_shows_that_bin(monkeypatch):
    monkeypatch.setattr(bins, "MANY_VALUES", 5)
    release = Mondrian(k=2).protect(Table.of({"income": INCOME}), Roles(quasi=("income",)), chance_for(1))
    shown = dict(zip(release.source_row.tolist(), release.table.column("income").to_pylist()))
    assert [shown[i] for i in range(8)] == ["[10..29]"] * 4 + ["[30..39]"] * 2 + ["[40..59]"] * 2


@pytest.mark.parametrize(
    ("roles", "why"),
    [
        (Roles(quasi=("age",), target="income"), "the target"),
        (Roles(quasi=("age",), confidential=("income",)), "an answer"),
        (Roles(quasi=("income", "age"), hierarchies={"income": "width 20 from 0, then 40"}), "it follows a hierarchy"),
    ],
)
def test_what_must_be_true_and_what_a_hierarchy_cuts_is_left(monkeypatch, roles, why):
    monkeypatch.setattr(bins, "MANY_VALUES", 5)
    table = Table.of({"income": INCOME, "age": [1, 2, 3, 4, 5, 6, 7, 8]})
    release = Mondrian(k=4, columns=("income", "age")).protect(table, roles.check(table), chance_for(1))
    assert list(release.made_by[0].outcome["bins"]) == ["age"], why


def test_dates_over_several_bins_begin_and_end_with_months_and_one_bin_says_its_days(monkeypatch):
    monkeypatch.setattr(bins, "MANY_VALUES", 5)
    days = [datetime.date(1990 + i, 3, 14) for i in range(8)]
    release = shoal.protect({"born": days}, "mondrian", k=3, quasi="born", seed=1)
    width = release.made_by[0].outcome["bins"]["born"]
    assert width == "1000 days"
    # bins of a thousand days begin on 1989-03-02 (two dates), 1991-11-27 (three) and 1994-08-23 (three)
    assert set(release.table.column("born").to_pylist()) == {"[1989-03-01..1994-08-31]", "[1994-08-23..1997-05-18]"}
