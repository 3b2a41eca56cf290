"""Measured figures of collections, for `python docs/generate.py --reuters FOLDER`.

FOLDER holds r8-train-all-terms.txt and r8-test-all-terms.txt (Reuters-21578, eight classes, as prepared by A. Cardoso-Cachopo). The training
part is the collection; documents of the test part that are not in it are outsiders. Everything runs with seed 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shoal.collections import Builder, CollectionRelease, Space, TermWeights
from shoal.collections.space import contents
from shoal.randomness import rng_for
from shoal.registry import Kind, everything, make
from shoal.runs.collections import CollectionSubject
from shoal.runs.evidence import attack_all, measure_all
from shoal.score import AttackResult, Score

SEED = 1
FEW = 500  # documents for semantic, which compares all pairs
RUNS: dict[str, tuple[dict[str, Any], ...]] = {
    "spherical": ({"k": 3}, {"k": 10}, {"k": 10, "partition": "mdav", "swaps": 0}, {"k": 10, "term_documents": 2}),
    "semantic": ({"k": 3}, {"k": 10}),
}


class Measured(NamedTuple):
    """A release with its evidence."""

    method: str
    given: dict[str, Any]
    release: CollectionRelease
    scores: dict[str, Score]
    results: dict[str, AttackResult]

    @property
    def label(self) -> str:
        """Method and parameters, as on the command line."""
        of = f", first {FEW}" if self.method == "semantic" else ""
        return f"Reuters{of}, {' '.join([self.method, *(f'{key}={value}' for key, value in self.given.items())])}"


def figures(folder: Path) -> Iterator[tuple[Kind, str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Kind, name, heads and rows of every table."""
    every = [_measured(folder, method, run) for method, runs in RUNS.items() for run in runs]
    for method in RUNS:
        rows = [_method_row(one) for one in every if one.method == method]
        heads = ("parameters", "fewest alike", "loss", "cluster found", "row found", "by five terms", "membership", "last member")
        yield "collection-method", method, heads, rows
    for measure in everything("collection-measure"):
        rows = [(one.label, f"{value:.3g}") for one in every if (value := one.scores[measure.name].value) is not None]
        yield "collection-measure", measure.name, ("release", "value"), rows
    for attack in everything("collection-attack"):
        rows = [(one.label, *_hits(one.results[attack.name])) for one in every if attack.name in one.results]
        yield "collection-attack", attack.name, ("release", "hits", "95 % interval", "blind guessing"), rows


def _measured(folder: Path, method: str, run: dict[str, Any]) -> Measured:
    space, outsiders = _spaces(folder)
    if method == "semantic":
        space = space.take(slice(FEW))
    release = make("collection-method", method, run).protect(space, rng_for(SEED, method))
    subject = CollectionSubject(space, release, outsiders)
    scores = {score.name: score for score in measure_all(subject, (), SEED)}
    return Measured(method, run, release, scores, {result.name: result for result in attack_all(subject, (), SEED).results})


def _spaces(folder: Path) -> tuple[Space, Space]:
    texts: dict[str, tuple[list[str], list[str]]] = {}
    for part in ("train", "test"):
        lines = (folder / f"r8-{part}-all-terms.txt").read_text(encoding="utf-8").splitlines()[1:]
        labels, _, found = zip(*(line.partition("\t") for line in lines))
        texts[part] = (list(found), list(labels))
    space = Builder().build(texts["train"][0], labels=texts["train"][1])
    others = Builder().transform(TermWeights.of(space), texts["test"][0])
    inside = contents(space.matrix)
    return space, others.take([row for row in range(len(others)) if not contents(others.matrix[[row]]) & inside])


def _method_row(one: Measured) -> tuple[str, ...]:
    loss = next(one.scores[name].value for name in ("normalised-loss", "semantic-loss") if one.scores[name].value is not None)
    linked = one.results.get("document-linkage") or one.results["concept-linkage"]
    others = [one.results.get(name) for name in ("term-linkage", "membership", "last-member")]
    return (
        ", ".join(f"{key} = {value}" for key, value in one.given.items()),
        str(min(_sizes(one.release))),
        f"{loss:.3f}",
        f"{linked.details['cluster_rate']:.1%}",
        f"{linked.details['row_rate']:.1%}",
        *("does not apply" if result is None else f"{result.rate:.1%}" for result in others),
    )


def _sizes(release: CollectionRelease) -> list[int]:
    assignment = release.assignment.tolist()
    return [assignment.count(cluster) for cluster in set(assignment)]


def _hits(result: AttackResult) -> tuple[str, str, str]:
    return f"{result.rate:.1%}", f"{result.interval[0]:.1%} to {result.interval[1]:.1%}", f"{result.chance:.2%}"
