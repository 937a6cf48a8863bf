"""The word table: exact counts and scores on rows that can be counted by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.errors import TrainingError
from curation.lexicon.vocabulary import read_vocabulary_table
from curation.training.data import TrainingRow
from curation.training.vocabulary import (
    SCHEMA,
    VocabularySettings,
    find_tokens,
    train_vocabulary,
    write_vocabulary,
)

ROWS = [
    TrainingRow("The cat. The dog!", "K5", "a", "1", "own"),
    TrainingRow("the cell, the CELL, a cat", "K8", "a", "2", "own"),
    TrainingRow("cell H2O don't", "K12", "a", "3", "own"),
    TrainingRow("sheaf", "OOS", "b", "4", "own"),
]
PLAIN = VocabularySettings(smoothing_count=1.0, min_count=1, min_documents=1, max_weight=1.0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't U.S. café H2O 2nd snake_case km² a", ["don"]),
        ("The END", ["the", "end"]),
        ("\u0130stanbul \u212aite", ["stanbul", "kite"]),
        ("", []),
    ],
)
def test_tokens_are_whole_words_of_letters(text: str, tokens: list[str]) -> None:
    assert find_tokens(text) == tokens


def test_counts_are_exact_and_cover_every_word() -> None:
    table = train_vocabulary(ROWS, settings=PLAIN)
    assert table.schema == SCHEMA
    rows = {r["word"]: tuple(r[c] for c in SCHEMA.names[2:]) for r in table.to_pylist()}
    assert rows == {
        "cat": (1, 1, 1, 1),
        "cell": (0, 3, 0, 2),
        "dog": (1, 0, 1, 0),
        "don": (0, 1, 0, 1),
        "sheaf": (0, 1, 0, 1),
        "the": (2, 2, 1, 1),
    }
    assert table["word"].to_pylist() == sorted(rows)


def test_scores_weigh_both_sides_of_a_source_alike() -> None:
    scores = dict(zip(*(train_vocabulary(ROWS, settings=PLAIN)[c].to_pylist() for c in ("word", "score")), strict=True))
    # Source a: 4 tokens in K5, 7 beyond; both are brought to 4. Source b has one side and weighs nothing.
    assert scores["cell"] == pytest.approx(math.log2((3 * 4 / 7 + 1) / 1))
    assert scores["the"] == pytest.approx(math.log2((2 * 4 / 7 + 1) / (2 + 1)))
    assert scores["dog"] == pytest.approx(math.log2(1 / 2))
    assert scores["sheaf"] == 0.0


def test_a_rare_word_scores_nothing_but_keeps_its_counts() -> None:
    table = train_vocabulary(ROWS, settings=VocabularySettings(min_count=4, min_documents=2))
    scores = {r["word"]: r["score"] for r in table.to_pylist()}
    assert [word for word, score in scores.items() if score] == ["the"]
    assert next(r["count_beyond"] for r in table.to_pylist() if r["word"] == "don") == 1


def test_no_source_may_outweigh_its_limit() -> None:
    large = [
        TrainingRow("quark the " * 500, "K12", "big", "1", "own"),
        TrainingRow("the dog " * 500, "K5", "big", "2", "own"),
    ]
    free = train_vocabulary(ROWS + large, settings=PLAIN)
    capped = train_vocabulary(
        ROWS + large, settings=VocabularySettings(min_count=1, min_documents=1, max_tokens_per_source=10.0)
    )
    score = {
        name: dict(zip(t["word"].to_pylist(), t["score"].to_pylist(), strict=True))
        for name, t in (("free", free), ("capped", capped))
    }
    assert score["free"]["quark"] > 8
    assert score["capped"]["quark"] < 3


def test_a_written_table_is_read_by_the_signal_and_repeats(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        write_vocabulary(train_vocabulary(ROWS, settings=PLAIN), tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_vocabulary_table(tmp_path / "a.parquet").scores["cell"] == pytest.approx(math.log2(12 / 7 + 1))
    assert pq.read_schema(tmp_path / "a.parquet") == SCHEMA


def test_a_side_without_rows_is_refused() -> None:
    with pytest.raises(TrainingError, match="K5 has 0"):
        train_vocabulary(ROWS[1:])
