"""Building an export: survey, choose, write, describe, and let it appear at once.

Two passes: decisions from the ledger, then the rows that are wanted from their shards, each shard read once for
curriculum and control together.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.chance import draw_row_fractions
from curation.errors import ExportError
from curation.export.bands import BAND_SCHEMA, build_bands
from curation.export.card import build_card
from curation.export.control import draw_control
from curation.export.leak_gate import check_leaks
from curation.export.manifest import CARD, MANIFEST, build_manifest, encode_manifest, list_files, read_manifest
from curation.export.order import KeyedSpool
from curation.export.request import (
    CONTROL,
    CURRICULUM,
    TRAIN,
    VALIDATION,
    ExportedFile,
    ExportProgress,
    ExportRequest,
    ExportResult,
    hash_request,
)
from curation.export.sink import Sink
from curation.export.source_columns import SourceColumns, plan_columns
from curation.export.survey import Survey, choose_curriculum, draw_shuffle_keys, survey_run
from curation.export.work_folder import build_folder
from curation.export.writer import RotatingWriter
from curation.ledger.signals import read_signals
from curation.shards.rows import RowBatch

_SPOOLS = "spools"


def write_export(request: ExportRequest) -> ExportResult:
    """Write the export of a measured run to `request.out`, or find it finished there and do nothing.

    Raises ExportError when a row is undecided, when `out` holds anything else, or when a source column has a name of the
    export's own; TooManyLeaks when the request has a gate that the curriculum fails; LedgerError when a slice is not
    measured; SourceError when a shard is gone or has changed; QuotaError when the disk is full. After an exception or a kill
    `out` does not exist, and the same call starts again.
    """
    finished = _find_finished(request)
    if finished is not None:
        return finished
    with build_folder(request.out) as work:
        progress = _Progress(request)
        survey = survey_run(request, progress.report)
        plan = request.run.ledger.read_plan()
        columns = plan_columns(request.run, survey.slices, plan.recipe.text_field, BAND_SCHEMA.names)
        is_curriculum = choose_curriculum(survey, request)
        sample = draw_control(survey.control_keys, survey.tokens, survey.is_available, is_curriculum, survey.strata)
        chosen = {CONTROL: sample.is_taken}
        if request.has_curriculum:
            chosen = {CURRICULUM: is_curriculum, **chosen}
        files = _write_rows(request, work, survey, columns, chosen, progress)
        gate = check_leaks(request, work, files)
        manifest = build_manifest(request, survey, columns, sample, files, gate)
        _write_descriptions(work, manifest)
    return ExportResult(request.out, True, tuple(files), manifest["statement"])


def _find_finished(request: ExportRequest) -> ExportResult | None:
    out = request.out
    if not out.exists():
        return None
    if not out.is_dir():
        raise ExportError(f"{out} is a file.", hint="Choose a new folder.")
    if not any(out.iterdir()):
        return None
    if not (out / MANIFEST).is_file():
        raise ExportError(f"{out} is not empty and holds no export.", hint="Choose a new or empty folder.")
    manifest = read_manifest(out)
    if manifest["request_sha256"] != hash_request(request):
        raise ExportError(
            f"{out} holds another export ({manifest['statement']})",
            hint="Choose another folder, or repeat the request that made it.",
        )
    files = list_files(manifest)
    for file in files:
        path = out / file.path
        if not path.is_file() or path.stat().st_size != file.size_bytes:
            raise ExportError(f"{path} is missing or damaged.", hint=f"Delete {out} and export again.")
    return ExportResult(out, False, tuple(files), manifest["statement"])


class _Progress:
    def __init__(self, request: ExportRequest) -> None:
        self._on_progress = request.on_progress
        self._documents = self._tokens = self._bytes = 0

    def add(self, documents: int, tokens: int, written_bytes: int) -> None:
        self._documents += documents
        self._tokens += tokens
        self._bytes += written_bytes
        self.report()

    def report(self) -> None:
        self._on_progress(ExportProgress(self._documents, self._tokens, self._bytes))


def _write_rows(
    request: ExportRequest,
    work: Path,
    survey: Survey,
    columns: SourceColumns,
    chosen: dict[str, npt.NDArray[np.bool_]],
    progress: _Progress,
) -> list[ExportedFile]:
    """`chosen`: by config, which positions it takes."""
    schema = pa.schema([*columns.schema, *BAND_SCHEMA])
    is_validation = _draw_validation(request, survey)
    sinks: dict[str, Sink] = {}
    for config in chosen:
        writers = {
            split: RotatingWriter(work, config, split, schema, request.shard_bytes, progress.add)
            for split in (request.splits if config == CURRICULUM else (TRAIN,))
        }
        spool = None if request.shuffle_seed is None else KeyedSpool(work / _SPOOLS / config, schema)
        sinks[config] = Sink(writers, survey.tokens, is_validation, spool)
    wanted = np.logical_or.reduce(list(chosen.values()))
    for index in range(len(survey.slices)):
        start = int(survey.offsets[index])
        keys = None
        if request.shuffle_seed is not None:
            keys = draw_shuffle_keys(survey, index, request.shuffle_seed)
        for rows, positions in _read_wanted(request, survey, index, columns, schema, wanted):
            for config, sink in sinks.items():
                mask = chosen[config][positions]
                taken = positions[mask]
                sink.add(rows.filter(pa.array(mask)), taken, None if keys is None else keys[taken - start])
        progress.report()
    files = [file for sink in sinks.values() for file in sink.finish()]
    shutil.rmtree(work / _SPOOLS, ignore_errors=True)
    return files


def _draw_validation(request: ExportRequest, survey: Survey) -> npt.NDArray[np.bool_]:
    """Which positions are held out. A row of a shard that is listed twice is held out twice, never in two splits."""
    is_validation = np.zeros(len(survey.tokens), bool)
    if request.validation_share > 0:
        for index, ref in enumerate(survey.slices):
            fractions = draw_row_fractions(ref.shard.sha256, survey.rows(index), request.validation_seed, VALIDATION)
            is_validation[survey.span(index)] = fractions < request.validation_share
    return is_validation


def _read_wanted(
    request: ExportRequest,
    survey: Survey,
    index: int,
    columns: SourceColumns,
    schema: pa.Schema,
    wanted: npt.NDArray[np.bool_],
) -> Iterator[tuple[pa.Table, npt.NDArray[np.int64]]]:
    """The wanted rows of a slice with their positions. A slice without any is not opened."""
    ref, span = survey.slices[index], survey.span(index)
    is_wanted = wanted[span]
    if not is_wanted.any():
        return
    bound = request.bound
    core = request.run.ledger.read_part("core", ref.id)
    signals = read_signals(ref, core, None, None, bound, {}).signals
    bands = build_bands(signals, ref.shard.name, bound, survey.is_kept(index), survey.is_overridden(index))
    for batch in request.run.read_rows(ref):
        start = batch.first_row - ref.piece.first_row
        mask = is_wanted[start : start + len(batch)]
        if not mask.any():
            continue
        places = np.flatnonzero(mask)
        source = columns.conform(_take_readable(batch, places, ref.shard.name), ref.shard.name)
        added = bands.take(pa.array(start + places)).columns
        yield pa.Table.from_arrays([*source, *added], schema=schema), span.start + start + places


def _take_readable(batch: RowBatch, places: npt.NDArray[np.int64], shard_name: str) -> pa.RecordBatch:
    """Rows that could be read when they were measured. Raises ExportError when one no longer can."""
    lost = [place for place in places.tolist() if batch.errors[place] is not None]
    if lost or batch.table is None:
        place = lost[0] if lost else int(places[0])
        raise ExportError(
            f"{shard_name}: row {batch.first_row + place} could be read when it was measured and cannot now "
            f"({batch.errors[place]})",
            hint="Restore the shard, or its staged copy by running `primer run` again.",
        )
    return batch.table.take(pa.array(places))


def _write_descriptions(work: Path, manifest: dict[str, Any]) -> None:
    card = build_card(manifest).encode()
    (work / CARD).write_bytes(card)
    manifest["card"] = {"path": CARD, "sha256": hashlib.sha256(card).hexdigest(), "size_bytes": len(card)}
    (work / MANIFEST).write_bytes(encode_manifest(manifest))
