"""The end of a run: decide every slice, add up the funnel, and say what went wrong and what the ledger weighs.

Times and rates are the caller's; everything here follows from the ledger.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.compute as pc

from curation.errors import LedgerError
from curation.funnel import Funnel
from curation.ledger.counts import count_tokens
from curation.ledger.encoder import list_encoder_layers
from curation.ledger.licences import LICENCES
from curation.ledger.senses import name_senses_layer
from curation.ledger.signals import decide_ledger
from curation.lexicon.vocabulary import read_senses_of
from curation.overrides import Overrides
from curation.profile import BoundProfile
from curation.run_folder import RunFolder
from curation.source_rules import SourceRule

MAX_EXAMPLES = 50  # of row errors and duplicate ids in run.json; the ledger has them all
PROJECTED_DOCUMENTS = 1_500_000_000  # FineWeb-Edu

_DUPLICATES = """
    SELECT doc_id, count(*) AS times FROM read_parquet(?) WHERE doc_id IS NOT NULL
    GROUP BY doc_id HAVING count(*) > 1 ORDER BY times DESC, doc_id
"""


@dataclass
class RunSummary:
    """What a finished run is. `row_errors` and `duplicate_ids` hold at most MAX_EXAMPLES; the counts are complete."""

    funnel: Funnel
    shards: list[dict[str, object]] = field(default_factory=list)
    row_error_count: int = 0
    row_errors: list[dict[str, object]] = field(default_factory=list)
    estimated_token_documents: int = 0
    sampled_window_documents: int = 0
    normalized_documents: int = 0
    duplicate_id_count: int = 0
    duplicate_ids: list[dict[str, object]] = field(default_factory=list)
    layer_bytes: dict[str, int] = field(default_factory=dict)

    @property
    def shard_errors(self) -> list[dict[str, object]]:
        return [{"shard": shard["name"], "error": shard["error"]} for shard in self.shards if shard["error"]]

    def report(self) -> dict[str, object]:
        """Everything as JSON."""
        documents = self.funnel.document_count
        per_document = {layer: size / documents if documents else 0.0 for layer, size in self.layer_bytes.items()}
        return {
            "documents": documents,
            "shards": self.shards,
            "shard_errors": self.shard_errors,
            "row_errors": {"count": self.row_error_count, "examples": self.row_errors},
            "duplicate_ids": {"count": self.duplicate_id_count, "examples": self.duplicate_ids},
            "normalized_documents": self.normalized_documents,
            "sampled_window_documents": self.sampled_window_documents,
            "estimated_token_documents": self.estimated_token_documents,
            "funnel": self.funnel.report(),
            "ledger": {
                "bytes_by_layer": self.layer_bytes,
                "bytes_per_document": per_document,
                "projected_bytes_for_1_5_billion": round(sum(per_document.values()) * PROJECTED_DOCUMENTS),
            },
        }


def summarize_run(
    folder: RunFolder,
    bound: BoundProfile,
    word_scores: dict[str, float],
    overrides: Overrides | None = None,
    source_rules: Sequence[SourceRule] = (),
    checkpoint: Callable[[], None] = lambda: None,
) -> RunSummary:
    """Read the whole ledger once, a slice at a time. Raises LedgerError when slices or shards are missing.

    `checkpoint` is called after every slice; what it raises ends the reading.
    """
    ledger = folder.ledger
    summary = RunSummary(Funnel(bound.stages))
    for manifest in ledger.read_shards():
        shard = manifest.model_dump(include={"name", "sha256", "size_bytes", "row_count", "blank_line_count", "error"})
        summary.shards.append(shard)
    parts: list[str] = []
    for decided in decide_ledger(ledger, bound, word_scores, overrides, source_rules):
        checkpoint()
        core = decided.signals.core
        tokens, is_estimated = count_tokens(core)
        summary.funnel.add(decided.decisions, tokens)
        summary.estimated_token_documents += int(is_estimated.sum())
        summary.normalized_documents += core.num_rows - core["changes"].null_count
        sampled = pc.struct_field(core["fasttext"], "is_sampled").fill_null(False)
        summary.sampled_window_documents += int(np.count_nonzero(sampled.to_numpy()))
        broken = core.filter(pc.is_valid(core["error"])).select(["row", "error"])
        summary.row_error_count += broken.num_rows
        room = MAX_EXAMPLES - len(summary.row_errors)
        summary.row_errors += [{"shard": decided.ref.shard.name, **row} for row in broken.slice(0, room).to_pylist()]
        parts.append(str(ledger.part_path("core", decided.ref.id)))
        licences = (LICENCES,) if ledger.is_committed(LICENCES, decided.ref.id) else ()
        senses = [name_senses_layer(found)] if (found := read_senses_of(word_scores)) else []
        senses = [layer for layer in senses if ledger.is_committed(layer, decided.ref.id)]
        for layer in ("core", "postings", *licences, *senses, *list_encoder_layers(ledger, decided.ref.id)):
            size = ledger.part_path(layer, decided.ref.id).stat().st_size
            summary.layer_bytes[layer] = summary.layer_bytes.get(layer, 0) + size
    summary.duplicate_id_count, summary.duplicate_ids = _find_duplicate_ids(parts)
    return summary


def _find_duplicate_ids(parts: list[str]) -> tuple[int, list[dict[str, object]]]:
    """Ids that stand on more than one row: how many, and the most frequent. Spills to disk beyond 512 MB."""
    if not parts:
        return 0, []
    with (
        tempfile.TemporaryDirectory() as spill,
        duckdb.connect(config={"memory_limit": "512MB", "threads": 1}) as connection,
    ):
        connection.execute("SET temp_directory = ?", [str(Path(spill))])
        found = connection.execute(_DUPLICATES, [parts])
        examples = [{"doc_id": doc_id, "rows": times} for doc_id, times in found.fetchmany(MAX_EXAMPLES)]
        rest = 0
        while batch := found.fetchmany(10_000):
            rest += len(batch)
    return len(examples) + rest, examples


def require_complete(folder: RunFolder) -> None:
    """Raises LedgerError that counts the slices still to be measured."""
    refs = list(folder.ledger.slices())
    missing = [ref.id for ref in refs if not folder.ledger.is_committed("core", ref.id)]
    if missing:
        raise LedgerError(
            f"{len(missing)} of {len(refs)} slices are not measured yet (first: {missing[0]}).",
            hint="Run the parts that are missing, then finish again.",
        )
