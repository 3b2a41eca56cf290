"""The direct attack: which of the names that were taken out can still be had from the redacted text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from shoal.arrays import FloatArray
from shoal.document import PERSON
from shoal.errors import DataError, ParameterError
from shoal.score import AttackResult, Risk, wilson
from shoal.text.search import WordCounts, tf_idf
from shoal.text.words import STOP_WORDS, folded, stems, tokens

WAYS = ("whole", "stems", "surname", "slips")  # each also counts what the ones before it found
_SHORTEST = 5  # letters a word needs before a slip in it is believed


@dataclass(frozen=True)
class Removed:
    """One entity that was taken out of one document: which document, how it was written there, its kind and its number in the corpus."""

    document: int
    text: str
    kind: str
    entity: int


@dataclass(frozen=True)
class Corpus:
    """Documents before and after redaction, in one order, and what was taken out of them."""

    names: tuple[str, ...]
    originals: tuple[str, ...]
    redacted: tuple[str, ...]
    removed: tuple[Removed, ...]

    def __post_init__(self) -> None:
        if len(self.originals) != len(self.redacted):
            raise DataError(
                f"There are {len(self.originals)} originals for {len(self.redacted)} redacted documents. Give the same documents."
            )
        if any(not 0 <= one.document < len(self.redacted) for one in self.removed):
            raise ParameterError(f"A removed entity belongs to a document that is not there; there are {len(self.redacted)}.")


class RecoverBySearch:
    """The intruder has a list of names and searches the redacted text of each document for those that were in it.

    A name is found if its words stand in the text in a row, without regard to case and punctuation ("whole"); or their stems do
    ("stems"); or, for a person, the last word alone does, as a surname would ("surname"); or each of its words does up to one slip
    of the keyboard, anywhere in the text ("slips"). Chance is how often the same names are found in another document, drawn at
    random: a word that is everywhere is no recovery.
    """

    name: ClassVar[str] = "recover-by-search"
    risk: ClassVar[Risk] = "reconstruction"

    def applies(self, corpus: Corpus) -> str:
        """Empty, or a sentence saying why it cannot be tried."""
        return _nothing_removed(corpus) or ("" if _has_rapidfuzz() else "It needs an extra: pip install 'shoal[documents]'.")

    def attack(self, corpus: Corpus, rng: Generator) -> AttackResult:
        """Search each document for the names that were in it."""
        _refuse(self.applies(corpus))
        removed = corpus.removed
        pages = [_Page(text) for text in corpus.redacted]
        other = rng.permutation(len(pages))
        found = {way: np.zeros(len(removed), bool) for way in WAYS}
        blind = np.zeros(len(removed), bool)
        place = {int(document): position for position, document in enumerate(other)}
        for number, one in enumerate(removed):
            way = pages[one.document].finds(one)
            if way is not None:
                for wider in WAYS[WAYS.index(way) :]:
                    found[wider][number] = True
            if len(pages) > 1:  # the next in a random circle: never the document itself
                elsewhere = int(other[(place[one.document] + 1) % len(pages)])
                blind[number] = pages[elsewhere].finds(one) is not None
        hit = found[WAYS[-1]]
        kinds = sorted({one.kind for one in removed})
        of_kind = {kind: np.array([one.kind == kind for one in removed]) for kind in kinds}
        return AttackResult(
            name=self.name,
            title="Names found again by searching",
            tried=len(removed),
            hit=float(hit.sum()),
            strict_hit=float(found["whole"].sum()),
            chance=float(blind.mean()),
            interval=wilson(float(hit.sum()), len(removed)),
            risk=self.risk,
            note="The intruder has the names, and asks of each document whether they are still in it. Strict: the whole name, letter by letter.",
            details={
                "by_way": {way: int(found[way].sum()) for way in WAYS},
                "by_kind": {kind: [int(hit[of_kind[kind]].sum()), int(of_kind[kind].sum())] for kind in kinds},
            },
            per_record=hit.astype(np.float64),
        )


class _Page:
    """A redacted text, ready to be searched."""

    def __init__(self, text: str) -> None:
        words = [folded(word) for word in tokens(text)]
        self.words = set(words)
        self.text = f" {' '.join(words)} "
        self.stems = f" {' '.join(stems(words))} "
        self.long = sorted(word for word in self.words if len(word) >= _SHORTEST - 1)

    def finds(self, one: Removed) -> str | None:
        words = [folded(word) for word in tokens(one.text)]
        if not words:
            return None
        if f" {' '.join(words)} " in self.text:
            return "whole"
        if f" {' '.join(stems(words))} " in self.stems:
            return "stems"
        last = words[-1]
        if one.kind == PERSON and len(words) > 1 and len(last) > 2 and last not in STOP_WORDS and last in self.words:
            return "surname"
        if any(len(word) >= _SHORTEST for word in words) and all(self._near(word) for word in words):
            return "slips"
        return None

    def _near(self, word: str) -> bool:
        if word in self.words:
            return True
        if len(word) < _SHORTEST or not word.isalpha():
            return False
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        return process.extractOne(word, self.long, scorer=OSA.distance, score_cutoff=1) is not None


class RecoverByContext:
    """The intruder guesses who was taken out from the words that were left.

    The intruder has every other document of the corpus as it was before redaction, knows who is named in each, and sees how many
    different entities of a kind were taken out of this one: a well-informed colleague, far more than a stranger has. The
    profile of an entity is the sum of the tf-idf weights of the documents that name it, the one under attack left out; the
    guesses are the entities whose profiles have the largest cosine with what is left, as many as were taken out. Ties are shared.
    Entities named in one document only have no profile and are not tried. Chance is guessing as many at random;
    `most_frequent` in the details is guessing those who are named most often elsewhere.
    """

    name: ClassVar[str] = "recover-by-context"
    risk: ClassVar[Risk] = "reconstruction"

    def applies(self, corpus: Corpus) -> str:
        """Empty, or a sentence saying why it cannot be tried."""
        if why := _nothing_removed(corpus):
            return why
        times = Counter(kind for (kind, _), documents in _documents_of(corpus.removed).items() if len(documents) > 1)
        enough = any(entities > 1 for entities in times.values())
        return "" if enough else "Guessing names needs two of one kind that each stand in two documents or more. Give more documents."

    def attack(self, corpus: Corpus, rng: Generator) -> AttackResult:
        """Guess who was taken out of each document. Nothing is drawn."""
        _refuse(self.applies(corpus))
        weights = tf_idf(WordCounts([*corpus.originals, *corpus.redacted]).counts)
        before, after = weights[: len(corpus.originals)], weights[len(corpus.originals) :]
        guesses: list[_Guess] = []
        by_kind: dict[str, list[float]] = {}
        for kind in sorted({one.kind for one in corpus.removed}):
            pairs = sorted({(one.document, one.entity) for one in corpus.removed if one.kind == kind})
            of_kind = list(_guesses(pairs, before, after))
            guesses += of_kind
            if of_kind:
                by_kind[kind] = [sum(one.hit for one in of_kind), float(len(of_kind))]
        hits = sum(one.hit for one in guesses)
        return AttackResult(
            name=self.name,
            title="Names guessed from the words around them",
            tried=len(guesses),
            hit=hits,
            strict_hit=sum(one.alone for one in guesses),
            chance=float(np.mean([one.chance for one in guesses])),
            interval=wilson(hits, len(guesses)),
            risk=self.risk,
            note="The intruder has all other documents unredacted, with their names. Entities named in one document only are not tried.",
            details={"most_frequent": float(np.mean([one.most_frequent for one in guesses])), "by_kind": by_kind},
        )


ATTACKS = (RecoverBySearch(), RecoverByContext())


class _Guess(NamedTuple):
    """Of one entity taken out of one document."""

    hit: float  # with ties shared
    alone: float  # with ties lost
    chance: float
    most_frequent: float  # the hit of guessing those who are named most


def _guesses(pairs: list[tuple[int, int]], before: Any, after: Any) -> Iterable[_Guess]:
    """Of each (document, entity) that can be tried."""
    from scipy import sparse

    times = Counter(entity for _, entity in pairs)
    candidates = sorted(entity for entity, documents in times.items() if documents > 1)
    if len(candidates) < 2:
        return
    column = {entity: number for number, entity in enumerate(candidates)}
    known = [(document, column[entity]) for document, entity in pairs if entity in column]
    documents, entities = np.array(known, np.int64).T
    named = sparse.csr_array((np.ones(len(known)), (entities, documents)), shape=(len(candidates), before.shape[0]))
    profiles = named @ before
    lengths = np.asarray(profiles.multiply(profiles).sum(axis=1)).ravel()  # squared
    frequency = np.bincount(entities, minlength=len(candidates)).astype(np.float64)
    taken_out = Counter(document for document, _ in pairs)
    across = profiles.T.tocsr()
    for document in np.unique(documents).tolist():
        mine = entities[documents == document]
        own, left = before[[document]], after[[document]]
        dots = (left @ across).toarray().ravel()
        with_own = (own @ across).toarray().ravel()[mine]
        squares = lengths.copy()
        dots[mine] -= float((left @ own.T).toarray()[0, 0])
        squares[mine] += float((own @ own.T).toarray()[0, 0]) - 2 * with_own
        scores = np.where(squares > 1e-12, dots / np.sqrt(np.maximum(squares, 1e-12)), 0.0).round(12)
        elsewhere = frequency.copy()
        elsewhere[mine] -= 1
        guesses = min(taken_out[document], len(candidates))
        for entity in mine.tolist():
            shared, alone = _among_best(scores, entity, guesses)
            yield _Guess(shared, alone, guesses / len(candidates), _among_best(elsewhere, entity, guesses)[0])


def _among_best(scores: FloatArray, one: int, guesses: int) -> tuple[float, float]:
    """Is one of the entities among the best so many? With ties shared, and with ties lost."""
    better, equal = int((scores > scores[one]).sum()), int((scores == scores[one]).sum())
    shared = min(1.0, max(0.0, (guesses - better) / equal))
    return shared, float(better + equal <= guesses)


def _documents_of(removed: Sequence[Removed]) -> dict[tuple[str, int], set[int]]:
    """(kind, entity) -> the documents it was taken out of."""
    documents: dict[tuple[str, int], set[int]] = defaultdict(set)
    for one in removed:
        documents[one.kind, one.entity].add(one.document)
    return documents


def _nothing_removed(corpus: Corpus) -> str:
    return "" if corpus.removed else "Nothing was taken out, so there is nothing to recover."


def _has_rapidfuzz() -> bool:
    try:
        import rapidfuzz  # noqa: F401
    except ImportError:
        return False
    return True


def _refuse(why: str) -> None:
    if why:
        raise DataError(why)
