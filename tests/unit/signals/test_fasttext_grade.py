"""The fastText signal on a tiny real model: label mapping, every trap of the input, windows."""

from __future__ import annotations

from pathlib import Path

import fasttext
import numpy as np
import pytest

from curation.errors import ArtifactError
from curation.signals.fasttext_grade import BANDS, FastTextGrade, measure_windows
from curation.signals.windows import Window, split_windows

WORDS = {
    "K5": "cat dog sun tree milk ball",
    "K8": "ratio cell density molecule percent region",
    "K12": "ideology derivative inflation mitosis congress metaphor",
    "OOS": "lagrangian eigenvalue sheaf cohort ablation manifold",
}


def train(folder: Path, labels: tuple[str, ...], prefix: str = "__label__") -> Path:
    lines = [f"{prefix}{label} {text}" for label, text in zip(labels, WORDS.values(), strict=False)] * 60
    (folder / "lines.txt").write_text("\n".join(lines) + "\n")
    model = fasttext.train_supervised(
        str(folder / "lines.txt"), epoch=30, lr=0.5, dim=8, thread=1, seed=1, minCount=1, verbose=0, label=prefix
    )
    path = folder / ("model_" + "".join(labels) + ".bin")
    model.save_model(str(path))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> FastTextGrade:
    return FastTextGrade(train(tmp_path_factory.mktemp("grade"), BANDS))


def top(model: FastTextGrade, text: str, *, published: bool = False) -> str:
    return BANDS[int(np.argmax(model.predict([text], published=published)[0]))]


def test_rows_are_probabilities_in_the_order_of_the_bands(model: FastTextGrade) -> None:
    grades = model.predict(list(WORDS.values()))
    assert grades.shape == (4, 4)
    assert grades.dtype == np.float32
    assert grades.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert np.allclose(grades.sum(axis=1), 1.0, atol=1e-3)
    assert grades.min() >= 0.0
    assert grades.max() <= 1.0


def test_no_texts_give_no_rows(model: FastTextGrade) -> None:
    assert model.predict([]).shape == (0, 4)


@pytest.mark.parametrize(
    "separator", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\0"]
)
def test_every_line_break_is_a_space(model: FastTextGrade, separator: str) -> None:
    broken = f"cat dog{separator}lagrangian eigenvalue sheaf"
    assert np.array_equal(model.predict([broken]), model.predict(["cat dog lagrangian eigenvalue sheaf"]))


@pytest.mark.parametrize("hider", [" </s> ", "\n</s>\n", " </s>", "\0</s>\0"])
def test_an_end_of_line_mark_hides_nothing_unless_published(model: FastTextGrade, hider: str) -> None:
    text = f"cat dog{hider} lagrangian eigenvalue sheaf cohort ablation manifold"
    shown = model.predict(["cat dog lagrangian eigenvalue sheaf cohort ablation manifold"])
    assert np.array_equal(model.predict([text]), shown)
    assert top(model, text) == "OOS"
    assert np.array_equal(
        model.predict([f"cat dog </s> {WORDS['OOS']}"], published=True), model.predict(["cat dog"], published=True)
    )


def test_a_label_written_in_the_text_changes_nothing(model: FastTextGrade) -> None:
    assert np.array_equal(model.predict(["ratio __label__K5 cell"]), model.predict(["ratio cell"]))


def test_a_lone_surrogate_spoils_its_own_row_only(model: FastTextGrade) -> None:
    for published in (False, True):
        grades, reasons = model.predict_with_reasons(["cat dog", "cat \ud800 dog", "sheaf"], published=published)
        assert reasons == {1: "lone_surrogate"}
        assert np.isnan(grades[1]).all()
        assert np.array_equal(grades[[0, 2]], model.predict(["cat dog", "sheaf"]))


def test_blank_text_is_not_measured_unless_published(model: FastTextGrade) -> None:
    blank = ["", "  \n ", "</s>", "\0"]
    grades, reasons = model.predict_with_reasons(blank)
    assert np.isnan(grades).all()
    assert reasons == dict.fromkeys(range(4), "blank")
    published, published_reasons = model.predict_with_reasons(blank, published=True)
    assert published_reasons == {}
    assert np.allclose(published.sum(axis=1), 1.0, atol=1e-3)


@pytest.mark.parametrize("labels", [("k5", "k8", "k12", "oos"), ("0", "1", "2", "3")])
def test_labels_in_any_case_and_as_numbers(tmp_path: Path, labels: tuple[str, ...]) -> None:
    grades = FastTextGrade(train(tmp_path, labels)).predict(list(WORDS.values()))
    assert grades.argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "labels", [("K5", "K8", "K12"), ("K5", "K8", "K12", "spam"), ("1", "2", "3", "4"), ("K5", "k5", "K12", "OOS")]
)
def test_other_labels_are_refused_by_name(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(ArtifactError, match="not the four grade bands") as refused:
        FastTextGrade(train(tmp_path, labels))
    assert all(f"__label__{label}" in str(refused.value) for label in labels)


def test_a_missing_or_foreign_file_is_an_artifact_error(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no fastText model at"):
        FastTextGrade(tmp_path / "absent.ftz")
    foreign = tmp_path / "foreign.ftz"
    foreign.write_bytes(b"PAR1" * 100)
    with pytest.raises(ArtifactError, match=r"foreign\.ftz"):
        FastTextGrade(foreign)


def test_the_hardest_window_and_its_offsets(model: FastTextGrade) -> None:
    easy, hard = "cat dog sun tree", "sheaf cohort ablation manifold"
    texts = [f"{easy} {hard} {easy}", " cat dog\n", "", "cat \ud800 dog ball sun tree milk"]
    splits = [split_windows(text, words_per_window=4, seed=0).windows for text in texts]
    result = measure_windows(model, texts, splits)
    assert np.array_equal(result.whole, model.predict(texts), equal_nan=True)
    assert np.array_equal(result.hardest[0], model.predict([hard])[0])
    assert np.array_equal(result.hardest[1], result.whole[1])
    assert np.isnan(result.hardest[2:]).all()
    assert result.start.tolist() == [17, 1, -1, -1]
    assert result.end.tolist() == [47, 8, -1, -1]
    assert texts[0][17:47] == hard
    assert result.reasons == {2: "blank", 3: "lone_surrogate"}


def test_of_equally_hard_windows_the_first_is_named_and_unmeasurable_ones_are_passed_over(model: FastTextGrade) -> None:
    text = "</s> sheaf sheaf"
    result = measure_windows(model, [text], [[Window(0, 4), Window(5, 10), Window(11, 16)]])
    assert (result.start.tolist(), result.end.tolist()) == ([5], [10])
