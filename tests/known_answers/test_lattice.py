"""A lattice counted by hand, and Adult with its hierarchies: optima, anonymous nodes and Datafly's way as the spec has them."""

import csv

import numpy as np
import pytest

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.best import best
from shoal.kernels.lattice.budget import Budget
from shoal.kernels.lattice.datafly import datafly
from shoal.kernels.lattice.demands import Figures, secrets_of
from shoal.kernels.lattice.incognito import incognito
from shoal.kernels.lattice.levels import entropy, iyengar, precision, prices, space_of
from shoal.kernels.lattice.nodes import single
from shoal.kernels.lattice.optimum import NoNodeError, optimum
from shoal.kernels.lattice.roll_up import roll_up
from shoal.kernels.masks import Demand
from tests.data import data_path

# Six patients: ages 20, 20, 30, 30, 40, 40 and sex a b a a b b. Ages: each, young (20, 30) or old, all. Sex: each, all.
AGE = CodedHierarchy(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], np.int32), np.array([[0, 0, 0], [0.5, 0.5, 0], [1, 1, 1]]))
SEX = CodedHierarchy(np.array([[0, 1], [0, 0]], np.int32), np.array([[0.0, 0], [1, 1]]))
PATIENTS = np.array([[0, 0], [0, 1], [1, 0], [1, 0], [2, 1], [2, 1]], np.int32)
TREES = [AGE, SEX]
ILL = np.array([0, 1, 0, 0, 1, 1], np.int32)


def figures(levels, demand):
    space = space_of(PATIENTS, None, TREES)
    return single(space, levels, secrets_of(space, demand, None), demand.k, prices(space, iyengar(TREES)))


def test_six_patients() -> None:
    # k = 2. As they are, two stand alone: 2 x 2 columns lost of 12 cells. Without sex nobody does, and 6 cells are lost. Ages as young or old:
    # (young, b) is one patient, who costs 2, and three (young, a) cost a half each: 3.5.
    assert figures((0, 0), Demand(2)).figures[:4] == (2, 2, 2, 2 * 4 + 2 * 6)
    assert figures((0, 1), Demand(2)).figures[:4] == (0, 3, 2, 12)
    assert figures((1, 0), Demand(2)).figures[:4] == (1, 2, 2, 9 + 4 + 6)
    assert [figures(levels, Demand(2)).spent for levels in ((0, 0), (0, 1), (1, 0))] == [4, 6, 3.5]
    found = optimum(PATIENTS, None, TREES, Demand(2), 6, iyengar(TREES))
    assert (found.levels, found.suppressed, found.proven) == ((1, 0), 1, True)
    assert found.loss == found.bound == pytest.approx(3.5 / 12)
    assert optimum(PATIENTS, None, TREES, Demand(2), 0, iyengar(TREES)).levels == (0, 1)
    # if age counts double, each of the three nodes loses 6 of 18: the fewest suppressed wins
    double = optimum(PATIENTS, None, TREES, Demand(2), 6, iyengar(TREES), weights=[2, 1])
    assert (double.levels, double.loss, double.suppressed) == ((0, 1), pytest.approx(6 / 18), 0)
    assert optimum(PATIENTS, None, TREES, Demand(2), 6, iyengar(TREES), lowest=[2, 0]).levels == (2, 0)


def test_entropy_of_six_patients() -> None:
    # sex gone: three of six each, one bit a record; ages young or old: 4 of 6 records are one of two equally frequent ages
    loss = entropy(PATIENTS, np.ones(6, np.int64), TREES)
    found = optimum(PATIENTS, None, TREES, Demand(2), 6, loss)
    assert (found.levels, found.loss) == ((0, 0), 0)  # monotone form: suppressed records cost what their levels cost, here nothing
    assert optimum(PATIENTS, None, TREES, Demand(2), 1, loss).loss == pytest.approx(4 / 12)
    assert optimum(PATIENTS, None, TREES, Demand(2), 0, loss).loss == pytest.approx(6 / 12)


