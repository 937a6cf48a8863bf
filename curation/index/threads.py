"""Work over all rows of an index in chunks small enough for the processor's cache, on every core: numpy lets go of the lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

# Measured: 16 K rows a chunk cost up to a fifth more (Python's part shows), 64 K half as much again: larger arrays leave the
# processor's cache, and the allocator hands each back to the system.
CHUNK_ROWS = 1 << 15

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _open_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count_cores(), thread_name_prefix="index")


# A forked process has none of its parent's threads.
os.register_at_fork(after_in_child=_open_pool.cache_clear)


def map_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results in order. `work` must not call this function: it would wait for itself."""
    wanted = list(items)
    if len(wanted) < 2:
        return [work(item) for item in wanted]
    return list(_open_pool().map(work, wanted))
