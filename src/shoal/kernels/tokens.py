"""Cutting a text into words and numbering the different ones, over code points: no string is made for a word met before."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import IntArray

OUTSIDE, LETTER, INSIDE = 0, 1, 2  # what a character does to a word: ends it, begins or continues it, continues it only


@njit(cache=True)
def borders(codes: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> Any:
    """Where each word starts and ends. `kinds` says of every code point what it does."""
    words = 0
    within = False
    for code in codes:
        kind = kinds[code]
        if not within and kind == LETTER:
            words += 1
        within = kind == LETTER or (within and kind == INSIDE)
    starts, ends = np.empty(words, np.int64), np.empty(words, np.int64)
    word = 0
    within = False
    for place in range(len(codes)):
        kind = kinds[codes[place]]
        inside = kind == LETTER or (within and kind == INSIDE)
        if inside and not within:
            starts[word] = place
        elif within and not inside:
            ends[word] = place
            word += 1
        within = inside
    if within:
        ends[word] = len(codes)
    return starts, ends


@njit(cache=True)
def _mixed(codes, start, end):
    key = np.uint64(14695981039346656037)
    for place in range(start, end):
        key = (key ^ np.uint64(codes[place])) * np.uint64(1099511628211)
    return key ^ (key >> np.uint64(29))


@njit(cache=True)
def number(
    codes: NDArray[np.uint32],
    starts: IntArray,
    ends: IntArray,
    slots: IntArray,
    keys: NDArray[np.uint64],
    begins: IntArray,
    pool: NDArray[np.uint32],
    known: int,
) -> Any:
    """The number of each word, and how many different ones are known now.

    Word w is spelt pool[begins[w]:begins[w + 1]]; `slots` finds it by its key (0: free, else w + 1) and is never full. Spellings are
    compared letter by letter, so words with equal keys stay apart. The arrays must have room for every word of the text to be new.
    """
    mask = np.uint64(len(slots) - 1)
    found = np.empty(len(starts), np.int64)
    for word in range(len(starts)):
        start, length = starts[word], ends[word] - starts[word]
        key = _mixed(codes, start, ends[word])
        slot = key & mask
        while True:
            other = slots[slot] - 1
            if other < 0:
                slots[slot] = known + 1
                keys[known] = key
                begins[known + 1] = begins[known] + length
                pool[begins[known] : begins[known + 1]] = codes[start : start + length]
                other = known
                known += 1
                break
            same = keys[other] == key and begins[other + 1] - begins[other] == length
            if same:
                begin = begins[other]
                for place in range(length):
                    if pool[begin + place] != codes[start + place]:
                        same = False
                        break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        found[word] = other
    return found, known


@njit(cache=True)
def settle(slots: IntArray, keys: NDArray[np.uint64], known: int) -> None:
    """Put the words known into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for word in range(known):
        slot = keys[word] & mask
        while slots[slot]:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word + 1
