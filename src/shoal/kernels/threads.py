"""Blocks of rows shared out among threads.

A loop that numba runs in parallel takes seconds more to compile, in every kernel that has one. A kernel that lets go of the interpreter and
works on a stretch of rows costs nothing more, and threads may run it side by side.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numba import get_num_threads

Result = TypeVar("Result")


def by_blocks(work: Callable[[int, int], Result], n: int, block: int) -> list[Result]:
    """What `work` returns for each stretch of at most `block` of n rows, from its first to one past its last."""
    ends = [(a, min(n, a + block)) for a in range(0, n, block)]
    threads = min(get_num_threads(), len(ends))
    if threads < 2:
        return [work(a, b) for a, b in ends]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda stretch: work(*stretch), ends))
