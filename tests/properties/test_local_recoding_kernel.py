"""Whatever the table: one group each, nodes that cover, every demand counted again in plain Python, and the textbook's greedy step by step."""

import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.hierarchy_cuts import hierarchy_groups
from shoal.kernels.local_recoding import local_recoding
from shoal.kernels.masks import Demand
from shoal.kernels.nodes import Recoded, distinct_rows
from shoal.kernels.recoding_bound import least_loss
from tests.coded import made_hierarchy

unhurried = settings(deadline=None, max_examples=120, derandomize=True)  # the first example pays for compiling


class Case(NamedTuple):
    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    hierarchies: list[CodedHierarchy]
    demand: Demand
    secrets: list[int]  # how many codes each sensitive column has
    weights: list[float] | None


def case(n: int, d: int, k: int, most: int, secrets: int, missing: float, weighted: bool, seed: int) -> Case:
    """Combinations of which some differ in what is sensitive only, and a demand that the whole table keeps."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, d)
    hierarchies = [made_hierarchy(rng, int(size)) for size in sizes]
    codes = np.column_stack([np.minimum(rng.integers(0, size, n), rng.integers(0, size, n)) for size in sizes]).astype(np.int32)
    codes = codes[rng.integers(0, n, n)] if rng.random() < 0.5 else codes
    rows = rng.integers(1, 4, n)
    weights = [float(w) for w in rng.random(d) + 0.1] if weighted else None
    k = min(k, int(rows.sum()))
    if not secrets:
        return Case(codes, rows, hierarchies, Demand(k), [], weights)
    sensitive = rng.integers(0, 4, (n, secrets)).astype(np.int32)
    for q in range(secrets):
        sensitive[:, q] = np.unique(sensitive[:, q], return_inverse=True)[1].reshape(-1)
    width = [int(column.max()) + 1 for column in sensitive.T]
    without = sensitive.copy()
    without[rng.random((n, secrets)) < missing] = -1
    l, entropy, t, ordered = [], [], [], []  # noqa: E741
    for q in range(secrets):
        seen = Counter[int]()
        for s, many in zip(without[:, q].tolist(), rows.tolist()):
            seen[s] += many * (s >= 0)
        seen = +seen
        l.append(int(rng.integers(1, len(seen) + 1)) if seen else 1)
        whole = effective(seen) if seen else 1.0
        entropy.append(1 + float(rng.random()) * (whole - 1) if rng.random() < 0.5 and whole > 1 else 1.0)
        t.append(float(rng.uniform(0.05, 1.0)) if rng.random() < 0.5 else 1.0)
        ordered.append(bool(rng.random() < 0.5))
    return Case(codes, rows, hierarchies, Demand(k, without, l, entropy, t, ordered), width, weights)


cases = st.builds(
    case,
    n=st.integers(1, 60),
    d=st.integers(1, 4),
    k=st.integers(1, 12),
    most=st.sampled_from([2, 5, 12]),
    secrets=st.integers(0, 2),
    missing=st.sampled_from([0.0, 0.2]),
    weighted=st.booleans(),
    seed=st.integers(0, 2**31),
)


def effective(seen: Counter[int]) -> float:
    total = sum(seen.values())
    return math.exp(-sum(c / total * math.log(c / total) for c in seen.values()))


def keeps(c: Case, members: list[int]) -> bool:
    """The demand from its definition."""
    demand, rows = c.demand, c.rows.tolist()
    if sum(rows[i] for i in members) < demand.k:
        return False
    for q in range(len(c.secrets)):
        assert demand.sensitive is not None
        secret = demand.sensitive[:, q].tolist()
        part, whole = Counter[int](), Counter[int]()
        for i in range(len(rows)):
            whole[secret[i]] += rows[i] * (secret[i] >= 0)
        for i in members:
            part[secret[i]] += rows[i] * (secret[i] >= 0)
        part, whole = +part, +whole
        l, entropy, t, ordered = (each[q] for each in (demand.l, demand.entropy, demand.t, demand.t_ordered))  # type: ignore[index]  # noqa: E741
        if (l > 1 and len(part) < l) or (entropy > 1 and (not part or effective(part) < entropy * (1 - 1e-9))):
            return False
        if t < 1 and part:
            values = range(max(whole) + 1)
            gaps = [part[v] / sum(part.values()) - whole[v] / sum(whole.values()) for v in values]
            far = sum(map(abs, itertools.accumulate(gaps))) / max(len(values) - 1, 1) if ordered else sum(map(abs, gaps)) / 2
            if far > t + 1e-9:
                return False
    return True


def check(c: Case, found: Any, suppressed: bool = False) -> None:
    """Every row in one group; every group one class of the file that keeps the demand; the loss recounted from the nodes."""
    n, d = c.codes.shape
    group, codes, rows = found.group.tolist(), c.codes.tolist(), c.rows.tolist()
    assert len(group) == n
    assert min(group, default=0) >= (-1 if suppressed else 0)
    assert sorted(set(group) - {-1}) == list(range(len(found.levels)))
    weights = [w / sum(c.weights) for w in c.weights] if c.weights else [1 / d] * d
    total, written = 0.0, set()
    for g, levels in enumerate(found.levels.tolist()):
        members = [i for i in range(n) if group[i] == g]
        assert keeps(c, members)
        nodes = []
        for j, level in enumerate(levels):
            tree = c.hierarchies[j]
            over = {int(tree.nodes[level, codes[i][j]]) for i in members}
            assert len(over) == 1
            nodes.append(tuple(np.flatnonzero(tree.nodes[level] == over.pop()).tolist()))
            total += weights[j] * float(tree.loss[level, codes[members[0]][j]]) * sum(rows[i] for i in members)
        assert tuple(nodes) not in written
        written.add(tuple(nodes))
    total += sum(rows[i] for i in range(n) if group[i] < 0)
    assert found.loss == pytest.approx(total / sum(rows))
    alike = {}
    for i in range(n):
        assert alike.setdefault(tuple(codes[i]), group[i]) == group[i]


def shuffled(c: Case, order: NDArray[np.int64]) -> Case:
    sensitive = None if c.demand.sensitive is None else c.demand.sensitive[order]
    return c._replace(codes=c.codes[order], rows=c.rows[order], demand=c.demand._replace(sensitive=sensitive))


def recoded(c: Case, **more: Any) -> Any:
    return local_recoding(c.codes, c.hierarchies, c.demand, c.rows, weights=c.weights, **more)


bounds = st.sampled_from([{}, {"most_ways": 5}, {"most_work": 40}, {"most_ways": 7, "leftovers": "suppress"}, {"leftovers": "suppress"}])


@unhurried
@given(cases, bounds, st.integers(0, 2**31))
def test_groups_keep_what_is_demanded_in_any_order_of_rows(c: Case, bound: dict[str, Any], seed: int) -> None:
    found = recoded(c, **bound)
    check(c, found, suppressed="leftovers" in bound)
    order = np.random.default_rng(seed).permutation(len(c.codes))
    again = recoded(shuffled(c, order), **bound)
    assert np.array_equal(again.group, found.group[order])
    assert np.array_equal(again.levels, found.levels)
    assert again.loss == pytest.approx(found.loss)


@unhurried
@given(cases)
def test_a_combination_with_rows_is_as_many_rows(c: Case) -> None:
    found = recoded(c)
    each = np.repeat(np.arange(len(c.rows)), c.rows)
    again = recoded(shuffled(c, each)._replace(rows=np.ones(len(each), np.int64)))
    assert np.array_equal(again.group, found.group[each])


@unhurried
@given(cases)
def test_the_greedy_is_the_textbook_one(c: Case) -> None:
    """Way by way in plain Python: which combinations are published, together with which, and which are left."""
    n, d = c.codes.shape
    weights = [w / sum(c.weights) for w in c.weights] if c.weights else [1 / d] * d

    def worth(way: tuple[int, ...]) -> float:
        return sum(
            float(weights[j] * np.average(c.hierarchies[j].loss[way[j], c.codes[:, j]], weights=c.rows)) ** 2
            - float(weights[j] * np.average(c.hierarchies[j].loss[0, c.codes[:, j]], weights=c.rows)) ** 2
            for j in range(d)
        )

    ways = sorted(itertools.product(*(range(len(tree.nodes)) for tree in c.hierarchies)), key=lambda way: (round(worth(way), 12), way))
    left, expected = set(range(n)), []
    for way in ways:
        classes: dict[tuple[int, ...], list[int]] = {}
        for i in sorted(left):
            classes.setdefault(tuple(int(c.hierarchies[j].nodes[way[j], c.codes[i, j]]) for j in range(d)), []).append(i)
        for members in classes.values():
            if keeps(c, members):
                expected.append(frozenset(members))
                left -= set(members)
    found = recoded(c, leftovers="suppress")
    got = {frozenset(np.flatnonzero(found.group == g).tolist()) for g in range(len(found.levels))}
    merged = {one for one in got if one not in expected}  # two of the textbook's that read the same
    assert all(any(part <= one for one in got) for part in expected)
    assert all(sum(len(part) for part in expected if part <= one) == len(one) for one in merged)
    assert set(np.flatnonzero(found.group < 0).tolist()) == left
    assert found.left == sum(c.rows[sorted(left)])


@unhurried
@given(cases)
def test_the_bound_is_the_least_of_every_row_and_below_every_recoding(c: Case) -> None:
    n, d = c.codes.shape
    weights = [w / sum(c.weights) for w in c.weights] if c.weights else [1 / d] * d
    least = [math.inf] * n
    for way in itertools.product(*(range(len(tree.nodes)) for tree in c.hierarchies)):
        nodes = [tuple(int(tree.nodes[level, code]) for tree, level, code in zip(c.hierarchies, way, one)) for one in c.codes.tolist()]
        size = Counter[tuple[int, ...]]()
        for node, many in zip(nodes, c.rows.tolist()):
            size[node] += many
        for i, node in enumerate(nodes):
            if size[node] >= c.demand.k:
                lost = sum(w * float(tree.loss[level, code]) for w, tree, level, code in zip(weights, c.hierarchies, way, c.codes[i]))
                least[i] = min(least[i], lost)
    bound = least_loss(c.codes, c.hierarchies, c.demand.k, c.rows, weights=c.weights)
    assert bound == pytest.approx(np.average(least, weights=c.rows))
    parted = least_loss(c.codes, c.hierarchies, c.demand.k, c.rows, weights=c.weights, most_work=5)
    assert parted <= bound + 1e-9
    assert bound <= recoded(c).loss + 1e-9


@unhurried
@given(st.integers(0, 40), st.integers(0, 9), st.sampled_from([2, 1000, 2**31 - 1]), st.integers(0, 2**31))
def test_distinct_rows_are_in_the_order_of_their_values(n: int, d: int, most: int, seed: int) -> None:
    """Also where no whole number is large enough for all columns."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, most, (n, d), np.int32)[rng.integers(0, max(n, 1), 2 * n)]
    first, number = distinct_rows(table)
    expected = sorted(set(map(tuple, table.tolist())))
    assert list(map(tuple, table[first].tolist())) == expected
    assert [expected[at] for at in number.tolist()] == list(map(tuple, table.tolist()))


