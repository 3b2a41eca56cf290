"""The exact solver on problems small enough to see through, and on Census; and the checker of its certificates."""

import copy
import json

import numpy as np
import pytest

from shoal.kernels.linkage import benders, simplices
from shoal.kernels.linkage.aggregation import OWA, Bilinear, Choquet, WeightedMean, recount, standardized
from shoal.kernels.linkage.benders import solve
from shoal.kernels.linkage.dominance import distinct, undominated
from shoal.kernels.linkage.margins import Game
from shoal.kernels.linkage.parameter_space import ParameterSpace
from shoal.kernels.mdav import mdav_groups
from tests.data import data_path
from tests.linkage_proof import ProofBroken, check_linkage

FAMILIES = ["weighted-mean", "owa", "bilinear", "choquet", "choquet-submodular"]


def noisy(n=20, d=3, noise=0.8, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, x + noise * rng.normal(size=x.shape)


def census(blocks, seed, records=400):
    """A sample of Census, microaggregated in blocks of consecutive columns on raw values (section 5.4.3)."""
    table = np.loadtxt(data_path("casc", "census.csv"), delimiter=",", skiprows=1)
    rows = np.random.default_rng(seed).choice(len(table), records, replace=False)
    original = table[rows][:, : sum(width for width, _ in blocks)]
    protected, at = np.empty_like(original), 0
    for width, k in blocks:
        groups = mdav_groups(original[:, at : at + width], k)
        for column in range(at, at + width):
            protected[:, column] = (np.bincount(groups, original[:, column]) / np.bincount(groups))[groups]
        at += width
    return standardized(original, protected)


def test_two_attributes_by_hand():
    """Record 1 is linked for p1 > 1/2, record 2 for p1 < 1/3, record 3 for p1 < 3/4: two of the three, p1 between 1/2 and 3/4 or below 1/3."""
    game = [  # squared differences of the true link, and of the one candidate that matters
        ((1.0, 2.0), (2.0, 1.0)),  # p1 (2 - 1) + p2 (1 - 2) > 0
        ((2.0, 0.0), (0.0, 1.0)),  # -2 p1 + p2 > 0
        ((1.0, 0.0), (0.0, 3.0)),  # -p1 + 3 p2 > 0
    ]
    for chosen, feasible in (((0,), True), ((0, 1), False), ((0, 2), True), ((1, 2), True), ((0, 1, 2), False)):
        low, high = 0.0, 1.0
        for true, wrong in (game[i] for i in chosen):
            a, b = wrong[0] - true[0], wrong[1] - true[1]
            root = b / (b - a)
            low, high = (max(low, root), high) if a > b else (low, min(high, root))
        assert (low < high) == feasible
    # Far apart, so that nothing else competes: three pairs of rows, whose second is in nobody's way but the first's.
    original, protected = [], []
    for place, (true, wrong) in enumerate(game):
        here = np.array([1000.0 * place, 0])
        original += [here, here + 500]
        protected += [here + np.sqrt(true), here + np.sqrt(wrong)]
    found = solve(original, protected, "weighted-mean", 600)
    assert found.proven
    assert found.counted.strict[[0, 2, 4]].sum() == 2
    assert found.linked == recount(found.aggregator, original, protected).strict.sum()


def test_dominated_candidates_do_not_matter():
    original = np.array([[0.0, 0], [50, 50], [60, 60], [70, 70]])
    protected = np.array([[2.0, 2], [3, 1], [3, 3], [4, 1]])  # of record 1: squares 4 4 (true), 9 1, 9 9 (above), 16 1 (beyond the second)
    found = undominated(original, protected, 0)
    assert found.rows[found.start[0] : found.start[1]].tolist() == [1]
    assert found.hopeless.tolist() == [False, True, False, False]  # record 2 is no nearer to its own row than to the third in either
    assert undominated(original[:1], protected, 1).rows.tolist() == [1]  # from the largest: 9 1 is neither above nor below 4 4


def test_a_candidate_farther_by_a_rounding_error_is_a_tie():
    """0.3 - 0.2 and 0.1 - 0.0 are the same but for the last bits: no distance tells the two rows apart."""
    x, y = np.array([[0.3], [9.0]]), np.array([[0.2], [0.4]])
    assert abs(x[0] - y[0]) != abs(x[0] - y[1])
    assert undominated(x, y, 0).hopeless.tolist() == [True, False]
    for family in FAMILIES:
        found = solve(x, y, family, 600)
        assert (found.linked, found.bound) == (1, 1)
        assert check_linkage(found.certificate(), x, y).optimal


def test_equal_protected_rows_cannot_be_told_apart():
    found = distinct(np.zeros((3, 2)), np.array([[1.0, 1], [1, 1], [2, 1]]))
    assert found.hopeless.tolist() == [True, True, False]
    assert [found.rows[a:b].tolist() for a, b in zip(found.start, found.start[1:])] == [[1], [0], [0]]


def test_no_form_tells_a_row_on_the_way_from_its_own():
    """Differences that are a multiple of the true link's, and no larger, are no farther under any form: 0, half, and all of it mirrored."""
    original = np.zeros((1, 2))
    for row, hopeless in (((0.0, 0), True), ((1, 2), True), ((-2, -4), True), ((3, 6), False), ((1, 2.1), False)):
        found = distinct(original, np.array([[2.0, 4], row]))
        assert found.hopeless.tolist() == [hopeless]
        assert solve(original, [[2.0, 4], row], "bilinear", 600).bound == 1 - hopeless


def test_two_records_whose_best_margin_is_exactly_nothing():
    """With e = (0, 1, 0, -1), f = (1, 0, -1, 0) and a form q, record 1 needs q(2e) > q(f - e) and record 2 needs q(e) > q(f + 2e).

    Shares l and 1 - l of the two leave [[6l - 3, 3l - 2], [3l - 2, -1]] over e and f, which is negative semi-definite where
    (3l - 1)^2 <= 0: only a third and two thirds prove that it cannot be.
    """
    x, y = np.array([[1.0, 0, 1, 2], [0, 0, 2, 2]]), np.array([[0.0, 1, 2, 1], [1, 2, 1, 0]])
    found = solve(x, y, "bilinear", 600)
    assert (found.linked, found.bound) == (1, 1)
    assert check_linkage(found.certificate(), x, y).optimal
    cut = next(cut for cut in found.cuts if len(cut.records) == 2)
    share = {record: share / sum(cut.shares) for (record, _), share in zip(cut.links, cut.shares)}
    assert share == pytest.approx({0: 1 / 3, 1: 2 / 3}, abs=1e-3)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_unit_does_not_matter(family, scale):
    x, y = noisy(20, noise=0.2)
    assert solve(scale * x, scale * y, family, 600).linked == solve(x, y, family, 600).linked


@pytest.mark.parametrize("seconds", [0, 1e-4, 600])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_smallest_tables_get_an_answer(family, seconds):
    rng = np.random.default_rng(3)
    for x, y in (
        (np.zeros((5, 3)), np.zeros((5, 3))),
        (np.zeros((1, 1)), np.ones((1, 1))),
        (np.zeros((2, 1)), np.array([[0.0], [1]])),
        (np.array([[0.0, 1], [1, 0]]), np.array([[1.0, 0], [0, 1]])),
        (np.full((2, 4), 7.0), np.full((3, 4), 7.0)),
        (rng.normal(size=(2, 2)), rng.normal(size=(2, 2))),
        (rng.normal(size=(1, 4)), rng.normal(size=(5, 4))),
    ):
        found = solve(x, y, family, seconds)
        assert found.gap >= 0
        assert found.proven or seconds < 1
        proof = check_linkage(found.certificate(), x, y)
        assert (proof.linked, proof.bound) == (found.linked, found.bound)


def test_the_best_margin_of_a_game_by_hand():
    """One record, two candidates (wm): margins 4 p1 - 4 p2 and -p1 + 5 p2 over the largest square, 5. At p1 = 9/14 both are 8/70."""
    original = np.array([[0.0, 0], [100, 100], [200, 200]])
    protected = np.array([[1.0, 2.0], [np.sqrt(5), 0], [0, 3.0]])
    game = Game(ParameterSpace("weighted-mean", 2), original, protected)
    rows = [1 / 5 * np.array([4.0, -4]), 1 / 9 * np.array([-1.0, 5])]
    p = np.linspace(0, 1, 100_001)
    best = max(np.minimum(rows[0][0] * p + rows[0][1] * (1 - p), rows[1][0] * p + rows[1][1] * (1 - p)))
    assert game.margin(np.array([True, False, False])) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_unprotected_file_is_linked_whole(family):
    x, _ = noisy(30)
    found = solve(x, x, family, 600)
    assert (found.linked, found.bound) == (30, 30)
    x[3] = x[4]  # twins cannot be told apart, whatever the distance
    found = solve(x, x, family, 600)
    assert (found.linked, found.bound) == (28, 28)
    assert found.counted.share.sum() == pytest.approx(29)
    assert check_linkage(found.certificate(), x, x).optimal


@pytest.mark.parametrize("family", FAMILIES)
def test_one_group_links_nobody(family):
    """A file in which all rows are the same: every link is a tie."""
    x, y = noisy(12)
    y[:] = y.mean(axis=0)
    found = solve(x, y, family, 600)
    assert (found.linked, found.bound) == (0, 0)
    assert found.counted.shared_rate == pytest.approx(1 / 12)
    assert check_linkage(found.certificate(), x, y).optimal


@pytest.mark.parametrize("family", FAMILIES)
def test_one_attribute_and_one_record(family):
    x, y = noisy(25, d=1, noise=0.2)
    found = solve(x, y, family, 600)
    assert found.proven
    assert found.linked == recount(WeightedMean([1.0]), x, y).strict.sum()  # with one attribute there is but one distance
    assert check_linkage(found.certificate(), x, y).optimal
    assert solve(x[:1], y[:1], family, 600).linked == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_hold_at_any_time(family):
    x, y = noisy(40, noise=0.2)
    whole = solve(x, y, family, 600)
    assert whole.proven
    at_once = solve(x, y, family, 0)
    assert at_once.linked <= whole.linked <= at_once.bound
    assert check_linkage(at_once.certificate(), x, y).linked == at_once.linked
    assert solve(x, y, family, 0, start=whole.aggregator).linked >= whole.linked - 1


def test_larger_families_link_no_less():
    x, y = noisy(40, noise=0.2, seed=11)
    linked = {family: solve(x, y, family, 600) for family in FAMILIES}
    assert all(found.proven for found in linked.values())
    count = {family: found.linked for family, found in linked.items()}
    assert count["choquet"] >= count["choquet-submodular"] >= count["weighted-mean"]
    assert count["choquet"] >= count["owa"]
    assert count["bilinear"] >= count["weighted-mean"]
    assert count["choquet"] >= solve(x, y, "choquet", 600, k_additive=2).linked >= count["weighted-mean"]
    assert solve(x, y, "choquet", 600, k_additive=1).linked == count["weighted-mean"]
    assert solve(x, y, "choquet", 600, k_additive=3).linked == count["choquet"]


def test_what_is_found_is_of_its_family():
    x, y = noisy(40, noise=0.2, seed=11)
    assert isinstance(solve(x, y, "weighted-mean", 600).aggregator, WeightedMean)
    assert isinstance(solve(x, y, "owa", 600).aggregator, OWA)
    form = solve(x, y, "bilinear", 600).aggregator
    assert isinstance(form, Bilinear)
    assert form.properties().non_negativity
    assert np.trace(form.matrix) == pytest.approx(1)
    measure = solve(x, y, "choquet-submodular", 600).aggregator
    assert isinstance(measure, Choquet)
    assert measure.submodular()
    two = solve(x, y, "choquet", 600, k_additive=2).aggregator
    assert isinstance(two, Choquet)
    assert two.k_additive() <= 2


@pytest.mark.parametrize(
    ("change", "words", "sentence"),
    [
        (lambda x, y: (x, y[:-1]), {}, "needs row i"),
        (lambda x, y: (x, y[:, :2]), {}, "same attributes"),
        (lambda x, y: (np.where(x > 1, np.nan, x), y), {}, "finite"),
        (lambda x, y: (np.tile(x, 5), np.tile(y, 5)), {"family": "choquet"}, "2\\^15"),
        (lambda x, y: (x, y), {"family": "choquet", "k_additive": 4}, "k from 1 to 3"),
        (lambda x, y: (x, y), {"k_additive": 2}, "Only a fuzzy measure"),
    ],
)
def test_bad_input_gets_a_sentence(change, words, sentence):
    with pytest.raises(ValueError, match=sentence):
        solve(*change(*noisy()), words.pop("family", "weighted-mean"), 1, **words)


@pytest.mark.parametrize("family", FAMILIES)
def test_protected_rows_of_nobody_stand_in_the_way(family):
    x, y = noisy(40, noise=0.2)
    alone, among = solve(x[:25], y[:25], family, 600), solve(x[:25], y, family, 600)
    assert among.proven
    assert among.linked <= alone.linked
    assert among.linked == recount(among.aggregator, x[:25], y).strict.sum()
    assert check_linkage(among.certificate(), x[:25], y).optimal
    assert solve(x[:25], np.vstack([y[:25], y[:1]]), family, 600).counted.strict[0] == 0  # a twin that is nobody's


# Census, as in section 5.4.3.


@pytest.mark.parametrize(
    ("blocks", "family", "linked"),
    [
        (((2, 2), (2, 8)), "weighted-mean", 359),
        (((2, 2), (2, 8)), "choquet", 362),
        (((2, 2), (2, 8)), "bilinear", 365),
        (((2, 2), (2, 8)), "choquet-submodular", 359),
        (((3, 3), (2, 8)), "weighted-mean", 336),
        (((2, 8), (2, 5), (2, 3)), "weighted-mean", 397),
    ],
)
def test_census_optima_are_proven_and_their_certificates_hold(blocks, family, linked):
    x, y = census(blocks, seed=0)
    found = solve(x, y, family, 120)
    assert (found.linked, found.bound) == (linked, linked)
    proof = check_linkage(json.loads(json.dumps(found.certificate())), x, y)
    assert proof.optimal
    assert proof.linked == linked


# The checker refuses what is not so.


def tampered(certificate):
    """The same certificate with one thing changed, in many ways that make it say what is not true."""
    cuts = certificate["cuts"]
    several = max(range(len(cuts)), key=lambda at: len(cuts[at]["links"]))
    record = cuts[several]["links"][0][0]

    def leave_a_record_out(c):  # no cut holds without one of its records: they are minimal
        cut = c["cuts"][several]
        cut["shares"] = [0 if i == record else share for (i, _), share in zip(cut["links"], cut["shares"])]

    for change in (
        leave_a_record_out,
        lambda c: c.update(bound=c["bound"] - 1),
        lambda c: c["linked"].append(next(i for i in range(40) if i not in c["linked"])),
        lambda c: c["linked"].append(c["linked"][0]),
        lambda c: c["cuts"].clear(),
        lambda c: c["cuts"][several]["shares"].__setitem__(0, -c["cuts"][several]["shares"][0]),
        lambda c: c["cuts"][several]["links"].pop(),
        lambda c: c["cuts"][several]["links"].__setitem__(0, [0, 0]),
        lambda c: c["cuts"][several]["links"].__setitem__(0, [0, 1000]),
        lambda c: c.pop("cuts"),
        lambda c: c.update(family="mean"),
        lambda c: c.update(parameters=(-np.asarray(c["parameters"], float)).tolist()),
    ):
        changed = copy.deepcopy(certificate)
        change(changed)
        yield changed


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tampered_certificate_is_refused(family):
    x, y = noisy(40, noise=0.2, seed=11)
    certificate = solve(x, y, family, 600).certificate()
    assert check_linkage(certificate, x, y).optimal
    for changed in tampered(certificate):
        with pytest.raises(ProofBroken):
            check_linkage(changed, x, y)
    with pytest.raises(ProofBroken):
        check_linkage(certificate, x, y[::-1])  # another file


def test_a_constraint_no_measure_has_is_refused():
    x, y = noisy(40, noise=0.2, seed=11)
    certificate = solve(x, y, "choquet", 600).certificate()
    cut = next(cut for cut in certificate["cuts"] if cut["constraints"])
    cut["constraints"][0] = [[1, -1]]  # attribute 1 measures less than nothing
    with pytest.raises(ProofBroken, match="does not hold"):
        check_linkage(certificate, x, y)
    submodular = solve(x, y, "choquet-submodular", 600).certificate()
    submodular["family"] = "choquet"  # a smaller family's cuts prove nothing about a larger one
    with pytest.raises(ProofBroken):
        check_linkage(submodular, x, y)


# Cells, which take over where covers do not close.


@pytest.mark.parametrize("family", ["weighted-mean", "owa"])
def test_cells_prove_the_same_optimum_as_covers(family, monkeypatch):
    x, y = noisy(60, noise=0.5, seed=11)
    monkeypatch.setattr(benders, "PATIENCE", np.inf)
    by_covers = solve(x, y, family, 600)
    assert by_covers.cells is None
    monkeypatch.setattr(benders, "PATIENCE", -1.0)
    by_cells = solve(x, y, family, 600)
    assert by_cells.cells is not None
    assert by_covers.proven
    assert by_cells.proven
    assert by_cells.linked == by_covers.linked
    certificate = json.loads(json.dumps(by_cells.certificate()))
    assert check_linkage(certificate, x, y).optimal
    for changed in tampered_cells(certificate):
        with pytest.raises(ProofBroken):
            check_linkage(changed, x, y)


def tampered_cells(certificate):
    cells = certificate["cells"]
    leaf = max(range(len(cells)), key=lambda at: sum(not cells[at][0] and len(cut) > 1 for cut in cells[at][1]))
    cut = next(at for at in range(len(cells[leaf][1])) if len(cells[leaf][1][at]) > 1)
    inner = next(at for at in range(len(cells)) if cells[at][0])
    for change in (
        lambda c: c.update(bound=c["bound"] - 1),
        lambda c: c.update(family="choquet"),
        lambda c: c["cells"].pop(),
        lambda c: c["cells"].append([[], []]),
        lambda c: c["cells"][leaf][1].clear(),
        lambda c: c["cells"][leaf][1][cut].pop(),
        lambda c: c["cells"][leaf][1][cut][0].__setitem__(2, -1),
        lambda c: c["cells"][leaf][1][cut][0].__setitem__(1, c["cells"][leaf][1][cut][0][0]),
        lambda c: c["cells"][inner][0].__setitem__(2, 64),
        lambda c: c["cells"][inner].__setitem__(0, []),
    ):
        changed = copy.deepcopy(certificate)
        change(changed)
        yield changed


def test_a_pass_finds_what_is_below_its_target_and_proves_what_is_not():
    """One attribute links record 1, the other record 2, neither both: one failure, never none."""
    rows = np.array([[1.0, -1], [-1, 1 - 1e-6]])
    for target, state in ((1, simplices.DONE), (2, simplices.FOUND)):
        one = simplices.Pass(rows, np.array([0, 1]), target)
        while (now := one.walk()) == simplices.OPEN:
            pass
        assert now == state
    assert ((rows @ one.weights) > 0).sum() == 1
