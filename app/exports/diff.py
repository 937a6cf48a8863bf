"""What one export's curriculum holds that another's does not: documents, tokens, and the words that come or go with them.

Which documents, the exports say; tokens and words come from the ledgers, and only of slices where they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.export.manifest import list_files, read_manifest
from curation.export.request import CURRICULUM
from curation.ledger import schema
from curation.ledger.counts import count_tokens
from curation.lexicon.ages import read_zipf_frequencies
from curation.run_folder import RunFolder
from primer.app.core.errors import Conflict

MAX_TERMS = 50
_COMMONEST_ZIPF = 8.0  # above the Zipf frequency of every English word: "the" has 7.7

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """An export and the run that it is of."""

    export_id: int
    folder: Path
    run: RunFolder


@dataclass
class Difference:
    """What one export has alone. `terms`: the words that say most about it, with how many of
    these documents have each: first those of many documents that are rare in English."""

    documents: int = 0
    tokens: int = 0
    terms: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """`common`: documents that both have."""

    common: int
    gained: Difference
    lost: Difference


def compare_exports(own: Side, other: Side) -> Comparison:
    """`gained`: what `own` has and `other` has not; `lost`: the reverse. Raises Conflict where one has no curriculum."""
    mine, theirs = _read_rows(own), _read_rows(other)
    common = sum(
        int(np.isin(rows, theirs.get(shard, np.zeros(0, np.int64)), assume_unique=True).sum())
        for shard, rows in mine.items()
    )
    return Comparison(common, _describe(own, _subtract(mine, theirs)), _describe(other, _subtract(theirs, mine)))


def _read_rows(side: Side) -> dict[str, Rows]:
    """The rows of the curriculum by the sha256 of their shard, ascending."""
    manifest = read_manifest(side.folder)
    if CURRICULUM not in manifest["totals"]:
        raise Conflict(f"Export {side.export_id} holds a control alone.", hint="Compare exports with a curriculum.")
    hashes = {shard["name"]: shard["sha256"] for shard in manifest["inputs"]}
    parts: dict[str, list[Rows]] = {}
    for file in list_files(manifest):
        if file.config != CURRICULUM:
            continue
        with pq.ParquetFile(side.folder / file.path) as parquet:
            for batch in parquet.iter_batches(columns=["primer_shard", "primer_row"], use_threads=False):
                shards = batch.column("primer_shard").dictionary_encode()
                rows, numbers = batch.column("primer_row").to_numpy(), shards.indices.to_numpy()
                for number, name in enumerate(shards.dictionary.to_pylist()):
                    parts.setdefault(hashes[name], []).append(rows[numbers == number])
    return {shard: np.unique(np.concatenate(found)) for shard, found in parts.items()}


def _subtract(rows: Mapping[str, Rows], others: Mapping[str, Rows]) -> dict[str, Rows]:
    left = {
        shard: np.setdiff1d(found, others.get(shard, np.zeros(0, np.int64)), assume_unique=True)
        for shard, found in rows.items()
    }
    return {shard: found for shard, found in left.items() if len(found)}


def _describe(side: Side, rows: Mapping[str, Rows]) -> Difference:
    difference = Difference()
    terms: Counter[str] = Counter()
    form = read_manifest(side.folder)["profile"]["content"]["form"]
    counted: set[tuple[str, int]] = set()
    for ref in side.run.ledger.slices():
        first = ref.piece.first_row
        slice_rows = rows.get(ref.shard.sha256)
        if slice_rows is None or (ref.shard.sha256, first) in counted:  # a shard that is listed twice counts once
            continue
        counted.add((ref.shard.sha256, first))
        slice_rows = slice_rows[slice(*np.searchsorted(slice_rows, [first, first + ref.piece.row_count]))]
        if not len(slice_rows):
            continue
        core = side.run.ledger.read_part("core", ref.id)
        tokens, _ = count_tokens(core)
        difference.documents += len(slice_rows)
        difference.tokens += int(tokens[np.isin(core["row"].to_numpy(), slice_rows, assume_unique=True)].sum())
        terms.update(_count_terms(side.run.ledger.read_part("postings", ref.id), slice_rows, form))
    difference.terms = _rank_terms(terms)
    return difference


def _rank_terms(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """By documents and rarity: words that every text has tell nothing of these."""
    zipf = read_zipf_frequencies() if counts else {}

    def weigh(entry: tuple[str, int]) -> tuple[float, str]:
        word, count = entry
        return -count * (_COMMONEST_ZIPF - zipf.get(word, 0.0)), word

    return sorted(counts.items(), key=weigh)[:MAX_TERMS]


def _count_terms(postings: Any, rows: Rows, form: str) -> dict[str, int]:
    """Of how many of the rows each word is part, in the form that the profile reads."""
    unwanted = schema.FORM_NORMALIZED if form == "raw" else schema.FORM_RAW
    is_wanted = np.isin(postings["row"].to_numpy(), rows) & (postings["form"].to_numpy() != unwanted)
    words = postings["word"].combine_chunks()
    counts = np.bincount(words.indices.to_numpy()[is_wanted], minlength=len(words.dictionary))
    present = np.flatnonzero(counts)
    names = pc.take(words.dictionary, present).to_pylist()
    return dict(zip(names, counts[present].tolist(), strict=True))
