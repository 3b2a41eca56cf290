"""Is a release still good to learn from? Models trained on it are tested on originals nobody touched.

Halves of the original are drawn; one is protected by the same steps as the release and trained on, the other, untouched, is tested on, and
the other way round; five times (5x2 cross-validation). The protected half never sees the other's rows or labels. Beside it stands the same
model trained on the half as it was. The combined F-test of Alpaydin (1999) says whether the two differ. A target of classes is measured by
accuracy, a target of numbers by R2, the share of its variance that a model explains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.contracts import Method, Progress, quiet
from shoal.errors import DataError, ParameterError, counted
from shoal.randomness import rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps
from shoal.runs.sample import sample
from shoal.table import Table

if TYPE_CHECKING:
    from shoal.kernels.trees.c45 import Missing

Measured = Literal["accuracy", "R2"]
REPEATS = 5
MOST_CLASSES = 50


@dataclass(frozen=True)
class LearnedScore:
    """One learner: accuracy or R2 on untouched originals, trained on the original and on the release."""

    learner: str
    original: float
    released: float
    deviation: float  # of the difference, over the folds
    f: float
    p_value: float
    measured: Measured = "accuracy"

    @property
    def loss(self) -> float:
        """What the release costs, in points: hundredths of accuracy or R2."""
        return 100 * (self.original - self.released)


def learn(
    original: Table,
    roles: Roles,
    steps: Sequence[Method],
    secret: int,
    learners: Sequence[str] = (),
    repeats: int = REPEATS,
    progress: Progress = quiet,
) -> list[LearnedScore]:
    """Accuracy, or R2 where the target is a number, of each learner, by repeated two-fold cross-validation."""
    target, measured = _target(original, roles)
    known: dict[str, Fit] = LEARNERS if measured == "accuracy" else REGRESSORS
    chosen = list(learners) or list(known)
    for name in chosen:
        if name not in known:
            of = "" if measured == "accuracy" else f" for '{target}', which is a number"
            raise ParameterError(f"There is no learner named '{name}'{of}. Known: {', '.join(known)}.")
    truth = _wanted(original, original, target, measured)
    classes = len(original.levels(target))
    strata = original.codes(target) if measured == "accuracy" else np.zeros(len(original), np.int64)
    features = [c for c in original.columns if c != target and c not in (*roles.removed, *roles.weight, *roles.household)]
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    done = 0
    for repeat in range(repeats):
        half = _halves_of_persons(original, roles, halves(strata, rng_for(secret, "halves", repeat)))
        for fold in (0, 1):
            plain, tested = original.take(np.flatnonzero(half == fold)), original.take(np.flatnonzero((half != fold) & ~np.isnan(truth)))
            release = _protected(plain, roles, steps, rng_for_int(secret, repeat, fold))
            points = sample(release.table, rng_for(secret, "sample", repeat, fold)) if release.table.cells else release.table
            if target not in points.columns:
                raise DataError(f"The release has no column '{target}', so nothing can be learnt about it. Name a target that is released.")
            right = _wanted(tested, original, target, measured)
            sides = []
            for table in (plain, points):
                wanted = _wanted(table, original, target, measured)
                train, test, nominal = matrices(table, tested, [c for c in features if c in table.columns], original, roles)
                sides.append((train[~np.isnan(wanted)], test, nominal, wanted[~np.isnan(wanted)]))
            for name in chosen:
                before, after = (_score(known[name](*side, classes, secret), right, measured) for side in sides)
                scores[name].append((before, after))
                done += 1
                progress("learning", done, 2 * repeats * len(chosen))
    return [_result(name, scores[name], measured) for name in chosen]


def rng_for_int(secret: int, *step: object) -> int:
    """A secret of its own for a fold, so that folds do not share draws."""
    return int(rng_for(secret, "fold", *step).integers(0, 2**62))


def _protected(half: Table, roles: Roles, steps: Sequence[Method], secret: int) -> Release:
    """A half of the table, by the run's own steps; what the whole table allowed, half of it may not."""
    try:
        return apply_steps(half, roles, steps, secret)
    except DataError as error:
        raise DataError(f"Half of the table cannot be protected as the whole was. {error}") from None


