"""Train on a protected half, test on the other as it was: the paper's Figure 7. What is run once is remembered, so tables share it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from experiments.kisilevich_2010.discretise import discretised
from experiments.kisilevich_2010.sets import CLASS, Data
from shoal.contracts import Method
from shoal.measures import NCP
from shoal.methods.generalization import Generalization
from shoal.randomness import rng_for
from shoal.runs.learning import LEARNERS, decision_tree, halves, matrices
from shoal.runs.recipe import apply_steps
from shoal.runs.sample import sample

SECRET = 2010
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Points = tuple[FloatArray, FloatArray, NDArray[np.bool_], IntArray, IntArray]  # train, test, which are categories, labels, truth
TREE, BAYES, LOGISTIC, BOOSTING = "decision-tree", "naive-bayes", "logistic-regression", "gradient-boosting"
STOP = "decision tree, rows with missing values stop"
PROTOCOLS = {
    "in-fold": "numbers as they are; nothing of the tested half is seen",
    "in-fold, discretised": "numbers cut by entropy and MDL, learned from the training half alone",
    "discretised-on-the-whole-file-with-labels": "as the paper: cut on both halves with their classes, which LEAKS the tested labels",
}


@dataclass
class Fold:
    """One release of one half."""

    ncp: float
    accuracy: dict[str, float]
    points: Points | None  # kept while learners may still be asked for


@dataclass(frozen=True)
class Run:
    """Accuracy in per cent and NCP, by repeat and fold."""

    accuracy: FloatArray
    ncp: float


_DONE: dict[tuple[str, str, str, int, int], Fold] = {}


def run(data: Data, method: Method | None, repeats: Sequence[int], learner: str = TREE, protocol: str = "in-fold") -> Run:
    """A method (None: the original) on both halves of each repeat."""
    folds = [[_fold(data, method, repeat, fold, learner, protocol) for fold in (0, 1)] for repeat in repeats]
    accuracy = np.array([[100 * one.accuracy[learner] for one in pair] for pair in folds])
    return Run(accuracy, float(np.mean([one.ncp for pair in folds for one in pair])))


def curve(data: Data, methods: Sequence[Method], repeats: Sequence[int], learner: str = TREE) -> tuple[FloatArray, FloatArray]:
    """NCP and accuracy (method, repeat, fold)."""
    found = [[[_fold(data, m, repeat, fold, learner, "in-fold") for fold in (0, 1)] for repeat in repeats] for m in methods]
    ncp = np.array([[[one.ncp for one in pair] for pair in rows] for rows in found])
    return ncp, np.array([[[100 * one.accuracy[learner] for one in pair] for pair in rows] for rows in found])


def _fold(data: Data, method: Method | None, repeat: int, fold: int, learner: str, protocol: str) -> Fold:
    said = "original" if method is None else f"{method.name} {sorted(method.given().items())}"  # type: ignore[attr-defined]
    key = (data.name, protocol, said, repeat, fold)
    if key not in _DONE or (learner not in _DONE[key].accuracy and _DONE[key].points is None):
        known = _DONE[key].accuracy if key in _DONE else {}
        _DONE[key] = _protected(data, method, repeat, fold, protocol)
        _DONE[key].accuracy.update(known)
        named = "original" if method is None else f"{method.name}, k = {method.given()['k']}"  # type: ignore[attr-defined]
        print(f"  {data.name}, {protocol}: {named}, repeat {repeat + 1}".ljust(110), end="\r", file=sys.stderr, flush=True)
    one = _DONE[key]
    if learner not in one.accuracy:
        assert one.points is not None
        one.accuracy[learner] = learned(one.points, learner)
    return one


def learned(points: Points, learner: str) -> float:
    """Accuracy of a learner."""
    train, test, nominal, labels, truth = points
    some = ~np.isnan(train).all(axis=0)  # a column that is suppressed throughout teaches nothing, and stops scikit-learn's boosting
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = int(max(labels.max(), truth.max())) + 1
        fit = partial(decision_tree, missing="stop") if learner == STOP else LEARNERS[learner]
        predicted = fit(train[:, some], test[:, some], nominal[some], labels, classes, SECRET)
    return float((predicted == truth).mean())


def forget(data: Data) -> None:
    """Let go of tables that no learner will ask for again; accuracies stay."""
    for key, one in _DONE.items():
        if key[0] == data.name:
            one.points = None


@cache
def half_of(name: str, data: Data, repeat: int) -> IntArray:
    """Which half each row is in."""
    return halves(data.table.codes(CLASS), rng_for(SECRET, "halves", name, repeat))


@cache
def _leaking(data: Data) -> Data:
    return discretised(data, np.arange(len(data.table)), "discretised on the whole file")


def _protected(data: Data, method: Method | None, repeat: int, fold: int, protocol: str) -> Fold:
    half = half_of(data.halves, data, repeat)
    train, test = np.flatnonzero(half == fold), np.flatnonzero(half != fold)
    if protocol == "in-fold, discretised":
        seen = discretised(data, train, "discretised in-fold")
    else:
        seen = data if protocol == "in-fold" else _leaking(data)
    labels = seen.table.codes(CLASS)
    plain, tested = seen.table.take(train), seen.table.take(test)
    if method is None:
        return Fold(0.0, {}, (*matrices(plain, tested, seen.features, seen.table, seen.roles), labels[train], labels[test]))
    assert isinstance(method, Generalization)
    release = apply_steps(plain, seen.roles, [method], int(rng_for(SECRET, "fold", repeat, fold).integers(0, 2**62)))
    points = sample(release.table, rng_for(SECRET, "sample", repeat, fold))
    ncp = NCP().measure(plain, release, seen.roles).value
    both = matrices(points, tested, seen.features, seen.table, seen.roles)
    return Fold(float(ncp or 0.0), {}, (*both, labels[train][release.source_row], labels[test]))
