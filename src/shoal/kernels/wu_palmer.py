"""How near two meanings are in a taxonomy of hypernyms (Wu & Palmer 1994; Abril 2014, 4.13 to 4.15).

A synset has a line: its hypernyms at any distance, itself among them, and the fewest steps to each, be it by a detour over a hypernym of
both. A word's line joins those of its senses with the fewest steps of any, so that the nearest pair of senses is found without looking at
pairs of senses. Depths count nodes on the longest way to the root, which has 1. Over a common hypernym of depth D, L steps away in all, the
similarity is 2D / (L + 2D), and the dissimilarity L / (L + 2D). Two rules:

* best: the least over all common hypernyms. Where two are equally good, the deeper one is the meaning in common, then the lower number; a
  word that both sides have keeps its first, commonest sense;
* nltk: one common hypernym, as NLTK chooses it: farthest from the root by the shortest way, then first by name; a synset that stands above
  the other is preferred among equals. It needs all pairs of senses, and is never nearer than `best`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import Float32Array, Int32Array, IntArray

FAR = 127  # steps to what is not in a line


class Taxonomy(NamedTuple):
    """The lines of every synset: those of synset s stand from starts[s] to starts[s + 1], in the order of their numbers.

    `depth` and `least` count the nodes on the longest and on the shortest way to the root; `rank` is NLTK's order of common hypernyms.
    """

    starts: IntArray
    above: Int32Array
    steps: NDArray[np.int8]
    depth: Int32Array
    least: Int32Array
    rank: Int32Array


class Meanings(NamedTuple):
    """Synsets, then words: meaning m below `synsets` is a synset, above it a word. Each has a line and senses (a synset: itself)."""

    starts: IntArray
    above: Int32Array
    steps: NDArray[np.int8]
    sense_starts: IntArray
    senses: Int32Array
    synsets: int
    taxonomy: Taxonomy


def taxonomy_of(starts: IntArray, hypernyms: Int32Array, least: Int32Array, most: Int32Array, names: list[str]) -> Taxonomy:
    """From hypernyms (those of s stand from starts[s] to starts[s + 1]), depths in steps, and names that settle NLTK's ties."""
    if np.count_nonzero(np.diff(starts) == 0) != 1:
        raise ValueError("A taxonomy has one root: the hypernym of everything else.")
    begins, above, steps = _climb(np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(hypernyms, np.int32))
    _take_detours(begins, above, steps)
    order = np.lexsort((np.argsort(np.argsort(names, kind="stable"), kind="stable"), -least))
    rank = np.empty(len(least), np.int32)
    rank[order] = np.arange(len(least), dtype=np.int32)
    return Taxonomy(begins, above, steps, (most + 1).astype(np.int32), (least + 1).astype(np.int32), rank)


def meanings_of(taxonomy: Taxonomy, senses: list[list[int]]) -> Meanings:
    """Every synset, then a word for each list of senses."""
    synsets = len(taxonomy.depth)
    ends = np.cumsum([len(found) for found in senses], dtype=np.int64)
    flat = np.fromiter((sense for found in senses for sense in found), np.int32, int(ends[-1]) if len(ends) else 0)
    starts, above, steps = _joined(np.concatenate((np.zeros(1, np.int64), ends)), flat, taxonomy.starts, taxonomy.above, taxonomy.steps)
    return Meanings(
        np.concatenate((taxonomy.starts, starts[1:] + taxonomy.starts[-1])),
        np.concatenate((taxonomy.above, above)),
        np.concatenate((taxonomy.steps, steps)),
        np.concatenate((np.arange(synsets + 1), ends + synsets)),
        np.concatenate((np.arange(synsets, dtype=np.int32), flat)),
        synsets,
        taxonomy,
    )


def dissimilarities(meanings: Meanings, some: IntArray, others: IntArray, nltk: bool) -> Float32Array:
    """(4.15) for every pair of two lists of meanings, each worked out by itself."""
    found: Float32Array = block_of(meanings, np.asarray(some, np.int64), np.asarray(others, np.int64), nltk, _room(meanings))
    return found


def common(meanings: Meanings, one: int, other: int, nltk: bool) -> tuple[float, int]:
    """The dissimilarity of two meanings, and the synset they have in common."""
    far, synset = common_of(meanings, one, other, nltk, _room(meanings))
    return float(far), int(synset)


def dissimilarity_matrix(meanings: Meanings, some: IntArray, nltk: bool) -> Float32Array:
    """(4.15) for every pair of a list of meanings: symmetric, 0 on the diagonal.

    By the rule `best`, the meanings that have a hypernym are walked, not the hypernyms that a pair does not share.
    """
    some = np.asarray(some, np.int64)
    matrix = np.zeros((len(some), len(some)), np.float32)
    if nltk:
        _triangle(meanings, some, matrix, _room(meanings))
    else:
        _by_postings(meanings, some, matrix)
    _mirror(matrix)
    return matrix


