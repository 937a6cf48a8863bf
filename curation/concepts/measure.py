"""Measuring a catalogue's concepts in a run: texts slice by slice, on worker processes, each slice committed as its layer.

What is committed stays: a killed measuring carries on, and of a new version only the concepts that changed are looked for.
The bytes of a layer depend on texts and catalogue alone, not on workers, nor on what was copied from an older layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.concepts.catalogue import Catalogue
from curation.concepts.compile import CompiledCatalogue, compile_concepts
from curation.concepts.layer import (
    RecordedCatalogue,
    build_layer,
    choose_base,
    join_layers,
    list_recorded,
    name_concepts_layer,
    record_catalogue,
)
from curation.concepts.match import Hits, find_concepts
from curation.errors import LedgerError, PrimerError, QuotaError
from curation.ledger.store import SliceRef
from curation.normalize import normalize
from curation.run_folder import RunFolder
from curation.worker_pool import WorkerPool


@dataclass
class ConceptProgress:
    """`slices_reused`: committed before. `concepts_copied`: of the catalogue, those whose hits an older layer knew; `documents`:
    texts that were read now. `failures`: what kept a slice from being measured."""

    layer: str
    slices: int
    concepts: int
    concepts_copied: int = 0
    slices_done: int = 0
    slices_reused: int = 0
    documents: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)


OnProgress = Callable[[ConceptProgress], None]


@dataclass(frozen=True)
class Remeasuring:
    """What measuring a catalogue in a run takes. `base`: the older layer that is copied from, None for none; `concepts`: the ids
    that are looked for in the texts, none where the layer is a copy or there already."""

    layer: str
    base: RecordedCatalogue | None
    concepts: tuple[str, ...]
    slices_missing: int
    slices: int


def plan_measuring(folder: RunFolder, catalogue: Catalogue) -> Remeasuring:
    """What must be measured before `catalogue` can be asked of this run. Reads no text. Raises LedgerError for no finished run."""
    layer = name_concepts_layer(catalogue)
    slices = [ref.id for ref in folder.ledger.slices()]
    missing = sum(not folder.ledger.is_committed(layer, slice_id) for slice_id in slices)
    base = choose_base(list_recorded(folder.ledger), catalogue) if missing else None
    known = {concept.matching_sha256 for concept in base.catalogue.concepts} if base else set()
    wanted = tuple(concept.id for concept in catalogue.concepts if concept.matching_sha256 not in known)
    return Remeasuring(layer, base, wanted if missing else (), missing, len(slices))


def measure_concepts(
    folder: RunFolder,
    catalogue: Catalogue,
    *,
    workers: int = 1,
    on_progress: OnProgress = lambda _: None,
) -> ConceptProgress:
    """Measure every slice of a measured run that has no layer of this catalogue yet.

    What `on_progress` raises ends the work with whole slices committed. Raises LedgerError where the run is not measured,
    QuotaError where the disk is full; slices that could not be read are in `failures`.
    """
    plan = plan_measuring(folder, catalogue)
    record_catalogue(folder.ledger, catalogue)
    progress = ConceptProgress(plan.layer, plan.slices, len(catalogue.concepts))
    if plan.slices_missing:
        progress.concepts_copied = len(catalogue.concepts) - len(plan.concepts)
    waiting = []
    for ref in folder.ledger.slices():
        if folder.ledger.is_committed(plan.layer, ref.id):
            progress.slices_done += 1
            progress.slices_reused += 1
        else:
            waiting.append(ref)
    waiting.reverse()
    with WorkerPool[SliceRef, int](partial(_Worker, folder, catalogue, plan.base), workers) as pool:
        while waiting or not pool.is_idle:
            while waiting and pool.has_room:
                pool.submit(waiting.pop())
            for ref, outcome in pool.wait():
                _note(progress, ref, outcome)
                on_progress(progress)
    return progress


def _note(progress: ConceptProgress, ref: SliceRef, outcome: int | PrimerError) -> None:
    if isinstance(outcome, QuotaError):
        raise outcome
    if isinstance(outcome, PrimerError):
        progress.failures.append({"where": f"{ref.shard.name} slice {ref.id}", "error": str(outcome)})
        return
    progress.slices_done += 1
    progress.documents += outcome


class _Worker:
    """What one process does: a slice's layer. Catalogues are compiled in the process, once."""

    def __init__(self, folder: RunFolder, catalogue: Catalogue, base: RecordedCatalogue | None) -> None:
        self._folder, self._catalogue, self._base = folder, catalogue, base

    @cached_property
    def _whole(self) -> CompiledCatalogue:
        return compile_concepts(self._catalogue.concepts)

    @cached_property
    def _changed(self) -> tuple[CompiledCatalogue, npt.NDArray[np.int64]]:
        """The concepts that the base does not know, and the index of each in the catalogue."""
        assert self._base is not None
        known = {concept.matching_sha256 for concept in self._base.catalogue.concepts}
        indices = [i for i, concept in enumerate(self._catalogue.concepts) if concept.matching_sha256 not in known]
        return compile_concepts([self._catalogue.concepts[i] for i in indices]), np.array(indices, np.int64)

    def perform(self, ref: SliceRef) -> int:
        """Commit one slice's layer; how many texts were read."""
        ledger, layer = self._folder.ledger, name_concepts_layer(self._catalogue)
        base = self._base
        if base is None or not ledger.is_committed(base.layer, ref.id):
            hits, documents = _find_in_slice(self._folder, ref, self._whole)
            table = self._build(ref, hits)
        else:
            compiled, indices = self._changed
            hits, documents = [], 0
            if len(indices):
                hits, documents = _find_in_slice(self._folder, ref, compiled)
                hits = [Hits(batch.texts, indices[batch.concepts], batch.starts, batch.ends) for batch in hits]
            table = join_layers(
                self._catalogue, self._build(ref, hits), ledger.read_part(base.layer, ref.id), base.catalogue
            )
        ledger.commit(layer, ref.id, table)
        return documents

    def _build(self, ref: SliceRef, hits: list[Hits]) -> pa.Table:
        rows = np.arange(ref.piece.first_row, ref.piece.first_row + ref.piece.row_count, dtype=np.int64)
        return build_layer(self._catalogue, rows, hits)


def _find_in_slice(folder: RunFolder, ref: SliceRef, compiled: CompiledCatalogue) -> tuple[list[Hits], int]:
    """The hits of every row of a slice, `texts` counted from its first row, and how many texts there were.

    Raises LedgerError where a row that was measured cannot be read now.
    """
    error = folder.ledger.read_part("core", ref.id, ["error"])["error"]
    was_readable = pc.is_null(error).to_numpy()
    hits: list[Hits] = []
    documents = 0
    for batch in folder.read_rows(ref):
        offset = batch.first_row - ref.piece.first_row
        is_lost = np.array([text is None for text in batch.texts], bool) & was_readable[offset : offset + len(batch)]
        if is_lost.any():
            row = batch.first_row + int(np.argmax(is_lost))
            raise LedgerError(
                f"{ref.shard.name} row {row} was measured and cannot be read now.",
                hint="Restore the shard, or start a new run.",
            )
        texts = [None if text is None else normalize(text).text for text in batch.texts]
        found = find_concepts(compiled, texts)
        hits.append(Hits(found.texts + offset, found.concepts, found.starts, found.ends))
        documents += sum(text is not None for text in texts)
    return hits, documents
