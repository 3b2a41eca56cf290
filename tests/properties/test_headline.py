"""The headline risk is never below any form of any attack, whatever the table, and never above 1 in k where k-anonymity holds."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.kernels.outliers import MOST, SHARE, farthest
from shoal.methods import Mdav, RankSwapping
from shoal.roles import Roles
from shoal.runs.certify import summary
from shoal.runs.evidence import TableSubject, attack_all
from shoal.runs.recipe import apply_steps
from shoal.table import Table


@st.composite
def tables(draw):
    rows = draw(st.integers(8, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    table = {"x": rng.integers(0, draw(st.sampled_from([3, 1000])), rows).tolist(), "y": rng.lognormal(size=rows).tolist()}
    return Table.of(table | ({"z": rng.choice(list("abc"), rows).tolist()} if draw(st.booleans()) else {}))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.booleans(), st.integers(0, 100))
def test_the_headline_is_the_largest_of_all_forms(table, grouped, seed):
    roles = Roles(quasi=table.columns).check(table)
    release = apply_steps(table, roles, [Mdav(k=4) if grouped else RankSwapping(p=20, columns=("x", "y"))], seed)
    attacked = attack_all(TableSubject(table, release, roles), (), seed)
    linkage = [one for one in attacked.results if one.risk == "linkage"]
    found = summary([], attacked)
    rates = [form["rate"] for one in linkage for form in one.details["forms"]]
    assert found.risk == max(rates)
    assert next(one.how for one in linkage if one.name == found.risk_attack) == found.risk_how
    assert found.risk_low <= found.risk <= found.risk_high
    if grouped:
        assert found.risk <= 1 / 4 + 1e-9
    far = [one.outliers for one in linkage if one.outliers]
    assert found.outlier_risk == (max(one.rate for one in far) if far else None)
    assert all(one.tried == found.outliers for one in far)


@given(st.lists(st.integers(0, 30), max_size=200), st.randoms())
def test_outliers_are_the_farthest_wherever_they_stand(distances, random):
    chosen = farthest(np.array(distances, float))
    if chosen.any():
        assert min(np.array(distances)[chosen]) > max(np.array(distances)[~chosen], default=-1)
    assert chosen.sum() <= max(np.ceil(SHARE * len(distances)), MOST * len(distances))
    order = list(range(len(distances)))
    random.shuffle(order)
    assert farthest(np.array(distances, float)[order]).tolist() == chosen[order].tolist()
