"""Instead of striking out a risky term, say something more general: a pistol becomes a device (t-plausibility, Anandan et al. 2012)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log, prod

from shoal.document import Block, Edit
from shoal.errors import ParameterError, number
from shoal.text.wordnet import WordNet
from shoal.text.words import STOP_WORDS, stems, tokens

STRUCK = "[...]"  # what stands for a term that has no general word
_STATES = 20_000  # different products kept apart; beyond, only the smallest of those within a thousandth of each other


@dataclass(frozen=True)
class General:
    """A word that may stand for a term: how many steps above it, and how many different things are below it."""

    word: str
    level: int
    things: int


@dataclass(frozen=True)
class Generalized:
    """Edits that put general words in place of a block's risky terms.

    `plausibility` is t: at least so many different texts could have become this one. It is the product, over the different terms
    replaced, of the number of things (synsets) below the word that replaces it; a term that stands twice counts once, and synonyms
    are one thing, so t is rather too small than too large. It says nothing of how likely each of those texts is: the words around
    often leave only a few. `struck` are the risky terms that WordNet offers nothing for (adjectives, names, terms of your own) or
    that are written in a form no ending explains: they are struck out, which adds nothing to t.
    """

    edits: tuple[Edit, ...]
    plausibility: int
    replaced: Mapping[str, General]
    struck: tuple[tuple[int, int, str], ...]


def more_general(wordnet: WordNet, term: str, senses: Mapping[str, str]) -> list[General]:
    """What may stand for a term in the sense through which it came to the list, the least general first.

    Never a risk term, and never a word that is part of the term: an atomic bomb does not become a bomb.
    """
    return _more_general(wordnet, term, senses, _reduced(senses))


def _reduced(terms: Iterable[str]) -> set[tuple[str, ...]]:
    """Terms as their stems, which is how they would be found again."""
    words = [tokens(term.lower()) for term in terms]
    flat = iter(stems(word for term in words for word in term))
    return {tuple(next(flat) for _ in term) for term in words}


def _more_general(wordnet: WordNet, term: str, senses: Mapping[str, str], risky: set[tuple[str, ...]]) -> list[General]:
    name = senses.get(term, "")
    if not name:
        return []
    found: dict[str, General] = {}
    own = set(stems(tokens(term.lower()))) - STOP_WORDS
    here, seen, level = _synsets_of(wordnet, term, name), set[int](), 0
    while here:
        level += 1
        above = list(dict.fromkeys(up for synset in here for up in wordnet.hypernyms(synset) if up not in seen))
        seen.update(above)
        for synset in above:
            words = [word.replace("_", " ") for word in wordnet.words[synset]]
            spelt = _reduced(words)
            if not spelt & risky and not any(own & set(word) for word in spelt):
                found.setdefault(words[0], General(words[0], level, wordnet.size_below(synset)))
        here = above
    return sorted(found.values(), key=lambda general: (general.things, general.level, general.word))


def _synsets_of(wordnet: WordNet, term: str, sense: str) -> list[int]:
    """The synsets at or below a sense that have the term among their words."""
    spelt = term.replace(" ", "_")
    for level in wordnet.below(wordnet.named(sense)):
        here = [synset for synset in level if any(word.lower() == spelt for word in wordnet.words[synset])]
        if here:
            return here
    return [wordnet.named(sense)]  # the seed itself, inflected: systems, for system


def generalize(wordnet: WordNet, text: str, block: Block, senses: Mapping[str, str], level: int = 1) -> Generalized:
    """Replace every risky term of a block by a word at least so many steps above it. `senses` is that of an `Expansion`."""
    if level < 1:
        raise ParameterError(f"level must be 1 or more, got {level}.")
    options = _options(wordnet, text, block, senses)
    chosen = {}
    for term, generals in options.items():
        high = [general for general in generals if general.level >= level]
        nearest = min(general.level for general in high) if high else max(general.level for general in generals)
        chosen[term] = min((general for general in generals if general.level == nearest), key=lambda general: general.things)
    return _apply(wordnet, text, block, senses, chosen)


def generalize_to(wordnet: WordNet, text: str, block: Block, senses: Mapping[str, str], t: int) -> Generalized:
    """Replace every risky term of a block so that t base texts are possible, and as few more as can be: the least general words do.

    Smallest product of at least t, found by trying all products below t; of equal ones the fewest steps up.
    """
    if t < 1:
        raise ParameterError(f"t must be 1 or more, got {t}.")
    options = _options(wordnet, text, block, senses)
    most = prod(max(general.things for general in generals) for generals in options.values())
    if most < t:
        raise ParameterError(f"Generalizing every term as far as WordNet goes allows {number(most)} base texts. Use t of at most that.")
    states: dict[int, tuple[int, tuple[General, ...]]] = {1: (0, ())}
    for generals in options.values():
        after: dict[int, tuple[int, tuple[General, ...]]] = {}
        for product, (steps, path) in states.items():
            for general in generals:
                better = (steps + general.level, (*path, general))
                into = product * general.things
                if into not in after or better[0] < after[into][0]:
                    after[into] = better
        states = _thinned(after, t)
    best = min(product for product in states if product >= t)
    return _apply(wordnet, text, block, senses, dict(zip(options, states[best][1])))


def _thinned(states: dict[int, tuple[int, tuple[General, ...]]], t: int) -> dict[int, tuple[int, tuple[General, ...]]]:
    """Of the products that reach t only the smallest can lead to the best; of very many others, one of each thousandth is enough."""
    enough = min((product for product in states if product >= t), default=None)
    kept = {product: state for product, state in states.items() if product < t or product == enough}
    if len(kept) <= _STATES:
        return kept
    largest = {round(1000 * log(product)): product for product in sorted(kept) if product < t}
    return {product: kept[product] for product in {*largest.values(), *([enough] if enough else [])}}


def _options(wordnet: WordNet, text: str, block: Block, senses: Mapping[str, str]) -> dict[str, list[General]]:
    """What may stand for each term that is written at least once in a form that can be replaced."""
    risky = _reduced(senses)
    terms = dict.fromkeys(term for start, end, term in block.terms if _ending(wordnet, text[start:end], term, senses) is not None)
    found = {term: _more_general(wordnet, term, senses, risky) for term in terms}
    return {term: generals for term, generals in found.items() if generals}


def _apply(wordnet: WordNet, text: str, block: Block, senses: Mapping[str, str], chosen: Mapping[str, General]) -> Generalized:
    edits, struck = [], []
    for start, end, term in block.terms:
        written = text[start:end]
        ending = _ending(wordnet, written, term, senses) if term in chosen else None
        if ending is None:
            struck.append((start, end, term))
            edits.append(Edit(start, end, STRUCK))
            continue
        word = _with(chosen[term].word, ending)
        word = word[:1].upper() + word[1:] if written[:1].isupper() else word
        begin = _article_before(text, start)
        edits.append(Edit(begin, end, f"{_article(text[begin:start], word)}{word}" if begin < start else word))
    return Generalized(tuple(edits), prod(general.things for general in chosen.values()), dict(chosen), tuple(struck))


def _ending(wordnet: WordNet, written: str, term: str, senses: Mapping[str, str]) -> str | None:
    """The ending a term is written with, or None if it is written otherwise: 'attempted' is not the noun 'attempt', though stems agree."""
    if not senses.get(term):
        return None
    plain = " ".join(written.lower().split())
    endings = {"n": ("", "s"), "v": ("", "s", "ed", "ing")}.get(wordnet.part_of_speech(wordnet.named(senses[term])), ("",))
    found = next((ending for ending in endings if plain == _with(term, ending)), None)
    same = plain.replace("-", "").replace(" ", "") == term.replace("-", "").replace(" ", "")
    return "" if found is None and same else found


def _with(word: str, ending: str) -> str:
    if ending == "s":
        if word.endswith("y") and word[-2:-1] not in "aeiou":
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if ending and word.endswith("e") and not (ending == "ing" and word.endswith("ee")):
        return word[:-1] + ending
    return word[:-1] + "ied" if ending == "ed" and word.endswith("y") and word[-2:-1] not in "aeiou" else word + ending


def _article_before(text: str, start: int) -> int:
    """Where 'a ' or 'an ' in front of a word begins, else the word's own start."""
    for article in ("an ", "a "):
        begin = start - len(article)
        if begin >= 0 and text[begin:start].lower() == article and (begin == 0 or not text[begin - 1].isalnum()):
            return begin
    return start


def _article(written: str, word: str) -> str:
    article = "an" if word[:1].lower() in "aeio" else "a"
    return (article.capitalize() if written[:1].isupper() else article) + " "
