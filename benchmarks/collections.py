"""Spherical microaggregation of document collections: speed, loss, what classifiers keep, memory and the size of the file.

CPU seconds of one core; compiling is outside the clock. Every line prints its figure, its bar, and met or missed. Reuters is R8 without
its class `trade`. Run from the repository's root: PYTHONPATH=src python -m benchmarks.collections
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shoal.collections import Builder, Space, Spherical, unit_rows
from shoal.errors import DataError
from shoal.kernels.spherical.mdav import Rows, rows_of, spherical_groups, spherical_groups_naive

IntArray = NDArray[np.int64]
FOLDER = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
BARS = {"Reuters": {2: 0.93, 3: 0.90, 5: 0.88, 10: 0.85, 20: 0.83}, "reviews": {2: 0.945, 3: 0.93, 5: 0.93, 10: 0.93, 20: 0.93}}
DOCUMENTS = 18_846


def rows(space: Space) -> Rows:
    return rows_of(space.matrix.indptr, space.matrix.indices, space.matrix.data, space.matrix.shape[1])


def sums(matrix: Any, groups: IntArray) -> Any:
    return sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups))))) @ matrix


def sse(matrix: Any, groups: IntArray) -> float:
    found = sums(matrix, groups)
    return float(len(groups) - np.sqrt(found.multiply(found).sum(axis=1)).sum())


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def line(what: str, figure: float, bar: float, met: bool, beside: str = "") -> int:
    print(f"{what:58}{figure:9.3f}  bar {bar:<6g}{'met' if met else 'MISSED':8}{beside}", flush=True)
    return 0 if met else 1


def reuters(part: str) -> tuple[list[str], list[str]]:
    texts, labels = [], []
    for each in (FOLDER / "reuters_r8" / f"r8-{part}-all-terms.txt").read_text(encoding="utf-8").splitlines()[1:]:
        label, _, text = each.partition("\t")
        if label != "trade":
            texts.append(text)
            labels.append(label)
    return texts, labels


def reviews() -> list[str]:
    return [path.read_text(encoding="utf-8", errors="replace") for path in sorted((FOLDER / "movie_reviews").glob("*/*.txt"))]


def zipf(documents: int, terms: int = 80, width: int = 22_300, topics: int = 20) -> Space:
    """A stand-in for news groups: half of the words of a document are everybody's, half its topic's, both as frequent as Zipf says."""
    rng = np.random.default_rng(1)
    share = np.cumsum(1 / (np.arange(width) + 10.0))
    of_topic = np.stack([rng.permutation(width) for _ in range(topics)])
    document = np.repeat(np.arange(documents), np.maximum(rng.poisson(1.03 * terms, documents), 5))
    word = np.searchsorted(share / share[-1], rng.random(len(document)))
    topic = rng.integers(topics, size=documents)[document]
    word = np.where(rng.random(len(document)) < 0.5, of_topic[topic, word], word)
    counts = sparse.csr_array((np.ones(len(document)), (document, word)), shape=(documents, width))
    counts.sum_duplicates()
    present = np.bincount(counts.indices, minlength=width)
    return Space.of(unit_rows(counts * np.log(documents / np.maximum(present, 1))))


def loss_and_size(name: str, space: Space) -> int:
    """SSE beside plain MDAV's, and the bytes of the release beside those of the space."""
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        space.write(Path(place, "space"))
        original = Path(place, "space", "space.npz").stat().st_size
        for k, bar in BARS[name].items():
            seconds, plain = timed(lambda k=k: Spherical(k=k, partition="mdav", swaps=0).groups(space))  # type: ignore[misc]
            base = sse(space.matrix, plain)
            print(f"{name} k={k}: plain MDAV, SSE {base:.1f}, {seconds:.2f} s", flush=True)
            for partition in ("grow", "svd"):
                spent, groups = timed(lambda k=k, p=partition: Spherical(k=k, partition=p).groups(space))  # type: ignore[misc]
                ratio = sse(space.matrix, groups) / base
                missed += line(f"  {partition} and swaps, SSE / plain", ratio, bar, ratio <= bar, f"{spent:.2f} s")
            Spherical(k=k).protect(space, np.random.default_rng(0)).write(Path(place, "release.npz"))
            ratio = Path(place, "release.npz").stat().st_size / original
            missed += line("  file / original's", ratio, 1, ratio <= 1)
    return missed


def speed(space: Space) -> int:
    missed = 0
    for k in (2, 3):
        slow, naive = timed(lambda k=k: spherical_groups_naive(rows(space), k))  # type: ignore[misc]
        quick, fast = timed(lambda k=k: spherical_groups(rows(space), k))  # type: ignore[misc]
        same = np.array_equal(naive, fast)
        beside = f"{slow:.2f} s / {quick:.2f} s, identical: {'yes' if same else 'no'}"
        missed += line(f"sparse MDAV, times naive: Reuters k={k}", slow / quick, 4, same and slow >= 4 * quick, beside)
    return missed


