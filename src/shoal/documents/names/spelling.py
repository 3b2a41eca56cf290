"""Misspellings among names: near-linear, by the words that deleting a letter makes equal; never all pairs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from shoal.errors import DataError

Words = tuple[str, ...]

SHORTEST = 5  # a shorter word never matches by spelling, even beside equal words
SWAPPED, DOUBLED, LEFT_OUT = 6, 7, 8  # letters that a word by itself needs before such a slip is believed
SUBSTITUTED = 7  # and one beside equal words, before another letter in place of one is
LONG = 9  # from here two mistakes are allowed beside equal words


def roots(counts: Mapping[Words, int], known: Callable[[Words, int], bool]) -> dict[Words, Words]:
    """For each name, as words, the name it is a misspelling of, or itself.

    `known(words, i)` says whether a list has the i-th word: two known ones are never each other's misspelling. A name near two others is left
    alone. The result depends on the names and how often they occur, not on their order.
    """
    words_near = _neighbours({word for words in counts for word in words if len(word) >= SHORTEST and word.isalpha()})
    near: dict[Words, set[Words]] = defaultdict(set)
    for words in counts:
        for i, word in enumerate(words):
            for other in words_near.get(word, ()):
                changed = (*words[:i], other, *words[i + 1 :])
                if changed in counts and _misspelt(words, changed, i, known):
                    near[words].add(changed)
    root: dict[Words, Words] = {}
    # The known spelling first, then the more frequent one: the others are its misspellings, and a misspelling has none of its own.
    for words in sorted(counts, key=lambda w: (-sum(known(w, i) for i in range(len(w))), -counts[w], w)):
        above = [other for other in near.get(words, ()) if root.get(other) == other]
        root[words] = above[0] if len(above) == 1 else words
    return root


def _neighbours(vocabulary: Iterable[str]) -> dict[str, set[str]]:
    """Words one slip apart, two for long ones: candidates become equal when letters after the first are deleted, and are then compared."""
    try:
        from rapidfuzz.distance import OSA
    except ImportError as error:
        raise DataError("Finding misspelt names needs an extra: pip install 'shoal[documents]'.") from error
    table: dict[str, list[str]] = defaultdict(list)
    for word in vocabulary:
        for shorter in _deletions(word):
            table[shorter].append(word)
    near: dict[str, set[str]] = defaultdict(set)
    for bucket in table.values():
        for i, a in enumerate(bucket):
            for b in bucket[i + 1 :]:
                if b not in near[a] and OSA.distance(a, b) <= (2 if min(len(a), len(b)) >= LONG else 1):
                    near[a].add(b)
                    near[b].add(a)
    return near


def _deletions(word: str) -> set[str]:
    once = {word[:i] + word[i + 1 :] for i in range(1, len(word))}
    twice = {w[:i] + w[i + 1 :] for w in once for i in range(1, len(w))} if len(word) >= LONG else set()
    return {word} | once | twice


def _misspelt(a: Words, b: Words, i: int, known: Callable[[Words, int], bool]) -> bool:
    """Whether two names that differ in their i-th word are one, misspelt."""
    x, y = sorted((a[i], b[i]), key=len)
    beside = any(len(word) > 1 and word.isalpha() for word in (*a[:i], *a[i + 1 :]))  # initials and numbers say too little
    return (_slip_beside(x, y) if beside else _slip_alone(x, y)) and not (known(a, i) and known(b, i))


def _slip_alone(x: str, y: str) -> bool:
    """A word by itself: letters swapped, one doubled or not, one left out of a long word. Never another letter: Parsons and Persons are two."""
    if len(x) == len(y):
        return len(x) >= SWAPPED and _swapped(x, y)
    gap = _left_out(x, y)
    if gap is None or gap == len(x):
        return gap is not None and len(x) >= DOUBLED and y[-1] == x[-1]
    doubled = y[gap] in (y[gap - 1], y[gap + 1])
    return len(x) >= (DOUBLED if doubled else LEFT_OUT)


def _slip_beside(x: str, y: str) -> bool:
    """A word beside others that agree. What changes the end is another name: Ivanov and Ivanova, Mario and Maria, Brand and Brandt."""
    if len(x) == len(y):
        changed = [i for i in range(len(x)) if x[i] != y[i]]
        return Counter(x) == Counter(y) or (len(x) >= SUBSTITUTED and changed[-1] < len(x) - 1)
    return y == x + x[-1] if y.startswith(x) else x[-1] == y[-1]


def _swapped(x: str, y: str) -> bool:
    changed = [i for i in range(len(x)) if x[i] != y[i]]
    return len(changed) == 2 and changed[1] == changed[0] + 1 and x[changed[0]] == y[changed[1]] and x[changed[1]] == y[changed[0]]


def _left_out(x: str, y: str) -> int | None:
    """Where y has one letter more than x, or None."""
    if len(y) != len(x) + 1:
        return None
    gap = next((i for i in range(len(x)) if x[i] != y[i]), len(x))
    return gap if x[gap:] == y[gap + 1 :] else None
