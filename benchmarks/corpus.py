"""Real web text for benchmarks: the shared shards where they are, else the bundled sample, repeated to the size asked for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

REPO = Path(__file__).resolve().parent.parent
_SAMPLE = REPO / "curation" / "sample" / "shards"
# Web prose alone: school passages and broken text are another genre and would blur the rates.
_WEB = ("fineweb_edu-*.parquet", "web-*.parquet")


@dataclass(frozen=True)
class Corpus:
    """`documents`: columns id, url, text; `origin` says in words what they are; `text_bytes`: UTF-8 bytes of the text."""

    documents: pa.Table
    origin: str

    @property
    def text_bytes(self) -> int:
        return count_bytes(self.documents["text"])


def count_bytes(texts: pa.ChunkedArray) -> int:
    """The UTF-8 bytes of a column of texts."""
    return sum(len(text.encode()) for text in texts.to_pylist() if text is not None)


def read_corpus(limit_bytes: int | None = None) -> Corpus:
    """Each shard's first documents, as many bytes of each; all of them where `limit_bytes` is None.

    PRIMER_SHARED (default ../shared) names the shared data. The sample is repeated where it is less than asked for.
    """
    shared = Path(os.environ.get("PRIMER_SHARED", REPO / ".." / "shared")) / "data" / "shards"
    shared_files = sorted(path for pattern in _WEB for path in shared.glob(pattern))
    origin = "web shards of the shared data" if shared_files else "the bundled sample, repeated"
    files = shared_files or sorted(_SAMPLE.glob("*.parquet"))
    tables = [pq.read_table(path, columns=["id", "url", "text"]) for path in files]
    if limit_bytes is not None:
        each = limit_bytes // len(tables)
        if shared_files:
            tables = [table if count_bytes(table["text"]) <= each else _repeat(table, each) for table in tables]
        else:
            tables = [_repeat(table, each) for table in tables]
    return Corpus(pa.concat_tables(tables).combine_chunks(), origin)


def _repeat(table: pa.Table, wanted_bytes: int) -> pa.Table:
    return pa.concat_tables(take_bytes(table, wanted_bytes))


def take_bytes(table: pa.Table, wanted_bytes: int) -> Iterator[pa.Table]:
    """Pieces of `table`, from its first row and again from it, until their texts hold `wanted_bytes` or just more."""
    sizes = [len(text.encode()) for text in table["text"].to_pylist()]
    total = sum(sizes)
    for _ in range(wanted_bytes // total):
        yield table
    rest = wanted_bytes % total
    rows = sum(1 for before in itertools.accumulate(sizes, initial=0) if before < rest)
    yield table.slice(0, min(rows, len(sizes)))
