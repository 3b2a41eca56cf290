"""Contract checks for whoever writes a method, measure or attack of collections: each raises AssertionError with the sentence that is broken.

    from shoal.testing_collections import check_collection_method
    def test_mine(): check_collection_method(MyMethod)

Documents are made in memory, few and of nouns, so that methods of meanings find them in WordNet. shoal runs the same checks over everything
that is registered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
from scipy import sparse

from shoal.arrays import IntArray
from shoal.checks.collections import check_collection
from shoal.collections import Semantic
from shoal.collections.release import CollectionRelease, Terms
from shoal.collections.space import Space, unit_rows
from shoal.errors import DataError, ParameterError, ShoalError
from shoal.randomness import rng_for
from shoal.release import Step
from shoal.score import AttackResult, Better, Risk, Score
from shoal.testing import _check_named, _hold, _json, _raises, _same

NOUNS = ("arm", "artifact", "device", "gun", "knife", "man", "pistol", "rifle", "tool", "weapon")
DOCUMENTS = 24
SEEDS = (4, 5, 6)


def spaces() -> dict[str, Space]:
    """Documents of a few nouns each: with labels, without, two of each, and all the same."""
    rng = rng_for(1, "documents")
    counts = rng.poisson(0.7, (DOCUMENTS, len(NOUNS))) + np.eye(DOCUMENTS, len(NOUNS)) + np.eye(DOCUMENTS, len(NOUNS), -12)
    counts[np.arange(DOCUMENTS), rng.integers(0, len(NOUNS), DOCUMENTS)] += 1
    labels = [("court", "army", "home")[row % 3] for row in range(DOCUMENTS)]
    return {
        "labelled": Space.of(unit_rows(counts), NOUNS, labels=labels, idf=np.linspace(1, 2, len(NOUNS))),
        "unlabelled": Space.of(unit_rows(counts), NOUNS),
        "in twos": Space.of(unit_rows(counts[np.arange(DOCUMENTS) // 2]), NOUNS, labels=labels),
        "all the same": Space.of(unit_rows(np.ones((DOCUMENTS, len(NOUNS)))), NOUNS, labels=labels),
    }


def check_collection_method(cls: type[Any], **parameters: Any) -> None:
    """Raise AssertionError unless a method keeps the contract of `shoal.collections.contracts.CollectionMethod`."""
    method = _check_named(cls, parameters, ("guarantees", "terms_are", "protect"))
    _hold(cls.terms_are in get_args(Terms), cls, f"terms_are must be one of {', '.join(get_args(Terms))}, not {cls.terms_are!r}")
    _hold(cls.terms_are != "meanings" or hasattr(cls, "concepts"), cls, "its terms are meanings, so it must have concepts(space)")
    _hold(isinstance(cls.guarantees, tuple), cls, "guarantees must be a tuple of names, empty where nothing is promised")
    _hold(re.search(r"\b(19|20)\d\d\b", cls.__doc__ or ""), cls, "the docstring must say where it comes from: authors and year")
    taken = 0
    for name, space in spaces().items():
        where = f"on documents {name}"
        try:
            release = method.protect(space, rng_for(1))
        except ParameterError as error:
            _hold(_sentence(str(error)), cls, f"{where} it must say why it cannot, in a sentence")
            continue
        taken += 1
        _check_chance_and_input(cls, where, method, name, space, release)
        _check_release(cls, where, space, release)
    _hold(taken, cls, "it takes none of the spaces")
    if "k" in cls.model_fields:
        larger = cls(**{**parameters, "k": DOCUMENTS + 1})
        _raises(
            cls,
            f"with k = {DOCUMENTS + 1} on {DOCUMENTS} documents",
            DataError,
            lambda: larger.protect(spaces()["labelled"], rng_for(1)),
        )
    for documents in (1, 2):
        few = spaces()["labelled"].take(np.arange(documents))
        try:
            release = method.protect(few, rng_for(1))
        except ShoalError as error:
            _hold(_sentence(str(error)), cls, f"on {documents} document(s) it must say why it cannot, in a sentence")
        else:
            _check_release(cls, f"on {documents} document(s)", few, release)


def check_collection_measure(cls: type[Any], **parameters: Any) -> None:
    """Raise AssertionError unless a measure keeps the contract of `shoal.collections.contracts.CollectionMeasure`."""
    measure = _check_named(cls, parameters, ("better", "applies", "measure", "warning"))
    taken = 0
    for where, space, release in releases():
        if why := _why_not(cls, where, measure.applies(space, release), lambda s=space, r=release: measure.measure(s, r, rng_for(1))):
            _hold(_sentence(why), cls, f"{where} it must say why there is nothing to measure, in a sentence")
            continue
        taken += 1
        values = {_score(cls, measure, where, space, release, seed).value for seed in SEEDS}
        moved = _score(cls, measure, where, *_reordered(space, release), SEEDS[0]).value
        if len(values) == 1:  # where chance decides nothing, neither does the order of documents
            first = values.pop()
            _hold(_same(first, moved), cls, f"{where} the order of documents changes it from {first} to {moved}")
    _hold(taken, cls, "it applies to none of the releases, of words or of meanings (which need WordNet)")


def check_collection_attack(cls: type[Any], **parameters: Any) -> None:
    """Raise AssertionError unless an attack keeps the contract of `shoal.collections.contracts.CollectionAttack`."""
    attack = _check_named(cls, parameters, ("risk", "applies", "attack", "warning"))
    _hold(cls.risk in get_args(Risk), cls, f"risk must be one of {', '.join(get_args(Risk))}, not {cls.risk!r}")
    taken = 0
    for where, space, release in releases():
        strangers = outsiders(space)
        why = attack.applies(space, release, strangers)
        if _why_not(cls, where, why, lambda s=space, r=release, o=strangers: attack.attack(s, r, rng_for(1), outsiders=o)):
            _hold(_sentence(why), cls, f"{where} it must say why it cannot be tried, in a sentence")
            continue
        taken += 1
        found = _attacked(cls, attack, where, space, release, strangers)
        if cls.risk == "linkage" and release.centroids.shape[0] == 1:
            fair = math.isclose(found.rate, found.chance, abs_tol=1e-9)
            _hold(
                fair, cls, f"{where} there is one cluster, so nothing is found beyond blind guessing ({found.chance:g}), not {found.rate:g}"
            )
        hits = {attack.attack(space, release, rng_for(seed), outsiders=strangers).hit for seed in SEEDS}
        moved = attack.attack(*_reordered(space, release), rng_for(SEEDS[0]), outsiders=strangers).hit
        if len(hits) == 1:
            _hold(math.isclose(moved, hits.pop(), abs_tol=1e-9), cls, f"{where} the order of documents changes its hits to {moved:g}")
        alone = attack.applies(space, release, None)
        _why_not(cls, f"{where}, without outsiders", alone, lambda s=space, r=release: attack.attack(s, r, rng_for(1)))
    _hold(taken, cls, "it attacks none of the releases, of words or of meanings (which need WordNet)")
    if cls.risk == "linkage":
        _check_blind(cls, attack)


# ---- releases to ask --------------------------------------------------------------------------------------------------------------


def releases() -> Iterator[tuple[str, Space, CollectionRelease]]:
    """Every space unprotected, in threes, and as one cluster; and what the nouns mean, where WordNet is at hand."""
    for name, space in spaces().items():
        rows = np.arange(len(space))
        for how, groups in (("each by itself", rows), ("in threes", rows // 3), ("in one cluster", rows * 0)):
            yield f"on documents {name}, {how},", space, _summed(space, groups)
    space = spaces()["labelled"]
    for k, release in _meanings().items():
        yield f"on meanings of groups of {k},", space, release


@cache
def _meanings() -> dict[int, CollectionRelease]:
    """Groups of three, and all in one."""
    try:
        return {k: Semantic(k=k).protect(spaces()["labelled"], rng_for(1)) for k in (3, DOCUMENTS)}
    except DataError:  # no WordNet
        return {}


def outsiders(space: Space) -> Space:
    """Other documents over the same terms."""
    counts = rng_for(2, "outsiders").poisson(0.9, (DOCUMENTS, len(space.terms))) + np.eye(DOCUMENTS, len(space.terms), -3)
    counts[:, -1] += counts.sum(axis=1) == 0
    return Space.of(unit_rows(counts), space.terms)


def _summed(space: Space, groups: IntArray) -> CollectionRelease:
    member = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    return CollectionRelease.of(unit_rows(member @ space.matrix), groups, space.terms, Step("given", {}, (), (), ""), rng_for(3))


def _reordered(space: Space, release: CollectionRelease) -> tuple[Space, CollectionRelease]:
    """The same documents and the same released rows, both in another order."""
    order, rows = rng_for(7).permutation(len(space)), rng_for(8).permutation(len(release))
    place = np.argsort(order)
    labels = None if release.labels is None else tuple(release.labels[row] for row in rows)
    moved = replace(release, assignment=release.assignment[rows], source_row=place[release.source_row[rows]], labels=labels)
    return space.take(order), moved


# ---- what holds of each ---------------------------------------------------------------------------------------------------------------


def _check_chance_and_input(cls: type[Any], where: str, method: Any, name: str, space: Space, release: CollectionRelease) -> None:
    """Nothing it was given has changed, and chance comes from the generator alone."""
    told: list[tuple[int, int]] = []
    again = method.protect(space, rng_for(1), lambda what, done, of: told.append((done, of)))
    other = method.protect(space, rng_for(2))
    _hold((space.matrix != spaces()[name].matrix).nnz == 0, cls, f"{where} protect() changes the space it is given")
    _hold(all(0 <= done <= of for done, of in told), cls, f"{where} progress must be told 0 <= done <= of")
    same = (again.centroids != release.centroids).nnz == 0 and np.array_equal(again.source_row, release.source_row)
    _hold(same and np.array_equal(again.assignment, release.assignment), cls, f"{where} the same generator must give the same release")
    _hold(not np.array_equal(release.source_row, other.source_row), cls, f"{where} two generators must give differently ordered rows")
    for one in (release, other):
        _hold((np.diff(one.source_row) < 0).any(), cls, f"{where} rows must be shuffled, and are in their old order")


def _check_release(cls: type[Any], where: str, space: Space, release: CollectionRelease) -> None:
    """The right rows, its own account of itself, and every promise holds on the written file."""
    source = release.source_row.tolist()
    _hold(len(source) == len(release.assignment), cls, f"{where} source_row must name the document of every released row")
    _hold(len(set(source)) == len(source) and set(source) <= set(range(len(space))), cls, f"{where} source_row must name documents once")
    told = any("document" in warning for warning in release.warnings)
    _hold(len(source) == len(space) or told, cls, f"{where} {len(space)} documents went in, {len(source)} came out, and no warning says so")
    _hold(release.terms_are == cls.terms_are, cls, f"{where} the release must say that its terms are {cls.terms_are}")
    _hold(release.made_by, cls, f"{where} the release does not say how it was made")
    for step in release.made_by:
        _hold(step.method == cls.name and _json(dict(step.parameters)), cls, f"{where} its step must carry its name and plain parameters")
    covered = {promise.what for promise in release.promises}
    _hold(set(cls.guarantees) <= covered, cls, f"{where} it guarantees {', '.join(cls.guarantees)} but does not promise it")
    with TemporaryDirectory() as folder:
        path = Path(folder, "release.npz")
        release.write(path)
        for one in check_collection(path, release.promises):
            _hold(one.holds, cls, f"{where} it promises {one.what}: {one.promised:g}, but {one.found:g} was counted on the file")
        again = CollectionRelease.read(path)
    _hold(again.made_by == release.made_by and again.terms == release.terms, cls, f"{where} the release must be the same when read back")


def _score(cls: type[Any], measure: Any, where: str, space: Space, release: CollectionRelease, seed: int) -> Score:
    score: Score = measure.measure(space, release, rng_for(seed))
    value, (low, high) = score.value, score.bounds
    _hold(score.name == cls.name and score.title, cls, f"{where} the score must carry the measure's name and a title")
    right = score.better == cls.better and cls.better in get_args(Better)
    _hold(right, cls, f"{where} better must be lower, higher or neither, as its class says")
    _hold(value is not None or score.note, cls, f"{where} it gives no value and no note that says why")
    numbers = [value, *(score.interval or ())]
    _hold(all(n is None or math.isfinite(n) for n in numbers), cls, f"{where} it gives NaN or infinity: {numbers}")
    inside = value is None or ((low is None or value >= low - 1e-9) and (high is None or value <= high + 1e-9))
    _hold(inside, cls, f"{where} its value {value} is outside its bounds {score.bounds}")
    _hold(_json(score.public()), cls, f"{where} public() must be plain JSON values")
    warning = measure.warning(score, release)
    _hold(not warning or _sentence(warning), cls, f"{where} its warning must be a sentence, or empty")
    return score


def _attacked(cls: type[Any], attack: Any, where: str, space: Space, release: CollectionRelease, strangers: Space) -> AttackResult:
    found: AttackResult = attack.attack(space, release, rng_for(4), outsiders=strangers)
    again = attack.attack(space, release, rng_for(4), outsiders=strangers)
    _hold(found.hit == again.hit and found.chance == again.chance, cls, f"{where} the same generator must give the same result")
    _hold(found.name == cls.name and found.title, cls, f"{where} the result must carry the attack's name and a title")
    _hold(found.risk == cls.risk, cls, f"{where} the result must carry the risk its class names")
    _hold(1 <= found.tried <= len(space) + len(strangers), cls, f"{where} it tried {found.tried} of {len(space)} documents")
    ordered = -1e-9 <= found.strict_hit <= found.hit + 1e-9 and found.hit <= found.tried + 1e-9
    _hold(ordered, cls, f"{where} 0 <= strict_hit <= hit <= tried must hold, got {found.strict_hit}, {found.hit}, {found.tried}")
    _hold(0 <= found.chance <= 1, cls, f"{where} chance must be a rate, got {found.chance}")
    low, high = found.interval
    holds = 0 <= low <= found.rate + 1e-9 and found.rate - 1e-9 <= high <= 1
    _hold(holds, cls, f"{where} the interval {low, high} does not hold {found.rate}")
    _hold(_json(found.public()), cls, f"{where} public() must be plain JSON values")
    if found.per_record is not None:
        tried = ~np.isnan(found.per_record)
        fits = len(tried) == len(space) and tried.sum() == found.tried
        fits = fits and math.isclose(found.per_record[tried].sum(), found.hit, abs_tol=1e-9)
        _hold(fits, cls, f"{where} per_record must hold each document's share of the hits, NaN where not tried")
    warning = attack.warning(found, release)
    _hold(not warning or _sentence(warning), cls, f"{where} its warning must be a sentence, or empty")
    return found


def _check_blind(cls: type[Any], attack: Any) -> None:
    """Where documents are said to be in the clusters of others, the attack does on average as well as blind guessing."""
    meanings = _meanings().get(3)
    space = spaces()["labelled"]
    threes = _summed(space, np.arange(DOCUMENTS) // 3)
    release = threes if not attack.applies(space, threes) else meanings
    if release is None:
        return
    rng = rng_for(9)
    rates = []
    for seed in range(40):
        torn = replace(release, source_row=rng.permutation(release.source_row))
        found = attack.attack(space, torn, rng_for(seed))
        rates.append(found.rate - found.chance)
    sure = 4 * float(np.std(rates)) / math.sqrt(len(rates)) + 1e-9
    gained = float(np.mean(rates))
    _hold(abs(gained) <= sure, cls, f"documents were put into the clusters of others, and it finds {gained:+.3f} more than blind guessing")


def _why_not(cls: type[Any], where: str, why: str, call: Any) -> str:
    """Where something says that it does not apply, doing it all the same is refused with the same sentence."""
    if why:
        try:
            call()
        except DataError as error:
            _hold(str(error) == why, cls, f"{where} it says that it does not apply, and refuses with another sentence: {error}")
        else:
            raise AssertionError(f"{cls.__name__}: {where} it says that it does not apply, and does it all the same: {why}")
    return why


def _sentence(text: str) -> bool:
    return text.endswith((".", "?"))
