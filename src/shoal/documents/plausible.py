"""Instead of striking out a risky term, say something more general: a pistol becomes a device (t-plausibility, Anandan et al. 2012)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log, prod

from shoal.document import Block, Edit
from shoal.errors import ParameterError, number
from shoal.text.wordnet import WordNet
from shoal.text.words import STOP_WORDS, stems, tokens

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
    often leave only a few. `left` are the risky terms that WordNet offers nothing for (adjectives, names, terms of your own) or
    that are written in a form no ending explains: they are still in the text, and a person has to decide about them.
    """

    edits: tuple[Edit, ...]
    plausibility: int
    replaced: Mapping[str, General]
    left: tuple[tuple[int, int, str], ...]


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
    options = _options(wordnet, block, senses)
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
    options = _options(wordnet, block, senses)
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


def _options(wordnet: WordNet, block: Block, senses: Mapping[str, str]) -> dict[str, list[General]]:
    terms = dict.fromkeys(term for _, _, term in block.terms)
    risky = _reduced(senses)
    found = {term: _more_general(wordnet, term, senses, risky) for term in terms}
    return {term: generals for term, generals in found.items() if generals}


def _apply(wordnet: WordNet, text: str, block: Block, senses: Mapping[str, str], chosen: Mapping[str, General]) -> Generalized:
    edits, left = [], []
    replaced = {}
    for start, end, term in block.terms:
        part = wordnet.part_of_speech(wordnet.named(senses[term])) if term in chosen else ""
        word = _like(text[start:end], term, chosen[term].word, part) if part else None
        if word is None:
            left.append((start, end, term))
            continue
        replaced[term] = chosen[term]
        begin = _article_before(text, start)
        edits.append(Edit(begin, end, f"{_article(text[begin:start], word)}{word}" if begin < start else word))
    return Generalized(tuple(edits), prod(general.things for general in replaced.values()), replaced, tuple(left))


def _like(written: str, term: str, word: str, part: str) -> str | None:
    """The word in the number, tense and case of what it replaces, as far as regular endings go; None if it is written otherwise.

    "Attempted" is not the noun "attempt", though they share a stem: "event" must not stand for it.
    """
    plain = " ".join(written.lower().split())
    endings = {"n": ("", "s"), "v": ("", "s", "ed", "ing")}.get(part, ("",))
    ending = next((ending for ending in endings if plain == _with(term, ending)), None)
    if ending is None and plain.replace("-", "").replace(" ", "") != term.replace("-", "").replace(" ", ""):
        return None
    word = _with(word, ending or "")
    return word[:1].upper() + word[1:] if written[:1].isupper() else word


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
