"""What is known of a shard once it has been opened: its hash, rows and slices.

A manifest depends on the shard's bytes and the recipe, never on the machine or the number of workers.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Slice(BaseModel):
    """The rows one task handles: `row_count` rows from `first_row` (0-based in the shard), in `row_groups` of `file`.

    `file` is "" for the shard itself, else the name of a staged Parquet file. The row groups may hold more rows
    than the slice where a limit cuts it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: int
    first_row: int
    row_count: int
    file: str
    row_groups: tuple[int, ...]


class ShardManifest(BaseModel):
    """One opened shard. `error` says why rows may be missing (a file that breaks off, or cannot be counted at all);
    `staging` names the folder of staged files, or is "" where the shard itself can be sought."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: int
    name: str
    sha256: str
    size_bytes: int
    row_count: int
    blank_line_count: int
    staging: str
    slices: tuple[Slice, ...]
    error: str | None

    def slice_id(self, piece: Slice) -> str:
        return f"{self.index:06d}-{piece.index:05d}"