def test_what_classes_keep() -> None:
    # without sex: ages 20 (ill 0 1), 30 (0 0), 40 (1 1); the table has half and half
    told = figures((0, 1), Demand(2, ILL)).figures
    assert told.different == (1,)
    assert told.effective == (1.0,)
    assert told.apart == told.apart_in_order == (0.5,)
    # two different values are asked: 30 and 40 are suppressed, and of (young, old) the old
    assert figures((0, 1), Demand(2, ILL, 2)).figures == Figures(4, 1, 2, 4 + 4 * 6, (2,), (2.0,), (0.0,), (0.0,))
    assert figures((1, 1), Demand(2, ILL, 2)).figures.suppressed == 2
    assert best(PATIENTS, None, TREES, Demand(2, ILL, 2), 2).levels == (1, 1)
    # t is not monotone once classes are suppressed: at (0, 1) age 20 keeps t = .2, at (1, 1), above it, nobody does
    assert figures((0, 1), Demand(2, ILL, t=0.2)).figures.suppressed == 4
    assert figures((1, 1), Demand(2, ILL, t=0.2)).figures.suppressed == 6
    # a value that counts for nothing is none
    assert figures((0, 1), Demand(2, np.where(ILL == 0, -1, ILL).astype(np.int32))).figures.different == (0,)


def test_earth_moves_further_than_it_varies() -> None:
    # Three ordered values, a third each; who has only the first moves a third by one step and a third by two: (2/3 + 1/3) / 2 steps
    codes, value = np.array([[0, 0], [1, 0], [2, 0]], np.int32), np.array([0, 1, 2], np.int32)
    space = space_of(codes, None, TREES)
    told = single(space, (0, 0), secrets_of(space, Demand(1, value), None), 1).figures
    assert told.apart == (pytest.approx(2 / 3),)
    assert told.apart_in_order == (pytest.approx(0.5),)
    middle = single(space, (1, 0), secrets_of(space, Demand(1, value), None), 1).figures
    assert middle.apart_in_order == (pytest.approx(0.5),)  # the old one; the young, half and half, are (1/6 + 1/3) / 2 away


def test_nothing_is_to_be_had() -> None:
    with pytest.raises(NoNodeError, match="at most 0 records suppressed"):
        best(PATIENTS, None, TREES, Demand(2), 0, highest=[0, 0])
    with pytest.raises(NoNodeError, match="were left out"):
        best(PATIENTS, None, TREES, Demand(2, ILL, 3), 2, budget=Budget(passed=1))
    with pytest.raises(ValueError, match="no columns to weigh"):
        best(PATIENTS, None, TREES, Demand(2), 0, "discernibility", weights=[1, 1])
    with pytest.raises(ValueError, match="Column 1 has levels"):
        best(PATIENTS, None, TREES, Demand(2), 0, lowest=[0, 2])
    with pytest.raises(ValueError, match="weight of 0 or more"):
        best(PATIENTS, None, TREES, Demand(2), 0, weights=[0, 0])
    with pytest.raises(ValueError, match="k must be at least 1"):
        best(PATIENTS, None, TREES, Demand(0), 0)


def test_incognito_and_datafly_on_six_patients() -> None:
    found = incognito(PATIENTS, None, TREES, 2, 0)
    assert (found.minimal, found.nodes) == ([(0, 1), (2, 0)], 4)  # and (1, 1), (2, 1)
    way = datafly(PATIENTS, None, TREES, Demand(2), 0)
    assert [node.levels for node in way] == [(0, 0), (1, 0), (2, 0)]  # three ages, then two and two: the first column again


def test_many_columns_and_a_lattice_beyond_counting() -> None:
    # 40 columns, 3^40 nodes: the search says what it did not look at
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (200, 40)).astype(np.int32)
    found = optimum(codes, None, [AGE] * 40, Demand(3), 10, iyengar([AGE] * 40), budget=Budget(passed=300_000))
    assert not found.proven
    assert found.bound < found.loss
    assert 0 < found.left_out < 3**40
    near = best(codes, None, [AGE] * 40, Demand(3), 10, "discernibility", budget=Budget(passed=300_000))
    assert near.left_out == 3**40 - near.looked_at


# Adult

NINE = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")


