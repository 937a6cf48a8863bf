"""A remote shard as a seekable file, for the few bytes that a footer or a first row needs. Whole shards go through the cache.

Invariant: every byte is of the version that was listed, because each request is made as for a download.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from curation.shards.remote import open_remote_file
from curation.shards.remote_shard import RemoteShard
from curation.shards.retries import RetryPolicy, run_with_retries

if TYPE_CHECKING:
    from typing_extensions import Buffer

_BLOCK_BYTES = 256 << 10  # a footer of a few hundred row groups comes with the first request


class RemoteReader(io.RawIOBase):
    """Reads by ranges and keeps the last one. Raises SourceError when bytes cannot be had."""

    def __init__(self, shard: RemoteShard, *, policy: RetryPolicy | None = None) -> None:
        self._file = open_remote_file(shard, policy=policy)
        self._size = shard.size_bytes
        self._position = 0
        self._start = 0
        self._block = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Buffer) -> int:
        target = memoryview(buffer)
        wanted = min(len(target), self._size - self._position)
        if wanted <= 0:
            return 0
        if not self._start <= self._position <= self._position + wanted <= self._start + len(self._block):
            # From the end backwards too: a reader asks for the footer's length first and for the footer then.
            start = max(0, min(self._position, self._size - _BLOCK_BYTES))
            self._block = self._fetch(start, self._position + max(wanted, _BLOCK_BYTES) - start)
            self._start = start
        first = self._position - self._start
        piece = self._block[first : first + wanted]
        target[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def _fetch(self, start: int, size: int) -> bytes:
        end = min(self._size, start + size)

        def read() -> bytes:
            block = bytearray()
            with self._file.open_at(start) as (first, chunks):
                # A server without ranges begins anew: what comes before is passed over.
                for chunk in chunks:
                    block += chunk
                    if first + len(block) >= end:
                        break
            return bytes(block[start - first : end - first])

        return run_with_retries(read, label=self._file.label, policy=self._file.policy)
