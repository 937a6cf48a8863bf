"""Vocabulary tables and versions: which words a version blocks over a table, with which score, and what is refused."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.errors import ArtifactError, ProfileError
from curation.lexicon.vocabulary import (
    PLAIN_VOCABULARY,
    VocabularyTable,
    VocabularyVersion,
    read_vocabulary_table,
    read_vocabulary_version,
)

TABLE = VocabularyTable({"atom": 5.0, "cell": 4.0, "river": 3.999, "isotope": math.inf, "the": -2.0}, "0" * 64)


def test_the_plain_vocabulary_blocks_what_scores_enough() -> None:
    assert PLAIN_VOCABULARY.score_words(TABLE, 4.0) == {"atom": 5.0, "cell": 4.0, "isotope": math.inf}
    assert PLAIN_VOCABULARY.score_words(TABLE, 4.001) == {"atom": 5.0, "isotope": math.inf}


def test_allowed_words_are_not_blocked_and_blocked_ones_always_are() -> None:
    version = VocabularyVersion(name="v", version=1, allow=("isotope", "nowhere"), block=("river", "treaty"))
    assert version.score_words(TABLE, 4.0) == {"atom": 5.0, "cell": 4.0, "river": math.inf, "treaty": math.inf}
    assert TABLE.scores["river"] == 3.999


def test_a_block_holds_at_any_threshold() -> None:
    version = VocabularyVersion(name="v", version=1, block=("the", "treaty"))
    for min_score in (-10.0, 4.0, 1e9):
        scores = version.score_words(TABLE, min_score)
        assert (scores["the"], scores["treaty"]) == (math.inf, math.inf)


def test_a_version_is_known_by_its_words_and_not_their_order() -> None:
    one = VocabularyVersion(name="v", version=1, allow=("atom", "cell", "atom"), block=("the",))
    two = VocabularyVersion(name="v", version=1, allow=("cell", "atom"), block=("the",))
    assert one.allow == ("atom", "cell")
    assert one.sha256 == two.sha256
    others = [one.model_copy(update=change) for change in ({"version": 2}, {"name": "w"}, {"allow": ()})]
    assert len({version.sha256 for version in (one, *others)}) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "name: v\nversion: 1\nallow: [Atom]\n",
            "allow: Value error, not tokens (two or more lower-case letters a-z): Atom.",
        ),
        (
            "name: v\nversion: 1\nblock: [a, don't, café, x2, ab]\n",
            "block: Value error, not tokens (two or more lower-case letters a-z): a, don't, café, x2.",
        ),
        ("name: v\nversion: 1\nallow: [no]\n", "allow.0: Input should be a valid string."),  # YAML reads `no` as false
        (
            "name: v\nversion: 1\nallow: [ab]\nblock: [ab]\n",
            "the vocabulary: Value error, allowed and blocked at once: ab.",
        ),
        ("name: ''\nversion: 1\n", "name: String should have at least 1 character."),
        ("name: v\nversion: 0\n", "version: Input should be greater than or equal to 1."),
        ("name: v\nversion: 1\nwords: [ab]\n", "words: Extra inputs are not permitted."),
        ("name: v\nversion: 2024-13-45\n", "cannot be read as YAML (month must be in 1..12)."),
    ],
)
def test_a_mistake_in_a_version_is_named(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        read_vocabulary_version(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_version_is_read_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text("name: ours\nversion: 3\nallow: [river, atom]\n# café\nblock: [treaty]\n", encoding="utf-8")
    assert read_vocabulary_version(path) == VocabularyVersion(
        name="ours", version=3, allow=("atom", "river"), block=("treaty",)
    )


@pytest.mark.parametrize("name", ["score", "log_odds", "log2_odds"])
def test_a_table_is_known_by_its_bytes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.parquet"
    pq.write_table(pa.table({"word": ["atom", "isotope"], name: pa.array([5, math.inf], pa.float32())}), path)
    table = read_vocabulary_table(path)
    assert table.scores == {"atom": 5.0, "isotope": math.inf}
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"word": ["ab"], "rate": [1.0]}, "expected columns word and score, found word, rate."),
        ({"token": ["ab"], "score": [1.0]}, "expected columns word and score, found token, score."),
        ({"word": ["ab"], "score": [math.nan]}, "a word without a score. Every row needs a word and a number"),
        ({"word": ["ab", "cd"], "score": [1.0, None]}, "a word without a score."),
        ({"word": ["ab", None], "score": [1.0, 2.0]}, "a word without a score."),
        ({"word": ["ab"], "score": ["high"]}, "score is not a number for every word ("),
    ],
)
def test_a_table_that_is_none_is_refused(columns: dict[str, list[Any]], message: str, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(ArtifactError) as caught:
        read_vocabulary_table(path)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("content", [b"", b"word,score\nab,1\n", b"PAR1PAR1"])
def test_what_is_no_parquet_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.parquet"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="cannot be read as Parquet"):
        read_vocabulary_table(path)
