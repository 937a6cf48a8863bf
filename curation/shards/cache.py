"""Keeps downloaded shards on disk under a quota, for any number of processes that share the folder.

Layout: <folder>/<owner--name>/<commit>/<sha256 or hash of the address>/<file name>. Invariants: a file in use is never
removed; one shard is downloaded once; files and downloads in progress together stay under the quota.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from curation.errors import QuotaError
from curation.shards.download import guard_disk, save_file
from curation.shards.leases import hold_exclusive, hold_shared, try_exclusive
from curation.shards.remote import open_remote_file
from curation.shards.remote_shard import RemoteShard
from curation.shards.retries import RetryPolicy

_LOCK_NAME = ".lock"
_RESERVED_NAME = ".reserved"
_UNSAFE_CHARS = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS_MAX = 120


def find_cache_folder() -> Path:
    """PRIMER_CACHE_DIR, else `primer/shards` in XDG_CACHE_HOME or ~/.cache."""
    override = os.environ.get("PRIMER_CACHE_DIR")
    if override:
        return Path(override).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "primer" / "shards"


@dataclass(frozen=True)
class _Entry:
    folder: Path
    last_used_ns: int
    size_bytes: int


class ShardCache:
    """`quota_bytes` None: no limit but the disk."""

    def __init__(
        self, folder: Path | None = None, quota_bytes: int | None = None, *, policy: RetryPolicy | None = None
    ) -> None:
        self.folder = folder or find_cache_folder()
        self.quota_bytes = quota_bytes
        self.policy = policy

    @contextmanager
    def get(self, shard: RemoteShard, *, on_progress: Callable[[int], None] | None = None) -> Iterator[Path]:
        """The shard as a local file, which stays while the context is open.

        Downloads it unless it is there; waits when another process is downloading it. Raises SourceError when it cannot
        be had, QuotaError when it does not fit even after everything not in use was removed.
        """
        path = self.locate(shard)
        lock = path.with_name(_LOCK_NAME)
        while True:
            with hold_shared(lock) as lease:
                if _is_whole(path, shard):
                    lease.touch()
                    yield path
                    return
            with try_exclusive(lock) as exclusive:
                if exclusive is None:
                    # Another process is at the same point: it downloads, or has and reads by now.
                    time.sleep(random.uniform(0.01, 0.05))
                    continue
                if not _is_whole(path, shard):
                    exclusive.touch()
                    self._download(shard, path, on_progress)
                exclusive.share()
                if exclusive.has_name() and _is_whole(path, shard):
                    exclusive.touch()
                    yield path
                    return

    def locate(self, shard: RemoteShard) -> Path:
        """Where the shard lies or would lie. Servers' names are reduced to plain ASCII; the hash keeps them apart."""
        scheme, _, address = shard.uri.partition("://")
        is_hub = scheme == "hf"
        group = (
            address.removeprefix("datasets/").partition("@")[0] if is_hub else f"{scheme}/{address.partition('/')[0]}"
        )
        key = shard.sha256 or hashlib.sha256(shard.uri.encode()).hexdigest()
        name = shard.path.rpartition("/")[2].partition("?")[0]
        return self.folder / _make_safe(group) / _make_safe(shard.revision) / _make_safe(key) / _make_safe(name)

    def measure_bytes(self) -> int:
        """What the cache holds now, downloads in progress counted in full."""
        return sum(entry.size_bytes for entry in self._list_entries())

    def _download(self, shard: RemoteShard, path: Path, on_progress: Callable[[int], None] | None) -> None:
        with guard_disk(path):
            if self.quota_bytes is not None:
                self._make_room(shard, path, self.quota_bytes)
            save_file(open_remote_file(shard, policy=self.policy), path, sha256=shard.sha256, on_progress=on_progress)
            path.with_name(_RESERVED_NAME).unlink(missing_ok=True)

    def _make_room(self, shard: RemoteShard, path: Path, quota_bytes: int) -> None:
        """Evict what was used longest ago until the shard fits, then reserve its size. One process at a time."""
        if shard.size_bytes > quota_bytes:
            raise _lack_of_room(shard, quota_bytes, quota_bytes)
        with hold_exclusive(self.folder / ".quota.lock"):
            others = sorted(
                (entry for entry in self._list_entries() if entry.folder != path.parent),
                key=lambda entry: entry.last_used_ns,
            )
            available_bytes = quota_bytes - sum(entry.size_bytes for entry in others)
            for entry in others:
                if available_bytes >= shard.size_bytes:
                    break
                if _evict(entry.folder):
                    available_bytes += entry.size_bytes
            if available_bytes < shard.size_bytes:
                raise _lack_of_room(shard, available_bytes, quota_bytes)
            path.with_name(_RESERVED_NAME).write_text(str(shard.size_bytes), encoding="ascii")

    def _list_entries(self) -> list[_Entry]:
        entries = (_measure_entry(lock) for lock in self.folder.glob(f"*/*/*/{_LOCK_NAME}"))
        return [entry for entry in entries if entry is not None]


def _is_whole(path: Path, shard: RemoteShard) -> bool:
    # Size and hash were verified before the file got this name.
    try:
        return path.stat().st_size == shard.size_bytes
    except FileNotFoundError:
        return False


def _make_safe(name: str) -> str:
    safe = _UNSAFE_CHARS.sub("-", name.replace("/", "--"))[-_NAME_CHARS_MAX:].lstrip(".")
    return safe or "shard"


def _measure_entry(lock: Path) -> _Entry | None:
    """None when the entry is being removed at this moment."""
    try:
        last_used_ns = lock.stat().st_mtime_ns
        written_bytes = sum(file.stat().st_size for file in lock.parent.iterdir() if file.name != _RESERVED_NAME)
        reserved = lock.with_name(_RESERVED_NAME)
        reserved_bytes = int(reserved.read_text(encoding="ascii") or 0) if reserved.exists() else 0
    except FileNotFoundError:
        return None
    return _Entry(lock.parent, last_used_ns, max(written_bytes, reserved_bytes))


def _evict(folder: Path) -> bool:
    """Remove an entry with everything in it; False when it is in use."""
    lock = folder / _LOCK_NAME
    with try_exclusive(lock) as lease:
        if lease is None:
            return False
        for file in folder.iterdir():
            if file != lock:
                file.unlink()
        lock.unlink()
    for parent in (folder, folder.parent, folder.parent.parent):
        if not _remove_if_empty(parent):
            break
    return True


def _remove_if_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError as error:
        # It holds other entries, or another process has just made one in it.
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
            raise
        return False
    return True


def _lack_of_room(shard: RemoteShard, available_bytes: int, quota_bytes: int) -> QuotaError:
    return QuotaError(
        f"{shard.uri}: needs {shard.size_bytes} bytes in the cache, available are {available_bytes} of {quota_bytes}.",
        hint="Raise the cache quota, or let fewer tasks read shards at once.",
    )
