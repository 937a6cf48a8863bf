"""Values that are dear to make, kept up to a number of bytes; the least recently used goes first. Threads share one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class BoundedCache:
    """`get` makes a value once, however many threads ask for it at the same time."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T], weigh: Callable[[T], int]) -> T:
        """The value of `key`. One that is larger than the whole cache is made and not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]  # type: ignore[no-any-return]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key][0]  # type: ignore[no-any-return]
            try:
                value = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            self._keep(key, value, weigh(value))
        return value

    def _keep(self, key: Hashable, value: object, size: int) -> None:
        if size > self._max_bytes:
            return
        with self._lock:
            if key in self._values:
                return
            self._values[key] = (value, size)
            self._bytes += size
            while self._bytes > self._max_bytes:
                _, (_, freed) = self._values.popitem(last=False)
                self._bytes -= freed
