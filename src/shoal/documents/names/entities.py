"""One entity, one number, across a whole corpus: mentions of the same person, organization or place are put together.

Forms that are the same but for title, case, accents, hyphens or a slip of spelling are one name. A shorter form (a surname, initials, an
acronym, a day without its year) belongs to the only fuller one of its document that it agrees with, else to the only one of the corpus. Where
there are two, it is an entity of its own: the nearest one before it would often be right, but a wrong guess lays one person's doings at
another's door, and a number of its own only says less. Names decide, never the order of documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shoal.document import DATE, LOCATION, ORGANIZATION, PERSON, UNKNOWN
from shoal.documents.names.canonical import date_order, parse_date
from shoal.documents.names.folding import bare
from shoal.documents.names.places import Places
from shoal.documents.names.spelling import roots
from shoal.documents.names.variants import Ask, Form, Person, form_of, known_word
from shoal.errors import DataError

_SPELT = (PERSON, ORGANIZATION, LOCATION)  # kinds in which a misspelling is still the same


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a document that names something: which document of the corpus, where, what it says, its kind, how sure that is."""

    document: int
    start: int
    end: int
    text: str
    kind: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Entity:
    """What the mentions at these positions of the list all name. `name` is its fullest form, a secret; `because` holds no text of a document."""

    kind: str
    name: str
    mentions: tuple[int, ...]
    kept: bool
    because: str


def resolve(mentions: Sequence[Mention], keep: Iterable[str] = (), drop: Iterable[str] = (), places: Places | None = None) -> list[Entity]:
    """The entities behind the mentions, in order of appearance. Every mention belongs to exactly one.

    `keep` and `drop` are texts the user lists: what is dropped is replaced even when a list would keep it. `places` is the keep-list of known
    places; without it every place is replaced.
    """
    _check(mentions)
    kinds = _kinds(mentions)
    order = date_order([date for text, kind in kinds if kind == DATE and (date := parse_date(text))])
    texts = Counter((mention.text, mention.kind) for mention in mentions)
    groups: dict[str, dict[str, set[str]]] = defaultdict(dict)  # kind -> text -> kinds it was found as
    for (text, kind), real in kinds.items():
        groups[real].setdefault(text, set()).add(kind)
    docs: dict[tuple[str, str], set[int]] = defaultdict(set)
    for mention in mentions:
        docs[mention.text, kinds[mention.text, mention.kind]].add(mention.document)
    linkings: dict[str, _Linking] = {}
    for kind, members in groups.items():
        counts = {text: sum(texts[text, found] for found in founds) for text, founds in members.items()}
        linkings[kind] = _Linking(kind, {text: form_of(text, kind, order) for text in counts}, counts)
        linkings[kind].link({text: docs[text, kind] for text in counts})
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for i in sorted(range(len(mentions)), key=lambda i: (mentions[i].document, mentions[i].start, mentions[i].end, i)):
        kind = kinds[mentions[i].text, mentions[i].kind]
        found[kind, linkings[kind].entity(mentions[i].text, mentions[i].document)].append(i)
    kept, dropped = {bare(text) for text in keep}, {bare(text) for text in drop}
    return [
        _entity(kind, linkings[kind], [mentions[i] for i in members], members, kept, dropped, places)
        for (kind, _), members in found.items()
    ]


def _check(mentions: Sequence[Mention]) -> None:
    for position, mention in enumerate(mentions):
        if mention.start < 0 or mention.end <= mention.start:
            raise DataError(f"Mention {position + 1:,} ends before it begins. Give the stretch of text it covers, from start to end.")