rules = st.sampled_from(["widest", "gain", "variance", "gain, ratio and narrowing"])


def cut(c: Case, rule: str, **more: Any) -> Recoded:
    if rule.endswith("narrowing"):
        more |= {"ratio": 1.0, "narrowing": 0.1}
    target = (c.codes[:, 0] * 7 + c.codes[:, -1]) % 3
    name: Any = rule.split(",")[0]
    return hierarchy_groups(c.codes, c.hierarchies, c.demand, c.rows, rule=name, target=target, classes=3, weights=c.weights, **more)


@unhurried
@given(cases, rules, st.sampled_from(["apart", "all"]), st.integers(0, 2**31))
def test_boxes_keep_what_is_demanded_in_any_order_of_rows(c: Case, rule: str, children: Any, seed: int) -> None:
    found = cut(c, rule, children=children)
    check(c, found)
    order = np.random.default_rng(seed).permutation(len(c.codes))
    again = cut(shuffled(c, order), rule, children=children)
    assert np.array_equal(again.group, found.group[order])


def parted(c: Case, members: list[int], j: int, level: int, children: str) -> list[list[int]] | None:
    """The parts of a box when column j goes a level down, if that is allowable."""
    of_child: dict[int, list[int]] = {}
    for i in members:
        of_child.setdefault(int(c.hierarchies[j].nodes[level - 1, c.codes[i, j]]), []).append(i)
    good = [child for child in sorted(of_child) if keeps(c, of_child[child])]
    rest = [i for child in of_child if child not in good for i in of_child[child]]
    if rest and children == "all":
        return None
    for child in sorted(good, key=lambda child: (sum(c.rows[of_child[child]]), child)):
        if not rest or keeps(c, rest):
            break
        good.remove(child)
        rest += of_child[child]
    return [of_child[child] for child in good] + ([rest] if rest else []) if good else None


