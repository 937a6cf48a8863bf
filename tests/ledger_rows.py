"""A ledger written by hand: a test says what was measured of each row; the store, the plan and the parts are real."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curation.ledger import schema
from curation.ledger.store import Plan, PlannedShard, SliceRef
from curation.recipe import Recipe
from curation.run_folder import RunFolder
from curation.shards.manifest import ShardManifest, Slice

RECIPE = Recipe(artifacts={"aoa": "a" * 64, "vocabulary": "b" * 64}, frequencies="none")


def write_run(folder: Path, shards: dict[str, Sequence[Sequence[dict[str, Any]]]]) -> RunFolder:
    """A run of `shards`: name -> slices -> rows. A row may give `id`, `url`, `tokens`, `n_bytes`, `changed`, `sampled`, `error`,
    `p95_aoa`, `oov_ratio`, `rules` (recommended), `words`, `grades`."""
    run = RunFolder(folder)
    planned = tuple(PlannedShard(name=name, size_bytes=1) for name in shards)
    run.ledger.create(Plan(recipe=RECIPE, shards=planned, row_limit=None))
    for index, (name, pieces) in enumerate(shards.items()):
        manifest = open_shard(index, name, [len(rows) for rows in pieces])
        run.ledger.add_shard(manifest)
        for piece, rows in zip(manifest.slices, pieces, strict=True):
            slice_id = SliceRef(manifest, piece).id
            run.ledger.commit("postings", slice_id, make_postings(rows, piece.first_row))
            run.ledger.commit("core", slice_id, make_core(rows, piece.first_row))
    return run


def open_shard(index: int, name: str, row_counts: Sequence[int], error: str | None = None) -> ShardManifest:
    slices, first = [], 0
    for number, row_count in enumerate(row_counts):
        slices.append(Slice(index=number, first_row=first, row_count=row_count, file="", row_groups=(number,)))
        first += row_count
    return ShardManifest(
        index=index,
        name=name,
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        size_bytes=1000,
        row_count=first,
        blank_line_count=0,
        staging="",
        slices=tuple(slices),
        error=error,
    )


def make_core(rows: Sequence[dict[str, Any]], first_row: int = 0) -> pa.Table:
    return pa.Table.from_pylist(
        [_describe_row(row, first_row + place) for place, row in enumerate(rows)], schema.CORE_SCHEMA
    )


def _describe_row(row: dict[str, Any], number: int) -> dict[str, Any]:
    described = {"row": number, "doc_id": row.get("id"), "url": row.get("url"), "token_count": row.get("tokens")}
    if "error" in row:
        return {**described, "error": row["error"]}
    grades = row.get("grades")
    return {
        **described,
        "n_bytes": row.get("n_bytes", 46),
        "n_chars": row.get("n_bytes", 46),
        "n_words": 9,
        "changes": {"quotes": 1} if row.get("changed") else None,
        "lexical_raw": {
            "p95_aoa": row.get("p95_aoa", 8.0),
            "oov_ratio": row.get("oov_ratio", 0.0),
            "token_count": 9,
            "hard_words": [],
            "unknown_words": [],
        },
        "notation_raw": {
            "published": [],
            "recommended": [{"rule": rule, "start": 0, "end": 1} for rule in row.get("rules", ())],
        },
        "vocabulary_raw": [],
        "fasttext": None
        if grades is None
        else {
            "published": grades,
            "document": grades,
            "window": grades,
            "window_start": 0,
            "window_end": 9,
            "is_sampled": row.get("sampled", False),
        },
    }


def make_postings(rows: Sequence[dict[str, Any]], first_row: int = 0) -> pa.Table:
    entries = sorted({(word, first_row + place) for place, row in enumerate(rows) for word in row.get("words", ())})
    words = pa.array([word for word, _ in entries], pa.string()).dictionary_encode()
    return pa.table(
        [
            words,
            pa.array([row for _, row in entries], pa.int64()),
            pa.array(np.ones(len(entries), np.int32)),
            pa.array(np.full(len(entries), schema.FORM_BOTH, np.int8)),
        ],
        schema=schema.POSTINGS_SCHEMA,
    )
