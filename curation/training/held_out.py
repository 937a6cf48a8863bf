"""What the models of a profile said of rows that they had not seen: the predictions kept beside each artefact.

Reads the training folder of an artefact and, for rows that it never saw, the artefact itself. Invariant: a row that an
artefact was trained on is never read by that artefact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curation.artifacts.artifact_set import Artifact
from curation.errors import TrainingError
from curation.normalize import normalize
from curation.profile import BoundProfile
from curation.recipe import Recipe
from curation.signals.encoder_grade import EncoderGrade
from curation.signals.fasttext_grade import BANDS, FastTextGrade
from curation.training.card import OUT_OF_FOLD_NAME, ROWS_NAME, TRAINING_FOLDER, read_row_hashes
from curation.training.data import TrainingRow
from curation.training.fasttext import grade_rows
from curation.training.vocabulary_scores import SCORE_LEVELS

ModelKind = Literal["vocabulary", "fasttext", "encoder"]

_GRADE_COLUMNS: Final = tuple(f"p_{band.lower()}" for band in BANDS)
MODEL_COLUMNS: Final[dict[ModelKind, tuple[str, ...]]] = {
    "vocabulary": tuple(f"distinct_{level}" for level in SCORE_LEVELS),
    "fasttext": (*_GRADE_COLUMNS, "hardest_p_k5"),
    "encoder": _GRADE_COLUMNS,
}
Readings = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TrainingRecord:
    """What an artefact was trained on, by hash, and what models without the row said of it: `predictions` float32
    (n, columns of its kind), of the row in `places`."""

    trained: frozenset[str]
    places: Mapping[str, int]
    predictions: Readings


def read_training_record(kind: ModelKind, artifact: Artifact) -> TrainingRecord:
    """What lies in training/ beside an artefact; without held-out readings it has none.

    Raises TrainingError where the hashes of the trained rows are missing or a column is.
    """
    folder = (artifact.path if artifact.path.is_dir() else artifact.path.parent) / TRAINING_FOLDER
    if not (folder / ROWS_NAME).is_file():
        raise TrainingError(
            f"{folder} has no {ROWS_NAME}: it cannot be told which rows the {kind} artefact has seen.",
            hint="Evaluate an artefact that `primer train` made.",
        )
    trained = read_row_hashes(folder / ROWS_NAME)
    path, columns = folder / OUT_OF_FOLD_NAME, MODEL_COLUMNS[kind]
    if not path.is_file():
        return TrainingRecord(trained, {}, np.empty((0, len(columns)), np.float32))
    table = pq.read_table(path)
    if missing := {"text_hash", *columns} - set(table.column_names):
        raise TrainingError(f"{path} lacks {', '.join(sorted(missing))}.", hint=f"Train the {kind} artefact anew.")
    places = {text_hash: place for place, text_hash in enumerate(table["text_hash"].to_pylist())}
    if len(places) != table.num_rows:
        raise TrainingError(f"{path} has two rows of one text_hash.", hint=f"Train the {kind} artefact anew.")
    return TrainingRecord(trained, places, _stack_columns(table, columns))


def has_stored_encoder(bound: BoundProfile) -> bool:
    """Whether the encoder's reading that the profile decides by is one that training keeps."""
    return bound.profile.encoder is None or bound.profile.encoder.reads == "window"


def require_stored_readings(bound: BoundProfile) -> None:
    """Raises TrainingError where a stage reads what training does not keep; says what to ask for instead."""
    profile = bound.profile
    if profile.vocabulary is not None and "vocabulary" in bound.stages:
        stage = profile.vocabulary
        if stage.min_score not in SCORE_LEVELS or stage.sampling is not None:
            levels = ", ".join(map(str, SCORE_LEVELS))
            raise TrainingError(
                f"Profile {profile.name}: out of fold, words are counted from the scores {levels} on, without sampling.",
                hint=f"Set vocabulary.min_score to one of {levels} and its mode to block.",
            )
    if profile.fasttext is not None and "fasttext" in bound.stages and profile.fasttext.top_band == "window":
        raise TrainingError(
            f"Profile {profile.name}: of the hardest window only fastText's P(K5) is kept out of fold, not its likeliest band.",
            hint="Ask for fasttext.min_k5_window, or for the likeliest band of the document.",
        )
    if "encoder" in bound.stages and not has_stored_encoder(bound):
        raise TrainingError(
            f"Profile {profile.name}: out of fold, the encoder's hardest window is kept, not its published reading.",
            hint="Ask for encoder.min_k5_window, or for the likeliest band of the window.",
        )


def read_held_out(
    kind: ModelKind,
    artifact: Artifact,
    record: TrainingRecord,
    rows: Sequence[TrainingRow],
    hashes: Sequence[str],
    recipe: Recipe,
) -> Readings:
    """float32 (n, columns of the kind): the kept prediction of each row, or what the shipped grader says of one that has none.

    `hashes`: the rows' text hashes. NaN where the grader could read nothing, and for words of rows that the vocabulary never
    saw: those are counted with the rule signals. Raises ValueError for a trained row without a prediction.
    """
    if any(text_hash in record.trained and text_hash not in record.places for text_hash in hashes):
        raise ValueError(f"a row without a held-out reading was trained on by the {kind} artefact")
    places = np.array([record.places.get(text_hash, -1) for text_hash in hashes], np.int64)
    values = np.full((len(rows), len(MODEL_COLUMNS[kind])), np.nan, np.float32)
    values[places >= 0] = record.predictions[places[places >= 0]]
    unseen = np.flatnonzero(places < 0)
    if len(unseen) and kind != "vocabulary":
        values[unseen] = _grade_unseen(kind, artifact, [rows[place] for place in unseen.tolist()], recipe)
    return values


def _grade_unseen(kind: ModelKind, artifact: Artifact, rows: Sequence[TrainingRow], recipe: Recipe) -> Readings:
    if kind == "fasttext":
        table = grade_rows(FastTextGrade(artifact.path), rows, seed=recipe.window_seed)
        return _stack_columns(table, MODEL_COLUMNS[kind])
    texts = [normalize(row.text).text for row in rows]
    model = EncoderGrade(artifact.path)
    return model.grade_windows(texts, max_windows=recipe.max_windows, seed=recipe.window_seed).grades


def _stack_columns(table: pa.Table, columns: Sequence[str]) -> Readings:
    return np.column_stack([table[name].to_numpy().astype(np.float32) for name in columns])
