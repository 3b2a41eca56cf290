"""What stands where a name stood: a label with a number, an invented name, a black box, or something more general. The same entity, the same words.

The map from replacement to name re-identifies everybody. It is made here as JSON and belongs in a private folder, readable by its owner alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from numpy.random import Generator

from shoal.document import ADDRESS, DATE, LABELS, LOCATION, Edit
from shoal.documents.names.canonical import MONTHS, date_order, parse_date
from shoal.documents.names.entities import Entity, Mention
from shoal.documents.names.folding import bare, tokens
from shoal.documents.names.places import continent_of, country_of, gazetteer
from shoal.documents.names.surrogates import Surrogates, draw_shift, shifted
from shoal.errors import DataError, ParameterError
from shoal.parsing import parse_json

Style = Literal["label", "surrogate", "black-box", "general"]
STYLES: tuple[Style, ...] = ("label", "surrogate", "black-box", "general")
Numbering = Literal["appearance", "random"]
# What moves together when dates are shifted: all of the corpus, or each document by itself.
Shift = Literal["corpus", "document"]

_SHIFTS = 20  # draws before a clash of dates is accepted
BOX = "█" * 8  # one width for all: the length of a name is a hint


def replacements(
    entities: Sequence[Entity],
    mentions: Sequence[Mention],
    style: Style,
    rng: Generator,
    numbering: Numbering = "appearance",
    shift: Shift = "corpus",
    called: Mapping[str, str] | None = None,
) -> list[str | None]:
    """What to put in place of each mention; None where it stays. One entity has one replacement; a date's follows the way it is written.

    Numbers by appearance say who is named first in the corpus; random ones say nothing. `shift` moves all dates of the corpus by one secret
    number of days, or those of each document by its own. `called` names labels of kinds of the user's own.
    """
    if style not in STYLES:
        raise ParameterError(f"There is no style '{style}'. Known: {', '.join(STYLES)}.")
    names = labels(entities, mentions, rng, numbering, called)
    removed = _Removed(mentions[i].text for entity in entities if not entity.kept for i in entity.mentions)
    if style == "surrogate":
        surrogates = Surrogates((mention.text for mention in mentions), rng)
        own = ({mentions[i].text for i in entity.mentions} for entity in entities)
        drawn = [label and surrogates.draw(entity.kind, texts) for entity, label, texts in zip(entities, names, own)]
        names = [name if name and not removed.said_by(name) else label for name, label in zip(drawn, names)]
    elif style == "general":
        names = [
            label and next((word for word in general(entity) if not removed.said_by(word)), BOX) for entity, label in zip(entities, names)
        ]
    found: list[str | None] = [None] * len(mentions)
    for entity, name in zip(entities, names):
        for i in entity.mentions:
            found[i] = BOX if name and style == "black-box" else name
    if style == "surrogate":
        _shift_dates(entities, mentions, found, removed, rng, shift)
    return found


class _Removed:
    """What is taken out. A replacement must not put it back: Munich cannot become Germany where Germany goes too."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._said = {" ".join(tokens(text)) for text in texts} - {""}

    def said_by(self, replacement: str) -> bool:
        words = tokens(replacement)
        return any(" ".join(words[i:j]) in self._said for i in range(len(words)) for j in range(i + 1, len(words) + 1))


def labels(
    entities: Sequence[Entity],
    mentions: Sequence[Mention],
    rng: Generator,
    numbering: Numbering = "appearance",
    called: Mapping[str, str] | None = None,
) -> list[str | None]:
    """Pers_1, Org_1, Loc_1, ...: kind and number, counted within each kind; None for what stays. A label some mention already reads is passed over."""
    taken = {token for mention in mentions if "_" in mention.text for token in tokens(mention.text)}
    order = [int(i) for i in rng.permutation(len(entities))] if numbering == "random" else range(len(entities))
    next_number: dict[str, int] = {}
    made: list[str | None] = [None] * len(entities)
    for i in (i for i in order if not entities[i].kept):
        word = (called or {}).get(entities[i].kind) or label_of(entities[i].kind)
        number = next_number.get(word, 0) + 1
        while f"{word}_{number}".lower() in taken:
            number += 1
        next_number[word] = number
        made[i] = f"{word}_{number}"
    return made


def label_of(kind: str) -> str:
    """'person' -> 'Pers'. A kind of the user's own gives its letters and digits: 'case-number' -> 'CaseNumber'."""
    return LABELS.get(kind) or "".join(word[:1].upper() + word[1:] for word in re.findall(r"[^\W_]+", kind)) or "Name"


