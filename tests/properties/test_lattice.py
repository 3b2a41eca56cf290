"""Whatever the small table and its hierarchies: the kernels of the lattice find what counting every node by hand finds."""

import math
from collections import Counter, defaultdict
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.best import additive_loss, best
from shoal.kernels.lattice.budget import Budget
from shoal.kernels.lattice.datafly import datafly
from shoal.kernels.lattice.demands import secrets_of
from shoal.kernels.lattice.incognito import incognito
from shoal.kernels.lattice.levels import prices, space_of
from shoal.kernels.lattice.near import near
from shoal.kernels.lattice.nodes import single
from shoal.kernels.lattice.optimum import NoNodeError, optimum
from shoal.kernels.lattice.roll_up import roll_up
from shoal.kernels.masks import Demand

unhurried = settings(deadline=None, max_examples=60, derandomize=True)
LOSSES = ("iyengar", "precision", "entropy", "discernibility", "class-size")


class Case(NamedTuple):
    codes: np.ndarray
    rows: np.ndarray
    hierarchies: list[CodedHierarchy]
    demand: Demand
    limit: int
    weights: list[float] | None
    lowest: list[int]
    highest: list[int]

    @property
    def nodes(self):
        return product(*(range(low, high + 1) for low, high in zip(self.lowest, self.highest)))


def hierarchy(rng):
    """Codes put together level by level, at random, to one node."""
    m = int(rng.integers(1, 8))
    levels = [np.arange(m)]
    while len(set(levels[-1])) > 1 or (len(levels) == 1 and rng.random() < 0.5):
        into = rng.integers(0, max(1, len(set(levels[-1])) - 1), m)
        levels.append(np.unique(into[levels[-1]], return_inverse=True)[1].reshape(-1))
        if len(levels) == 4:
            levels[-1] = np.zeros(m, int)
    nodes = np.array(levels, np.int32)
    under = np.array([[(level == node).sum() for node in level] for level in nodes])
    return CodedHierarchy(nodes, (under - 1) / max(m - 1, 1))


