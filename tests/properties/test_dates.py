"""Dates in text: whatever is written in a form is read back, and the right form is found or asked for."""

from contextlib import suppress
from datetime import date

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal import Roles
from shoal.dates import found_form, read_dates, write_dates
from shoal.errors import RoleError
from shoal.table import Table

FORMATS = st.sampled_from(["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d", "%Y/%m/%d"])
DATES = st.lists(st.dates(date(1000, 1, 1), date(2999, 12, 31)), min_size=1, max_size=20)


@given(DATES, FORMATS)
def test_dates_go_into_text_and_back(dates, form):
    texts = write_dates(pa.array([*dates, None], pa.date32()), form).to_pylist()
    read, wrong = read_dates(texts, form)
    assert read.to_pylist() == [*dates, None]
    assert not wrong.any()
    found = found_form(texts, np.ones(len(texts), np.int64))
    assert found is not None
    assert form in found.formats
    told = form.startswith("%Y") or any(one.day > 12 for one in dates)
    assert (len(found.formats) == 1) == told


@given(DATES, FORMATS)
def test_a_table_is_read_once_and_written_as_it_was(dates, form):
    table, roles = Table.of({"born": [one.strftime(form) for one in dates]}), Roles(quasi=("born",))
    try:
        read = roles.read(table)
    except RoleError:
        assert all(one.day <= 12 for one in dates)
        return
    assert read.column("born").to_pylist() == dates
    assert read.written.equals(table.arrow)
    assert roles.read(read).arrow.equals(read.arrow)


@given(st.lists(st.one_of(st.none(), st.text("0123456789./-a", max_size=10)), min_size=1, max_size=20))
def test_any_text_is_read_or_refused_in_a_sentence(texts):
    table = Table.of({"born": pa.array(texts, pa.string()).to_pylist() if any(texts) else ["x"]})
    with suppress(RoleError):
        assert Roles(quasi=("born",)).read(table).kind("born") in ("date", "text")


@given(st.lists(st.integers(-9, 90), min_size=1, max_size=30), st.sets(st.integers(-9, -1)))
def test_codes_are_missing_and_nothing_else_is(ages, codes):
    read = Roles(quasi=("age",), missing={"age": sorted(codes)}).read(Table.of({"age": ages}))
    assert read.column("age").to_pylist() == [None if age in codes else age for age in ages]
