"""The shipped grader and vocabulary: what the cards say is true of the files, and the sample stays unseen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from curation.artifacts.artifact_set import bundled_folder, resolve_artifacts
from curation.lexicon.vocabulary import read_vocabulary_table
from curation.signals.fasttext_grade import BANDS, FastTextGrade
from curation.training.card import read_card_front, read_row_hashes
from curation.training.data import build_training_set, read_sample_guard
from curation.training.folds import fold_source
from curation.training.sources import load_rows, select_vocabulary_rows
from curation.training.vocabulary import SCHEMA

KINDS = ("fasttext", "vocabulary")
FOLDER = bundled_folder()


@pytest.mark.parametrize("kind", KINDS)
def test_the_card_describes_the_file_beside_it(kind: str) -> None:
    front = read_card_front(FOLDER / kind / "CARD.md")
    hashes = read_row_hashes(FOLDER / kind / "training" / "training_rows.txt.zst")
    scored = pq.read_table(FOLDER / kind / "training" / "out_of_fold.parquet")
    artifact = next(a for name, a in resolve_artifacts().artifacts.items() if name == kind)
    assert artifact.path == FOLDER / kind / str(front["file"])
    assert artifact.sha256 == front["sha256"]
    assert len(hashes) == front["rows"]
    assert set(scored["text_hash"].to_pylist()) == hashes


@pytest.mark.parametrize("kind", KINDS)
def test_no_training_row_is_in_the_bundled_sample(kind: str) -> None:
    guard = read_sample_guard()
    scored = pq.read_table(FOLDER / kind / "training" / "out_of_fold.parquet")
    assert guard.hashes
    assert not guard.hashes & read_row_hashes(FOLDER / kind / "training" / "training_rows.txt.zst")
    assert not guard.topics & {group.casefold() for group in scored["group"].to_pylist()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_training_rows_are_those_the_data_gives_today(kind: str, shared: Path) -> None:
    rows = load_rows(shared / "data")
    training = build_training_set(
        rows if kind == "fasttext" else select_vocabulary_rows(rows), guard=read_sample_guard()
    )
    assert set(training.hashes) == read_row_hashes(FOLDER / kind / "training" / "training_rows.txt.zst")


@pytest.mark.parametrize("kind", [*KINDS, "encoder"])
def test_no_group_was_scored_by_a_model_that_saw_it(kind: str) -> None:
    scored = pq.read_table(FOLDER / kind / "training" / "out_of_fold.parquet", columns=["source", "group", "fold"])
    folds = {(fold_source(r["source"]), r["group"], r["fold"]) for r in scored.to_pylist()}
    assert len(folds) == len({(source, group) for source, group, _ in folds})


def test_the_shipped_files_are_small() -> None:
    assert (FOLDER / "fasttext" / "model.ftz").stat().st_size < 4_000_000
    assert sum(p.stat().st_size for kind in KINDS for p in (FOLDER / kind).rglob("*") if p.is_file()) < 6_000_000


def test_the_shipped_grader_tells_a_story_from_a_paper() -> None:
    grades = FastTextGrade(FOLDER / "fasttext" / "model.ftz").predict(
        [
            "The little dog ran to the pond. He saw a frog on a green leaf. The frog jumped and the dog barked. "
            "Then they both sat in the warm sun and looked at the clouds.",
            "We derive an upper bound on the generalisation error of overparameterised estimators under heavy-tailed noise "
            "and evaluate the proposed regularisation on three benchmark cohorts.",
        ]
    )
    assert BANDS[int(grades[0].argmax())] == "K5"
    assert grades[1, 0] < 0.05


def test_the_shipped_table_has_plain_counts_and_finite_scores() -> None:
    table = pq.read_table(FOLDER / "vocabulary" / "vocabulary.parquet")
    assert table.schema == SCHEMA
    assert np.isfinite(table["score"].to_numpy()).all()
    scores = read_vocabulary_table(FOLDER / "vocabulary" / "vocabulary.parquet").scores
    assert scores["equation"] > 4 > scores["dog"]
