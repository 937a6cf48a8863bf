"""A run's folder: `ledger/`, `staged/`, `export/`, `run.json`, and where this machine finds the shards.

What depends on the machine (locations, times) lives here, beside the ledger and never in it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from curation.errors import LedgerError, SourceError
from curation.ledger.store import Ledger, SliceRef
from curation.publish import replace_bytes
from curation.shards.manifest import ShardManifest, Slice
from curation.shards.prepare import hash_file
from curation.shards.remote_shard import RemoteShard, mask_url
from curation.shards.rows import RowBatch, file_gone, read_slice
from curation.shards.source import SourceShard


class RunFolder:
    """Paths of one run and the way back from a slice to its rows."""

    def __init__(self, folder: Path, *, cache_quota_bytes: int | None = None) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger")
        self.staging = folder / "staged"
        self.export = folder / "export"
        self.report = folder / "run.json"
        self._locations = folder / "locations.json"
        self._cache_quota_bytes = cache_quota_bytes
        self._shards: dict[str, SourceShard] = {}
        self._verified: dict[str, _Stamp] = {}

    def require_run(self) -> None:
        """Raises LedgerError when the folder holds no run."""
        self.ledger.read_plan()

    def claim(self) -> None:
        """Raises LedgerError when the folder holds something that is no run of ours."""
        if self.folder.exists():
            if not self.folder.is_dir():
                raise LedgerError(f"{self.folder} is a file.", hint="Choose a new or empty folder for --out.")
            strangers = sorted(path.name for path in self.folder.iterdir() if path.name != "ledger")
            # Asked after the listing: another part may lay the plan, which comes before any other file of a run.
            if strangers and not self.ledger.has_plan():
                raise LedgerError(
                    f"{self.folder} is not empty ({', '.join(strangers[:3])}).",
                    hint="Choose a new or empty folder for --out.",
                )

    def write_locations(self, shards: Sequence[SourceShard]) -> None:
        """Remember where the shards are, for this object and for later commands on this machine."""
        self._shards = {shard.name: shard for shard in shards}
        content = {shard.name: _describe_location(shard) for shard in shards}
        replace_bytes(self._locations, json.dumps(content, indent=1).encode())

    def locate(self, name: str) -> SourceShard:
        """Raises SourceError when nobody said where the shard is."""
        if name in self._shards:
            return self._shards[name]
        try:
            entry = json.loads(self._locations.read_bytes())[name]
            remote = RemoteShard(**entry["remote"]) if entry["remote"] else None
            return SourceShard(name, entry["location"], entry["size_bytes"], remote)
        except (FileNotFoundError, KeyError, ValueError):
            raise SourceError(
                f"Nobody said where {name} is.", hint="Run `primer run` with its source and this --out once."
            ) from None

    @contextmanager
    def shard_file(self, name: str) -> Iterator[Path]:
        """The shard as a local file while the context is open; a remote one comes from the cache. Bytes are not checked."""
        shard = self.locate(name)
        if shard.remote is not None:
            # Imported here: HTTP clients take a second to load, and local runs need none.
            from curation.shards.cache import ShardCache

            with ShardCache(quota_bytes=self._cache_quota_bytes).get(shard.remote) as path:
                yield path
            return
        path = Path(shard.location)
        if not path.is_file():
            raise file_gone(name, path)
        yield path

    @contextmanager
    def slice_file(self, manifest: ShardManifest, piece: Slice) -> Iterator[Path]:
        """The Parquet file that holds a slice: staged, or the shard once its bytes are known to be those that were opened.

        Raises SourceError when they are not, at the end too: what was read of a file that changed meanwhile is worth nothing.
        """
        if manifest.staging:
            path = self.staging / manifest.staging / piece.file
            if not path.is_file():
                raise SourceError(
                    f"{manifest.name}: its staged copy is gone.", hint="Run the same `primer run` command again."
                )
            yield path
            return
        with self.shard_file(manifest.name) as path:
            before = _stamp(path, manifest)
            if self._verified.get(manifest.name) != before:
                if not _has_bytes(path, manifest):
                    raise _changed(manifest)
                self._verified[manifest.name] = before
            yield path
            if _stamp(path, manifest) != before:
                raise _changed(manifest)

    def sweep_staging(self) -> None:
        """Delete what a killed process was staging. Only when nobody stages."""
        for leftover in self.staging.glob(".*"):
            shutil.rmtree(leftover, ignore_errors=True)

    def read_rows(self, ref: SliceRef) -> Iterator[RowBatch]:
        """The source rows of a slice, in batches, with every column."""
        text_field = self.ledger.read_plan().recipe.text_field
        with self.slice_file(ref.shard, ref.piece) as path:
            yield from read_slice(path, ref.shard.name, ref.piece, text_field)


_Stamp = tuple[int, int, int, int]


def _stamp(path: Path, manifest: ShardManifest) -> _Stamp:
    """What differs once a file has been written to or replaced."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise file_gone(manifest.name, path) from None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _changed(manifest: ShardManifest) -> SourceError:
    return SourceError(
        f"{manifest.name} has changed since it was measured.", hint="Restore the file or start a new run."
    )


def _has_bytes(path: Path, manifest: ShardManifest) -> bool:
    """Whether a file is the one that was opened. Raises SourceError when its bytes cannot be read."""
    try:
        return path.stat().st_size == manifest.size_bytes and hash_file(path) == manifest.sha256
    except OSError as error:
        raise SourceError(
            f"{manifest.name}: cannot be read ({error.strerror}).", hint="Check the file's permissions and its disk."
        ) from error


def _describe_location(shard: SourceShard) -> dict[str, object]:
    """As JSON. An address with a secret in it is not written down: then later commands need the source named again."""
    remote = shard.remote
    is_open = remote is not None and mask_url(remote.url) == remote.url and not remote.storage_options
    return {
        "location": shard.location,
        "size_bytes": shard.size_bytes,
        "remote": asdict(remote) if remote is not None and is_open else None,
    }