def classifiers() -> int:
    """Trained and tested on protected halves, the vocabulary fitted on the training half."""
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier

    builder = Builder()
    (texts, labels), (test_texts, test_labels) = reuters("train"), reuters("test")
    vocabulary = builder.fit(texts)
    halves = [builder.transform(vocabulary, texts, labels=labels), builder.transform(vocabulary, test_texts, labels=test_labels)]

    def accuracy(train: Any, test: Any) -> dict[str, float]:
        made = {"naive Bayes": MultinomialNB(alpha=0.01), "kNN10": KNeighborsClassifier(10, metric="cosine", algorithm="brute")}
        return {name: float(model.fit(train, halves[0].labels).score(test, halves[1].labels)) for name, model in made.items()}

    before = accuracy(halves[0].matrix, halves[1].matrix)
    missed = 0
    for partition, swaps in (("mdav", 0), ("svd", 0), ("svd", 3)):
        method = Spherical(k=3, partition=partition, swaps=swaps)
        protected = []
        for half in halves:
            release = method.protect(half, np.random.default_rng(0))
            protected.append(release.matrix(half.terms)[np.argsort(release.source_row)])
        after = accuracy(*protected)
        for model, bar in (("naive Bayes", 0.03), ("kNN10", 0.0)):
            lost = before[model] - after[model]
            what = f"accuracy lost, Reuters k=3 {partition}, {swaps} swaps: {model}"
            if (partition, swaps) == ("svd", 0):
                missed += line(what, lost, bar, lost <= bar, f"{before[model]:.3f} to {after[model]:.3f}")
            else:
                print(f"{what:58}{lost:9.3f}{'':18}{before[model]:.3f} to {after[model]:.3f}", flush=True)
    return missed


def large() -> int:
    space = zipf(DOCUMENTS)
    name = f"{len(space):,} documents of {space.matrix.nnz / len(space):.0f} terms, k=3"
    seconds, plain = timed(lambda: Spherical(k=3, partition="mdav", swaps=0).groups(space))
    missed = line(f"plain MDAV, seconds: {name}", seconds, 10, seconds <= 10)
    spent, _ = timed(lambda: Spherical(k=3).groups(space))
    missed += line("svd and swaps (the default), seconds: the same", spent, 10, spent <= 10)
    base = sse(space.matrix, plain)
    spent, groups = timed(lambda: Spherical(k=3, block_above=1, swaps=1, partition="grow").groups(space))
    ratio = sse(space.matrix, groups) / base
    missed += line("in blocks, one swap, SSE / plain", ratio, 1, ratio <= 1, f"{spent:.2f} s")
    half = space.take(np.arange(0, len(space), 2))
    less, _ = timed(lambda: Spherical(k=3, block_above=1, swaps=1, partition="grow").groups(half))
    print(f"{'in blocks, seconds / those of half the documents':58}{spent / less:9.3f}", flush=True)
    return missed


def memory() -> int:
    """Peak bytes for each non-zero that the default method takes beyond the space; each size in a process of its own."""
    if not Path("/proc/self/clear_refs").exists():
        print("memory: skipped, this system does not tell the peak of a part of a run")
        return 0
    each = []
    plainly = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed goes back at once, and cannot hide the peak
    for documents in (DOCUMENTS // 2, DOCUMENTS):
        run = [sys.executable, "-m", "benchmarks.collections", str(documents)]
        each.append(float(subprocess.run(run, capture_output=True, text=True, check=True, env=plainly).stdout))
    beside = f"{each[0]:.0f} and {each[1]:.0f} bytes for each non-zero"
    return line("memory for a non-zero, twice the documents / once", each[1] / each[0], 1.1, each[1] <= 1.1 * each[0], beside)


def peak(documents: int) -> None:
    method = Spherical(k=3)
    method.groups(zipf(300))
    space = zipf(documents)

    def resident(field: str) -> int:
        return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024  # type: ignore[index]

    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    before = resident("VmRSS")
    method.protect(space, np.random.default_rng(0))
    print((resident("VmHWM") - before) / space.matrix.nnz)


def main() -> int:
    small = zipf(300)
    for partition in ("mdav", "grow", "svd"):  # compile outside the clock
        Spherical(k=3, partition=partition, block_above=100, block_rows=100).groups(small)
        Spherical(k=3, partition=partition).groups(small)
    spherical_groups_naive(rows(small), 3)
    missed = large() + memory()
    try:
        texts = reuters("train")[0] + reuters("test")[0]
        space = Builder().build(texts)
        missed += speed(space) + loss_and_size("Reuters", space) + classifiers() + loss_and_size("reviews", Builder().build(reviews()))
    except (FileNotFoundError, DataError) as problem:
        print(f"skipped: {problem} Reuters and the reviews are looked for in the folder named by SHOAL_DATA.")
    print("all met" if missed == 0 else f"{missed} missed")
    return missed


if __name__ == "__main__":
    if len(sys.argv) > 1:
        peak(int(sys.argv[1]))
    else:
        raise SystemExit(main())