def _room(meanings: Meanings) -> NDArray[np.int8]:
    return np.full(meanings.synsets, FAR, np.int8)


@njit(cache=True)
def _climb(starts, hypernyms):
    """The line of every synset, breadth first."""
    n = starts.shape[0] - 1
    seen = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int32)
    far = np.empty(n, np.int8)
    begins = np.zeros(n + 1, np.int64)
    above = np.empty(max(16 * n, 16), np.int32)
    steps = np.empty(above.shape[0], np.int8)
    for s in range(n):
        queue[0] = s
        far[s] = 0
        seen[s] = s
        filled = 1
        at = 0
        while at < filled:
            here = queue[at]
            for p in range(starts[here], starts[here + 1]):
                up = hypernyms[p]
                if seen[up] != s:
                    seen[up] = s
                    far[up] = far[here] + 1
                    queue[filled] = up
                    filled += 1
            at += 1
        begin = begins[s]
        begins[s + 1] = begin + filled
        if begins[s + 1] > above.shape[0]:
            longer = np.empty(2 * begins[s + 1], np.int32)
            longer[:begin] = above[:begin]
            above = longer
            more = np.empty(longer.shape[0], np.int8)
            more[:begin] = steps[:begin]
            steps = more
        line = np.sort(queue[:filled])
        for a in range(filled):
            above[begin + a] = line[a]
            steps[begin + a] = far[line[a]]
    return begins, above[: begins[n]].copy(), steps[: begins[n]].copy()


@njit(cache=True)
def _take_detours(starts, above, steps):
    """Shorten the way to a hypernym where a farther one is nearer to both ends."""
    n = starts.shape[0] - 1
    up = steps.copy()
    far = np.full(n, FAR, np.int8)
    for s in range(n):
        for p in range(starts[s], starts[s + 1]):
            far[above[p]] = up[p]
        for p in range(starts[s], starts[s + 1]):
            for q in range(starts[above[p]], starts[above[p] + 1]):
                steps[p] = min(steps[p], far[above[q]] + up[q])
        for p in range(starts[s], starts[s + 1]):
            far[above[p]] = FAR


@njit(cache=True)
def _joined(sense_starts, senses, starts, above, steps):
    """The line of each word: the fewest steps from any of its senses."""
    words = sense_starts.shape[0] - 1
    far = np.full(starts.shape[0] - 1, FAR, np.int8)
    begins = np.zeros(words + 1, np.int64)
    most = 0
    for p in range(senses.shape[0]):
        most += starts[senses[p] + 1] - starts[senses[p]]
    line = np.empty(most, np.int32)
    step = np.empty(most, np.int8)
    for w in range(words):
        begin = end = begins[w]
        for p in range(sense_starts[w], sense_starts[w + 1]):
            for q in range(starts[senses[p]], starts[senses[p] + 1]):
                if far[above[q]] == FAR:
                    line[end] = above[q]
                    end += 1
                far[above[q]] = min(far[above[q]], steps[q])
        line[begin:end] = np.sort(line[begin:end])
        for q in range(begin, end):
            step[q] = far[line[q]]
            far[line[q]] = FAR
        begins[w + 1] = end
    return begins, line[: begins[words]].copy(), step[: begins[words]].copy()


@njit(cache=True)
def _spread(meanings, m, far):
    for p in range(meanings.starts[m], meanings.starts[m + 1]):
        far[meanings.above[p]] = meanings.steps[p]


@njit(cache=True)
def _wipe(meanings, m, far):
    for p in range(meanings.starts[m], meanings.starts[m + 1]):
        far[meanings.above[p]] = FAR


@njit(cache=True)
def _best(meanings, far, m):
    """L, D and the common hypernym of the spread meaning and m. Ratios are compared as whole numbers, so ties are ties."""
    depth = meanings.taxonomy.depth
    length, deep, synset = 1, 0, -1  # nothing in common: 1 / (1 + 0)
    for p in range(meanings.starts[m], meanings.starts[m + 1]):
        c = meanings.above[p]
        if far[c] != FAR:
            long = far[c] + meanings.steps[p]
            here, best = long * deep, length * depth[c]
            if here < best or (here == best and depth[c] > deep):
                length, deep, synset = long, depth[c], c
    return length, deep, synset


