"""Vocabulary tables and versions: what is read, what is refused, and which words a version blocks."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from curation.errors import ArtifactError, ProfileError
from curation.lexicon.vocabulary import (
    PLAIN_VOCABULARY,
    VocabularyTable,
    VocabularyVersion,
    read_vocabulary_table,
    read_vocabulary_version,
)

TABLE = VocabularyTable({"cat": -2.0, "jury": 3.999, "mitosis": 4.0, "sheaf": math.inf}, "")


def write(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("column", ["score", "log_odds", "log2_odds"])
def test_a_table_by_any_name_of_its_score(tmp_path: Path, column: str) -> None:
    path = write(tmp_path / "v.parquet", {"word": ["cat", "sheaf"], column: pa.array([0.1, math.inf], pa.float32())})
    table = read_vocabulary_table(path)
    assert table.scores == {"cat": 0.10000000149011612, "sheaf": math.inf}
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_empty_table_blocks_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "v.parquet", {"word": pa.array([], pa.string()), "score": pa.array([], pa.float64())})
    assert read_vocabulary_table(path).scores == {}


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="expected columns word and score, found word, rate"):
        read_vocabulary_table(write(tmp_path / "a.parquet", {"word": ["cat"], "rate": [1.0]}))
    with pytest.raises(ArtifactError, match="score is not a number for every word"):
        read_vocabulary_table(write(tmp_path / "b.parquet", {"word": ["cat"], "score": ["high"]}))
    for score in (None, math.nan):
        with pytest.raises(ArtifactError, match="a word without a score"):
            read_vocabulary_table(
                write(tmp_path / "c.parquet", {"word": ["cat"], "score": pa.array([score], pa.float64())})
            )
    with pytest.raises(ArtifactError, match="a word without a score"):
        read_vocabulary_table(write(tmp_path / "d.parquet", {"word": pa.array([None], pa.string()), "score": [1.0]}))
    with pytest.raises(ArtifactError, match="cannot be read as Parquet"):
        read_vocabulary_table(tmp_path / "absent.parquet")


def test_the_threshold_is_inclusive() -> None:
    assert PLAIN_VOCABULARY.score_words(TABLE, 4.0) == {"mitosis": 4.0, "sheaf": math.inf}
    assert PLAIN_VOCABULARY.score_words(TABLE, math.nextafter(4.0, 5)) == {"sheaf": math.inf}
    assert PLAIN_VOCABULARY.score_words(TABLE, 3.0) == {"jury": 3.999, "mitosis": 4.0, "sheaf": math.inf}


def test_curators_allow_and_block() -> None:
    version = VocabularyVersion(name="ours", version=2, allow=("sheaf", "absent"), block=("cat", "zzyzx"))
    assert version.score_words(TABLE, 4.0) == {"mitosis": 4.0, "cat": math.inf, "zzyzx": math.inf}
    assert TABLE.scores["cat"] == -2.0


def test_order_and_repetition_change_nothing() -> None:
    version = VocabularyVersion(name="ours", version=1, block=("dog", "cat", "dog"))
    assert version.block == ("cat", "dog")
    assert version.sha256 == VocabularyVersion(name="ours", version=1, block=("cat", "dog")).sha256
    assert version.sha256 != VocabularyVersion(name="ours", version=1, allow=("cat", "dog")).sha256


@pytest.mark.parametrize("word", ["", "a", "Cat", "café", "don't", "two words", "x2"])
def test_a_word_that_can_be_no_token_is_refused(word: str) -> None:
    for field in ("allow", "block"):
        with pytest.raises(ValidationError, match="not tokens"):
            VocabularyVersion.model_validate({"name": "ours", "version": 1, field: [word]})


def test_a_version_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text("name: ours\nversion: 3\nallow: [cat]\nblock: [mitosis, jury]\n")
    assert read_vocabulary_version(path) == VocabularyVersion(
        name="ours", version=3, allow=("cat",), block=("jury", "mitosis")
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name: ours\n", "version: Field required"),
        ("name: ours\nversion: 1\nallow: [no]\n", r"allow\.0: Input should be a valid string"),
        ("name: ours\nversion: 1\nallow: [cat]\nblock: [cat]\n", "the vocabulary: .*allowed and blocked at once: cat"),
        ("name: ours\nversion: 1\nwords: [cat]\n", "words: Extra inputs are not permitted"),
        ("", "the vocabulary: Input should be"),
        ("a: [", "cannot be read as YAML"),
    ],
)
def test_a_faulty_version_says_what_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(content)
    with pytest.raises(ProfileError, match=message) as refused:
        read_vocabulary_version(path)
    assert "ours.yaml" in str(refused.value)


def test_a_version_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("ours.yaml", "absent.yaml"):
        with pytest.raises(ProfileError, match="cannot be read as YAML"):
            read_vocabulary_version(tmp_path / name)
