"""Is a release still good to learn from? Models trained on it are tested on originals nobody touched.

Halves of the original are drawn; one is protected by the same steps as the release and trained on, the other, untouched, is tested on, and
the other way round; five times (5x2 cross-validation). The protected half never sees the other's rows or labels. Beside it stands the same
model trained on the half as it was. The combined F-test of Alpaydin (1999) says whether the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.contracts import Method, Progress, quiet
from shoal.errors import DataError, ParameterError, counted
from shoal.randomness import rng_for
from shoal.recipe import apply_steps
from shoal.release import Release
from shoal.roles import Roles
from shoal.sample import sample
from shoal.table import Table

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
REPEATS = 5


@dataclass(frozen=True)
class Learned:
    """One learner: accuracy on untouched originals, trained on the original and on the release."""

    learner: str
    original: float
    released: float
    deviation: float  # of the difference, over the folds
    f: float
    p_value: float

    @property
    def loss(self) -> float:
        """Points of accuracy the release costs."""
        return 100 * (self.original - self.released)


def learn(
    original: Table,
    roles: Roles,
    steps: Sequence[Method],
    secret: int,
    learners: Sequence[str] = (),
    repeats: int = REPEATS,
    progress: Progress = quiet,
) -> list[Learned]:
    """Accuracy of each learner, by repeated two-fold cross-validation."""
    target = _target(original, roles)
    chosen = list(learners) or list(LEARNERS)
    for name in chosen:
        if name not in LEARNERS:
            raise ParameterError(f"There is no learner named '{name}'. Known: {', '.join(LEARNERS)}.")
    labels = original.codes(target)
    features = [c for c in original.columns if c != target and c not in (*roles.identifier, *roles.weight, *roles.household)]
    accuracy: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    done = 0
    for repeat in range(repeats):
        half = _halves(labels, rng_for(secret, "halves", repeat))
        for fold in (0, 1):
            train, test = np.flatnonzero(half == fold), np.flatnonzero(half != fold)
            plain = original.take(train)
            release = _protected(plain, roles, steps, rng_for_int(secret, repeat, fold))
            points = sample(release.table, rng_for(secret, "sample", repeat, fold)) if release.table.cells else release.table
            tested, truth = original.take(test), labels[test]
            for name in chosen:
                pair = []
                for trained, known in ((plain, labels[train]), (points, labels[train][release.source_row])):
                    predicted = LEARNERS[name](*_matrices(trained, tested, features, original, roles), known, int(labels.max()) + 1, secret)
                    pair.append(float((predicted == truth).mean()))
                accuracy[name].append((pair[0], pair[1]))
                done += 1
                progress("learning", done, 2 * repeats * len(chosen))
    return [_result(name, accuracy[name]) for name in chosen]


def rng_for_int(secret: int, *step: object) -> int:
    """A secret of its own for a fold, so that folds do not share draws."""
    return int(rng_for(secret, "fold", *step).integers(0, 2**62))


def _protected(half: Table, roles: Roles, steps: Sequence[Method], secret: int) -> Release:
    """A half of the table, by the run's own steps; what the whole table allowed, half of it may not."""
    try:
        return apply_steps(half, roles, steps, secret)
    except DataError as error:
        raise DataError(f"Half of the table cannot be protected as the whole was. {error}") from None


def _target(original: Table, roles: Roles) -> str:
    if roles.target is None:
        raise ParameterError("Learning needs a target: name the column to predict with --target.")
    codes = original.codes(roles.target)
    sizes = np.bincount(codes)
    if len(sizes) < 2:
        raise DataError(f"The target '{roles.target}' has one class only; there is nothing to learn.")
    if len(sizes) > 50:
        raise DataError(f"The target '{roles.target}' has {counted(len(sizes), 'class', 'classes')}; group them into at most 50.")
    if len(original) < 20:
        raise DataError(f"The table has {counted(len(original), 'row')}, too few to learn from and test on.")
    return roles.target