@pytest.fixture(scope="module")
def adult():
    rows = list(csv.DictReader(data_path("adult", "adult_30162.csv").open(), delimiter=";"))
    codes, trees = [], []
    for name in NINE:
        tree = list(csv.reader(data_path("adult", "hierarchies", f"adult_hierarchy_{name}.csv").open(), delimiter=";"))
        place = {leaf: i for i, (leaf, *_) in enumerate(tree)}
        codes.append([place[row[name]] for row in rows])
        nodes = np.array([np.unique(level, return_inverse=True)[1].reshape(-1) for level in zip(*tree)], np.int32)
        nodes[0] = np.arange(len(tree))
        under = np.array([np.bincount(level)[level] for level in nodes])
        trees.append(CodedHierarchy(nodes, (under - 1) / (len(tree) - 1)))
    return np.array(codes, np.int32).T, trees


@pytest.mark.parametrize(
    ("loss", "k", "share", "columns", "levels", "value"),
    [
        ("iyengar", 5, 0.04, 9, (0, 3, 0, 1, 1, 1, 1, 2, 0), 0.2928158759),
        ("iyengar", 5, 1.0, 8, (0, 3, 0, 0, 2, 1, 0, 1), 0.2270624),
        ("iyengar", 5, 1.0, 9, None, 0.2277003),
        ("iyengar", 100, 0.04, 9, (0, 3, 1, 2, 2, 2, 1, 2, 0), 0.5547421),
        ("iyengar", 5, 0.0, 9, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0.6355438),
        ("iyengar", 100, 0.0, 9, None, 0.6985260),
        ("precision", 100, 0.0, 9, (0, 4, 1, 1, 3, 2, 2, 2, 0), 6.5 / 9),  # a tie with (0, 4, 1, 2, 3, 2, 2, 1, 0), which is larger
        ("iyengar", 5, 0.0, 8, None, 0.661),
        ("iyengar", 5, 0.05, 8, None, 0.262),
    ],
)
def test_adult_optima(adult, loss, k, share, columns, levels, value) -> None:
    codes, trees = adult[0][:, :columns], adult[1][:columns]
    found = best(codes, None, trees, Demand(k), int(share * len(codes)), loss)
    assert found.proven
    assert found.left_out == 0
    assert found.loss == pytest.approx(value, abs=1e-3 if value in (0.661, 0.262) else 1e-7)
    assert levels is None or found.levels == levels


def test_adult_the_other_precision_optimum_ties(adult) -> None:
    codes, trees = adult
    space = space_of(codes, None, trees)
    priced = prices(space, precision(trees))
    nodes = [single(space, levels, [], 100, priced) for levels in ((0, 4, 1, 1, 3, 2, 2, 2, 0), (0, 4, 1, 2, 3, 2, 2, 1, 0))]
    assert [node.figures.suppressed for node in nodes] == [0, 0]
    assert nodes[0].spent == pytest.approx(nodes[1].spent, rel=1e-12)


def test_adult_discernibility(adult) -> None:
    codes, trees = adult
    nodes = []
    roll_up(space_of(codes, None, trees), [], 5, nodes.append)
    assert len(nodes) == 12_960
    for share, levels, value in ((0.04, (0, 0, 1, 2, 3, 2, 2, 1, 1), 7_220_555), (0.0, None, 33_627_534)):
        within = [node for node in nodes if node.figures.suppressed <= share * len(codes)]
        least = min(within, key=lambda node: node.figures.discernibility)
        assert least.figures.discernibility == value
        assert levels is None or least.levels == levels


@pytest.mark.parametrize(("share", "nodes", "datafly_loss"), [(0.0, 67, 0.715), (0.05, 2851, 0.327)])
def test_adult_systems_of_the_literature(adult, share, nodes, datafly_loss) -> None:
    codes, trees = adult[0][:, :8], adult[1][:8]
    limit = int(share * len(codes))
    assert incognito(codes, None, trees, 5, limit).nodes == nodes
    space = space_of(codes, None, trees)
    priced = prices(space, iyengar(trees))
    last = datafly(codes, None, trees, Demand(5), limit)[-1]
    assert single(space, last.levels, [], 5, priced).spent / priced.whole == pytest.approx(datafly_loss, abs=1e-3)
