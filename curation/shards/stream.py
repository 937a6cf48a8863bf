"""Reads a remote shard forwards without keeping it: one pass, bounded memory, resumed at the byte where it broke.

Random access needs the cache. Invariant: every byte is handed out once and in order, and the end of the file is only
reported after size and hash were checked.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from curation.errors import SourceError
from curation.shards.http_file import RemoteFile
from curation.shards.remote import open_remote_file
from curation.shards.remote_shard import RemoteShard
from curation.shards.retries import Interruption, RetryPolicy, run_with_retries

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def open_stream(shard: RemoteShard, *, policy: RetryPolicy | None = None) -> ShardStream:
    """A binary reader of the whole shard. Reading raises SourceError when it is gone, changed or not as listed."""
    return ShardStream(open_remote_file(shard, policy=policy), shard.sha256)


class ShardStream(io.BufferedReader):
    """`sha256` is the hash of all bytes once the end has been read, None before."""

    def __init__(self, file: RemoteFile, expected_sha256: str | None) -> None:
        self._resuming = _ResumingReader(file, expected_sha256)
        super().__init__(self._resuming)

    @property
    def sha256(self) -> str | None:
        return self._resuming.sha256


class _ResumingReader(io.RawIOBase):
    def __init__(self, file: RemoteFile, expected_sha256: str | None) -> None:
        self.file = file
        self.expected_sha256 = expected_sha256
        self.sha256: str | None = None
        self._digest = hashlib.sha256()
        self._position = 0
        self._pending = memoryview(b"")
        self._connection = ExitStack()
        self._chunks: Iterator[bytes] | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer).cast("B")
        while not self._pending and self.sha256 is None:
            chunk = run_with_retries(
                self._read_chunk,
                label=self.file.label,
                policy=self.file.policy,
                measure_progress=lambda: self._position,
            )
            if chunk is None:
                self._check_end()
            else:
                self._digest.update(chunk)
                self._position += len(chunk)
                self._pending = memoryview(chunk)
        count = min(len(target), len(self._pending))
        target[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count

    def _read_chunk(self) -> bytes | None:
        if self._position == self.file.size_bytes:
            return None
        try:
            if self._chunks is None:
                self._chunks = self._connect()
            return next(self._chunks, None)
        except Interruption:
            self._disconnect()
            raise

    def _connect(self) -> Iterator[bytes]:
        validator = self.file.validator
        start, chunks = self._connection.enter_context(self.file.open_at(self._position))
        if start == self._position:
            return chunks
        if validator is None or validator != self.file.validator:
            raise SourceError(f"{self.file.label}: changed while it was read.", hint="List the source again.")
        return _skip_bytes(chunks, self._position)

    def _disconnect(self) -> None:
        self._chunks = None
        self._connection.close()

    def _check_end(self) -> None:
        self._disconnect()
        found = self._digest.hexdigest()
        if self.file.size_bytes is not None and self._position != self.file.size_bytes:
            raise SourceError(
                f"{self.file.label}: {self._position} bytes arrived but {self.file.size_bytes} were listed.",
                hint="List the source again.",
            )
        if self.expected_sha256 not in (None, found):
            raise SourceError(
                f"{self.file.label}: the bytes have sha256 {found} but {self.expected_sha256} was listed.",
                hint="Discard what was made of them and list the source again: the file changed.",
            )
        self.sha256 = found

    def close(self) -> None:
        self._disconnect()
        super().close()


def _skip_bytes(chunks: Iterator[bytes], count: int) -> Iterator[bytes]:
    """For a server that cannot send ranges: the same version again from its beginning, without the first bytes."""
    for chunk in chunks:
        if count < len(chunk):
            yield chunk[count:]
        count = max(0, count - len(chunk))