def _halves(labels: IntArray, rng: np.random.Generator) -> IntArray:
    """0 or 1 for each row, each class cut in two as evenly as it goes."""
    order = np.lexsort((rng.random(len(labels)), labels))
    half = np.empty(len(labels), np.int64)
    half[order] = (np.arange(len(labels)) + rng.integers(0, 2)) % 2
    return half


def _matrices(
    trained: Table, tested: Table, features: Sequence[str], original: Table, roles: Roles
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Numbers as they are, categories as codes of the original's levels (unknown: missing); and which columns are categories."""
    left: list[FloatArray] = []
    right: list[FloatArray] = []
    nominal = []
    for column in features:
        is_number = roles.scale(original, column) == "numeric" and original.kind(column) in ("number", "date")
        nominal.append(not is_number)
        for table, side in ((trained, left), (tested, right)):
            if is_number:
                plain = table.kind(column) in ("number", "date", "empty")
                side.append(table.number(column) if plain else _text_numbers(table, column, original.column(column).type))
            else:
                code = {v: float(i) for i, v in enumerate(original.levels(column).cast(pa.string()).to_pylist()) if v is not None}
                values = [np.nan if v is None else code.get(v, np.nan) for v in table.levels(column).cast(pa.string()).to_pylist()]
                side.append(np.array(values)[table.codes(column)])
    return np.column_stack(left), np.column_stack(right), np.array(nominal)


def _text_numbers(table: Table, column: str, type_: pa.DataType) -> FloatArray:
    """Numbers and dates that a draw wrote as text, read as the original's; what cannot be read is missing."""
    values = []
    read_as = type_ if pa.types.is_temporal(type_) else pa.float64()
    for text in table.levels(column).to_pylist():
        try:
            values.append(Table.of({"v": pa.array([text], pa.string()).cast(read_as)}).number("v")[0])
        except (pa.ArrowInvalid, DataError):
            values.append(np.nan)
    return np.array(values)[table.codes(column)]


Fit = Callable[[FloatArray, FloatArray, NDArray[np.bool_], IntArray, int, int], IntArray]


def _decision_tree(train: FloatArray, test: FloatArray, nominal: NDArray[np.bool_], labels: IntArray, classes: int, seed: int) -> IntArray:
    """C4.5, shoal's own."""
    from shoal.kernels.trees import grow, predict, route

    codes, ordered = _codes(train, test, nominal)
    tree = grow(codes[: len(train)], ordered, labels.astype(np.int32), classes)
    return np.asarray(predict(tree, route(tree, codes[len(train) :], ordered)), dtype=np.int64)


def _codes(train: FloatArray, test: FloatArray, nominal: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """0 for missing, else ranks among the training values (a test value falls to the nearest below) or category codes."""
    both = np.zeros((len(train) + len(test), train.shape[1]), np.int32)
    for j in range(train.shape[1]):
        values = np.concatenate([train[:, j], test[:, j]])
        known = np.unique(train[~np.isnan(train[:, j]), j])
        if nominal[j]:
            both[:, j] = np.where(np.isnan(values), 0, np.nan_to_num(values) + 1)
        elif len(known):
            both[:, j] = np.where(np.isnan(values), 0, np.maximum(np.searchsorted(known, values, "right"), 1))
    return both, ~nominal


def _one_hot(train: FloatArray, test: FloatArray, nominal: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Standardized numbers (missing: the mean) and indicator columns."""
    left, right = [], []
    for j in range(train.shape[1]):
        x, y = train[:, j], test[:, j]
        if nominal[j]:
            for code in np.unique(x[~np.isnan(x)]):
                left.append((x == code).astype(float))
                right.append((y == code).astype(float))
        elif (~np.isnan(x)).any():
            middle, spread = np.nanmean(x), np.nanstd(x) or 1.0
            left.append(np.nan_to_num((x - middle) / spread))
            right.append(np.nan_to_num((y - middle) / spread))
    if not left:
        return np.zeros((len(train), 1)), np.zeros((len(test), 1))
    return np.column_stack(left), np.column_stack(right)


def _naive_bayes(train: FloatArray, test: FloatArray, nominal: NDArray[np.bool_], labels: IntArray, classes: int, seed: int) -> IntArray:
    """Normal densities for numbers, smoothed frequencies for categories; missing says nothing."""
    log = np.zeros((len(test), classes))
    for c in range(classes):
        mine = labels == c
        log[:, c] = np.log((mine.sum() + 1) / (len(labels) + classes))
        for j in range(train.shape[1]):
            x, y = train[mine, j], test[:, j]
            x, known = x[~np.isnan(x)], ~np.isnan(y)
            if nominal[j]:
                levels = int(np.nanmax(np.concatenate([train[:, j], test[:, j], [0.0]]))) + 1
                share = (np.bincount(x.astype(int), minlength=levels) + 1) / (len(x) + levels)
                log[known, c] += np.log(share[y[known].astype(int)])
            elif len(x) > 1:
                spread = max(float(x.std(ddof=1)), 1e-6 * (float(np.nanstd(train[:, j])) or 1.0))
                log[known, c] += -0.5 * ((y[known] - x.mean()) / spread) ** 2 - np.log(spread)
    return np.asarray(log.argmax(axis=1))


def _logistic(train: FloatArray, test: FloatArray, nominal: NDArray[np.bool_], labels: IntArray, classes: int, seed: int) -> IntArray:
    """Logistic regression with a ridge penalty (scikit-learn)."""
    from sklearn.linear_model import LogisticRegression

    left, right = _one_hot(train, test, nominal)
    if len(np.unique(labels)) < 2:
        return np.full(len(test), labels[0])
    return np.asarray(LogisticRegression(max_iter=300).fit(left, labels).predict(right))


def _boosting(train: FloatArray, test: FloatArray, nominal: NDArray[np.bool_], labels: IntArray, classes: int, seed: int) -> IntArray:
    """Histogram gradient boosting (scikit-learn)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    says = ~np.isnan(train).all(axis=0)  # scikit-learn cannot bin a column without a value
    if len(np.unique(labels)) < 2 or not says.any():
        return np.full(len(test), np.bincount(labels).argmax())
    train, test, nominal = train[:, says], test[:, says], nominal[says]
    few = [bool(n) and np.nanmax(np.concatenate([train[:, j], test[:, j], [0.0]])) < 255 for j, n in enumerate(nominal)]
    model = HistGradientBoostingClassifier(categorical_features=few, random_state=seed % 2**32, early_stopping=False, max_iter=50)
    return np.asarray(model.fit(train, labels).predict(test))


LEARNERS: dict[str, Fit] = {
    "decision-tree": _decision_tree,
    "naive-bayes": _naive_bayes,
    "logistic-regression": _logistic,
    "gradient-boosting": _boosting,
}


def _result(name: str, folds: list[tuple[float, float]]) -> Learned:
    differences = np.array([before - after for before, after in folds])
    f, p_value = combined_f_test(differences.reshape(-1, 2))
    means = np.mean(folds, axis=0)
    return Learned(name, float(means[0]), float(means[1]), float(differences.std(ddof=1)), f, p_value)


def combined_f_test(differences: FloatArray) -> tuple[float, float]:
    """Alpaydin's combined 5x2 F-test of the differences by (repeat, fold): (F, p-value)."""
    from scipy.stats import f as f_distribution

    repeats = len(differences)
    spread = ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum()
    if spread == 0:
        return (0.0, 1.0) if not differences.any() else (float("inf"), 0.0)
    f = float((differences**2).sum() / (2 * spread))
    return f, float(f_distribution.sf(f, 2 * repeats, repeats))


def as_rows(results: Sequence[Learned]) -> list[dict[str, Any]]:
    """For JSON and tables."""
    return [
        {
            "learner": r.learner,
            "original": r.original,
            "released": r.released,
            "loss": r.loss,
            "deviation": r.deviation,
            "f": r.f,
            "p_value": r.p_value,
        }
        for r in results
    ]
