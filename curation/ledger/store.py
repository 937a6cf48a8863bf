"""A ledger folder: its plan, opened shards, parts, and the commits that make a part count.

A part is named by its content and never overwritten; a reader opens only committed parts; a commit is one file
claimed at most once. Nothing here holds a time, a host or a path, so equal runs have equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, ValidationError, model_serializer

from curation.errors import LedgerError
from curation.ledger.schema import Layer
from curation.publish import TEMPORARY_PREFIX, publish_bytes
from curation.recipe import LEDGER_SCHEMA, Recipe
from curation.shards.manifest import ShardManifest, Slice
from curation.slice_sample import Sample, choose_slices

PLAN = "plan.json"
SHARDS = "shards"
PARTS = "parts"
COMMITS = "commits"

_WRITER_OPTIONS = {"compression": "zstd", "compression_level": 3, "write_statistics": True}


class PlannedShard(BaseModel):
    """A shard as it was listed, before it was opened."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    size_bytes: int | None


class Plan(BaseModel):
    """What a run is: a recipe over a list of shards. `row_limit` None means every row, `sample` None every slice of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: Recipe
    shards: tuple[PlannedShard, ...]
    row_limit: int | None
    sample: Sample | None = None

    @model_serializer(mode="wrap")
    def _leave_out_no_sample(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # A plan of every slice has the bytes, and so the id, that it had before there were samples.
        content: dict[str, Any] = dump(self)
        if self.sample is None:
            content.pop("sample", None)
        return content

    @property
    def run_id(self) -> str:
        content = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SliceRef:
    """One slice of an opened shard."""

    shard: ShardManifest
    piece: Slice

    @property
    def id(self) -> str:
        return self.shard.slice_id(self.piece)


@dataclass(frozen=True)
class FolderState:
    """When an entry of a ledger last changed; `inode` None: it is not there."""

    path: Path
    inode: int | None
    changed_ns: int


class Ledger:
    """One ledger folder, for reading and for writing. Several processes may write one ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, plan: Plan) -> None:
        """Lay the plan, or find the same one there. Raises LedgerError when the folder holds another run."""
        content = _dump(plan)
        if publish_bytes(self.folder / PLAN, content):
            return
        if (found := self.read_plan()) != plan:
            raise LedgerError(
                f"{self.folder} holds another run ({_describe_difference(found, plan)}).",
                hint="Choose another --out, or repeat the command that began this run.",
            )

    def has_plan(self) -> bool:
        return (self.folder / PLAN).exists()

    def read_plan(self) -> Plan:
        """Raises LedgerError when there is none, or it was written by a version that this one cannot read."""
        path = self.folder / PLAN
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise LedgerError(
                f"There is no run in {self.folder.parent}.", hint="Give the folder that `primer run --out` wrote."
            ) from None
        if (found := _read_schema(content)) > LEDGER_SCHEMA:
            raise LedgerError(
                f"{path} has ledger schema {found}; this version reads up to {LEDGER_SCHEMA}.",
                hint="Read it with the version that wrote it.",
            )
        try:
            return Plan.model_validate_json(content)
        except ValidationError as error:
            raise LedgerError(
                f"{path} cannot be read by this version ({error.errors()[0]['msg']}).",
                hint="Read it with the version that wrote it.",
            ) from error

    def add_shard(self, manifest: ShardManifest) -> None:
        """Record an opened shard. Raises LedgerError when it was recorded with other content: the file changed meanwhile."""
        path = self.folder / SHARDS / f"{manifest.index:06d}.json"
        if not publish_bytes(path, _dump(manifest)) and self.read_shard(manifest.index) != manifest:
            raise LedgerError(
                f"{manifest.name} has changed since this run began.", hint="Restore the file or start a new run."
            )

    def read_shard(self, index: int) -> ShardManifest | None:
        """None where the shard has not been opened."""
        path = self.folder / SHARDS / f"{index:06d}.json"
        try:
            return ShardManifest.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise LedgerError(
                f"{path} is damaged ({error.errors()[0]['msg']}).",
                hint="Delete that file and run the same command again.",
            ) from error

    def read_shards(self) -> list[ShardManifest]:
        """Every shard of the run, in order; under a row limit those that it reaches. Raises LedgerError when one is not opened."""
        plan = self.read_plan()
        manifests: list[ShardManifest] = []
        rows_left = plan.row_limit
        for index, planned in enumerate(plan.shards):
            if rows_left == 0:
                break
            manifest = self.read_shard(index)
            if manifest is None:
                raise LedgerError(
                    f"{planned.name} has not been opened yet.", hint="Finish the run first: repeat its command."
                )
            manifests.append(manifest)
            if rows_left is not None:
                rows_left -= manifest.row_count
        return manifests

    def slices(self) -> Iterator[SliceRef]:
        """Every slice that the run measures, in order: all of every shard, or those of its sample."""
        sample = self.read_plan().sample
        for manifest in self.read_shards():
            for piece in choose_slices(manifest, sample):
                yield SliceRef(manifest, piece)

    def commit(self, layer: Layer, slice_id: str, table: pa.Table) -> bool:
        """Write a part and make it count. True when this call's commit was the first; the later one changes nothing."""
        content = encode_part(table, layer)
        sha256 = hashlib.sha256(content).hexdigest()
        name = f"{slice_id}.{sha256[:16]}.parquet"
        part = self.folder / PARTS / layer / name
        if not publish_bytes(part, content) and part.stat().st_size != len(content):
            # The machine died before the content reached the disk; no commit can name a file of this size.
            part.unlink(missing_ok=True)
            publish_bytes(part, content)
        entry = {"part": name, "sha256": sha256, "size_bytes": len(content), "rows": table.num_rows}
        return publish_bytes(self._commit_path(layer, slice_id), json.dumps(entry, sort_keys=True).encode())

    def read_state(self) -> tuple[FolderState, ...]:
        """When the plan, and the lists of shards and commits, last changed: a commit that is new changes it.

        A change within one tick of the file system's clock after another does not show: wait until the newest time is a few
        seconds old before you rely on it. Raises LedgerError when there is no run.
        """
        root = self.folder / COMMITS
        try:
            layers = sorted(path for path in root.iterdir() if path.is_dir())
        except FileNotFoundError:
            layers = []
        places = (self.folder / PLAN, self.folder / SHARDS, root, *layers)
        states = [_read_state(path) for path in places]
        if states[0].inode is None:
            self.read_plan()
        return tuple(states)

    def is_committed(self, layer: Layer, slice_id: str) -> bool:
        """Whether a whole part is committed; a commit that a dying machine left half-written is removed."""
        try:
            self._read_commit(layer, slice_id)
        except FileNotFoundError:
            return False
        except LedgerError:
            self._commit_path(layer, slice_id).unlink(missing_ok=True)
            return False
        return True

    def read_part(self, layer: Layer, slice_id: str, columns: list[str] | None = None) -> pa.Table:
        """A committed part. Raises LedgerError when there is none or it is damaged."""
        part = self.part_path(layer, slice_id)
        try:
            return pq.read_table(part, columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise LedgerError(
                f"{part}: damaged ({error}).", hint="Delete its commit and run the same command again."
            ) from error

    def part_path(self, layer: Layer, slice_id: str) -> Path:
        """Where a committed part lies. Raises LedgerError when there is none."""
        try:
            return self._read_commit(layer, slice_id)
        except FileNotFoundError:
            raise LedgerError(
                f"Slice {slice_id} has no committed {layer} layer.", hint="Run the same command again to measure it."
            ) from None

    def sweep(self) -> int:
        """Delete what no commit names: parts and temporary files of processes that died. Only when nobody writes."""
        named = {self._read_commit(layer.name, path.stem).name for layer, path in self._commit_files()}
        swept = 0
        for path in self.folder.rglob("*"):
            is_orphan = path.suffix == ".parquet" and path.name not in named
            if path.is_file() and (is_orphan or path.name.startswith(TEMPORARY_PREFIX)):
                path.unlink()
                swept += 1
        return swept

    def _commit_files(self) -> Iterator[tuple[Path, Path]]:
        root = self.folder / COMMITS
        for layer in sorted(root.iterdir()) if root.exists() else []:
            for path in sorted(layer.glob("*.json")):
                yield layer, path

    def _commit_path(self, layer: Layer, slice_id: str) -> Path:
        return self.folder / COMMITS / layer / f"{slice_id}.json"

    def _read_commit(self, layer: Layer, slice_id: str) -> Path:
        path = self._commit_path(layer, slice_id)
        content = path.read_bytes()
        try:
            entry = json.loads(content)
            part = self.folder / PARTS / layer / str(entry["part"])
            committed_size = int(entry["size_bytes"])
            size = part.stat().st_size
        except (ValueError, KeyError, TypeError, FileNotFoundError) as error:
            raise LedgerError(f"{path}: the commit is damaged.", hint="Run the same command again.") from error
        if size != committed_size:
            raise LedgerError(
                f"{part}: {size} bytes, committed with {committed_size}.", hint="Run the same command again."
            )
        return part


def encode_part(table: pa.Table, layer: Layer) -> bytes:
    """A part's bytes: the same for equal tables."""
    sink = pa.BufferOutputStream()
    # Measured on web text: 2.22 bytes a posting, against 2.47 with the writer's defaults.
    compact = {"use_dictionary": ["word", "count", "form"], "column_encoding": {"row": "BYTE_STREAM_SPLIT"}}
    options = {**_WRITER_OPTIONS, **(compact if layer == "postings" else {})}
    pq.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _read_state(path: Path) -> FolderState:
    try:
        status = path.stat()
    except FileNotFoundError:
        return FolderState(path, None, 0)
    return FolderState(path, status.st_ino, status.st_mtime_ns)


def _dump(model: BaseModel) -> bytes:
    return json.dumps(model.model_dump(mode="json"), sort_keys=True, indent=1).encode() + b"\n"


def _read_schema(plan: bytes) -> int:
    """The ledger schema that a plan of any version names; 0 where it names none."""
    try:
        schema = json.loads(plan)["recipe"]["ledger_schema"]
    except (ValueError, KeyError, TypeError):
        return 0
    return schema if isinstance(schema, int) else 0


def _describe_difference(found: Plan, wanted: Plan) -> str:
    if len(found.shards) != len(wanted.shards):
        return f"of {len(found.shards)} shards, not these {len(wanted.shards)}"
    for old_shard, new_shard in zip(found.shards, wanted.shards, strict=True):
        if old_shard.name != new_shard.name:
            return f"with the shard {old_shard.name}, not {new_shard.name}"
        if old_shard.size_bytes != new_shard.size_bytes:
            return f"{old_shard.name} had {old_shard.size_bytes} bytes, now {new_shard.size_bytes}"
    if found.row_limit != wanted.row_limit:
        return f"with --limit {found.row_limit}, not {wanted.row_limit}"
    if found.sample != wanted.sample:
        return f"of {_describe_sample(found.sample)}, not {_describe_sample(wanted.sample)}"
    old, new = found.recipe.model_dump(), wanted.recipe.model_dump()
    changed = [key for key in new if old[key] != new[key]]
    return f"under another recipe: {', '.join(changed)} differ"


def _describe_sample(sample: Sample | None) -> str:
    return "every slice" if sample is None else f"a sample of {sample.share:g} with the seed {sample.seed}"