def case(seed, secrets):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 5)), int(rng.integers(1, 16))
    hierarchies = [hierarchy(rng) for _ in range(d)]
    codes = np.column_stack([rng.integers(0, min(5, h.nodes.shape[1]), n) for h in hierarchies]).astype(np.int32)
    rows = rng.integers(1, 4, n)
    lowest = [int(rng.integers(0, len(h.nodes))) if rng.random() < 0.2 else 0 for h in hierarchies]
    highest = [int(rng.integers(low, len(h.nodes))) if rng.random() < 0.2 else len(h.nodes) - 1 for low, h in zip(lowest, hierarchies)]
    demand = Demand(int(rng.integers(1, 7)))
    if secrets:
        many = int(rng.integers(1, 3))
        demand = Demand(
            int(rng.integers(1, 4)),
            rng.integers(-1, 4, (n, many)).astype(np.int32),
            rng.choice([1, 2, 3], many).tolist(),
            rng.choice([1.0, 1.0, 1.7, 2.3], many).tolist(),
            rng.choice([1.0, 1.0, 0.61, 0.37], many).tolist(),
            (rng.random(many) < 0.5).tolist(),
        )
    weights = rng.choice([0.5, 1.0, 3.0], d).tolist() if rng.random() < 0.4 else None
    limit = int(rng.choice([0, 1, 3, rows.sum() // 3, rows.sum()]))
    return Case(codes, rows, hierarchies, demand, limit, weights, lowest, highest)


plain = st.integers(0, 2**31).map(lambda seed: case(seed, False))
private = st.integers(0, 2**31).map(lambda seed: case(seed, True))


# Counted by hand, without a line of what is tested


def classes_at(one, levels):
    members = defaultdict(list)
    for i, row in enumerate(one.codes):
        members[tuple(h.nodes[level][c] for h, level, c in zip(one.hierarchies, levels, row))].append(i)
    return list(members.values())


def figures(one, members, q):
    """Different values, effective values, total variation and earth mover's distance to the whole table."""
    column, rows = one.demand.sensitive[:, q], one.rows
    whole, mine = Counter(), Counter()
    for value, count in zip(column.tolist(), rows.tolist()):
        whole[value] += count
    for i in members:
        mine[int(column[i])] += int(rows[i])
    del whole[-1], mine[-1]
    size, total = sum(mine.values()), sum(whole.values())
    if not size:
        return 0, 0.0, 0.0, 0.0
    share = {value: mine[value] / size for value in mine}
    effective = math.exp(-sum(s * math.log(s) for s in share.values()))
    gaps = [share.get(value, 0.0) - whole[value] / total for value in sorted(whole)]
    return len(mine), effective, sum(map(abs, gaps)) / 2, float(np.abs(np.cumsum(gaps)).sum()) / max(len(gaps) - 1, 1)


def published(one, members):
    demand = one.demand
    if sum(one.rows[members]) < demand.k:
        return False
    for q in range(0 if demand.sensitive is None else demand.sensitive.shape[1]):
        different, effective, apart, along = figures(one, members, q)
        if different < demand.l[q] and demand.l[q] > 1:
            return False
        if effective < demand.entropy[q] - 1e-9 and demand.entropy[q] > 1:
            return False
        if (along if demand.t_ordered[q] else apart) > demand.t[q] + 1e-9:
            return False
    return True


def loss_by_hand(one, levels, loss):
    groups = classes_at(one, levels)
    kept = [members for members in groups if published(one, members)]
    total = int(one.rows.sum())
    suppressed = total - sum(int(one.rows[members].sum()) for members in kept)
    if loss == "discernibility":
        return sum(int(one.rows[members].sum()) ** 2 for members in kept) + suppressed * total, suppressed
    if loss == "class-size":
        return total / (len(kept) + (suppressed > 0)), suppressed
    weights = one.weights or [1.0] * len(levels)
    spent = 0.0
    for members in groups:
        for i in members:
            for j, level in enumerate(levels):
                h, code = one.hierarchies[j], one.codes[i, j]
                if loss == "entropy":
                    under = one.rows[h.nodes[level][one.codes[:, j]] == h.nodes[level][code]].sum()
                    cost = -math.log2(one.rows[one.codes[:, j] == code].sum() / under)
                elif members not in kept:
                    cost = 1.0
                else:
                    cost = h.loss[level][code] if loss == "iyengar" else level / max(len(h.nodes) - 1, 1)
                spent += weights[j] * cost * one.rows[i]
    return spent / total / sum(weights), suppressed


def best_by_hand(one, loss):
    """Ties: within 1e-12, fewer suppressed records, then the smaller levels."""
    found = [(*loss_by_hand(one, levels, loss), levels) for levels in one.nodes]
    found = [(value, suppressed, levels) for value, suppressed, levels in found if suppressed <= one.limit]
    if not found:
        return None
    least = min(value for value, *_ in found)
    return min(((suppressed, levels), value) for value, suppressed, levels in found if value <= least * (1 + 1e-12))


def asked(one, loss):
    return {
        "weights": one.weights if loss in LOSSES[:3] else None,
        "lowest": one.lowest,
        "highest": one.highest,
    }


def agrees(one, loss, **more):
    expected = best_by_hand(one, loss)
    given_to = (one.codes, one.rows, one.hierarchies, one.demand, one.limit)
    if expected is None:
        with pytest.raises(NoNodeError):
            best(*given_to, loss, **asked(one, loss), **more)
        return
    found = best(*given_to, loss, **asked(one, loss), **more)
    (suppressed, levels), value = expected
    assert found.loss == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert (found.suppressed, found.levels) == (suppressed, levels)
    assert found.proven
    assert found.left_out == 0


@unhurried
@given(plain, st.sampled_from(LOSSES))
def test_the_best_for_k_is_the_best_of_all_nodes(one, loss):
    agrees(one, loss)


@unhurried
@given(private, st.sampled_from(LOSSES))
def test_the_best_for_k_l_entropy_and_t_is_the_best_of_all_nodes(one, loss):
    agrees(one, loss)


@unhurried
@given(private, st.sampled_from(LOSSES[:3]))
def test_branch_and_bound_counts_what_is_asked_beyond_k_at_whole_nodes(one, loss):
    agrees(one, loss, most_nodes=0)


@unhurried
@given(private)
def test_a_roll_up_has_every_node_once_with_its_figures(one):
    space = space_of(one.codes, one.rows, one.hierarchies, one.lowest, one.highest)
    priced = prices(space, additive_loss("iyengar", one.codes, one.rows, one.hierarchies), one.weights)
    secrets = secrets_of(space, one.demand, one.rows)
    nodes = []
    assert roll_up(space, secrets, one.demand.k, nodes.append, priced) == space.size
    assert sorted(node.levels for node in nodes) == list(one.nodes)
    for node in nodes:
        groups = [members for members in classes_at(one, node.levels) if published(one, members)]
        sizes = [int(one.rows[members].sum()) for members in groups]
        loss, suppressed = loss_by_hand(one, node.levels, "iyengar")
        assert node.spent / priced.whole == pytest.approx(loss)
        assert node.figures[:4] == (suppressed, len(groups), min(sizes, default=0), loss_by_hand(one, node.levels, "discernibility")[0])
        for q in range(one.demand.sensitive.shape[1]):
            told = [figures(one, members, q) for members in groups]
            extremes = [pick((each[at] for each in told), default=0) for at, pick in enumerate((min, min, max, max))]
            assert [mine[q] for mine in node.figures[4:]] == pytest.approx(extremes, abs=1e-12)
        again = single(space, node.levels, secrets, one.demand.k, priced)
        assert again.figures == node.figures
        assert again.spent == pytest.approx(node.spent)


@unhurried
@given(plain, st.integers(1, 400), st.sampled_from(LOSSES[:3]))
def test_a_search_that_stops_says_a_bound_that_holds(one, passed, loss):
    expected = best_by_hand(one, loss)
    if expected is None:
        return
    costs = additive_loss(loss, one.codes, one.rows, one.hierarchies)
    runs = []
    for _ in range(2):
        budget = Budget(passed=passed)
        try:
            runs.append(optimum(one.codes, one.rows, one.hierarchies, one.demand, one.limit, costs, **asked(one, loss), budget=budget))
        except NoNodeError:
            return
    assert runs[0] == runs[1]  # what is counted, unlike seconds, stops at the same place
    value, found = expected[1], runs[0]
    assert found.bound <= value * (1 + 1e-9) + 1e-12
    assert value <= found.loss * (1 + 1e-9) + 1e-12
    assert found.loss == pytest.approx(loss_by_hand(one, found.levels, loss)[0], abs=1e-12)
    assert found.proven == (found.bound >= found.loss * (1 - 1e-12))
    assert 0 <= found.left_out <= math.prod(high - low + 1 for low, high in zip(one.lowest, one.highest))


@unhurried
@given(private, st.integers(1, 300), st.sampled_from(LOSSES))
def test_a_roll_up_that_stops_says_a_bound_that_holds(one, passed, loss):
    expected = best_by_hand(one, loss)
    if expected is None:
        return
    try:
        found = best(*one[:5], loss, **asked(one, loss), budget=Budget(passed=passed))
        near = best(*one[:5], loss, **asked(one, loss), budget=Budget(passed=passed), most_nodes=0)
    except NoNodeError:
        return
    for result in (found, near):
        assert result.bound <= expected[1] * (1 + 1e-9) + 1e-12
        assert result.suppressed <= one.limit
        assert result.loss == pytest.approx(loss_by_hand(one, result.levels, loss)[0], abs=1e-12)
        assert result.left_out > 0 or result.levels == expected[0][1]


@unhurried
@given(private, st.sampled_from(LOSSES), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_how_they_are_counted_matters(one, loss, random):
    if best_by_hand(one, loss) is None:
        return
    apart = np.repeat(np.arange(len(one.rows)), one.rows).tolist()
    random.shuffle(apart)
    demand = one.demand._replace(sensitive=one.demand.sensitive[apart])
    found = best(*one[:5], loss, **asked(one, loss))
    assert best(one.codes[apart], None, one.hierarchies, demand, one.limit, loss, **asked(one, loss)) == found


@unhurried
@given(plain)
def test_incognito_lists_the_least_of_all_nodes_that_keep_k(one):
    keeping = {levels for levels in one.nodes if loss_by_hand(one, levels, "class-size")[1] <= one.limit}
    minimal = [a for a in keeping if not any(b != a and all(x <= y for x, y in zip(b, a)) for b in keeping)]
    found = incognito(one.codes, one.rows, one.hierarchies, one.demand.k, one.limit, one.lowest, one.highest)
    assert found.nodes == len(keeping)
    assert found.minimal == sorted(minimal)


@unhurried
@given(plain)
def test_datafly_raises_the_column_with_most_values_until_few_enough_are_left(one):
    try:
        way = datafly(one.codes, one.rows, one.hierarchies, one.demand, one.limit, one.lowest, one.highest)
    except NoNodeError:
        assert loss_by_hand(one, one.highest, "class-size")[1] > one.limit
        return
    assert way[0].levels == tuple(one.lowest)
    for node, above in pairwise(way):
        assert node.figures.suppressed > one.limit
        values = [len({h.nodes[level][c] for c in column}) for h, level, column in zip(one.hierarchies, node.levels, one.codes.T)]
        free = [j for j in range(len(values)) if node.levels[j] < one.highest[j]]
        raised = min(free, key=lambda j: (-values[j], j))
        assert above.levels == tuple(level + (j == raised) for j, level in enumerate(node.levels))
    assert way[-1].figures.suppressed == loss_by_hand(one, way[-1].levels, "class-size")[1] <= one.limit


# Nodes near one


@unhurried
@given(one=private, loss=st.sampled_from(LOSSES), most=st.integers(1, 40), where=st.integers(0, 10**6))
def test_nodes_near_one_have_the_figures_counted_by_hand(one, loss, most, where):
    nodes = list(one.nodes)
    middle = nodes[where % len(nodes)]
    words = {"weights": None if loss in ("discernibility", "class-size") else one.weights, "lowest": one.lowest, "highest": one.highest}
    found = near(one.codes, one.rows, one.hierarchies, one.demand, one.limit, middle, loss, most=most, **words)
    steps = {levels: sum(abs(a - b) for a, b in zip(levels, middle)) for levels in nodes}
    assert found[0].value.levels == middle
    assert len({neighbour.value.levels for neighbour in found}) == len(found) == min(most, sum(apart <= 2 for apart in steps.values()))
    assert [neighbour.steps for neighbour in found] == sorted(steps[neighbour.value.levels] for neighbour in found)
    weighed = one._replace(weights=words["weights"])
    for value, told, _ in found:
        lost, suppressed = loss_by_hand(weighed, value.levels, loss)
        groups = [members for members in classes_at(one, value.levels) if published(one, members)]
        sizes = [int(one.rows[members].sum()) for members in groups]
        assert value.loss == pytest.approx(lost)
        assert (value.suppressed, told.suppressed, told.published, told.smallest) == (
            suppressed,
            suppressed,
            len(groups),
            min(sizes, default=0),
        )
        for q in range(one.demand.sensitive.shape[1]):
            kept = [figures(one, members, q) for members in groups]
            assert told.different[q] == min((each[0] for each in kept), default=0)
            assert told.apart[q] == pytest.approx(max((each[2] for each in kept), default=0.0))
            assert told.apart_in_order[q] == pytest.approx(max((each[3] for each in kept), default=0.0))
