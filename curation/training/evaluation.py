"""Decides labelled rows by a profile's whole cascade, out of fold: what a shipped filter does to documents its models never saw.

Rule signals are measured as a run measures them; a grader's reading is the stored prediction of the fold that held the
row out. Invariant: no row is decided with a reading of a model that was trained on it. Numbers are in `evaluation_report`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curation.artifacts.artifact_set import ArtifactSet
from curation.cascade import Meters, measure_batches, sort_postings
from curation.decide import Decisions, Signals, VocabularyHits, decide
from curation.errors import TrainingError
from curation.ledger import schema
from curation.ledger.signals import read_signals
from curation.ledger.store import SliceRef
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import BoundProfile, Profile, bind_profile
from curation.recipe import Recipe, build_recipe
from curation.shards.manifest import ShardManifest, Slice
from curation.shards.rows import RowBatch
from curation.signals.fasttext_grade import BANDS
from curation.stages import STAGES
from curation.training.data import TrainingRow, hash_text
from curation.training.held_out import (
    MODEL_COLUMNS,
    ModelKind,
    TrainingRecord,
    has_stored_encoder,
    read_held_out,
    read_training_record,
    require_stored_readings,
)
from curation.training.sources import GRADED, LABELLED_WEB, PAIRED, PAIRED_WEB, WRITTEN, WRITTEN_WEB, load_rows
from curation.training.vocabulary_scores import SCORE_LEVELS

Flags = npt.NDArray[np.bool_]

# Relative to the data folder.
_TOPIC_FILES: Final = {
    PAIRED: "paired/paired.parquet",
    PAIRED_WEB: "paired/paired_web.parquet",
    LABELLED_WEB: "labelled/web.parquet",
    GRADED: "graded/graded.parquet",
}
_BATCH_ROWS: Final = 256


class LabelledRow(NamedTuple):
    """A labelled document. `subject` and `genre` are empty where the data does not say."""

    row: TrainingRow
    text_hash: str
    subject: str
    genre: str


@dataclass
class RowCounts:
    """What became of a source's rows. `trained`: an artefact has seen them and no held-out reading is kept; `unseen`: a grader
    never saw them and they were not asked for; `live`: those of the evaluated ones that the shipped graders scored."""

    loaded: int = 0
    duplicate: int = 0
    trained: int = 0
    unseen: int = 0
    evaluated: int = 0
    live: int = 0


@dataclass(frozen=True)
class Evaluation:
    """Labelled rows with their signals and decisions, aligned. `is_live[kind]`: the shipped artefact, which never saw the row,
    read it. `counts` by source; `notes`: what a reader of the numbers must know."""

    bound: BoundProfile
    rows: tuple[LabelledRow, ...]
    signals: Signals
    decisions: Decisions
    is_live: Mapping[ModelKind, Flags]
    counts: Mapping[str, RowCounts]
    notes: tuple[str, ...]
    live_count: int
    seed: int


def evaluate_profile(
    data: Path, profile: Profile, artifacts: ArtifactSet, *, live_count: int = 0, seed: int = 1
) -> Evaluation:
    """Decide every labelled row of `data` for which each grader has a held-out reading, and of each source at most
    `live_count` rows that a grader never saw, drawn with `seed`.

    Raises TrainingError where the profile reads what is not kept out of fold, or an artefact does not say what it was
    trained on; ProfileError where the profile binds other models.
    """
    # A stage without its artefact is left out and named, whether or not the profile calls it optional.
    recipe = build_recipe(artifacts)
    bound = bind_profile(profile.model_copy(update={"optional": STAGES}), recipe)
    notes = [f"Stage {stage} is left out: there is no artefact for it." for stage in bound.left_out]
    if "encoder" in bound.stages and "encoder" in profile.optional and not has_stored_encoder(bound):
        bound = dataclasses.replace(bound, left_out=(*bound.left_out, "encoder"))
        notes.append(
            "Stage encoder is left out: only its hardest window is kept out of fold, not its published reading."
        )
    require_stored_readings(bound)
    kinds = [kind for kind in MODEL_COLUMNS if kind in bound.stages]
    records = {kind: read_training_record(kind, artifacts.require(kind)) for kind in kinds}
    rows, is_sampled, counts = _choose_rows(_label_rows(data), records, live_count, seed)
    if not rows:
        raise TrainingError(
            f"No row of {data} has a held-out reading of {' and '.join(kinds) or 'anything'}.",
            hint="Evaluate on the data that the artefacts were trained on, or score unseen rows with --live.",
        )
    is_live = {kind: np.array([row.text_hash not in record.places for row in rows]) for kind, record in records.items()}
    signals = _measure_rules([row.row.text for row in rows], artifacts, recipe, bound)
    signals = _add_held_out(signals, rows, records, is_live, bound, artifacts, recipe)
    notes += _describe_limits(bound, is_live, bool(is_sampled.any()))
    return Evaluation(bound, rows, signals, decide(signals, bound), is_live, counts, tuple(notes), live_count, seed)


def _label_rows(data: Path) -> list[LabelledRow]:
    rows = load_rows(data)
    topics = _read_topics(data) if data.is_dir() else {}
    nothing = ("", "")
    return [LabelledRow(row, hash_text(row.text), *topics.get((row.source, row.text), nothing)) for row in rows]


def _read_topics(data: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Subject and genre of (source, text), empty where a file has no such column."""
    topics = {}
    files = {source: data / name for source, name in _TOPIC_FILES.items()} | {WRITTEN_WEB: WRITTEN}
    for source, path in files.items():
        if not path.is_file():
            continue
        found = [column for column in ("subject", "genre") if column in pq.read_schema(path).names]
        for record in pq.read_table(path, columns=["text", *found]).to_pylist():
            topics[source, record["text"]] = (record.get("subject") or "", record.get("genre") or "")
    return topics


