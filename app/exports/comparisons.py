"""Comparisons of exports as they are asked for: made in the background, one at a time in this process, and remembered.

Finished exports never change: their manifests' hashes name a comparison for good. Whoever asks waits a while, and is then
told to ask again; memory is bounded by refusing what is too large to compare.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWorking

from curation.export.manifest import MANIFEST, list_files, read_manifest
from curation.export.request import CURRICULUM
from primer.app.core.errors import Conflict, NotReady
from primer.app.exports.diff import Comparison, Side, compare_exports

MAX_DOCUMENTS = 50_000_000  # of both together: 8 bytes each, and twice that while they are sorted
_PATIENCE_SECONDS = 10.0
_RETRY_SECONDS = 2
_REMEMBERED = 32

Key = tuple[str, str]
Compare = Callable[[Side, Side], Comparison]


class Comparisons:
    """Use one a process. Several threads may ask at once."""

    def __init__(self, *, compare: Compare = compare_exports, patience: float = _PATIENCE_SECONDS) -> None:
        self._compare, self._patience = compare, patience
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._known: OrderedDict[Key, Future[Comparison]] = OrderedDict()

    def get(self, own: Side, other: Side) -> Comparison:
        """Raises NotReady while it is made, Conflict when it is too large or one has no curriculum, and once whatever else
        broke it."""
        key = _hash_manifest(own), _hash_manifest(other)
        with self._lock:
            found = self._known.get(key)
            if found is None:
                _require_small(own, other)
                found = self._known[key] = Future()
                threading.Thread(target=self._work, args=(found, own, other), daemon=True).start()
            self._known.move_to_end(key)
            self._forget_old()
        try:
            return found.result(self._patience)
        except StillWorking:
            if not found.done():
                raise NotReady(
                    "The exports are being compared.", hint="Ask again in a moment.", retry_after_seconds=_RETRY_SECONDS
                ) from None
            raise
        finally:
            if found.done() and found.exception() is not None:
                with self._lock:
                    if self._known.get(key) is found:
                        del self._known[key]

    def _work(self, result: Future[Comparison], own: Side, other: Side) -> None:
        with self._working:
            try:
                result.set_result(self._compare(own, other))
            except Exception as error:  # noqa: BLE001 - whoever asks is told
                result.set_exception(error)

    def _forget_old(self) -> None:
        """What is still being made stays, so that it is not begun twice."""
        for key in [key for key, found in self._known.items() if found.done()][
            : max(0, len(self._known) - _REMEMBERED)
        ]:
            del self._known[key]


def _hash_manifest(side: Side) -> str:
    read_manifest(side.folder)
    return hashlib.sha256((side.folder / MANIFEST).read_bytes()).hexdigest()


def _require_small(*sides: Side) -> None:
    count = sum(
        file.rows or 0 for side in sides for file in list_files(read_manifest(side.folder)) if file.config == CURRICULUM
    )
    if count > MAX_DOCUMENTS:
        raise Conflict(
            f"The two exports hold {count:,} documents: more than {MAX_DOCUMENTS:,} are not compared here.",
            hint="Compare their files with a query over the columns primer_shard and primer_row.",
        )
