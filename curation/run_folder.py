"""A run's folder: `ledger/`, `staged/`, `export/`, `run.json`, and where this machine finds the shards.

What depends on the machine (locations, times) lives here, beside the ledger and never in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from curation.errors import LedgerError, SourceError
from curation.ledger.store import Ledger, SliceRef
from curation.publish import replace_bytes
from curation.shards.manifest import ShardManifest, Slice
from curation.shards.prepare import hash_file
from curation.shards.rows import RowBatch, read_slice
from curation.shards.source import SourceShard


class RunFolder:
    """Paths of one run and the way back from a slice to its rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger")
        self.staging = folder / "staged"
        self.export = folder / "export"
        self.report = folder / "run.json"
        self._locations = folder / "locations.json"
        self._verified: set[str] = set()

    def require_run(self) -> None:
        """Raises LedgerError when the folder holds no run."""
        self.ledger.read_plan()

    def claim(self) -> None:
        """Raises LedgerError when the folder holds something that is no run of ours."""
        if self.folder.exists() and not self.ledger.has_plan():
            strangers = sorted(path.name for path in self.folder.iterdir() if path.name != "ledger")
            if strangers:
                raise LedgerError(
                    f"{self.folder} is not empty ({', '.join(strangers[:3])}).",
                    hint="Choose a new or empty folder for --out.",
                )

    def write_locations(self, shards: Sequence[SourceShard]) -> None:
        content = {shard.name: shard.location for shard in shards}
        replace_bytes(self._locations, json.dumps(content, indent=1).encode())

    def locate(self, name: str) -> str:
        """Where this machine finds a shard: a path or a URL. Raises SourceError when nobody said."""
        try:
            return str(json.loads(self._locations.read_bytes())[name])
        except (FileNotFoundError, KeyError):
            raise SourceError(
                f"Nobody said where {name} is.", hint="Run `primer run` with its source and this --out once."
            ) from None

    def slice_path(self, manifest: ShardManifest, piece: Slice) -> Path:
        """The Parquet file that holds a slice: staged, or the shard itself once its bytes are known to be those measured."""
        if manifest.staging:
            path = self.staging / manifest.staging / piece.file
            if not path.is_file():
                raise SourceError(
                    f"{manifest.name}: its staged copy is gone.",
                    hint="Run the same `primer run` command again to restore it.",
                )
            return path
        path = Path(self.locate(manifest.name))
        if manifest.name not in self._verified:
            if not path.is_file():
                raise SourceError(
                    f"{manifest.name}: there is no file {path} any more.", hint="Restore it where it was."
                )
            if path.stat().st_size != manifest.size_bytes or hash_file(path) != manifest.sha256:
                raise SourceError(
                    f"{manifest.name} has changed since it was measured.", hint="Restore the file or start a new run."
                )
            self._verified.add(manifest.name)
        return path

    def read_rows(self, ref: SliceRef) -> Iterator[RowBatch]:
        """The source rows of a slice, in batches, with every column."""
        text_field = self.ledger.read_plan().recipe.text_field
        return read_slice(self.slice_path(ref.shard, ref.piece), ref.shard.name, ref.piece, text_field)
