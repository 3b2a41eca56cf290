"""A WordNet small enough to check by eye, written in WordNet's own format; and the real one, if it is there."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal.text.wordnet import WordNet, read_wordnet

LICENCE = "  1 This is a licence, indented as WordNet's is.\n"

# words, hypernyms (by first word), gloss; a hypernym after '=' is what the thing is an instance of
NOUNS: list[tuple[str, str, str]] = [
    ("entity", "", "that which is"),
    ("artifact", "entity", "a thing made"),
    ("device", "artifact", "a thing made for a purpose"),
    ("weapon arm", "device", 'used in fighting; "he carried a weapon"'),
    ("gun", "weapon", "fires a missile"),
    ("pistol handgun", "gun", "held in one hand"),
    ("rifle", "gun", "has a long barrel"),
    ("knife", "weapon tool", "has a blade"),
    ("tool", "device", "used at work"),
    ("nuclear_weapon", "weapon", "of mass destruction"),
    ("Excalibur", "=knife", "the sword of a king"),
    ("arm", "entity", "a limb"),
    ("e-mail", "entity", "sent by wire"),
    ("man", "entity", "a grown male"),
]
VERBS = [("act", "", "do something"), ("attack assail", "act", "begin to fight"), ("raid", "attack", "attack suddenly")]


def write_wordnet(folder: Path, nouns: Sequence[tuple[str, str, str]] = NOUNS, verbs: Sequence[tuple[str, str, str]] = VERBS) -> Path:
    """Its files, with numbers for offsets."""
    folder.mkdir(parents=True, exist_ok=True)
    adjectives = [("military", "", "of soldiers", "a"), ("covert(p)", "", "hidden", "s")]
    _write(folder, "noun", "n", [(*noun, "n") for noun in nouns])
    _write(folder, "verb", "v", [(*verb, "v") for verb in verbs])
    _write(folder, "adj", "a", adjectives)
    _write(folder, "adv", "r", [])
    (folder / "noun.exc").write_text("men man\n")
    return folder


def _write(folder: Path, name: str, part: str, synsets: Sequence[tuple[str, str, str, str]]) -> None:
    first = {words.split()[0]: f"{number:08d}" for number, (words, _, _, _) in reversed(list(enumerate(synsets, 1)))}
    data, index = [], {}
    for number, (words, above, gloss, kind) in enumerate(synsets, 1):
        pointers = [("@i" if up[0] == "=" else "@", first[up.lstrip("=")]) for up in above.split()]
        spelt = " ".join(f"{word} 0" for word in words.split())
        links = "".join(f" {sign} {offset} {part} 0000" for sign, offset in pointers)
        data.append(f"{number:08d} 03 {kind} {len(words.split()):02x} {spelt} {len(pointers):03d}{links} | {gloss}  \n")
        for word in words.split():
            index.setdefault(word.lower().removesuffix("(p)"), []).append(f"{number:08d}")
    (folder / f"data.{name}").write_text(LICENCE + "".join(data))
    lines = [f"{word} {part} {len(at)} 1 @ {len(at)} 0 {' '.join(at)}  \n" for word, at in sorted(index.items())]
    (folder / f"index.{name}").write_text(LICENCE + "".join(lines))


def real_wordnet() -> WordNet:
    """WordNet 3.0, or a skipped test."""
    try:
        return read_wordnet()
    except DataError as problem:
        pytest.skip(str(problem))