def _choose_rows(
    labelled: Iterable[LabelledRow], records: Mapping[ModelKind, TrainingRecord], live_count: int, seed: int
) -> tuple[tuple[LabelledRow, ...], Flags, dict[str, RowCounts]]:
    """One row a hash, under the highest band of its copies, in the order loaded; which of them were drawn as unseen."""
    counts: dict[str, RowCounts] = defaultdict(RowCounts)
    distinct: dict[str, LabelledRow] = {}
    for row in labelled:
        count = counts[row.row.source]
        count.loaded += 1
        if (twin := distinct.get(row.text_hash)) is None:
            distinct[row.text_hash] = row
        else:
            count.duplicate += 1
            band = max(twin.row.band, row.row.band, key=BANDS.index)
            distinct[row.text_hash] = twin._replace(row=twin.row._replace(band=band))
    # A table of words is looked up in at no cost, so a row that it never saw needs no asking.
    graders = [record for kind, record in records.items() if kind != "vocabulary"]
    unseen: dict[str, list[str]] = defaultdict(list)
    chosen = []
    for text_hash, row in distinct.items():
        if any(text_hash in record.trained and text_hash not in record.places for record in records.values()):
            counts[row.row.source].trained += 1
            continue
        if any(text_hash not in record.places for record in graders):
            unseen[row.row.source].append(text_hash)
        chosen.append(row)
    drawn: set[str] = set()
    for source, hashes in unseen.items():
        order = sorted(hashes, key=lambda text_hash: hashlib.sha256(f"{seed}/{text_hash}".encode()).digest())
        drawn.update(order[:live_count])
        counts[source].unseen = len(order[live_count:])
        counts[source].live = len(order[:live_count])
    left_out = {text_hash for hashes in unseen.values() for text_hash in hashes} - drawn
    rows = tuple(row for row in chosen if row.text_hash not in left_out)
    for source, evaluated in Counter(row.row.source for row in rows).items():
        counts[source].evaluated = evaluated
    return rows, np.array([row.text_hash in drawn for row in rows], bool), dict(sorted(counts.items()))