def general(entity: Entity) -> list[str]:
    """Less of the same, the closest first: a day's month and year, a city's country, a country's continent, an address's town, an age's
    decade; at last '[person]' and so on."""
    name, wider = entity.name, []
    if entity.kind == DATE:
        wider = _wider_dates(name)
    elif entity.kind == LOCATION:
        head, *regions = (piece.strip() for piece in name.split(","))
        wider = [*filter(_is_place, regions), country_of(head), continent_of(country_of(head) or head)]
    elif entity.kind == ADDRESS:
        pieces = (re.sub(r"[\d\s-]+$", "", piece.strip()) for piece in re.split(r"[,\n]", name)[1:])
        wider = [*filter(_is_place, pieces)]
    elif entity.kind == "age":
        wider = [f"{int(years) // 10 * 10}s" for years in re.findall(r"\d{1,3}", name)[:1]]
    if entity.kind in (LOCATION, ADDRESS):  # Mexico City -> Mexico would say it again
        wider = [word for word in wider if not set(tokens(word)) & set(tokens(re.split(r"[,\n]", name)[0]))]
    return [*filter(None, wider), f"[{entity.kind}]"]


def _is_place(text: str) -> bool:
    return gazetteer().known(bare(text))


def _wider_dates(text: str) -> list[str]:
    date = parse_date(text)
    date = date and date.read_as("unknown")
    if date is None or date.year is None:
        return []
    month = [f"{MONTHS[date.month - 1].title()} {date.year}"] if date.month and date.day else []
    year = [str(date.year)] if date.month or date.loose else []
    return [*month, *year, f"{date.year // 10 * 10}s"]


def _shift_dates(
    entities: Sequence[Entity], mentions: Sequence[Mention], found: list[str | None], removed: _Removed, rng: Generator, shift: Shift
) -> None:
    """Move dates by a number of days that makes none of them a date taken out elsewhere; those that still are keep their label."""
    dated = [(entity, i) for entity in entities if entity.kind == DATE and not entity.kept for i in entity.mentions]
    order = date_order([date for _, i in dated if (date := parse_date(mentions[i].text))])
    together: dict[int, list[tuple[int, int | None]]] = {}
    for entity, i in dated:
        whole = parse_date(entity.name)
        together.setdefault(mentions[i].document if shift == "document" else 0, []).append((i, whole.year if whole else None))
    for _, members in sorted(together.items()):
        for attempt in range(_SHIFTS):
            move = draw_shift(rng)
            moved = {i: shifted(mentions[i].text, move, order, year) for i, year in members}
            good = {i: text for i, text in moved.items() if text and not removed.said_by(text)}
            if len(good) == len([text for text in moved.values() if text]) or attempt == _SHIFTS - 1:
                for i, text in good.items():
                    found[i] = text
                break


def edits(mentions: Iterable[tuple[Mention, str | None]]) -> list[Edit]:
    """The edits of one document, without overlaps: where two mentions overlap both go, under the replacement of the longer one."""
    replaced = sorted(((m.start, m.end, put) for m, put in mentions if put is not None), key=lambda edit: (edit[0], -edit[1]))
    merged: list[tuple[int, int, str, int]] = []  # start, end, replacement, length of the mention it is for
    for start, end, put in replaced:
        if merged and start < merged[-1][1]:
            begin, until, before, length = merged[-1]
            longer = end - start > length
            merged[-1] = (begin, max(until, end), put if longer else before, max(length, end - start))
        else:
            merged.append((start, end, put, end - start))
    return [Edit(start, end, put) for start, end, put, _ in merged]


def map_to_json(entities: Sequence[Entity], mentions: Sequence[Mention], given: Sequence[str | None]) -> str:
    """Who is behind each replacement: the secret that undoes the redaction. `given` are the replacements of the mentions."""
    people = [
        {
            "kind": entity.kind,
            "name": entity.name,
            "kept": entity.kept,
            "because": entity.because,
            "forms": sorted({mentions[i].text for i in entity.mentions}),
            "replacements": sorted({put for i in entity.mentions if (put := given[i]) is not None}),
            "mentions": [list(pair) for pair in sorted({(mentions[i].document, mentions[i].start) for i in entity.mentions})],
        }
        for entity in entities
    ]
    return json.dumps({"secret": "re-identifies everybody named in the documents", "entities": people}, ensure_ascii=False)


def map_from_json(text: str) -> dict[str, list[str]]:
    """Replacement -> the names behind it, fullest form first. A black box has many."""
    try:
        names: dict[str, list[str]] = {}
        for entry in parse_json(text, "map.json")["entities"]:
            for put in entry["replacements"]:
                if not isinstance(put, str) or not isinstance(entry["name"], str):
                    raise TypeError
                names.setdefault(put, []).append(entry["name"])
        return names
    except (DataError, KeyError, TypeError) as error:
        raise DataError(
            "This is not a map of replacements as shoal writes it. Take the one from the case's private folder, unchanged."
        ) from error
