"""What redaction costs and what it leaves: the same queries before and after, compared (Abril 2014, sections 3.2 and 3.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.errors import DataError, ParameterError
from shoal.parsing import parse_toml, read_text
from shoal.text.search import SearchEngine, query_terms

Agreement = Literal["nmi", "overlap"]


@dataclass(frozen=True)
class Query:
    """Words to search for. `relevant` names the documents known to be about them; None: those the original returns above the threshold.

    `threshold` is the least relevance that counts; None: where the curve of the original's relevances bends.
    """

    name: str
    words: str
    relevant: frozenset[str] | None = None
    threshold: float | None = None


@dataclass(frozen=True)
class Queries:
    """Utility queries ask what a reader wants to find, risk queries what must not be found; `random` are documents about neither."""

    utility: tuple[Query, ...]
    risk: tuple[Query, ...]
    random: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Retrieval:
    """What one query finds in one corpus, as shares (Table 3.2); `returned` counts the documents with any relevance."""

    precision: float
    recall: float
    f: float
    coverage: float
    novelty: float
    average_relevance: float
    returned: int
    random: float


def retrieval(ranking: Sequence[tuple[str, float]], threshold: float, relevant: Collection[str], random: Collection[str] = ()) -> Retrieval:
    """The measures of Table 3.2 for a ranking of (document, relevance), against the documents known to be relevant.

    Novelty is false / (relevant + false), where false counts documents above the threshold that are not relevant. A share of no
    documents at all is 0.
    """
    above = [name for name, relevance in ranking if relevance >= threshold]
    right = sum(name in relevant for name in above)
    returned = sum(name in relevant for name, _ in ranking)
    wrong = len(above) - right
    precision, recall = _share(right, len(above)), _share(right, len(relevant))
    return Retrieval(
        precision=precision,
        recall=recall,
        f=2 * precision * recall / (precision + recall) if right else 0.0,
        coverage=_share(returned, len(relevant)),
        novelty=_share(wrong, len(relevant) + wrong),
        average_relevance=_share(sum(relevance for _, relevance in ranking[: len(above)]), len(above)),
        returned=len(ranking),
        random=_share(sum(name in random for name in above), len(above)),
    )


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0


def change(before: float, after: float) -> float:
    """In per cent of what was; where there was nothing, what is there now, in per cent (as in Tables 3.6 and 3.8)."""
    return 100 * (after - before) / before if before else 100 * after


def information_loss(f: float, coverage: float, novelty: float, returned: float, random: float, agreement_lost: float) -> float:
    """(3.1): IL = DR = (2F + C - N + TR - PR - 2 NMI) / 8, all in per cent.

    The first five are changes, the last is how much of the agreement between the sets before and after is gone (0: none, 100: all).
    Negative for less: of information if the query is a utility query, of risk if it is a risk query.
    """
    return (2 * f + coverage - novelty + returned - random - 2 * agreement_lost) / 8


def nmi(before: Collection[str], after: Collection[str], documents: int) -> float:
    """Normalized mutual information of being in a query's set before and after (Manning et al. 2008): 1 the same, 0 unrelated.

    It is about telling members from the rest, so it is also 1 where the two sets are each other's complement. Where neither set
    tells anything (empty, or all documents) it is 1 if they are the same and 0 if not.
    """
    both = len(set(before) & set(after))
    counts = [[both, len(before) - both], [len(after) - both, documents - len(before) - len(after) + both]]
    rows, columns = [sum(row) for row in counts], [sum(column) for column in zip(*counts)]
    entropy: float = sum(-n / documents * log(n / documents) for n in (*rows, *columns) if n) / 2
    if not entropy:
        return float(set(before) == set(after))
    mutual: float = sum(
        n / documents * log(n * documents / (rows[i] * columns[j])) for i, row in enumerate(counts) for j, n in enumerate(row) if n
    )
    return float(min(1.0, max(0.0, mutual / entropy)))


def overlap(before: Collection[str], after: Collection[str]) -> float:
    """Share of a query's documents before that are among its documents after: what the thesis's NMI figures follow."""
    return _share(len(set(before) & set(after)), len(before)) if before else 1.0


@dataclass(frozen=True)
class QueryChange:
    """One query before and after redaction. `changes` are in per cent, named as in `Retrieval`; `loss` is (3.1), None without documents."""

    query: Query
    threshold: float
    before: Retrieval
    after: Retrieval
    changes: Mapping[str, float]
    nmi: float
    overlap: float
    loss: float | None


def compare(
    before: SearchEngine,
    after: SearchEngine,
    queries: Sequence[Query],
    random: Collection[str] = (),
    agreement: Agreement = "nmi",
) -> list[QueryChange]:
    """Ask both corpora the same; the documents keep their names. `agreement` says what stands for NMI in (3.1)."""
    if set(before.names) != set(after.names):
        raise DataError("The two corpora do not hold documents of the same names, so they cannot be compared.")
    found = []
    for query in queries:
        if not query_terms(query.words):
            raise ParameterError(f"Query '{query.name}' has no words but stop words. Give it others.")
        stray = set(query.relevant or ()) - set(before.names)
        if stray:
            raise ParameterError(f"Query '{query.name}' names {len(stray)} relevant documents that are not in the corpus.")
        old, new = before.search(query.words), after.search(query.words)
        threshold = query.threshold if query.threshold is not None else inflexion([relevance for _, relevance in old])
        above_old = {name for name, relevance in old if relevance >= threshold}
        above_new = {name for name, relevance in new if relevance >= threshold}
        relevant = query.relevant if query.relevant is not None else above_old
        was, now = retrieval(old, threshold, relevant, random), retrieval(new, threshold, relevant, random)
        changes = {name: change(getattr(was, name), getattr(now, name)) for name in Retrieval.__dataclass_fields__}
        mutual, kept = nmi(above_old, above_new, len(before.names)), overlap(above_old, above_new)
        lost = 100 * (1 - (mutual if agreement == "nmi" else kept))
        loss = information_loss(
            changes["f"], changes["coverage"], changes["novelty"], changes["returned"], changes["random"], lost
        )  # fmt: skip
        found.append(QueryChange(query, threshold, was, now, changes, mutual, kept, loss if above_old else None))
    return found


def inflexion(relevances: Sequence[float]) -> float:
    """The threshold between relevant documents and the rest: where the falling curve of relevances bends most.

    That is at the document farthest below the straight line from the first to the last (Satopää et al. 2011); the threshold lies
    half-way between it and the one before. A straight or flat curve, or fewer than three documents: all are relevant.
    """
    curve = np.sort(np.asarray(relevances, np.float64))[::-1]
    if len(curve) < 3:
        return float(curve[-1]) if len(curve) else 0.0
    below = np.linspace(curve[0], curve[-1], len(curve)) - curve
    knee = int(np.argmax(below))
    return float(curve[-1]) if below[knee] <= 1e-12 * curve[0] else float((curve[knee - 1] + curve[knee]) / 2)


def shared_threshold(engine: SearchEngine, queries: Sequence[Query]) -> float:
    """One threshold for all queries, the median of their own, as the thesis had 0.0422 for all utility queries."""
    own = [inflexion([relevance for _, relevance in ranking]) for query in queries if (ranking := engine.search(query.words))]
    return float(np.median(own)) if own else 0.0


def read_queries(path: Path) -> Queries:
    """Queries from a TOML file: tables [[utility]] and [[risk]] with name, words, and if known relevant and threshold; a list random."""
    given = parse_toml(read_text(path), f"The file of queries '{path.name}'")
    unknown = set(given) - {"utility", "risk", "random"}
    if unknown:
        raise DataError(f"The queries '{path.name}' have '{min(unknown)}', but only [[utility]], [[risk]] and random are known.")
    queries = Queries(
        tuple(_query(one, f"{kind} query {n}") for kind in ("utility",) for n, one in enumerate(_list(given, kind, path), 1)),
        tuple(_query(one, f"{kind} query {n}") for kind in ("risk",) for n, one in enumerate(_list(given, kind, path), 1)),
        frozenset(map(str, _list(given, "random", path))),
    )
    if not queries.utility and not queries.risk:
        raise DataError(f"The queries '{path.name}' hold no query. Write [[utility]] or [[risk]] with name and words.")
    return queries


def _list(given: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    found = given.get(key, [])
    if not isinstance(found, list):
        raise DataError(f"In the queries '{path.name}', {key} must be a list" + ("." if key == "random" else f": write [[{key}]]."))
    return found


def _query(given: Any, which: str) -> Query:
    if not isinstance(given, dict) or set(given) - {"name", "words", "relevant", "threshold"}:
        raise DataError(f"The {which} must be a table with name, words, and if known relevant and threshold; nothing else.")
    name, words, relevant, threshold = (given.get(key) for key in ("name", "words", "relevant", "threshold"))
    if not isinstance(words, str) or not query_terms(words):
        raise DataError(f"The {which} needs words, as one text, that are not all stop words.")
    if relevant is not None and not (isinstance(relevant, list) and all(isinstance(one, str) for one in relevant)):
        raise DataError(f"In the {which}, relevant must be a list of document names.")
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1):
        raise DataError(f"In the {which}, threshold must be a number from 0 to 1.")
    return Query(
        name if isinstance(name, str) and name else which,
        words,
        None if relevant is None else frozenset(relevant),
        None if threshold is None else float(threshold),
    )