def _measure_rules(texts: Sequence[str], artifacts: ArtifactSet, recipe: Recipe, bound: BoundProfile) -> Signals:
    """Every signal but the graders', as a run would measure them; the vocabulary's by the shipped table."""
    meters = Meters(artifacts.restrict_to(("aoa", "vocabulary")), recipe)
    batches = (
        RowBatch(
            first, list(texts[first : first + _BATCH_ROWS]), [None] * len(texts[first : first + _BATCH_ROWS]), None
        )
        for first in range(0, len(texts), _BATCH_ROWS)
    )
    measured = list(measure_batches(meters, batches))
    core = pa.Table.from_batches([batch.core for batch in measured], schema.CORE_SCHEMA)
    stage = bound.profile.vocabulary
    scores = PLAIN_VOCABULARY.score_words(meters.vocabulary, stage.min_score) if stage is not None else {}
    return read_signals(_name_slice(texts), core, sort_postings(measured), None, bound, scores).signals


def _name_slice(texts: Sequence[str]) -> SliceRef:
    sha256 = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    piece = Slice(index=0, first_row=0, row_count=len(texts), file="", row_groups=(0,))
    facts: dict[str, Any] = {"index": 0, "name": "labelled rows", "staging": "", "size_bytes": 0, "blank_line_count": 0}
    manifest = ShardManifest(sha256=sha256, row_count=len(texts), slices=(piece,), error=None, **facts)
    return SliceRef(manifest, piece)


def _add_held_out(
    signals: Signals,
    rows: Sequence[LabelledRow],
    records: Mapping[ModelKind, TrainingRecord],
    is_live: Mapping[ModelKind, Flags],
    bound: BoundProfile,
    artifacts: ArtifactSet,
    recipe: Recipe,
) -> Signals:
    """The signals with each model's held-out reading in place; live rows are read by the shipped artefact."""
    documents, hashes = [row.row for row in rows], [row.text_hash for row in rows]
    readings = {
        kind: read_held_out(kind, artifacts.require(kind), record, documents, hashes, recipe)
        for kind, record in records.items()
    }
    changes: dict[str, Any] = {}
    if (stage := bound.profile.vocabulary) is not None and "vocabulary" in readings:
        held_out = readings["vocabulary"][:, SCORE_LEVELS.index(int(stage.min_score))]
        terms = np.where(is_live["vocabulary"], signals.vocabulary.term_counts, np.nan_to_num(held_out))
        changes["vocabulary"] = VocabularyHits(terms.astype(np.int64), np.where(terms > 0, stage.min_score, -np.inf))
    if (grades := readings.get("fasttext")) is not None:
        document = grades[:, : len(BANDS)]
        window = np.full_like(document, np.nan)
        window[:, 0] = grades[:, len(BANDS)]
        changes["grades"] = {"published": document, "document": document, "window": window}
    if (grades := readings.get("encoder")) is not None:
        changes |= {"encoder": grades, "is_encoded": np.ones(len(rows), bool)}
    return dataclasses.replace(signals, **changes)


def _describe_limits(bound: BoundProfile, is_live: Mapping[ModelKind, Flags], has_sample: bool) -> list[str]:
    profile = bound.profile
    notes = []
    if "vocabulary" in is_live:
        if count := int(is_live["vocabulary"].sum()):
            notes.append(
                f"Words of {count:,} rows that the vocabulary never saw are looked up in the shipped table, which may have "
                "seen others of their host."
            )
        if profile.form == "raw":
            notes.append("Words are counted out of fold in normalised text; the profile reads raw text.")
    if profile.fasttext is not None and "fasttext" in is_live and profile.fasttext.top_band == "published":
        notes.append("fastText's reading of the whole normalised document stands for its published reading.")
    if has_sample:
        notes.append(
            "Live rows were never trained on, but the graders may have seen others of their family, topic or host."
        )
    return notes
