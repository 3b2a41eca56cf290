"""C4.5 by hand (Quinlan's golf data, gain ratios, the price of a threshold, bounds of pruning), by a plain program and by scikit-learn."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.kernels.trees.c45 import Tree, distribution, from_sklearn, grow, predict, route, shares, with_counts
from shoal.kernels.trees.pruning import TOLERATED, upper_error_rate
from shoal.kernels.trees.splits import best_threshold, by_value, logarithms

Codes = NDArray[np.int32]
Path = tuple[tuple[int, int, int], ...]  # column, threshold, edge

OUTLOOK = {"sunny": 1, "overcast": 2, "rain": 3}
# outlook, temperature, humidity, windy, play (Quinlan 1993, chapter 2)
GOLF = [
    ("sunny", 75, 70, 1, 1), ("sunny", 80, 90, 1, 0), ("sunny", 85, 85, 0, 0), ("sunny", 72, 95, 0, 0), ("sunny", 69, 70, 0, 1),
    ("overcast", 72, 90, 1, 1), ("overcast", 83, 78, 0, 1), ("overcast", 64, 65, 1, 1), ("overcast", 81, 75, 0, 1), ("rain", 71, 80, 1, 0),
    ("rain", 65, 70, 1, 0), ("rain", 75, 80, 0, 1), ("rain", 68, 80, 0, 1), ("rain", 70, 96, 0, 1),
]  # fmt: skip
GOLF_ORDERED = np.array([False, True, True, False])


def ranks(column: NDArray[Any]) -> Codes:
    return (np.unique(column, return_inverse=True)[1] + 1).astype(np.int32)


def golf() -> tuple[Codes, Codes]:
    table = np.array([(OUTLOOK[a], *rest) for a, *rest in GOLF])
    return np.stack([ranks(column) for column in table[:, :4].T], axis=1), table[:, 4].astype(np.int32)


def test_golf_gives_the_tree_of_the_book() -> None:
    codes, play = golf()
    tree = grow(codes, GOLF_ORDERED, play, 2)
    humidity = np.unique([row[2] for row in GOLF])
    assert list(tree.attribute) == [0, 2, -1, 3, -1, -1, -1, -1]  # outlook; sunny: humidity, overcast: play, rain: windy
    assert humidity[tree.threshold[1] - 1] == 70
    assert list(tree.parent) == [-1, 0, 0, 0, 1, 1, 3, 3]
    assert list(tree.edge) == [0, 1, 2, 3, 0, 1, 1, 2]
    assert list(tree.depth) == [0, 1, 1, 1, 2, 2, 2, 2]
    assert tree.counts.tolist() == [[5, 9], [3, 2], [0, 4], [2, 3], [0, 2], [3, 0], [0, 3], [2, 0]]
    assert list(predict(tree, route(tree, codes, GOLF_ORDERED))) == list(play)


def test_gain_and_gain_ratio_of_outlook_and_windy() -> None:
    """The book: gain .246 and .048 bits; split information of outlook 1.577 bits; gain ratio .156."""
    gain, ratio = by_value(np.array([[3, 2], [0, 4], [2, 3]]), 14, 2, logarithms())
    assert gain == pytest.approx(0.2467, abs=1e-4)
    assert gain / ratio == pytest.approx(1.577, abs=1e-3)
    assert ratio == pytest.approx(0.156, abs=1e-3)
    assert by_value(np.array([[3, 3], [2, 6]]), 14, 2, logarithms())[0] == pytest.approx(0.048, abs=1e-3)


def test_missing_values_scale_the_gain_and_are_a_branch() -> None:
    """The book, chapter 3: outlook of one row lost. Gain 13/14 x .214 = .199 bits, split information 1.809 bits."""
    gain, ratio = by_value(np.array([[3, 2], [0, 3], [2, 3]]), 14, 2, logarithms())
    assert gain == pytest.approx(0.199, abs=1e-3)
    assert gain / ratio == pytest.approx(1.809, abs=1e-3)


def test_two_branches_need_enough_rows() -> None:
    assert by_value(np.array([[3, 0], [0, 1], [1, 0]]), 5, 2, logarithms())[1] == 0
    assert by_value(np.array([[3, 0], [0, 2], [1, 0]]), 6, 2, logarithms())[1] > 0


def test_a_threshold_is_paid_for() -> None:
    """Four values, classes 0 0 1 1: one bit of gain, less log2(3)/4; the halves have one bit of split information."""
    tally = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    gain, ratio, threshold = best_threshold(np.array([2, 3, 7, 9]), tally, 4, 2, logarithms())
    assert threshold == 3
    assert gain == ratio == pytest.approx(1 - math.log2(3) / 4)
    gain, ratio, _ = best_threshold(np.array([2, 3, 7, 9]), tally, 5, 2, logarithms())  # a fifth row, its value missing
    assert gain == pytest.approx(4 / 5 - math.log2(3) / 4)
    assert gain / ratio == pytest.approx(-2 * 0.4 * math.log2(0.4) - 0.2 * math.log2(0.2))
    two_values = best_threshold(np.array([1, 2]), np.array([[3, 1], [1, 3]]), 8, 2, logarithms())
    assert two_values[0] == pytest.approx(1 - 0.25 * math.log2(4) - 0.75 * math.log2(4 / 3))  # one threshold only: nothing to pay


def test_upper_limits_of_the_error() -> None:
    """Quinlan 1993, chapter 4; the last, .157 there, is .1596 by the exact binomial."""
    rates = upper_error_rate(np.array([0, 0, 0, 1]), np.array([6, 9, 1, 16]), 0.25)
    assert rates == pytest.approx([0.206, 0.143, 0.750, 0.157], abs=3e-3)
    assert rates[:3] == pytest.approx([0.206, 0.143, 0.750], abs=5e-4)
    assert pytest.approx((1 - rates[3]) ** 16 + 16 * rates[3] * (1 - rates[3]) ** 15) == 0.25  # at most one error with probability CF
    assert upper_error_rate(np.array([4]), np.array([4]), 0.25) == [1]


def test_the_subtree_of_the_book_is_pruned() -> None:
    """Leaves of 6, 9 and 1 rows promise 3.273 errors, one leaf of 16 with one error 2.512: the leaf replaces them."""
    codes = np.repeat([1, 2, 3], [6, 9, 1]).astype(np.int32)[:, None]
    target = np.repeat([0, 0, 1], [6, 9, 1]).astype(np.int32)
    whole = grow(codes, np.array([False]), target, 2, least=1, confidence=None)
    assert whole.counts.tolist() == [[15, 1], [6, 0], [9, 0], [0, 1]]
    assert grow(codes, np.array([False]), target, 2, least=1).counts.tolist() == [[15, 1]]


def test_rows_stop_where_a_value_is_missing_or_unseen() -> None:
    codes, play = golf()
    tree = grow(codes, GOLF_ORDERED, play, 2)
    strange = np.array([[0, 1, 1, 1], [4, 1, 1, 1], [1, 1, 0, 1], [3, 1, 1, 9], [1, 1, 99, 1]])
    assert list(route(tree, strange, GOLF_ORDERED)) == [0, 0, 1, 3, 5]
    assert distribution(tree, np.array([0, 1])) == pytest.approx(np.array([[5 / 14, 9 / 14], [0.6, 0.4]]))


def test_an_empty_branch_answers_as_its_parent() -> None:
    codes = np.array([1, 1, 3, 3])[:, None]
    tree = grow(codes, np.array([False]), np.array([0, 0, 1, 1]), 2, confidence=None)
    assert tree.counts.tolist() == [[2, 2], [2, 0], [0, 0], [0, 2]]
    assert list(predict(tree, np.array([1, 2, 3]))) == [0, 0, 1]
    assert distribution(tree, np.array([2])).tolist() == [[0.5, 0.5]]


def test_depth_is_limited() -> None:
    codes, play = golf()
    assert grow(codes, GOLF_ORDERED, play, 2, confidence=None, most_depth=1).depth.max() == 1
    assert len(grow(codes, GOLF_ORDERED, play, 2, most_depth=0).parent) == 1


def entropy(labels: list[int]) -> float:
    return -sum(c / len(labels) * math.log2(c / len(labels)) for c in Counter(labels).values())


def plain_c45(codes: Codes, ordered: NDArray[np.bool_], y: Codes, classes: int, least: int, path: Path = ()) -> dict[Path, list[int]]:
    """C4.5 as the textbook has it, without pruning: the class counts at the end of each path. Tolerances as in the kernel."""
    result = {path: np.bincount(y, minlength=classes).tolist()}
    if len(y) < 2 * least or len(set(y)) < 2:
        return result
    splits = []
    for j in range(codes.shape[1]):
        x = codes[:, j]
        known, labels = x[x > 0], list(y[x > 0])
        if ordered[j]:
            fewest = max(least, min(25, 0.1 * len(known) / classes))
            cuts = [(int(t), known > t) for t in np.unique(known)[:-1]]
            cuts = [(t, side) for t, side in cuts if min(side.sum(), (~side).sum()) >= fewest]
        else:
            cuts = [(0, known)] if sum(rows >= least for rows in Counter(known).values()) >= 2 else []
        best: tuple[float, float, int] | None = None
        for t, side in cuts:
            parts = [list(y[x > 0][side == s]) for s in np.unique(side)]
            lost = len(known) * entropy(labels) - sum(len(part) * entropy(part) for part in parts)
            if best is None or lost > best[0] + 1e-6:
                info = entropy(list(side) + [-1] * int((x == 0).sum())) if ordered[j] else entropy(list(x))
                best = (lost, info, t)
        if best and best[0] > 1e-6:
            gain = best[0] / len(y) - (math.log2(len(np.unique(known)) - 1) / len(known) if ordered[j] else 0)
            if gain > 1e-6:
                splits.append((j, gain, gain / best[1], best[2]))
    average = sum(gain for _, gain, _, _ in splits) / max(1, len(splits))
    chosen: tuple[int, float, int] | None = None
    for j, gain, ratio, t in splits:
        if gain >= average - 1e-3 and ratio > (chosen[1] if chosen else 0) + 1e-6:
            chosen = (j, ratio, t)
    if chosen is None:
        return result
    j, _, t = chosen
    side = np.where(codes[:, j] == 0, -1, codes[:, j] > t) if ordered[j] else codes[:, j]
    for s in np.unique(side):
        if s >= (0 if ordered[j] else 1):
            here = side == s
            result |= plain_c45(codes[here], ordered, y[here], classes, least, (*path, (j, t, int(s))))
    return result


def paths_of_nodes(tree: Tree) -> list[Path]:
    ways: list[Path] = [()]
    for node in range(1, len(tree.parent)):
        up = tree.parent[node]
        ways.append((*ways[up], (int(tree.attribute[up]), int(tree.threshold[up]), int(tree.edge[node]))))
    return ways


def paths(tree: Tree) -> dict[Path, list[int]]:
    return {way: counts.tolist() for way, counts in zip(paths_of_nodes(tree), tree.counts) if counts.sum()}


def plain_pruned(tree: Tree, confidence: float) -> dict[Path, list[int]]:
    """The paths left after collapsing splits that save no error, from the root down, and then pruning, from the leaves up."""
    ways = paths_of_nodes(tree)
    leaf = tree.children == 0

    def below(node: int) -> list[int]:
        return list(range(tree.first_child[node], tree.first_child[node] + tree.children[node])) if not leaf[node] else []

    def promised(errors: int, rows: int) -> float:
        return rows * float(upper_error_rate(np.array(errors), np.array(rows), confidence)) if rows else 0.0

    def stopped(node: int) -> tuple[int, int]:
        rest = tree.counts[node] - sum(tree.counts[child] for child in below(node))
        return int(rest.sum() - rest[tree.counts[node].argmax()]), int(rest.sum())

    def errors(node: int) -> int:
        return int(tree.counts[node].sum() - tree.counts[node].max())

    def seen(node: int) -> int:
        return errors(node) if leaf[node] else stopped(node)[0] + sum(seen(child) for child in below(node))

    def collapse(node: int) -> None:
        leaf[node] = leaf[node] or seen(node) >= errors(node)
        for child in below(node):
            collapse(child)

    def prune(node: int) -> float:
        as_leaf = promised(errors(node), int(tree.counts[node].sum()))
        if not leaf[node]:
            as_tree = promised(*stopped(node)) + sum(prune(child) for child in below(node))
            if as_leaf > as_tree + 0.1:
                return as_tree
            leaf[node] = True
        return as_leaf

    collapse(0)
    prune(0)
    kept, found = [0], {}
    for node in kept:
        kept += below(node)
        if tree.counts[node].sum():
            found[ways[node]] = tree.counts[node].tolist()
    return found


@pytest.mark.parametrize("seed", range(30))
def test_same_tree_as_a_plain_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, classes, least = int(rng.integers(24, 300)), int(rng.integers(2, 5)), int(rng.integers(1, 8))
    most = np.array([3, 90, 7, 4, 30])  # the second has so many values that small nodes sort them instead of counting
    codes = rng.integers(1, most + 1, (n, 5)).astype(np.int32)
    score = codes[:, 0] + codes[:, 1] / 30 + (codes[:, 3] == 2) + rng.normal(size=n)
    target = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score).astype(np.int32)
    codes[rng.random(codes.shape) < 0.05 * (seed % 3)] = 0
    ordered = np.array([False, True, False, False, True])
    whole = grow(codes, ordered, target, classes, least, confidence=None)
    ours = paths(whole)
    assert ours == plain_c45(codes, ordered, target, classes, least)
    for confidence in (0.25, 0.6):
        assert paths(grow(codes, ordered, target, classes, least, confidence)) == plain_pruned(whole, confidence)
    shuffled = rng.permutation(n)
    assert ours == paths(grow(codes[shuffled], ordered, target[shuffled], classes, least, confidence=None))


# ---- missing values in fractions -------------------------------------------------------------------------------------------------------


def test_golf_with_a_lost_outlook_gives_the_fractions_of_the_book() -> None:
    """Quinlan 1993, chapter 3: the overcast day of 72 degrees goes 5/13 to sunny, 3/13 to overcast and 5/13 to rain."""
    codes, play = golf()
    codes[5, 0] = 0
    tree = grow(codes, GOLF_ORDERED, play, 2, missing="fractions")
    assert list(tree.attribute) == [0, 2, -1, 3, -1, -1, -1, -1]
    a, b = 5 / 13, 3 / 13
    leaves = {
        "dry": [0, 2],
        "humid": [3, a],
        "overcast": [0, 3 + b],
        "still": [0, 3],
        "windy": [2, a],
    }  # the book: 2, 3.4/.4, 3.2, 3, 2.4/.4
    assert tree.counts[[4, 5, 2, 6, 7]] == pytest.approx(np.array(list(leaves.values())))
    # sunny, 70 degrees, humidity unknown, no wind: 2/5.4 dry and 3.4/5.4 humid, so play with 44 per cent
    unknown = shares(tree, np.array([[1, 3, 0, 1]]), GOLF_ORDERED)
    assert unknown[0] == pytest.approx([3 / (5 + a), (2 + a) / (5 + a)])
    assert unknown[0, 1] == pytest.approx(0.44, abs=5e-3)
    # nothing known, or an outlook never seen: the leaves by their weight, which is the whole table
    nothing = shares(tree, np.array([[0, 0, 0, 0], [4, 0, 0, 0]]), GOLF_ORDERED)
    assert nothing == pytest.approx(np.array([[5 / 14, 9 / 14]] * 2))


Weighted = dict[Path, list[float]]


def plain_fractions(
    codes: Codes, y: Codes, weight: NDArray[np.float64], values: Codes, classes: int, path: Path = ()
) -> tuple[Weighted, float]:
    """C4.5 for categories with fractions and pruning, recursively: the weights of the classes along each path, and the errors promised."""
    counts = np.bincount(y, weight, classes)
    total = counts.sum()
    promised = float(total * upper_error_rate(np.array([total - counts.max()]), np.array([total]), 0.25)[0])
    leaf: Weighted = {path: counts.tolist()}
    gains = {}
    for j in range(codes.shape[1]):
        known = codes[:, j] > 0
        tally = np.bincount((codes[known, j] - 1) * classes + y[known], weight[known], values[j] * classes).reshape(-1, classes)
        if (tally.sum(axis=1) >= 2 - 1e-9).sum() >= 2:
            gain = (disorder(tally.sum(axis=0)) - sum(map(disorder, tally))) / total
            if gain > 1e-6:
                gains[j] = gain, gain * total / disorder(np.append(tally.sum(axis=1), max(0, total - tally.sum())))
    if total < 4 - 1e-9 or (counts > 1e-9).sum() < 2 or not gains:
        return leaf, promised
    average = np.mean([gain for gain, _ in gains.values()])
    best = -1
    for j, (gain, ratio) in gains.items():
        if gain >= average - 1e-3 and (best < 0 or ratio > gains[best][1] + 1e-6):
            best = j
    mine = codes[:, best]
    sizes = np.bincount(mine[mine > 0] - 1, weight[mine > 0], values[best])
    below, found = 0.0, dict(leaf)
    for value, share in enumerate(sizes / sizes.sum()):
        rows = (mine == value + 1) | (mine == 0)
        if share > 0:
            parts = np.where(mine == 0, weight * share, weight)[rows]
            more, errors = plain_fractions(codes[rows], y[rows], parts, values, classes, (*path, (best, 0, value + 1)))
            found |= more
            below += errors
    return (leaf, promised) if promised <= below + TOLERATED else (found, below)


def disorder(weights: NDArray[np.float64]) -> float:
    some = weights[weights > 1e-12]
    return float((some * np.log2(some.sum() / some)).sum())


@pytest.mark.parametrize("seed", range(20))
def test_same_fractions_as_a_plain_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, classes, most = int(rng.integers(30, 400)), int(rng.integers(2, 5)), np.array([3, 6, 7, 4, 2])
    codes = rng.integers(1, most + 1, (n, 5)).astype(np.int32)
    score = codes[:, 0] + codes[:, 1] / 3 + 2 * (codes[:, 3] == 2) * (codes[:, 4] == 1) + rng.normal(size=n) / 2
    target = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score).astype(np.int32)
    codes[rng.random(codes.shape) < (0.1, 0.3, 0.6)[seed % 3]] = 0
    tree = grow(codes, np.zeros(5, bool), target, classes, missing="fractions")
    plain, _ = plain_fractions(codes, target, np.ones(n), codes.max(axis=0), classes)
    ours = paths(tree)
    assert set(ours) == set(plain)
    assert all(ours[way] == pytest.approx(plain[way]) for way in plain)
    assert tree.counts.sum(axis=1)[tree.children == 0].sum() == pytest.approx(n)  # nobody is lost or counted twice
    shuffled = rng.permutation(n)
    again = grow(codes[shuffled], np.zeros(5, bool), target[shuffled], classes, missing="fractions")
    assert all(np.array_equal(a, b) for a, b in zip(tree, again))  # to the last bit


@pytest.mark.parametrize("seed", range(6))
def test_fractions_of_numbers(seed: int) -> None:
    """Ordered columns of few and of many values, deep trees: weights add up, and are what walking the rows down gives."""
    rng = np.random.default_rng(seed)
    n = 1500
    codes = rng.integers(1, [40, 900, 5], (n, 3)).astype(np.int32)
    target = (codes[:, 0] + codes[:, 1] / 25 + codes[:, 2] + rng.normal(0, 3, n) > 42).astype(np.int32)
    codes[rng.random(codes.shape) < 0.2] = 0
    ordered = np.array([True, True, False])
    tree = grow(codes, ordered, target, 2, missing="fractions", confidence=None)
    inner = np.flatnonzero(tree.children)
    assert len(inner) > 20
    assert all(tree.parent[tree.first_child[v] : tree.first_child[v] + tree.children[v]].tolist() == [v] * tree.children[v] for v in inner)
    assert (np.diff(tree.depth) >= 0).all()
    for v in inner:
        kids = slice(tree.first_child[v], tree.first_child[v] + tree.children[v])
        assert tree.counts[kids].sum(axis=0) == pytest.approx(tree.counts[v])
    weight = np.zeros((len(tree.parent), n))
    weight[0] = 1
    for v in inner:
        code, kids = codes[:, tree.attribute[v]], range(tree.first_child[v], tree.first_child[v] + tree.children[v])
        goes = [(code > tree.threshold[v]) == tree.edge[c] if ordered[tree.attribute[v]] else code == tree.edge[c] for c in kids]
        known = code > 0
        sizes = np.array([weight[v][known & side].sum() for side in goes])
        for c, side, size in zip(kids, goes, sizes):
            weight[c] = weight[v] * np.where(known, side, size / sizes.sum())
    walked = np.stack([weight[:, target == y].sum(axis=1) for y in (0, 1)], axis=1)
    assert tree.counts == pytest.approx(walked)


def test_without_missing_values_fractions_change_nothing() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(1, 6, (300, 4)).astype(np.int32)
    target = (codes[:, 0] + codes[:, 1] + rng.integers(0, 3, 300) > 6).astype(np.int32)
    ordered = np.array([True, False, True, False])
    stop, fractions = (grow(codes, ordered, target, 2, missing=how) for how in ("stop", "fractions"))
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(stop, fractions))
    assert shares(stop, codes, ordered) == pytest.approx(distribution(stop, route(stop, codes, ordered)))


def test_rows_without_any_value_in_fractions() -> None:
    codes = np.zeros((6, 2), np.int32)
    tree = grow(codes, np.array([True, False]), np.array([0, 1, 1, 0, 1, 1]), 2, missing="fractions")
    assert shares(tree, codes[:1], np.array([True, False]))[0] == pytest.approx([1 / 3, 2 / 3])


def test_a_column_of_unique_strings() -> None:
    """The unique column offers no two branches of two rows, and the other one splits."""
    n = 1000
    codes = np.stack([np.arange(1, n + 1), np.arange(n) % 2 + 1, np.arange(n) % 400 + 1], axis=1).astype(np.int32)
    target = (np.arange(n) % 2).astype(np.int32)
    tree = grow(codes, np.array([False, False, True]), target, 2)
    assert list(tree.attribute) == [1, -1, -1]


@pytest.mark.parametrize("target", [np.zeros(6, int), np.array([0, 1, 0, 1, 0, 1])])
def test_nothing_to_split_by(target: NDArray[np.int64]) -> None:
    for codes in (np.zeros((6, 3), np.int32), np.ones((6, 2), np.int32), np.zeros((6, 0), np.int32)):
        tree = grow(codes, np.arange(codes.shape[1]) % 2 == 0, target, 2)
        assert len(tree.parent) == 1
        assert list(route(tree, codes, np.arange(codes.shape[1]) % 2 == 0)) == [0] * 6


def test_what_cannot_be() -> None:
    codes = np.ones((4, 2), np.int32)
    both = np.array([True, False])
    for wrong in (
        lambda: grow(codes[:0], both, np.zeros(0, int), 2),
        lambda: grow(codes, both, np.array([0, 1, 2, 0]), 2),
        lambda: grow(codes, both, np.zeros(3, int), 2),
        lambda: grow(-codes, both, np.zeros(4, int), 2),
        lambda: grow(codes, both[:1], np.zeros(4, int), 2),
        lambda: grow(codes, both, np.zeros(4, int), 2, least=0),
        lambda: grow(codes, both, np.zeros(4, int), 2, confidence=0.0),
        lambda: grow(codes, both, np.zeros(4, int), 2, missing="guess"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"\.$"):
            wrong()
    tree = grow(np.array([[1, 1], [1, 1], [1, 2], [1, 2]]), np.array([False, False]), np.array([0, 0, 1, 1]), 2, confidence=None)
    with pytest.raises(ValueError, match="other columns"):
        route(tree, codes[:, :1], both[:1])


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_as_accurate_as_scikit_learn(name: str) -> None:
    """Five times two-fold: on average not a point and a half worse than its entropy tree with leaves of the same least size."""
    datasets = pytest.importorskip("sklearn.datasets")
    learner = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    points, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    codes = np.stack([ranks(column) for column in points.T], axis=1)
    ordered = np.ones(codes.shape[1], bool)
    ours, theirs = [], []
    for seed in range(5):
        half = np.random.default_rng(seed).permutation(len(y)) % 2 == 0
        for train in (half, ~half):
            tree = grow(codes[train], ordered, y[train], int(y.max()) + 1, least=2)
            ours.append((predict(tree, route(tree, codes[~train], ordered)) == y[~train]).mean())
            fitted = learner(criterion="entropy", min_samples_leaf=2, random_state=seed).fit(points[train], y[train])
            theirs.append((fitted.predict(points[~train]) == y[~train]).mean())
    assert np.mean(ours) > np.mean(theirs) - 0.015


def test_walking_a_tree_of_scikit_learn() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    learner = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    points, y = datasets.load_breast_cancer(return_X_y=True)
    theirs = learner(max_leaf_nodes=20, random_state=1).fit(points, y)
    inner = theirs.tree_
    values = [np.unique(column) for column in points.T]
    tree = from_sklearn(inner.children_left, inner.children_right, inner.feature, inner.threshold, values)
    codes, ordered = np.stack([ranks(column) for column in points.T], axis=1), np.ones(points.shape[1], bool)
    reached = route(tree, codes, ordered)
    pairs = set(zip(reached.tolist(), theirs.apply(points).tolist()))
    assert len(pairs) == len(set(reached)) == theirs.get_n_leaves()  # one of our leaves for each of theirs
    tree = with_counts(tree, reached, y, 2)
    assert sorted(tree.counts.sum(axis=1)) == sorted(inner.n_node_samples)
    assert np.array_equal(predict(tree, reached), theirs.predict(points))
    with pytest.raises(ValueError, match="splits by column"):
        from_sklearn(inner.children_left, inner.children_right, inner.feature, inner.threshold, values[:2])