def _target(original: Table, roles: Roles) -> tuple[str, Measured]:
    """The column to predict, and by what: numbers of many values by R2, everything else by accuracy."""
    target = roles.target
    if target is None:
        raise ParameterError("Learning needs a target: name the column to predict with --target.")
    values = len(original.levels(target))
    if values < 2:
        raise DataError(f"The target '{target}' has one class only; there is nothing to learn.")
    number = original.kind(target) == "number" and roles.scale(original, target) == "numeric"
    if values > MOST_CLASSES and not number:
        raise DataError(f"The target '{target}' has {counted(values, 'class', 'classes')}; group them into at most {MOST_CLASSES}.")
    if len(original) < 20:
        raise DataError(f"The table has {counted(len(original), 'row')}, too few to learn from and test on.")
    return target, "R2" if values > MOST_CLASSES else "accuracy"


def _wanted(table: Table, original: Table, target: str, measured: Measured) -> FloatArray:
    """What models should say of each row: its number, or the number of its class in the original; NaN where there is none."""
    if measured == "R2":
        wanted = table.number(target)
    else:
        code = {text: float(i) for i, text in enumerate(original.levels(target).cast(pa.string()).to_pylist())}  # missing is a class
        wanted = np.array([code.get(text, np.nan) for text in table.levels(target).cast(pa.string()).to_pylist()])[table.codes(target)]
    if np.isnan(wanted).all():
        what = "value" if measured == "R2" else "class"
        raise DataError(f"No {what} of the target '{target}' is left in a protected half. Protect other columns, and release it as it is.")
    return np.asarray(wanted)


def _score(predicted: NDArray[Any], right: FloatArray, measured: Measured) -> float:
    if measured == "accuracy":
        return float((predicted == right).mean())
    spread = ((right - right.mean()) ** 2).sum()
    if not spread:
        raise DataError("The target is the same in all rows of a half that know it; there is nothing to explain. Name another target.")
    return float(1 - ((right - predicted) ** 2).sum() / spread)


def halves(labels: IntArray, rng: np.random.Generator) -> IntArray:
    """0 or 1 for each row, each class cut in two as evenly as it goes."""
    order = np.lexsort((rng.random(len(labels)), labels))
    half = np.empty(len(labels), np.int64)
    half[order] = (np.arange(len(labels)) + rng.integers(0, 2)) % 2
    return half


def _halves_of_persons(original: Table, roles: Roles, half: IntArray) -> IntArray:
    """All rows of a person in the half of one of them: whoever was trained on is not tested on."""
    if not roles.person:
        return half
    persons = original.codes(roles.person[0])
    return half[np.unique(persons, return_index=True)[1]][persons]


def matrices(
    trained: Table, tested: Table, features: Sequence[str], original: Table, roles: Roles
) -> tuple[FloatArray, FloatArray, BoolArray]:
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


Fit = Callable[[FloatArray, FloatArray, BoolArray, FloatArray, int, int], NDArray[Any]]  # train, test, nominal, wanted, classes, seed


def decision_tree(
    train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int, missing: Missing = "fractions"
) -> IntArray:
    """C4.5, shoal's own."""
    from shoal.kernels.trees.c45 import grow, predict, route, shares

    codes, ordered = _codes(train, test, nominal)
    tested = codes[len(train) :]
    tree = grow(codes[: len(train)], ordered, wanted.astype(np.int32), classes, missing=missing)
    if missing == "stop":
        return np.asarray(predict(tree, route(tree, tested, ordered)), dtype=np.int64)
    return np.asarray(shares(tree, tested, ordered).round(9).argmax(axis=1))  # rounded: fractions that should tie do


def _codes(train: FloatArray, test: FloatArray, nominal: BoolArray) -> tuple[Int32Array, BoolArray]:
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


def _one_hot(train: FloatArray, test: FloatArray, nominal: BoolArray) -> tuple[FloatArray, FloatArray]:
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


def _naive_bayes(train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int) -> IntArray:
    """Normal densities for numbers, smoothed frequencies for categories; missing says nothing."""
    log = np.zeros((len(test), classes))
    for c in range(classes):
        mine = wanted == c
        log[:, c] = np.log((mine.sum() + 1) / (len(wanted) + classes))
        for j in range(train.shape[1]):
            x, y = train[mine, j], test[:, j]
            x, known = x[~np.isnan(x)], ~np.isnan(y)
            if nominal[j]:
                levels = int(np.nanmax(np.concatenate([train[:, j], test[:, j], [0.0]]))) + 1
                share = (np.bincount(x.astype(int), minlength=levels) + 1) / (len(x) + levels)
                log[known, c] += np.log(share[y[known].astype(int)])
            elif not np.isnan(train[:, j]).all():
                x = x if len(x) > 1 else train[~np.isnan(train[:, j]), j]  # too few to tell: as all classes together
                spread = max(float(x.std(ddof=1)) if len(x) > 1 else 0.0, 1e-6 * (float(np.nanstd(train[:, j])) or 1.0))
                log[known, c] += -0.5 * ((y[known] - x.mean()) / spread) ** 2 - np.log(spread)
    return np.asarray(log.argmax(axis=1))


