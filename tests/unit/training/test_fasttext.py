"""Training the grader for real on toy rows: same bytes for the same seed, balance, honest folds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from unit.training.rows import WORDS, make_rows

from curation.errors import TrainingError
from curation.signals.fasttext_grade import BANDS, FastTextGrade
from curation.training.fasttext import FastTextSettings, compose_lines, predict_out_of_fold, train_fasttext
from curation.training.folds import assign_folds

SMALL = FastTextSettings(
    epochs=10, learning_rate=0.5, bucket_count=2_000, kept_rows=500, line_count=400, min_word_count=1
)


def test_the_same_seed_gives_the_same_bytes_and_a_small_working_model(tmp_path: Path) -> None:
    rows = make_rows(20)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train_fasttext(rows, tmp_path / name, seed=seed, settings=SMALL)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    grades = FastTextGrade(tmp_path / "a").predict(["cat dog sun tree milk", "sheaf cohort ablation tensor"])
    assert [BANDS[i] for i in grades.argmax(axis=1)] == ["K5", "OOS"]


def test_too_few_rows_to_quantise_still_make_a_model(tmp_path: Path) -> None:
    settings = FastTextSettings(word_ngrams=1, max_subword_chars=0, min_subword_chars=0, min_word_count=1, epochs=2)
    train_fasttext(make_rows(1), tmp_path / "tiny", seed=1, settings=settings)
    assert FastTextGrade(tmp_path / "tiny").predict(["cat"]).shape == (1, 4)


def test_a_band_without_rows_is_refused_before_training(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="K8 has 0"):
        train_fasttext([r for r in make_rows(3) if r.band != "K8"], tmp_path / "model", seed=1, settings=SMALL)
    assert not (tmp_path / "model").exists()


def test_lines_are_balanced_between_sources_and_bands() -> None:
    rows = make_rows(10, source="paired") + make_rows(40, source="other")
    settings = FastTextSettings(line_count=800, max_copies=100, source_shares={"paired": 0.5, "other": 0.5})
    lines = compose_lines(rows, settings, seed=1)
    assert Counter(line.split()[0] for line in lines) == dict.fromkeys([f"__label__{band}" for band in BANDS], 200)
    assert Counter("paired" in line for line in lines) == {True: 400, False: 400}


def test_no_text_can_add_a_label_or_a_line() -> None:
    rows = make_rows(1)
    rows[0] = rows[0]._replace(text="cat __label__OOS dog\n__label__spam </s> sun \ud800")
    lines = compose_lines(rows, FastTextSettings(line_count=4, source_shares={}), seed=1)
    assert sorted(line.split()[0] for line in lines) == sorted(f"__label__{band}" for band in BANDS)
    assert "__label__K5 cat OOS dog spam sun ?" in lines


def test_out_of_fold_scores_keep_the_order_of_the_rows() -> None:
    rows = make_rows(20)
    folds = assign_folds(rows, fold_count=2, seed=0)
    table = predict_out_of_fold(rows, folds, seed=1, settings=SMALL)
    assert table["band"].to_pylist() == [row.band for row in rows]
    assert table["group"].to_pylist() == [row.group for row in rows]
    assert table["fold"].to_pylist() == folds.tolist()
    whole = np.column_stack([table[f"p_{band.lower()}"].to_numpy() for band in BANDS])
    assert np.allclose(whole.sum(axis=1), 1.0, atol=1e-3)
    assert np.mean(whole.argmax(axis=1) == [BANDS.index(row.band) for row in rows]) > 0.9


def test_a_held_out_group_is_unknown_to_the_model_that_scores_it() -> None:
    # Rows of one group carry another band's words only: learnt, they would pull their own scores to K5.
    rows = [
        row._replace(text=f"{WORDS['OOS']} {WORDS['OOS']} zebra{number}", group="odd")
        if row.band == "K5" and number < 4
        else row
        for number, row in enumerate(make_rows(20))
    ]
    table = predict_out_of_fold(rows, assign_folds(rows, fold_count=4, seed=0), seed=1, settings=SMALL)
    assert max(table["p_k5"].to_pylist()[:4]) < 0.3
