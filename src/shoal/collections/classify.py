"""Learning from an anonymous collection: who trains on what, and how often the class is right (Abril 2014, 4.4.3).

Documents of a training part and of a test part are protected apart, over one vocabulary that was fitted on the training part alone. A
model is trained on originals or on the release of the one, and tested on originals or on the release of the other. Classes of released
rows are those of their documents: the owner knows them, whether they are released or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.collections.release import CollectionRelease
from shoal.collections.side_by_side import blocks, over_same_terms
from shoal.collections.space import Space
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, ParameterError
from shoal.params import Params
from shoal.score import Score, wilson

Scenario = Literal["original to protected", "protected to protected", "protected to original"]  # trained on, tested on
SCENARIOS: tuple[tuple[Scenario, int, int], ...] = (
    ("original to protected", 0, 1),
    ("protected to protected", 1, 1),
    ("protected to original", 1, 0),
)


class Labelled(NamedTuple):
    """Different rows, and how many documents of each class stand behind each: rows of one cluster are the same, and so are answers."""

    rows: Any
    counts: IntArray  # rows by classes


Answer = Callable[[Any], IntArray]  # rows to classes


class Classification(Params):
    """Accuracy of three learners in three scenarios, each beside the same learner on originals throughout and the commonest class.

    `nearest` lets the most similar documents vote, those that tie for the last place with a part of a vote; `bayes` is multinomial
    naive Bayes over the weights; `linear` is a linear support vector machine (scikit-learn). Nothing depends on the order of rows.
    """

    name: ClassVar[str] = "classification"
    title: ClassVar[str] = "Classes learned and found"
    learners: tuple[str, ...] = Field(("nearest", "bayes", "linear"), min_length=1, description="Learners to try")
    neighbours: int = Field(10, ge=1, description="Documents that vote, for nearest")
    alpha: float = Field(0.1, gt=0, description="What is added to each term's weight in each class, for bayes")
    penalty: float = Field(1.0, gt=0, description="What an error costs, C, for linear")

    def measure(
        self, train: Space, train_release: CollectionRelease, test: Space, test_release: CollectionRelease, progress: Progress = quiet
    ) -> tuple[Score, ...]:
        """One score for each learner and scenario."""
        known: dict[str, Callable[[Labelled], Answer]] = {"nearest": self._nearest, "bayes": self._bayes, "linear": self._linear}
        for learner in self.learners:
            if learner not in known:
                raise ParameterError(f"There is no learner named '{learner}'. Known: {', '.join(known)}.")
        classes = _classes(train, test)
        trained = _sides(train, train_release, classes)
        tested = _sides(test, test_release, classes)
        width = max(side.rows.shape[1] for side in (*trained, *tested))
        trained, tested = ([_widened(side, width) for side in sides] for sides in (trained, tested))
        common = tested[0].counts[:, np.argmax(trained[0].counts.sum(axis=0))].sum() / len(test)
        found = []
        for done, learner in enumerate(self.learners):
            models = [known[learner](side) for side in trained]
            right = {(a, b): _right(models[a](tested[b].rows), tested[b].counts) for a in (0, 1) for b in (0, 1)}
            found += [
                self._score(learner, scenario, right[a, b], right[0, 0] / len(test), tested[b].counts, common)
                for scenario, a, b in SCENARIOS
            ]
            progress("learning", done + 1, len(self.learners))
        return tuple(found)

    def _score(self, learner: str, scenario: Scenario, right: int, before: float, counts: IntArray, common: float) -> Score:
        n = int(counts.sum())
        name = f"{self.name} {learner} {scenario}"
        details = {"learner": learner, "scenario": scenario, "original": before, "commonest": float(common), "tested": n}
        details |= {key: value for key, value in self.given().items() if key != "learners"}
        return Score(name, f"Accuracy, {learner}, {scenario}", right / n, "higher", (0, 1), wilson(right, n), details=details)

    def _nearest(self, train: Labelled) -> Answer:
        """The classes of the nearest documents; votes that tie go to the class with more documents, then to the first by name."""
        counts, sizes, prior = train.counts.astype(np.float64), train.counts.sum(axis=1), train.counts.sum(axis=0)
        across, wanted = train.rows.T.tocsr(), min(self.neighbours, int(sizes.sum()))
        places = min(wanted, len(sizes))  # so many different rows hold at least as many documents

        def answer(asked: Any) -> IntArray:
            found = np.empty(asked.shape[0], np.int64)
            for part in blocks(asked.shape[0], len(sizes)):
                similar = np.round((asked[part] @ across).toarray(), 9)
                top = np.argpartition(similar, len(sizes) - places, axis=1)[:, len(sizes) - places :]
                ranked = np.take_along_axis(top, np.argsort(-np.take_along_axis(similar, top, axis=1), axis=1), axis=1)
                last = np.minimum((np.cumsum(sizes[ranked], axis=1) < wanted).sum(axis=1), places - 1)
                limit = np.take_along_axis(similar, np.take_along_axis(ranked, last[:, None], axis=1), axis=1)
                above, at = (similar > limit) @ counts, (similar == limit) @ counts
                left = wanted - above.sum(axis=1, keepdims=True)
                found[part] = _largest(above + at * left / at.sum(axis=1, keepdims=True), prior)
            return found

        return answer

    def _bayes(self, train: Labelled) -> Answer:
        weights = (train.rows.T @ train.counts).T + self.alpha  # classes by terms
        log = np.log(weights / weights.sum(axis=1, keepdims=True))
        prior = train.counts.sum(axis=0)
        before = np.log(np.maximum(prior, 1e-300))  # a class that was not there is never said
        return lambda asked: _largest(asked @ log.T + before, prior)

    def _linear(self, train: Labelled) -> Answer:
        from sklearn.svm import LinearSVC
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        row, code = np.nonzero(train.counts)
        model = LinearSVC(C=self.penalty, dual=False)  # no draws: the same whatever the order of rows
        with threadpool_limits(1):
            model.fit(_short(train.rows[row]), code, sample_weight=train.counts[row, code])
        return lambda asked: np.asarray(model.predict(_short(asked)), np.int64)


def _short(rows: Any) -> Any:
    """scikit-learn wants places of 32 bits."""
    return sparse.csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)


def _largest(votes: FloatArray, prior: IntArray) -> IntArray:
    """The class with most votes; of equal ones the commonest in training, then the first."""
    order = np.argsort(-prior, kind="stable")
    return np.asarray(order[np.argmax(np.round(votes, 9)[:, order], axis=1)])


def _right(answers: IntArray, counts: IntArray) -> int:
    return int(counts[np.arange(len(answers)), answers].sum())


def _classes(train: Space, test: Space) -> list[str]:
    """All classes, in alphabetical order."""
    if train.labels is None or test.labels is None:
        which = "training" if train.labels is None else "test"
        raise DataError(f"The {which} documents have no labels, so there are no classes to learn. Give each document its class.")
    if train.terms != test.terms:
        raise DataError(
            "The test documents have other terms than the training ones. Make them with the same vocabulary: Builder.transform."
        )
    if len(set(train.labels)) < 2:
        raise DataError("The training documents have one class only; there is nothing to learn.")
    return sorted({*train.labels, *test.labels})


def _sides(space: Space, release: CollectionRelease, classes: list[str]) -> list[Labelled]:
    """A part as it was, and as it was released."""
    place = {label: code for code, label in enumerate(classes)}
    codes = np.array([place[label] for label in space.labels or ()], np.int64)
    pair = over_same_terms(space, release)
    there = pair.cluster >= 0
    counts = np.bincount(pair.cluster[there] * len(classes) + codes[there], minlength=len(pair.sizes) * len(classes))
    return [
        Labelled(pair.rows, np.eye(len(classes), dtype=np.int64)[codes]),
        Labelled(pair.centroids, counts.reshape(-1, len(classes))),
    ]


def _widened(side: Labelled, width: int) -> Labelled:
    rows = side.rows.copy()
    rows.resize((rows.shape[0], width))
    return side._replace(rows=rows)