def _kinds(mentions: Sequence[Mention]) -> dict[tuple[str, str], str]:
    """The kind of each text. An unknown capitalised word that is elsewhere a name of one kind is that name."""
    seen = dict.fromkeys((mention.text, mention.kind) for mention in mentions)
    unknown = [text for text, kind in seen if kind == UNKNOWN]
    elsewhere: dict[str, set[str]] = defaultdict(set)
    if unknown:
        for text, kind in seen:
            if kind in _SPELT:
                elsewhere[bare(text)].add(kind)
                form = form_of(text, kind)
                if form.person and form.person.given:
                    elsewhere[form.person.surname].add(kind)
    real = {text: elsewhere.get(bare(text), set()) for text in unknown}
    return {(text, kind): next(iter(real[text])) if kind == UNKNOWN and len(real[text]) == 1 else kind for text, kind in seen}


class _Linking:
    """The names of one kind, put together. Texts with a key in common are one name; names are linked from those that say most to those that say least."""

    def __init__(self, kind: str, forms: dict[str, Form], counts: dict[str, int]) -> None:
        self.kind, self.forms, self.counts = kind, forms, counts
        self._parent = list(range(len(forms)))
        self._position = {text: i for i, text in enumerate(sorted(forms))}
        self._respelt: dict[str, str] = {}
        self._place: dict[tuple[int, int], int] = {}  # (name, document) -> entity
        self._everywhere: dict[int, int] = {}  # name -> entity, where its document does not say
        self._same_keys()
        if kind in _SPELT:
            self._same_but_for_spelling()

    def name(self, text: str) -> int:
        """The name a text is a form of."""
        return self._find(self._position[text])

    def entity(self, text: str, document: int) -> int:
        """The entity a text names in a document."""
        name = self.name(text)
        return self._place.get((name, document), self._everywhere.get(name, -1))

    def _find(self, i: int) -> int:
        while self._parent[i] != i:
            self._parent[i] = self._parent[self._parent[i]]
            i = self._parent[i]
        return i

    def _join(self, a: int, b: int) -> None:
        low, high = sorted((self._find(a), self._find(b)))
        self._parent[high] = low

    def _same_keys(self) -> None:
        first: dict[str, int] = {}
        for text, form in self.forms.items():
            for key in form.keys:
                self._join(first.setdefault(key, self._position[text]), self._position[text])

    def _same_but_for_spelling(self) -> None:
        """Join misspelt names; among persons also learn which surnames are one, so that a misspelt surname finds its person."""
        first: dict[tuple[str, ...], int] = {}
        counts: Counter[tuple[str, ...]] = Counter()
        for text, form in self.forms.items():
            if form.words:
                # Titles tell Mr. and Mrs. apart, and suffixes father and son: they are part of what must agree.
                first.setdefault(self._marked(form), self._position[text])
                counts[self._marked(form)] += self.counts[text]
        for words, root in roots(counts, self._known).items():
            self._join(first[words], first[root])
        if self.kind == PERSON:
            surnames: Counter[tuple[str, ...]] = Counter()
            for text, form in self.forms.items():
                if form.person and form.person.surname:
                    surnames[form.person.surname,] += self.counts[text]
            for (word,), (root_word,) in roots(surnames, lambda words, i: known_word(PERSON, words, i)).items():
                self._respelt[word] = root_word

    def _marked(self, form: Form) -> tuple[str, ...]:
        return (*form.words, f"|{form.person.suffix}|{form.person.gender}") if form.person else form.words

    def _known(self, words: tuple[str, ...], i: int) -> bool:
        plain = words[:-1] if self.kind == PERSON else words
        return i < len(plain) and known_word(self.kind, plain, i)

    def link(self, documents: dict[str, set[int]]) -> None:
        """Give every name an entity, in each document where that document decides."""
        members: dict[int, list[str]] = defaultdict(list)
        for text in sorted(self.forms):
            members[self.name(text)].append(text)
        fullest = {
            name: max((self.forms[text] for text in texts), key=lambda form: (form.detail, form.keys)) for name, texts in members.items()
        }
        entities = _Entities()
        for name in sorted(members, key=lambda name: (-fullest[name].detail, fullest[name].keys)):
            form = fullest[name]
            where = set().union(*(documents[text] for text in members[name]))
            offers = {self._spelt(offer) for text in members[name] for offer in self.forms[text].offers}
            placed = self._ask(form, where, entities)
            for document, entity in placed.items():
                self._place[name, document] = entity
            left = where - placed.keys()
            if left:
                self._everywhere[name] = entities.new()
            for entity in {*placed.values(), *([self._everywhere[name]] if left else [])}:
                here = [document for document in where if (placed.get(document, self._everywhere.get(name))) == entity]
                entities.add(entity, offers, here, form.person)

    def _spelt(self, key: str) -> str:
        """A key that ends in a surname, with the surname spelt as its root."""
        head, colon, surname = key.rpartition(":")
        return head + colon + self._respelt.get(surname, surname) if self._respelt and not key.startswith("g:") else key

    def _ask(self, form: Form, where: set[int], entities: _Entities) -> dict[int, int]:
        placed: dict[int, int] = {}
        asking = set(where)
        for scope, keys in form.asks:
            asked: Ask = (scope, tuple(self._spelt(key) for key in keys))
            only = entities.only(asked[1], form.person) if scope == "corpus" else None
            for document in sorted(asking):
                near = entities.near(asked[1], document, form.person)
                if len(near) == 1:
                    placed[document] = next(iter(near))
                elif not near and only is not None:
                    placed[document] = only
                if near or only is not None:
                    asking.discard(document)
        return placed


