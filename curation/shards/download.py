"""Saves a remote file on disk: resumable, hashed while it is written, verified before it gets its name.

Where files lie and how many is the cache's business. Invariant: `destination` either does not exist or is whole and
verified; what has arrived so far is a prefix of one version, in `<destination>.part`.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from curation.errors import QuotaError, SourceError
from curation.shards.http_file import HttpFile, RemoteFile
from curation.shards.remote_shard import mask_url
from curation.shards.retries import RetryPolicy, run_with_retries

PART_SUFFIX = ".part"
VALIDATOR_SUFFIX = ".part.etag"


def fetch(
    url: str,
    destination: Path,
    *,
    size_bytes: int | None,
    sha256: str | None,
    headers: Mapping[str, str] | None = None,
    on_progress: Callable[[int], None] | None = None,
    policy: RetryPolicy | None = None,
) -> Path:
    """Download `url` to `destination` and return it; see `save_file`. `headers` stay with the url's own origin."""
    file = HttpFile(url, mask_url(url), headers or {}, size_bytes, policy or RetryPolicy())
    return save_file(file, destination, sha256=sha256, on_progress=on_progress)


def save_file(
    file: RemoteFile, destination: Path, *, sha256: str | None, on_progress: Callable[[int], None] | None = None
) -> Path:
    """Write `file` to `destination`, going on where an earlier call stopped.

    `on_progress` gets the bytes present so far. Only one caller at a time may write a destination. Raises SourceError
    when the file cannot be had or is not the one listed (the part is removed), QuotaError when the disk is full.
    """
    report = on_progress or (lambda position: None)
    with guard_disk(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
        with _Part(destination, file.label) as part:
            part.take_up(file, has_hash=sha256 is not None)

            def transfer() -> None:
                if part.position > 0 and part.position == file.size_bytes:
                    return
                with file.open_at(part.position) as (start, chunks):
                    if start == 0:
                        part.start_over(file.validator)
                    for chunk in chunks:
                        part.append(chunk)
                        report(part.position)

            run_with_retries(transfer, label=file.label, policy=file.policy, measure_progress=lambda: part.position)
            part.finish(file.size_bytes, sha256)
    return destination


@contextmanager
def guard_disk(place: Path) -> Iterator[None]:
    """Turn "no space left" and "disk quota exceeded" into a QuotaError that names the place."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise QuotaError(
            f"{place.parent}: the disk is full.",
            hint="Free space or set PRIMER_CACHE_DIR to another disk, then start again: what has arrived is kept.",
        ) from error


class _Part:
    """The unfinished file, the running hash of its bytes, and beside it the validator of the version they belong to."""

    def __init__(self, destination: Path, label: str) -> None:
        self.destination = destination
        self.label = label
        self.path = destination.with_name(destination.name + PART_SUFFIX)
        self.validator_path = destination.with_name(destination.name + VALIDATOR_SUFFIX)
        self.position = 0
        self.digest = hashlib.sha256()

    def __enter__(self) -> _Part:
        self.handle = open(self.path, "ab")
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.close()

    def take_up(self, file: RemoteFile, *, has_hash: bool) -> None:
        """Go on from bytes of an earlier call, if a validator or the final hash can tell whether they belong here."""
        file.validator = file.validator or self._read_validator()
        size_bytes = self.path.stat().st_size
        is_too_long = file.size_bytes is not None and size_bytes > file.size_bytes
        if is_too_long or (file.validator is None and not has_hash):
            self.start_over(None)
            return
        with open(self.path, "rb") as written:
            while self.position < size_bytes and (block := written.read(1 << 20)):
                self.digest.update(block)
                self.position += len(block)

    def _read_validator(self) -> str | None:
        try:
            return self.validator_path.read_text(encoding="latin-1") or None
        except FileNotFoundError:
            return None

    def start_over(self, validator: str | None) -> None:
        # Bytes first: a validator must never stand beside bytes of an older version.
        if self.path.stat().st_size > 0:
            self.handle.truncate(0)
        self.position = 0
        self.digest = hashlib.sha256()
        self.validator_path.write_text(validator or "", encoding="latin-1")

    def append(self, chunk: bytes) -> None:
        self.handle.write(chunk)
        self.handle.flush()
        self.digest.update(chunk)
        self.position += len(chunk)

    def finish(self, size_bytes: int | None, sha256: str | None) -> None:
        found = self.digest.hexdigest()
        if size_bytes is not None and self.position != size_bytes:
            self._reject(f"{self.position} bytes arrived but {size_bytes} were listed")
        if sha256 is not None and found != sha256:
            self._reject(f"the bytes have sha256 {found} but {sha256} was listed")
        self.handle.flush()
        os.fsync(self.handle.fileno())
        self.path.replace(self.destination)
        self.validator_path.unlink(missing_ok=True)

    def _reject(self, reason: str) -> None:
        self.path.unlink()
        self.validator_path.unlink(missing_ok=True)
        raise SourceError(
            f"{self.label}: {reason}; what was downloaded is removed.",
            hint="Start again; if it happens twice, list the source again: the file changed.",
        )
