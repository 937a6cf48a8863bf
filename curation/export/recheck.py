"""A seeded sample of the curriculum against its source: read, measured and decided again, and compared.

Everything that decides comes from the manifest; the run folder only says where the shards are and, for the encoder's
signal, what it measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.artifacts.artifact_set import ArtifactSet
from curation.cascade import Meters, measure_batches
from curation.chance import draw_row_keys
from curation.decide import KEEP, OVERRIDE, REASONS, name_reasons
from curation.errors import PrimerError
from curation.export.bands import BAND_SCHEMA, PROBABILITIES, build_bands
from curation.export.manifest import MANIFEST, list_files
from curation.export.problem import Problem
from curation.export.request import CURRICULUM, ExportedFile
from curation.export.source_columns import SourceColumns
from curation.ledger import schema
from curation.ledger.encoder import read_encoder
from curation.ledger.signals import DecidedSlice, decide_slice
from curation.ledger.store import SliceRef
from curation.lexicon.vocabulary import VocabularyVersion, read_senses_of
from curation.overrides import Overrides, Ruling
from curation.profile import BoundProfile, Profile, bind_profile
from curation.recipe import Recipe, build_recipe, hash_json
from curation.run_folder import RunFolder
from curation.sense_layer import measure_text_senses
from curation.shards.rows import RowBatch

# Models give the last digits otherwise on another kind of CPU; a decision that turns on them is named as such.
_PROBABILITY_TOLERANCE = 1e-4


@dataclass(frozen=True)
class _Terms:
    """What the manifest says decides."""

    recipe: Recipe
    bound: BoundProfile
    word_scores: dict[str, float]
    meters: Meters
    columns: SourceColumns


@dataclass(frozen=True)
class _Sampled:
    """One exported row: where it stands, and a table of that row alone."""

    file: str
    place: int
    row: pa.Table

    @property
    def shard(self) -> str:
        return str(self.row["primer_shard"][0].as_py())

    @property
    def shard_row(self) -> int:
        return int(self.row["primer_row"][0].as_py())

    def problem(self, what: str) -> Problem:
        return Problem(self.file, self.place, what)


def recheck_rows(
    folder: Path,
    manifest: dict[str, Any],
    run: RunFolder,
    *,
    sample: int,
    seed: int,
    artifacts: ArtifactSet,
    overrides: Overrides | None,
) -> tuple[list[Problem], int]:
    """Problems, and how many rows were rechecked. Without `overrides` a ruling that a row names is believed."""
    wanted = manifest["overrides"]
    if overrides is not None and (wanted is None or wanted["sha256"] != overrides.sha256):
        return [Problem(MANIFEST, None, "was made with other rulings than those given")], 0
    if run.ledger.read_plan().run_id != manifest["run"]["id"]:
        return [Problem(MANIFEST, None, f"was made from another run than {run.folder}")], 0
    try:
        terms = _read_terms(folder, manifest, artifacts)
    except PrimerError as error:
        return [Problem(MANIFEST, None, f"nothing could be measured again: {error}")], 0
    problems: list[Problem] = []
    rechecked = 0
    has_rulings = wanted is not None
    groups = _group_by_slice(run, _draw_sample(folder, manifest, sample, seed), problems)
    for ref, rows in groups:
        try:
            for sampled, batch in _read_again(run, ref, rows):
                problems.extend(_recheck(sampled, batch, run, ref, terms, overrides, has_rulings=has_rulings))
                rechecked += 1
        except PrimerError as error:
            problems.extend(sampled.problem(f"its source cannot be read: {error}") for sampled in rows)
    return problems, rechecked


def _read_terms(folder: Path, manifest: dict[str, Any], artifacts: ArtifactSet) -> _Terms:
    recipe = Recipe.model_validate(manifest["recipe"]["content"])
    artifacts = artifacts.restrict_to(recipe.artifacts)
    here = build_recipe(artifacts, text_field=recipe.text_field, slice_bytes=recipe.slice_bytes)
    for name in ("artifacts", "signals", "frequencies"):
        if getattr(recipe, name) != getattr(here, name):
            raise PrimerError(
                f"The run measured with {name} {getattr(recipe, name)}, here are {getattr(here, name)}.",
                hint=f"Use primer-curation {manifest['code_version']} and the artefacts of the run.",
            )
    bound = bind_profile(Profile.model_validate(manifest["profile"]["content"]), recipe)
    meters = Meters(artifacts, recipe)
    stage = bound.profile.vocabulary
    version = VocabularyVersion.model_validate(manifest["vocabulary"]["content"])
    word_scores = version.score_words(meters.vocabulary, stage.min_score) if stage is not None else {}
    if stage is not None and hash_json(word_scores) != manifest["vocabulary"]["words_sha256"]:
        raise PrimerError(f"Vocabulary {version.name} version {version.version} does not give the blocked words used.")
    first = pq.read_schema(folder / list_files(manifest)[0].path)
    source = pa.schema(list(first)[: -len(BAND_SCHEMA)])
    return _Terms(recipe, bound, word_scores, meters, SourceColumns(source, frozenset(manifest["json_columns"])))


def _draw_sample(folder: Path, manifest: dict[str, Any], sample: int, seed: int) -> list[_Sampled]:
    """`sample` rows of the curriculum, or all where there are fewer."""
    files = [file for file in list_files(manifest) if file.config == CURRICULUM]
    drawn: list[tuple[int, int, int]] = []
    for index, file in enumerate(files):
        keys = draw_row_keys(file.sha256, np.arange(file.rows, dtype=np.int64), seed, "verify")
        lowest = np.argsort(keys, kind="stable")[:sample]
        drawn = sorted([*drawn, *((int(keys[row]), index, row) for row in lowest.tolist())])[:sample]
    return [
        sampled
        for index, file in enumerate(files)
        for sampled in _read_exported(folder, file, sorted(row for _, place, row in drawn if place == index))
    ]


def _read_exported(folder: Path, file: ExportedFile, rows: list[int]) -> Iterator[_Sampled]:
    with pq.ParquetFile(folder / file.path) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            count = parquet.metadata.row_group(group).num_rows
            inside = [row for row in rows if start <= row < start + count]
            if inside:
                table = parquet.read_row_group(group, use_threads=False)
                for row in inside:
                    yield _Sampled(file.path, row, table.slice(row - start, 1))
            start += count


def _group_by_slice(
    run: RunFolder, sampled: list[_Sampled], problems: list[Problem]
) -> list[tuple[SliceRef, list[_Sampled]]]:
    """The sampled rows of every slice that has any, by row; those that lie in no slice become problems."""
    by_shard: dict[str, list[_Sampled]] = {}
    for row in sampled:
        by_shard.setdefault(row.shard, []).append(row)
    groups = []
    for ref in run.ledger.slices():
        first, end = ref.piece.first_row, ref.piece.first_row + ref.piece.row_count
        inside = [row for row in by_shard.get(ref.shard.name, []) if first <= row.shard_row < end]
        if inside:
            groups.append((ref, sorted(inside, key=lambda row: row.shard_row)))
    placed = {id(row) for _, rows in groups for row in rows}
    problems.extend(
        row.problem(f"the run has no row {row.shard_row} of {row.shard}") for row in sampled if id(row) not in placed
    )
    return groups


def _read_again(run: RunFolder, ref: SliceRef, rows: list[_Sampled]) -> Iterator[tuple[_Sampled, RowBatch]]:
    """Each sampled row with a batch of its source row alone."""
    for batch in run.read_rows(ref):
        for sampled in rows:
            place = sampled.shard_row - batch.first_row
            if 0 <= place < len(batch):
                table = batch.table.slice(place, 1) if batch.table is not None else None
                yield sampled, RowBatch(sampled.shard_row, [batch.texts[place]], [batch.errors[place]], table)


def _recheck(
    sampled: _Sampled,
    batch: RowBatch,
    run: RunFolder,
    ref: SliceRef,
    terms: _Terms,
    overrides: Overrides | None,
    *,
    has_rulings: bool,
) -> Iterator[Problem]:
    if batch.table is None or batch.errors[0] is not None:
        yield sampled.problem(f"its source row cannot be read ({batch.errors[0]})")
        return
    if overrides is None and has_rulings and sampled.row["primer_decided_by"][0].as_py() == OVERRIDE:
        ruling = Ruling(shard_sha256=ref.shard.sha256, row=sampled.shard_row, action="keep")
        overrides = Overrides((ruling,), "")
    decided = _decide_again(batch, run, ref, terms, overrides)
    decisions = decided.decisions
    if decisions.kept[0] != KEEP:
        reasons = name_reasons(int(decisions.failed[0])) or name_reasons(int(decisions.unknown[0]))
        yield sampled.problem(f"decided again it is not kept ({', '.join(reasons)})")
    is_overridden = decisions.decided_by == REASONS.index(OVERRIDE)
    bands = build_bands(decided.signals.signals, ref.shard.name, terms.bound, np.ones(1, bool), is_overridden)
    source = terms.columns.conform(batch.table, ref.shard.name)
    expected = dict(zip(terms.columns.schema.names, source, strict=True)) | dict(
        zip(BAND_SCHEMA.names, bands.columns, strict=True)
    )
    for name, array in expected.items():
        found = sampled.row[name].combine_chunks()
        if not _is_same(array, found) and not (name in PROBABILITIES and _is_near(array, found)):
            origin = "measured again" if name in BAND_SCHEMA.names else "in the source"
            yield sampled.problem(f"column {name!r} is not what is {origin}")


def _decide_again(
    batch: RowBatch, run: RunFolder, ref: SliceRef, terms: _Terms, overrides: Overrides | None
) -> DecidedSlice:
    [measured] = measure_batches(terms.meters, iter([batch]))
    words = [measured.words[i] for i in measured.ids.tolist()]
    postings = pa.table(
        [
            pa.array(words, pa.string()).dictionary_encode(),
            pa.array(measured.rows),
            pa.array(measured.counts),
            pa.array(measured.forms),
        ],
        schema=schema.POSTINGS_SCHEMA,
    )
    encoder = read_encoder(run.ledger, ref.id) if "encoder" in terms.bound.stages else None
    if encoder is not None:
        encoder = encoder.filter(pc.equal(encoder["row"], batch.first_row))
    core = pa.Table.from_batches([measured.core], schema.CORE_SCHEMA)
    [text] = batch.texts
    senses = measure_text_senses(postings, text or "", batch.first_row, read_senses_of(terms.word_scores))
    return decide_slice(ref, core, postings, encoder, terms.bound, terms.word_scores, overrides, senses=senses)


def _is_same(expected: pa.Array, found: pa.Array) -> bool:
    # By spelling where Arrow says no: it holds that NaN differs from NaN.
    return bool(expected.equals(found)) or repr(expected.to_pylist()) == repr(found.to_pylist())


def _is_near(expected: pa.Array, found: pa.Array) -> bool:
    values = expected[0].as_py(), found[0].as_py()
    return None not in values and bool(abs(values[0] - values[1]) <= _PROBABILITY_TOLERANCE)