def _logistic(train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int) -> NDArray[Any]:
    """Logistic regression with a ridge penalty (scikit-learn)."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(wanted)) < 2:
        return np.full(len(test), wanted[0])
    return _fitted(LogisticRegression(max_iter=300), *_one_hot(train, test, nominal), wanted)


def _linear(train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int) -> NDArray[Any]:
    """Linear regression with a ridge penalty (scikit-learn)."""
    from sklearn.linear_model import Ridge

    return _fitted(Ridge(), *_one_hot(train, test, nominal), wanted)


def _regression_tree(train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int) -> NDArray[Any]:
    """A regression tree (scikit-learn) with leaves of one row in a hundred, and of five rows at least."""
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(min_samples_leaf=max(5, len(train) // 100), random_state=seed % 2**32)
    return _fitted(tree, *_one_hot(train, test, nominal), wanted)


def _fitted(model: Any, train: FloatArray, test: FloatArray, wanted: FloatArray) -> NDArray[Any]:
    """What a model of scikit-learn says of the tested rows. One thread: on tables like these, more wait for one another."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):
        return np.asarray(model.fit(train, wanted).predict(test))


def _boosting(train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int) -> NDArray[Any]:
    """Histogram gradient boosting (scikit-learn)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    if len(np.unique(wanted)) < 2 or np.isnan(train).all():
        return np.full(len(test), np.bincount(wanted.astype(np.int64)).argmax())
    return _boosted(HistGradientBoostingClassifier, train, test, nominal, wanted, seed)


def _boosted_numbers(train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, classes: int, seed: int) -> NDArray[Any]:
    """Histogram gradient boosting (scikit-learn)."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return (
        np.full(len(test), wanted.mean())
        if np.isnan(train).all()
        else _boosted(HistGradientBoostingRegressor, train, test, nominal, wanted, seed)
    )


def _boosted(model: Any, train: FloatArray, test: FloatArray, nominal: BoolArray, wanted: FloatArray, seed: int) -> NDArray[Any]:
    says = ~np.isnan(train).all(axis=0)  # scikit-learn cannot bin a column without a value
    train, test, nominal = train[:, says], test[:, says], nominal[says]
    few = [bool(n) and np.nanmax(np.concatenate([train[:, j], test[:, j], [0.0]])) < 255 for j, n in enumerate(nominal)]
    made = model(categorical_features=few, random_state=seed % 2**32, early_stopping=False, max_iter=50)
    return _fitted(made, train, test, wanted)


LEARNERS: dict[str, Fit] = {
    "decision-tree": decision_tree,
    "naive-bayes": _naive_bayes,
    "logistic-regression": _logistic,
    "gradient-boosting": _boosting,
}
REGRESSORS: dict[str, Fit] = {
    "decision-tree": _regression_tree,
    "linear-regression": _linear,
    "gradient-boosting": _boosted_numbers,
}


def _result(name: str, folds: list[tuple[float, float]], measured: Measured) -> LearnedScore:
    differences = np.array([before - after for before, after in folds])
    f, p_value = combined_f_test(differences.reshape(-1, 2))
    means = np.mean(folds, axis=0)
    return LearnedScore(name, float(means[0]), float(means[1]), float(differences.std(ddof=1)), f, p_value, measured)


def combined_f_test(differences: FloatArray) -> tuple[float, float]:
    """Alpaydin's combined 5x2 F-test of the differences by (repeat, fold): (F, p-value)."""
    from scipy.stats import f as f_distribution

    repeats = len(differences)
    spread = ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum()
    if spread == 0:
        return (0.0, 1.0) if not differences.any() else (float("inf"), 0.0)
    f = float((differences**2).sum() / (2 * spread))
    return f, float(f_distribution.sf(f, 2 * repeats, repeats))


def as_rows(results: Sequence[LearnedScore]) -> list[dict[str, Any]]:
    """For JSON and tables."""
    return [
        {
            "learner": r.learner,
            "measured": r.measured,
            "original": r.original,
            "released": r.released,
            "loss": r.loss,
            "deviation": r.deviation,
            "f": r.f,
            "p_value": r.p_value,
        }
        for r in results
    ]
