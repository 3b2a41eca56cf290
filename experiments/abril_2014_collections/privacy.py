"""What an intruder finds in the releases, each beside chance. The thesis has no such table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.abril_2014_collections.corpora import CORPORA, KS, SEED, Corpus, losses, plain, release, space
from experiments.abril_2014_collections.paper import Line, print_lines, print_table, prototype, watched
from experiments.abril_2014_collections.plots import curves
from shoal.collections import CollectionRelease, Space, Spherical
from shoal.collections.attacks import DocumentLinkage, LastMember, Membership, TermLinkage
from shoal.collections.measures import OneClass, SoleTerms, UniqueLabels
from shoal.randomness import rng_for

Found = tuple[float, float | None]  # the rate, and blind guessing
TERMS = (3, 5, 10)


def _linkage(attack: DocumentLinkage | TermLinkage | LastMember) -> Callable[[Space, CollectionRelease], Found]:
    def run(whole: Space, made: CollectionRelease) -> Found:
        found = attack.attack(whole, made, rng_for(SEED, attack.name))
        return found.rate or 0.0, found.chance

    return run


def _measure(measure: OneClass | SoleTerms | UniqueLabels) -> Callable[[Space, CollectionRelease], Found]:
    def run(whole: Space, made: CollectionRelease) -> Found:
        score = measure.measure(whole, made, rng_for(SEED, measure.name))
        chance = score.details.get("chance")
        return score.value or 0.0, None if chance is None else float(str(chance))

    return run


ATTACKS: dict[str, Callable[[Space, CollectionRelease], Found]] = {
    "whole document, by cosine: cluster": _linkage(DocumentLinkage(by="cosine")),
    "whole document, by terms: cluster": _linkage(DocumentLinkage(by="terms")),
    "whole document, by cosine: row": _linkage(DocumentLinkage(by="cosine", wanted="row")),
    "whole document, by terms: row": _linkage(DocumentLinkage(by="terms", wanted="row")),
    **{f"{terms} terms: cluster": _linkage(TermLinkage(terms=terms)) for terms in TERMS},
    "clusters with one class only": _measure(OneClass()),
    "rows with a label of their own": _measure(UniqueLabels()),
    "centroid terms from one member": _measure(SoleTerms()),
    "last member from the others": _linkage(LastMember()),
}
MEMBERSHIP = {"membership, by cosine: AUC": Membership(by="cosine"), "membership, by terms: AUC": Membership(by="terms")}
MITIGATED = {
    "as published": {"partition": "mdav", "swaps": 0},
    "terms of two documents": {"partition": "mdav", "swaps": 0, "term_documents": 2},
    "and two digits": {"partition": "mdav", "swaps": 0, "term_documents": 2, "digits": 2},
}


def _member(corpus: Corpus, attack: Membership, method: Spherical) -> Found:
    """Members are the training part, outsiders the test part."""
    train, test = space(corpus, "train"), space(corpus, "test")
    found = attack.attack(train, release(corpus, method, "train"), rng_for(SEED, attack.name), outsiders=test)
    return float(str(found.details["auc"])), 0.5


def attacks(ks: Sequence[int], out: Path | None) -> None:
    """Plain MDAV at five k, then what may be done about it."""
    lines: list[Line] = []
    chances: list[list[object]] = []
    names = [*ATTACKS, *MEMBERSHIP]
    drawn: dict[Corpus, dict[str, dict[int, float]]] = {corpus: {} for corpus in CORPORA}
    for corpus, name in watched([(corpus, name) for corpus in CORPORA for name in names], "attacks"):
        found = {k: _found(corpus, name, plain(k)) for k in KS}
        rates = {k: rate for k, (rate, _) in found.items()}
        lines.append((f"{corpus} {name}", rates, prototype("attacks", f"{corpus} {name}")))
        drawn[corpus][name] = rates
        if found[KS[0]][1] is not None:
            chances.append([f"{corpus} {name}", *(f"{found[k][1]:.5f}" for k in KS)])
    print_lines("What the releases of plain MDAV give away: rates", KS, lines)
    print_table("The same by blind guessing", ["", *(f"k={k}" for k in KS)], chances)
    for corpus in CORPORA:
        named = {name: drawn[corpus][name] for name in names if "document" in name or "AUC" in name or "terms:" in name}
        curves(out, f"attacks_{corpus}", "What an intruder finds", named)
    _mitigation()


def _found(corpus: Corpus, name: str, method: Spherical) -> Found:
    if name in MEMBERSHIP:
        return _member(corpus, MEMBERSHIP[name], method)
    return ATTACKS[name](space(corpus), release(corpus, method))


def _mitigation() -> None:
    lines: list[Line] = []
    rows: list[list[object]] = []
    shown = [name for name in (*ATTACKS, *MEMBERSHIP) if name.startswith(("whole", "5", "centroid", "last", "membership"))]
    for corpus in watched(CORPORA, "less to be seen"):
        ratios = {}
        for k in KS:
            ratios[k] = losses(corpus, Spherical(k=k, partition="mdav", swaps=0, term_documents=2))[0].sse / losses(corpus, plain(k))[0].sse
        lines.append((corpus, ratios, prototype("two documents per term", corpus)))
        for name in shown:
            rates = [_found(corpus, name, Spherical.parse({"k": 5, **options}))[0] for options in MITIGATED.values()]
            rows.append([f"{corpus} {name}", *(f"{rate:.3f}" for rate in rates)])
    print_lines("SSE as a part of plain MDAV's, with terms of at least two documents of a cluster only", KS, lines, 2)
    print_table("What that takes from an intruder, k=5", ["", *MITIGATED], rows)
