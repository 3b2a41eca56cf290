"""Where chance comes from. The secret can undo noise and swaps, so it is drawn fresh and kept only in the private run folder.

Chance is keyed: what a record draws is a hash of the secret, of what is drawn for, and of the record itself. So no result depends on where a
record stands, nor on how rows are cut into batches. A method that needs the whole table at once may draw from a stream instead.
"""

from __future__ import annotations

import hashlib
import secrets
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from shoal.arrays import BytesArray, FloatArray, IntArray, UintArray

State = tuple[UintArray, ...]
_CHUNK = 1 << 14  # words hashed at a time, so that they stay near the processor


def new_secret() -> int:
    """128 bits nobody can guess."""
    return secrets.randbits(128)


def rng_for(secret: int, *step: object) -> Generator:
    """A stream of its own for every (secret, step), so that no step's draws depend on what ran before it."""
    label = "/".join(map(str, step)).encode()
    words = np.frombuffer(hashlib.sha256(label).digest(), dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([secret, *map(int, words)])))


def chance_for(secret: int, *step: object) -> Chance:
    """The chance of one step."""
    return Chance(secret, step)


class Key(NamedTuple):
    """128 bits for one purpose."""

    first: np.uint64
    second: np.uint64


class Chance:
    """The chance of one step: keyed by record for whoever can be split, a stream (`rng`) for methods that need the whole table at once."""

    def __init__(self, secret: int, step: tuple[object, ...]) -> None:
        self._secret, self._step = secret, step

    @cached_property
    def rng(self) -> Generator:
        """One stream, used up as it is drawn from."""
        return rng_for(self._secret, *self._step)

    def key(self, what: str) -> Key:
        """A key of its own for everything that is drawn."""
        label = "/".join([*map(str, self._step), what]).encode()
        secret = self._secret.to_bytes(max(1, (self._secret.bit_length() + 7) // 8), "little")
        first, second = np.frombuffer(hashlib.blake2b(label, key=hashlib.sha256(secret).digest(), digest_size=16).digest(), np.uint64)
        return Key(first, second)

    def words(self, ids: UintArray, what: str) -> UintArray:
        """64 bits for each record."""
        return hashed(ids, self.key(what))

    def uniform(self, ids: UintArray, what: str) -> FloatArray:
        """A number from 0 up to 1 for each record."""
        return np.asarray((self.words(ids, what) >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def normal(self, ids: UintArray, what: str) -> FloatArray:
        """A standard normal number for each record, by the inverse of its distribution function."""
        from scipy.special import ndtri

        return np.asarray(ndtri(self.uniform(ids, what) + 2.0**-54))


def hashed(words: UintArray, key: Key) -> UintArray:
    """SipHash-2-4 (Aumasson & Bernstein 2012) of messages of one word."""
    result = np.empty(len(words), np.uint64)
    for begin in range(0, len(words), _CHUNK):
        part = words[begin : begin + _CHUNK]
        state = _absorbed(_opened(len(part), key), part)
        result[begin : begin + _CHUNK] = _closed(_absorbed(state, np.full(len(part), 8 << 56, np.uint64)))
    return result


def hashed_texts(letters: BytesArray, starts: IntArray, lengths: IntArray, key: Key) -> UintArray:
    """SipHash-2-4 of stretches of bytes."""
    padded = np.concatenate([letters, np.zeros(8, np.uint8)])
    every_word: UintArray = np.ndarray((len(padded) - 7,), np.dtype("<u8"), padded.data, strides=(1,))  # the word that begins at each byte
    result = np.empty(len(starts), np.uint64)
    for begin in range(0, len(starts), _CHUNK):
        at, left = starts[begin : begin + _CHUNK].copy(), lengths[begin : begin + _CHUNK].copy()
        last = (left.astype(np.uint64) & np.uint64(0xFF)) << np.uint64(56)
        state = _opened(len(at), key)
        while (going := left >= 8).any():
            some = np.flatnonzero(going)
            more = _absorbed(tuple(part[some] for part in state), every_word[at[some]])
            for part, new in zip(state, more):
                part[some] = new
            at[some] += 8
            left[some] -= 8
        inside = (np.uint64(1) << (left.astype(np.uint64) * np.uint64(8))) - np.uint64(1)
        result[begin : begin + _CHUNK] = _closed(_absorbed(state, (every_word[at] & inside) | last))
    return result


def _opened(n: int, key: Key) -> State:
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    return tuple(np.full(n, np.uint64(start) ^ key[i % 2], np.uint64) for i, start in enumerate(starts))


def _absorbed(state: State, word: UintArray) -> State:
    v0, v1, v2, v3 = state
    v0, v1, v2, v3 = _rounds(v0, v1, v2, v3 ^ word, 2)
    return v0 ^ word, v1, v2, v3


def _closed(state: State) -> UintArray:
    v0, v1, v2, v3 = state
    v0, v1, v2, v3 = _rounds(v0, v1, v2 ^ np.uint64(0xFF), v3, 4)
    return v0 ^ v1 ^ v2 ^ v3


def _rounds(v0: UintArray, v1: UintArray, v2: UintArray, v3: UintArray, times: int) -> State:
    for _ in range(times):
        v0 = v0 + v1
        v1 = _turned(v1, 13) ^ v0
        v0 = _turned(v0, 32)
        v2 = v2 + v3
        v3 = _turned(v3, 16) ^ v2
        v0 = v0 + v3
        v3 = _turned(v3, 21) ^ v0
        v2 = v2 + v1
        v1 = _turned(v1, 17) ^ v2
        v2 = _turned(v2, 32)
    return v0, v1, v2, v3


def _turned(word: UintArray, by: int) -> UintArray:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))
