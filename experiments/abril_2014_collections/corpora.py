"""Reuters and the movie reviews as vector spaces, whole and in two parts, and their releases, each made once."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from experiments.data import data_path
from shoal.collections import Builder, CollectionRelease, Space, Spherical, TermWeights
from shoal.collections.measures import Loss, cosine_loss, euclidean_loss
from shoal.collections.side_by_side import side_by_side
from shoal.contracts import quiet
from shoal.randomness import rng_for

Corpus = Literal["R", "MR"]
Part = Literal["all", "train", "test"]
CORPORA: tuple[Corpus, ...] = ("R", "MR")
PARTS: tuple[Part, ...] = ("all", "train", "test")
NAMES = {"R": "Reuters", "MR": "movie reviews"}
TRAINING = 1420  # reviews in the training part, as in Table 4.1
KS = (2, 3, 5, 10, 20)
BUILDER = Builder()
SEED = 0


class Texts(NamedTuple):
    """Documents, the class of each, and whether it is for training where that is given."""

    texts: list[str]
    labels: list[str]
    training: list[bool] | None


@cache
def texts_of(corpus: Corpus) -> Texts:
    """R8 without the class `trade`, or the reviews."""
    return _reuters() if corpus == "R" else _reviews()


def _reuters() -> Texts:
    texts, labels, training = [], [], []
    for part in ("train", "test"):
        for line in data_path("reuters_r8", f"r8-{part}-all-terms.txt").read_text(encoding="utf-8").splitlines()[1:]:
            label, _, text = line.partition("\t")
            if label != "trade":
                texts.append(text)
                labels.append(label)
                training.append(part == "train")
    return Texts(texts, labels, training)


def _reviews() -> Texts:
    texts, labels = [], []
    for label in ("neg", "pos"):
        folder = data_path("movie_reviews", label, {"neg": "cv000_29416.txt", "pos": "cv000_29590.txt"}[label]).parent
        for path in sorted(folder.glob("*.txt")):
            texts.append(path.read_text(encoding="latin-1"))
            labels.append(label)
    return Texts(texts, labels, None)


def chosen(corpus: Corpus, part: Part, draw: int = 0) -> Texts:
    """The documents of a part. The parts of Reuters are given; those of the reviews are drawn."""
    every = texts_of(corpus)
    if part == "all":
        return every
    training = np.array(every.training if every.training is not None else _drawn(len(every.texts), draw))
    rows = np.flatnonzero(training == (part == "train")).tolist()
    return Texts([every.texts[row] for row in rows], [every.labels[row] for row in rows], None)


def _drawn(documents: int, draw: int) -> list[bool]:
    taken = rng_for(SEED, "parts", draw).permutation(documents) < TRAINING
    return [bool(one) for one in taken]


@cache
def own_space(corpus: Corpus, part: Part) -> Space:
    """A part with a vocabulary of its own, as in Table 4.1."""
    given = chosen(corpus, part)
    return BUILDER.build(given.texts, labels=given.labels)


@cache
def space(corpus: Corpus, part: Part = "all", draw: int = 0) -> Space:
    """A part over the words and weights of the training part, or everything over its own."""
    if part == "all":
        return own_space(corpus, "all")
    given = chosen(corpus, part, draw)
    if part == "train":
        return BUILDER.build(given.texts, labels=given.labels)
    return BUILDER.transform(TermWeights.of(space(corpus, "train", draw)), given.texts, labels=given.labels)


def plain(k: int) -> Spherical:
    """As published: MDAV with the cosine distance."""
    return Spherical(k=k, partition="mdav", swaps=0)


@cache
def release(corpus: Corpus, method: Spherical, part: Part = "all", draw: int = 0) -> CollectionRelease:
    """A release, made once however many tables ask for it."""
    return method.protect(space(corpus, part, draw), rng_for(SEED, corpus, part, draw), quiet)


@cache
def losses(corpus: Corpus, method: Spherical, part: Part = "all") -> tuple[Loss, Loss]:
    """By cosine distances, (4.10) and (4.11), and by Euclidean ones, (2.9) to (2.11); a part over a vocabulary of its own."""
    one = own_space(corpus, part)
    made = release(corpus, method) if part == "all" else method.protect(one, rng_for(SEED, corpus, part))
    pair = side_by_side(one, made)
    return cosine_loss(pair), euclidean_loss(pair)


def balance(labels: tuple[str, ...]) -> float:
    """Documents of the smallest class by those of the largest."""
    counts = Counter(labels).values()
    return min(counts) / max(counts)