def textbook(c: Case, members: list[int], children: str) -> list[list[int]]:
    """By recursion: the widest column that can be parted."""
    width, level = [], []
    for j, tree in enumerate(c.hierarchies):
        up = next(at for at in range(len(tree.nodes)) if len(set(tree.nodes[at, c.codes[members, j]].tolist())) == 1)
        level.append(up)
        width.append(float(tree.loss[up, c.codes[members[0], j]]) * (c.weights[j] if c.weights else 1.0))
    for j in sorted(range(len(width)), key=lambda j: (-width[j], j)):
        parts = parted(c, members, j, level[j], children) if level[j] else None
        if parts:
            return [box for part in parts for box in textbook(c, part, children)]
    return [members]


@unhurried
@given(cases, st.sampled_from(["apart", "all"]))
def test_boxes_are_the_textbooks(c: Case, children: Any) -> None:
    found = cut(c._replace(weights=None), "widest", children=children)
    boxes = textbook(c._replace(weights=None), list(range(len(c.codes))), children)
    got = {frozenset(np.flatnonzero(found.group == g).tolist()) for g in range(len(found.levels))}
    assert all(any(set(box) <= one for one in got) for box in boxes)
    for one in got:
        inside = [box for box in boxes if set(box) <= one]
        assert sum(map(len, inside)) == len(one)
        if len(inside) > 1:  # several that read the same
            assert len({tuple(_smallest(c, box)) for box in inside}) == 1


def _smallest(c: Case, members: list[int]) -> list[tuple[int, ...]]:
    cover = []
    for j, tree in enumerate(c.hierarchies):
        at = next(at for at in range(len(tree.nodes)) if len(set(tree.nodes[at, c.codes[members, j]].tolist())) == 1)
        cover.append(tuple(np.flatnonzero(tree.nodes[at] == tree.nodes[at, c.codes[members[0], j]]).tolist()))
    return cover