@njit(cache=True)
def _nltk(taxonomy, one, other):
    """L, D and NLTK's common hypernym of two synsets. Lines are sorted, so they are walked side by side."""
    starts, above, rank = taxonomy.starts, taxonomy.above, taxonomy.rank
    p, q = starts[one], starts[other]
    at, to, itself = -1, -1, -1
    while p < starts[one + 1] and q < starts[other + 1]:
        if above[p] < above[q]:
            p += 1
        elif above[p] > above[q]:
            q += 1
        else:
            if at < 0 or rank[above[p]] < rank[above[at]]:
                at, to = p, q
            if above[p] == one:
                itself = q
            p += 1
            q += 1
    if at < 0:
        return 1, 0, -1
    if itself >= 0 and taxonomy.least[one] == taxonomy.least[above[at]]:
        return taxonomy.steps[itself], taxonomy.depth[one], one
    return taxonomy.steps[at] + taxonomy.steps[to], taxonomy.depth[above[at]], above[at]


@njit(cache=True)
def _nearest_senses(meanings, one, other):
    """NLTK's rule over all pairs of senses, in both orders: its preference for the first synset is not symmetric."""
    length, deep, synset = 1, 0, -1
    for p in range(meanings.sense_starts[one], meanings.sense_starts[one + 1]):
        for q in range(meanings.sense_starts[other], meanings.sense_starts[other + 1]):
            for turn in range(2):
                a, b = meanings.senses[p], meanings.senses[q]
                long, down, c = _nltk(meanings.taxonomy, b, a) if turn else _nltk(meanings.taxonomy, a, b)
                here, best = long * deep, length * down
                if here < best or (here == best and (down > deep or (down == deep and c < synset))):
                    length, deep, synset = long, down, c
    return length, deep, synset


@njit(cache=True)
def _ratio(length, deep):
    return np.float32(length / (length + 2 * deep))


@njit(cache=True)
def common_of(meanings, one, other, nltk, far):
    if one == other:
        return np.float32(0), np.int64(meanings.senses[meanings.sense_starts[one]])
    if nltk:
        length, deep, synset = _nearest_senses(meanings, one, other)
    else:
        _spread(meanings, one, far)
        length, deep, synset = _best(meanings, far, other)
        _wipe(meanings, one, far)
    return _ratio(length, deep), np.int64(synset)


@njit(cache=True)
def block_of(meanings, some, others, nltk, far):
    found = np.empty((some.shape[0], others.shape[0]), np.float32)
    for a in range(some.shape[0]):
        if not nltk:
            _spread(meanings, some[a], far)
        for b in range(others.shape[0]):
            length, deep, _ = _nearest_senses(meanings, some[a], others[b]) if nltk else _best(meanings, far, others[b])
            found[a, b] = 0 if some[a] == others[b] else _ratio(length, deep)  # NLTK's rule may find a hypernym of the same synset
        if not nltk:
            _wipe(meanings, some[a], far)
    return found


@njit(cache=True)
def _triangle(meanings, some, matrix, far):
    for a in range(some.shape[0]):
        matrix[a, a + 1 :] = block_of(meanings, some[a : a + 1], some[a + 1 :], True, far)[0]


@njit(cache=True)
def _by_postings(meanings, some, matrix):
    """The upper triangle. Meanings leave the postings of their hypernyms as their row is done, so that only later ones are walked."""
    n = some.shape[0]
    starts, above, steps, depth = meanings.starts, meanings.above, meanings.steps, meanings.taxonomy.depth
    begins = np.zeros(meanings.synsets + 1, np.int64)
    highest = 0
    for m in some:
        for p in range(starts[m], starts[m + 1]):
            begins[above[p] + 1] += 1
            highest = max(highest, steps[p])
    for c in range(meanings.synsets):
        begins[c + 1] += begins[c]
    fill = begins[:-1].copy()
    places = np.empty(begins[-1], np.int32)
    away = np.empty(begins[-1], np.int8)
    for a in range(n):
        for p in range(starts[some[a]], starts[some[a] + 1]):
            c = above[p]
            places[fill[c]] = a
            away[fill[c]] = steps[p]
            fill[c] += 1
    ends = fill
    next_up = begins[:-1].copy()
    ratios = np.empty((depth.max() + 1, 2 * highest + 1), np.float32)
    for deep in range(ratios.shape[0]):
        for length in range(ratios.shape[1]):
            ratios[deep, length] = np.float32(length / max(length + 2 * deep, 1))
    for a in range(n):
        row = matrix[a]
        row[a + 1 :] = 1
        for p in range(starts[some[a]], starts[some[a] + 1]):
            c = above[p]
            next_up[c] += 1
            by_steps = ratios[depth[c], steps[p] :]
            for q in range(next_up[c], ends[c]):
                row[places[q]] = min(row[places[q]], by_steps[away[q]])


@njit(cache=True)
def _mirror(matrix):
    """The lower triangle from the upper one, in squares that fit a cache."""
    n, side = matrix.shape[0], 64
    for first in range(0, n, side):
        for second in range(first, n, side):
            for a in range(first, min(first + side, n)):
                for b in range(max(second, a + 1), min(second + side, n)):
                    matrix[b, a] = matrix[a, b]
