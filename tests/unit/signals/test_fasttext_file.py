"""A damaged model file is an error, never a crash; whole files of every kind pass."""

from __future__ import annotations

from pathlib import Path

import fasttext
import pytest

from curation.errors import ArtifactError
from curation.signals.fasttext_file import check_model_file
from curation.signals.fasttext_grade import FastTextGrade

KINDS = ("plain", "quantised", "quantised_norms")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    words = [f"word{i}" for i in range(300)]
    lines = folder / "lines.txt"
    lines.write_text(
        "\n".join(
            f"__label__{band} {' '.join(words[i::4])} {band}" for i, band in enumerate(("K5", "K8", "K12", "OOS"))
        )
    )
    paths = {}
    for kind in KINDS:
        model = fasttext.train_supervised(
            str(lines), dim=4, epoch=1, thread=1, minCount=1, wordNgrams=2, bucket=500, verbose=0
        )
        if kind != "plain":
            has_norms = kind == "quantised_norms"
            model.quantize(qnorm=has_norms, cutoff=400 if has_norms else 0)
        paths[kind] = folder / f"{kind}.bin"
        model.save_model(str(paths[kind]))
    return paths


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_file_passes(models: dict[str, Path], kind: str) -> None:
    check_model_file(models[kind])
    assert FastTextGrade(models[kind]).predict(["word1"]).shape == (1, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [0.001, 0.01, 0.2, 0.5, 0.9, 0.9999])
def test_a_file_cut_short_is_refused(models: dict[str, Path], tmp_path: Path, kind: str, kept: float) -> None:
    content = models[kind].read_bytes()
    cut = tmp_path / "cut.bin"
    cut.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(ArtifactError, match=r"cut\.bin"):
        FastTextGrade(cut)


def test_bytes_after_the_end_are_refused(models: dict[str, Path], tmp_path: Path) -> None:
    long = tmp_path / "long.bin"
    long.write_bytes(models["plain"].read_bytes() + b"\0")
    with pytest.raises(ArtifactError, match="its parts end at byte"):
        check_model_file(long)


def test_an_empty_file_and_word_vectors_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.bin"
    empty.write_bytes(b"")
    with pytest.raises(ArtifactError, match=r"empty\.bin"):
        check_model_file(empty)
    lines = tmp_path / "lines.txt"
    lines.write_text("the cat sat on the mat\n" * 20)
    model = fasttext.train_unsupervised(str(lines), dim=4, epoch=1, thread=1, minCount=1, bucket=50, verbose=0)
    model.save_model(str(tmp_path / "vectors.bin"))
    with pytest.raises(ArtifactError, match="it holds word vectors"):
        check_model_file(tmp_path / "vectors.bin")