class _Entities:
    """Entities so far, findable by what their names offer, in the corpus and in each document."""

    def __init__(self) -> None:
        self._persons: list[dict[Person, None]] = []
        self._corpus: dict[str, dict[int, None]] = defaultdict(dict)
        self._document: dict[tuple[int, str], dict[int, None]] = defaultdict(dict)

    def new(self) -> int:
        self._persons.append({})
        return len(self._persons) - 1

    def add(self, entity: int, offers: set[str], documents: Iterable[int], person: Person | None) -> None:
        if person is not None:
            self._persons[entity][person] = None
        for offer in offers:
            self._corpus[offer][entity] = None
            for document in documents:
                self._document[document, offer][entity] = None

    def near(self, keys: tuple[str, ...], document: int, person: Person | None) -> set[int]:
        """The entities of a document that offer one of the keys and agree."""
        return {entity for key in keys for entity in self._document.get((document, key), ()) if self._agree(entity, person)}

    def only(self, keys: tuple[str, ...], person: Person | None) -> int | None:
        """The one entity of the corpus that offers one of the keys and agrees, or None where there is none, or a second."""
        found: set[int] = set()
        for key in keys:
            for entity in self._corpus.get(key, ()):
                if self._agree(entity, person):
                    found.add(entity)
                    if len(found) > 1:
                        return None
        return next(iter(found), None)

    def _agree(self, entity: int, person: Person | None) -> bool:
        return person is None or all(person.agrees(other) for other in self._persons[entity])


def _entity(
    kind: str, linking: _Linking, mentions: list[Mention], positions: list[int], keep: set[str], drop: set[str], places: Places | None
) -> Entity:
    counts = Counter(mention.text for mention in mentions)
    name = min(counts, key=lambda text: (-linking.forms[text].detail, -counts[text], -len(text), text))
    kept, because = _kept(kind, linking, counts, keep, drop, places)
    if not because:
        because = "one form" if len(counts) == 1 else f"{len(counts)} forms of one name"
    return Entity(kind, name, tuple(positions), kept, because)


def _kept(kind: str, linking: _Linking, texts: Iterable[str], keep: set[str], drop: set[str], places: Places | None) -> tuple[bool, str]:
    """Whether an entity stays, and why. Every name it goes by must be one that stays; a text on the drop list decides alone."""
    if not (keep or drop or places):
        return False, ""
    whys: dict[int, set[str]] = defaultdict(set)
    for text in texts:
        if bare(text) in drop:
            return False, "on the drop list"
        whys[linking.name(text)].add("on the keep list" if bare(text) in keep else places.why_kept(text, kind) if places else "")
    if all(any(why) for why in whys.values()):
        return True, sorted(why for reasons in whys.values() for why in reasons if why)[0]
    return False, ""
