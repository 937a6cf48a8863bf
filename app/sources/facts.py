"""What a shard says of itself before its rows are read: bytes, hash, and of a Parquet file rows and row groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import PrimerError, SourceError
from curation.shards.jsonl import require_lines
from curation.shards.prepare import PARQUET_SUFFIX, hash_file
from curation.shards.remote_reader import RemoteReader
from curation.shards.remote_shard import RemoteShard
from curation.shards.rows import open_parquet
from curation.shards.source import SourceShard

_PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class ShardFacts:
    """`sha256` None: a remote file without a published hash. `row_count`, `row_groups` None: no Parquet. `error`: why the
    shard cannot be read, else None."""

    name: str
    size_bytes: int
    sha256: str | None = None
    row_count: int | None = None
    row_groups: int | None = None
    error: str | None = None


def read_facts(shard: SourceShard) -> ShardFacts:
    """Never raises for what is wrong with the shard: its `error` says it."""
    try:
        if shard.remote is not None:
            return _read_remote(shard, shard.remote)
        return _read_local(shard, Path(shard.location))
    except PrimerError as error:
        return ShardFacts(shard.name, shard.size_bytes, error=str(error))


def is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC


def _read_local(shard: SourceShard, path: Path) -> ShardFacts:
    try:
        sha256, size_bytes = hash_file(path), path.stat().st_size
        has_footer = is_parquet(path)
    except OSError as error:
        raise SourceError(
            f"{shard.name}: cannot be read ({error.strerror}).", hint="Check the file's permissions and its disk."
        ) from error
    if not has_footer and not path.name.endswith(PARQUET_SUFFIX):
        require_lines(path, shard.name)
        return ShardFacts(shard.name, size_bytes, sha256)
    with open_parquet(path, shard.name) as file:
        return ShardFacts(shard.name, size_bytes, sha256, file.metadata.num_rows, file.metadata.num_row_groups)


def _read_remote(shard: SourceShard, remote: RemoteShard) -> ShardFacts:
    if not remote.path.partition("?")[0].endswith(PARQUET_SUFFIX):
        return ShardFacts(shard.name, remote.size_bytes, remote.sha256)
    with open_remote_parquet(remote, shard.name) as file:
        metadata = file.metadata
        return ShardFacts(shard.name, remote.size_bytes, remote.sha256, metadata.num_rows, metadata.num_row_groups)


def open_remote_parquet(remote: RemoteShard, name: str) -> pq.ParquetFile:
    """Raises SourceError when the footer is missing or damaged."""
    try:
        return pq.ParquetFile(RemoteReader(remote), buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(
            f"{name}: not a readable Parquet file ({str(error).splitlines()[0][:200]}).", hint="Check the file."
        ) from error
