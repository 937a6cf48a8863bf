"""The age table: norms before the regression, its order, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.errors import ArtifactError
from curation.lexicon.ages import build_age_table, read_norms, read_zipf_frequencies


def write(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_norm_comes_before_the_regression() -> None:
    table = build_age_table({"cat": 3.0}, {"cat": 5.0, "rain": 5.0, "none": 0.0})
    assert table.words == ("cat", "rain")
    assert table.ages.tolist() == [3.0, 14.602716 - 1.504689 * 5.0]
    assert table.ages.dtype == np.float64
    assert len(table) == 2


def test_ascending_by_age_then_word() -> None:
    table = build_age_table({"dog": 3.0, "bee": 3.0, "ant": 9.0, "cat": 2.0}, {})
    assert table.words == ("cat", "bee", "dog", "ant")


def test_words_that_can_be_no_token_are_left_out() -> None:
    norms = dict.fromkeys(["a", "I", "Cat", "don't", "café", "x2", "two words", "", "ok"], 4.0)
    assert build_age_table(norms, {"b": 6.0, "é": 3.0}).words == ("ok",)


def test_no_words() -> None:
    table = build_age_table({}, {})
    assert len(table) == 0
    assert table.ages.tolist() == []


def test_every_age_is_the_oracles() -> None:
    norms, zipf = oracle.load_norms(measuring.AOA), oracle.load_zipf()
    table = measuring.load_known_words().table
    ages = dict(zip(table.words, table.ages.tolist(), strict=True))
    assert len(ages) == len(table) > 200_000
    tokens = {word for word in {*norms, *zipf} if oracle.tokens(word) == [word]}
    assert set(ages) == tokens
    assert [word for word in tokens if ages[word] != oracle.age(word, norms, zipf)] == []
    assert list(zip(table.ages, table.words, strict=True)) == sorted(zip(table.ages, table.words, strict=True))


def test_zipf_frequencies_are_rounded_as_wordfreq_does() -> None:
    assert read_zipf_frequencies() == oracle.load_zipf()


def test_float32_norms_are_widened_not_rounded(tmp_path: Path) -> None:
    path = write(tmp_path / "aoa.parquet", {"word": ["cat"], "aoa": pa.array([9.89], pa.float32())})
    assert read_norms(path) == {"cat": 9.890000343322754}


@pytest.mark.parametrize("age", [0.0, -1.0, math.nan, math.inf, None])
def test_an_age_that_is_no_positive_number_is_refused(tmp_path: Path, age: float | None) -> None:
    path = write(tmp_path / "aoa.parquet", {"word": ["cat", "dog"], "aoa": pa.array([3.0, age], pa.float64())})
    with pytest.raises(ArtifactError, match="'dog' has age") as refused:
        read_norms(path)
    assert "aoa.parquet" in str(refused.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"expected columns word and aoa, found word, age\."):
        read_norms(write(tmp_path / "other.parquet", {"word": ["cat"], "age": [3.0]}))
    with pytest.raises(ArtifactError, match="aoa is not a number for every word"):
        read_norms(write(tmp_path / "text.parquet", {"word": ["cat"], "aoa": ["three"]}))
    with pytest.raises(ArtifactError, match="None has age"):
        read_norms(write(tmp_path / "null.parquet", {"word": pa.array([None], pa.string()), "aoa": [3.0]}))
    (tmp_path / "foreign.parquet").write_bytes(b"not Parquet")
    with pytest.raises(ArtifactError, match="cannot be read as Parquet"):
        read_norms(tmp_path / "foreign.parquet")
    with pytest.raises(ArtifactError, match="cannot be read as Parquet"):
        read_norms(tmp_path / "absent.parquet")
