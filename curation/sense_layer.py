"""Measuring sense rules in a run: only the texts of rows that hold a word with a rule are read, found through the postings.

A layer that is committed stays; measuring again finds it, and a killed one carries on at the next slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from curation.errors import LedgerError
from curation.ledger import schema
from curation.ledger.senses import SENSES_SCHEMA, name_senses_layer, select_postings
from curation.ledger.store import SliceRef
from curation.lexicon.senses import SenseRule
from curation.lexicon.vocabulary import VocabularyVersion
from curation.normalize import normalize
from curation.run_folder import RunFolder
from curation.shards.rows import open_parquet, read_slice
from curation.signals.senses import SenseCounts, SenseMeter

OnSlice = Callable[["SenseProgress"], None]


@dataclass(frozen=True)
class SenseProgress:
    """`documents_read`: texts that hold a word with a rule and were read now; `slices_reused`: measured before."""

    layer: str
    slices_done: int = 0
    slices_reused: int = 0
    documents_read: int = 0


def measure_senses(
    folder: RunFolder, version: VocabularyVersion, on_slice: OnSlice = lambda _: None
) -> SenseProgress | None:
    """Measure the version's sense rules in every slice of a measured run; None where it has no rule.

    What `on_slice` raises ends the work with whole slices committed. Raises SourceError where a shard is gone or has changed,
    LedgerError where slices are not measured.
    """
    if not version.senses:
        return None
    progress = SenseProgress(name_senses_layer(version.senses))
    for ref in folder.ledger.slices():
        is_reused = folder.ledger.is_committed(progress.layer, ref.id)
        read = 0
        if not is_reused:
            read = commit_senses(folder, ref, folder.ledger.read_part("postings", ref.id), version.senses)
        progress = SenseProgress(
            progress.layer,
            progress.slices_done + 1,
            progress.slices_reused + is_reused,
            progress.documents_read + read,
        )
        on_slice(progress)
    return progress


def commit_senses(folder: RunFolder, ref: SliceRef, postings: pa.Table, senses: Sequence[SenseRule]) -> int:
    """Measure one slice and commit its layer; how many texts were read."""
    chosen = select_postings(postings, senses)
    wanted = np.unique(chosen["row"].to_numpy())
    texts = _read_texts(folder, ref, wanted.tolist()) if len(wanted) else {}
    if len(texts) != len(wanted):
        raise LedgerError(
            f"{ref.shard.name}: {len(wanted) - len(texts)} rows of slice {ref.id} that were measured cannot be read now.",
            hint="Restore the shard, or start a new run.",
        )
    folder.ledger.commit(name_senses_layer(senses), ref.id, build_senses(chosen, texts, SenseMeter(senses)))
    return len(texts)


def build_senses(chosen: pa.Table, texts: dict[int, str], meter: SenseMeter) -> pa.Table:
    """SENSES_SCHEMA for postings of words with a rule. `texts`: the raw text of every row among them."""
    counted: dict[tuple[int, bool], dict[str, SenseCounts]] = {}
    rows, forms = chosen["row"].to_pylist(), chosen["form"].to_pylist()
    found = []
    for word, row, form in zip(chosen["word"].to_pylist(), rows, forms, strict=True):
        key = (row, form == schema.FORM_NORMALIZED)
        if key not in counted:
            text = texts[row]
            counted[key] = meter.count(normalize(text).text if key[1] else text)
        found.append(counted[key][word])
    return pa.table(
        [
            chosen["word"].combine_chunks(),
            chosen["row"],
            chosen["form"],
            *(
                pa.array([getattr(counts, name) for counts in found], pa.int32())
                for name in ("counted", "innocent", "other")
            ),
        ],
        schema=SENSES_SCHEMA,
    )


def measure_text_senses(postings: pa.Table, text: str, row: int, senses: Sequence[SenseRule]) -> pa.Table | None:
    """The layer of one text at hand; None where there is no rule."""
    return build_senses(select_postings(postings, senses), {row: text}, SenseMeter(senses)) if senses else None


def _read_texts(folder: RunFolder, ref: SliceRef, wanted: list[int]) -> dict[int, str]:
    """The raw texts of rows of a slice, by row; row groups without a wanted row are not read."""
    text_field = folder.ledger.read_plan().recipe.text_field
    rows, found = set(wanted), {}
    with folder.slice_file(ref.shard, ref.piece) as path:
        metadata = open_parquet(path, ref.shard.name).metadata
        first_row, end = ref.piece.first_row, ref.piece.first_row + ref.piece.row_count
        for group in ref.piece.row_groups:
            row_count = min(metadata.row_group(group).num_rows, end - first_row)
            if not rows.isdisjoint(range(first_row, first_row + row_count)):
                piece = ref.piece.model_copy(
                    update={"first_row": first_row, "row_count": row_count, "row_groups": (group,)}
                )
                for batch in read_slice(path, ref.shard.name, piece, text_field):
                    for row, text in enumerate(batch.texts, batch.first_row):
                        if row in rows and text is not None:
                            found[row] = text
            first_row += row_count
    return found
