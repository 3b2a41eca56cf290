"""What is said to everybody: three digits of what needs the original, and of few records hardly anything."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.certificate import AttackPart, MeasurePart, Summary, read_certificate
from shoal.example import invented_patients
from shoal.measures import CellLoss, KAnonymity
from shoal.methods import Mdav
from shoal.published import FEW, WITHHELD, Rounding, in_steps, three_digits
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import load_run, protect_to_folder
from shoal.testing import check_measure
from shoal.writing import write_table


def test_three_digits_half_to_even():
    assert [three_digits(x) for x in (0.12345, 0.1235, 0.1245, 1234.5, 99.95, 0.0, 2.5e-7)] == [0.123, 0.124, 0.124, 1230, 100, 0, 2.5e-7]
    assert three_digits(12345) == 12300
    assert isinstance(three_digits(12345), int)


def test_steps_half_to_even():
    assert [in_steps(x) for x in (0.024, 0.025, 0.075, 0.12, 0.15)] == [0, 0, 0.1, 0.1, 0.15]
    assert in_steps(37.6, 5) == 40
    assert in_steps(1e300) == 1e300


@given(st.floats(-1e9, 1e9))
def test_no_more_than_three_digits_are_left(value):
    rounded = three_digits(value)
    assert len(Decimal(repr(rounded)).normalize().as_tuple().digits) <= 3
    assert abs(rounded - value) <= abs(value) / 200 + 1e-300
    assert three_digits(rounded) == rounded


@given(st.integers(1, FEW - 1), st.floats(0, 1))
def test_a_risk_of_few_is_never_belittled_and_never_told_by_fewer_than_five(records, rate):
    rounding = Rounding(records)
    said = rounding.risk(rate)
    assert rate - 1e-9 <= said <= 1
    assert said * records >= min(5, records) - 1e-6
    assert in_steps(said) == pytest.approx(said)
    low, high = rounding.interval(rate, (0.0, 1.0), records)
    assert low <= said + 1e-3
    assert high >= said - 1e-3


def test_steps_of_five_records():
    assert [Rounding(n).risk(0.01) for n in (9, 12, 20, 50, 99)] == [0.6, 0.45, 0.25, 0.1, 0.1]
    assert Rounding(50).risk(0.31) == 0.4
    assert Rounding(100).risk(0.01234) == 0.0123


def test_a_thousand_outliers_are_said_as_beside_their_attack():
    """1,011 of them are 1,010 in three digits, in both places: verify holds one against the other."""
    assert Rounding(30_162).summary(Summary(outliers=1011, outlier_risk=0.04357)).outliers == three_digits(1011) == 1010


def part(**given):
    base = {"name": "loss", "title": "Loss", "value": 0.123456, "better": "lower", "bounds": (0, None), "per_column": {"age": 0.123456}}
    return MeasurePart(**(base | given))


def test_a_measure_is_exact_rounded_or_withheld():
    many, few = Rounding(100), Rounding(99)
    alone = part(needs="release", details={"classes": 12345})
    assert many.measure(alone) == few.measure(alone) == alone
    rounded = many.measure(part(details={"original": 0.98765, "folds": 10}, note="1,234 cells that are 0 are left out."))
    assert (rounded.value, rounded.per_column, rounded.details) == (0.123, {"age": 0.123}, {"original": 0.988, "folds": 10})
    assert rounded.note == "1,230 cells that are 0 are left out."
    assert few.measure(part()).value is None
    assert few.measure(part()).note == WITHHELD
    said = few.measure(part(step=0.05, value=0.173, note="Read it well. 3 cells are left out."))
    assert (said.value, said.per_column, said.note) == (0.15, {}, "Read it well.")
    assert few.measure(part(step=0.05, value=0.01)).value == 0.1


def test_an_attack_is_rounded():
    exact = AttackPart(
        name="x", title="X", risk="linkage", tried=1006, hit=1006.0, strict_hit=333.5, rate=1.0, interval=(0.99619, 1.0), chance=0.000994,
        details={"columns": ["a"], "tied": 1005, "per_column": {"a": 0.12345}},
    )  # fmt: skip
    said = Rounding(1006).attack(exact)
    assert (said.hit, said.strict_hit, said.interval, said.details["per_column"]) == (1006, 334, (0.996, 1.0), {"a": 0.123})
    few = Rounding(50).attack(exact.model_copy(update={"tried": 50, "hit": 7.0, "strict_hit": 1.0, "rate": 0.14}))
    assert (few.rate, few.hit, few.strict_hit, few.details) == (0.2, 10, 5, {"columns": ["a"]})


def test_a_summary_of_few_has_one_loss_and_a_risk():
    exact = Summary(loss=0.1234, risk=0.31, risk_low=0.2, risk_high=0.4, information_loss=0.2, score=0.1, outliers=3, outlier_risk=1.0)
    said = Rounding(50).summary(exact)
    assert (said.loss, said.risk, said.information_loss, said.score, said.outlier_risk) == (0.1, 0.4, None, None, None)
    assert Rounding(100).summary(exact).loss == 0.123


@pytest.mark.parametrize("rows", [60, 200])
def test_the_keeper_reads_exact_figures_and_everybody_else_coarse_ones(tmp_path, rows):
    write_table(invented_patients(rows), tmp_path / "patients.csv")
    roles = Roles(quasi=("age", "visits"), identifier=("name",), confidential=("diagnosis",))
    protect_to_folder(Recipe(tmp_path / "patients.csv", roles, (Mdav(k=4),)), tmp_path / "run", seed=1)
    said = read_certificate(tmp_path / "run" / "certificate.json")
    run = load_run(tmp_path / "run")
    loss = CellLoss().measure(run.original, run.release, run.roles).value
    assert said.measure("cell-loss").value == said.summary.loss == (in_steps(loss) if rows < FEW else three_digits(loss)) != loss
    classes = KAnonymity().measure(run.original, run.release, run.roles)
    assert (said.measure("k-anonymity").value, said.measure("k-anonymity").details) == (classes.value, classes.details)
    numbers = [one.value for one in said.measures if one.needs == "original" and one.value is not None]
    assert all(value == three_digits(value) for value in numbers)
    assert (len(numbers) == 1) == (rows < FEW)
    for one in said.attacks:
        assert (one.rate, *one.interval, one.chance) == tuple(map(three_digits, (one.rate, *one.interval, one.chance)))
    public, private = ((tmp_path / "run" / page).read_text() for page in ("report.html", "private/report.html"))
    assert ("The bars before and after" in public) == (rows >= FEW)
    assert "The bars before and after" in private
    assert (WITHHELD in public) == (rows < FEW)
    assert WITHHELD not in private


class Curious(CellLoss):
    """Says that it looks at the release alone, and does not."""

    needs = "release"


def test_a_measure_that_hides_what_it_looks_at_is_found_out():
    with pytest.raises(AssertionError, match="it looks at the original"):
        check_measure(Curious)


def test_every_measure_of_classes_is_exact():
    from shoal.registry import known

    alone = {name for name, cls in known("measure").items() if cls.needs == "release"}
    assert {"k-anonymity", "uniqueness", "l-diversity", "t-closeness", "average-class-size"} <= alone
    assert not alone & {"cell-loss", "ncp", "il1s", "sse", "separability", "silhouette"}
    assert np.isfinite([cls.step for cls in known("measure").values() if cls.step is not None]).all()
