"""The encoder's grades over a tiny random model in the bundled layout: windows, the hardest, and what a score depends on."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from measuring import BAND_WORDS
from tiny_encoder import BANDS, make_tokenizer, write_encoder

from curation.errors import ArtifactError
from curation.signals import encoder_grade
from curation.signals.encoder_grade import DEVICE_VARIABLE, EncoderGrade

WORDS = [word for line in BAND_WORDS.values() for word in line.split()]  # one token each
ALL = {"max_windows": 64, "seed": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def model(folder: Path) -> EncoderGrade:
    return EncoderGrade(folder)


@pytest.fixture(scope="module")
def long_model(tmp_path_factory: pytest.TempPathFactory) -> EncoderGrade:
    """Windows of up to 256 tokens, so that lengths fall into eight shapes."""
    return EncoderGrade(write_encoder(tmp_path_factory.mktemp("long"), window_tokens=256, layers=2))


def write_words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


def test_a_short_text_is_one_window(model: EncoderGrade) -> None:
    text = "  cat dog, sun.\n"
    found = model.grade_windows([text], **ALL)
    assert found.grades.shape == (1, 4)
    assert found.grades.dtype == np.float32
    assert found.grades.sum() == pytest.approx(1, abs=1e-6)
    assert text[found.start[0] : found.end[0]] == "cat dog, sun."
    assert found.is_sampled.tolist() == [False]
    assert np.array_equal(model.grade_published([text]), found.grades)


def test_probabilities_are_those_of_the_model(folder: Path, model: EncoderGrade) -> None:
    """Against the file run by hand: no padding, no batch, special tokens at both ends."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    tokenizer = make_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    text = "cat ratio ideology sheaf"
    ids = np.array([tokenizer.encode(text).ids])
    assert ids.shape == (1, 6)
    assert (ids[0, 0], ids[0, -1]) == (2, 3)
    [logits] = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    powers = np.exp(logits[0] - logits[0].max())
    assert model.grade_windows([text], **ALL).grades[0] == pytest.approx(powers / powers.sum(), abs=2e-6)


def test_the_hardest_window_is_the_one_with_the_lowest_chance_of_k5(model: EncoderGrade) -> None:
    assert model.window_tokens == 16  # room for 14 words
    words = write_words(random.Random(3), 14 * 4).split()
    windows = [" ".join(words[start : start + 14]) for start in range(0, len(words), 14)]
    alone = model.grade_windows(windows, **ALL).grades
    hardest = int(np.argmin(alone[:, 0]))
    assert len(set(alone[:, 0].tolist())) == 4
    text = " ".join(words)
    found = model.grade_windows([text], **ALL)
    assert np.array_equal(found.grades[0], alone[hardest])
    assert text[found.start[0] : found.end[0]] == windows[hardest]
    assert np.array_equal(model.grade_published([text])[0], alone[0])


def test_of_equally_hard_windows_the_first_is_taken(model: EncoderGrade) -> None:
    window = " ".join(WORDS[:14])
    found = model.grade_windows([f"{window} {window} {window}"], **ALL)
    assert (found.start[0], found.end[0]) == (0, len(window))


@pytest.mark.parametrize(
    ("count", "cuts"),
    [
        (1, [(0, 1)]),
        (14, [(0, 14)]),
        (15, [(0, 14), (1, 15)]),
        (16, [(0, 14), (2, 16)]),
        (17, [(0, 14), (14, 17)]),
        (28, [(0, 14), (14, 28)]),
        (30, [(0, 14), (14, 28), (16, 30)]),
    ],
)
def test_a_last_window_of_less_than_a_quarter_starts_earlier(count: int, cuts: list[tuple[int, int]]) -> None:
    assert encoder_grade._cut_tokens(count, 14) == cuts


def test_above_the_most_windows_the_first_the_last_and_a_sample_are_read(model: EncoderGrade) -> None:
    words = write_words(random.Random(5), 14 * 30).split()
    windows = [" ".join(words[start : start + 14]) for start in range(0, len(words), 14)]
    text = " ".join(words)
    few = {"max_windows": 4, "seed": 7}
    first, again = model.grade_windows([text, "cat"], **few), model.grade_windows([text, "cat"], **few)
    assert first.is_sampled.tolist() == [True, False]
    assert np.array_equal(first.grades, again.grades)
    read = [windows[0], *(windows[i] for i in sorted(random.Random(7).sample(range(1, 29), 2))), windows[29]]
    alone = model.grade_windows(read, **ALL).grades
    assert np.array_equal(first.grades[0], alone[np.argmin(alone[:, 0])])
    exact = model.grade_windows([text], max_windows=30, seed=7)
    assert exact.is_sampled.tolist() == [False]


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b", "\ud800 cat"])
def test_what_has_no_token_has_no_grade(model: EncoderGrade, text: str) -> None:
    found = model.grade_windows([text, "cat"], **ALL)
    assert np.isnan(found.grades[0]).all()
    assert (found.start[0], found.end[0]) == (-1, -1)
    assert not np.isnan(found.grades[1]).any()


def test_the_published_reading_grades_blank_text_and_no_broken_one(model: EncoderGrade) -> None:
    grades = model.grade_published(["", "\ud800", "cat"])
    assert not np.isnan(grades[0]).any()
    assert np.isnan(grades[1]).all()
    assert not np.isnan(grades[2]).any()


def test_no_texts(model: EncoderGrade) -> None:
    assert model.grade_windows([], **ALL).grades.shape == (0, 4)
    assert model.grade_published([]).shape == (0, 4)


def test_a_score_is_the_same_bits_whatever_its_neighbours(long_model: EncoderGrade) -> None:
    """Each text alone, then in batches of random size and order: not one bit of any score moves."""
    chance = random.Random(11)
    texts = [write_words(chance, chance.choice([1, 5, 29, 30, 31, 62, 63, 90, 200, 254, 255, 600])) for _ in range(40)]
    alone = [long_model.grade_windows([text], **ALL) for text in texts]
    published = [long_model.grade_published([text])[0] for text in texts]
    assert len({grade.grades[0].tobytes() for grade in alone}) == len(texts)
    for _ in range(8):
        chosen = chance.sample(range(len(texts)), chance.randint(2, len(texts)))
        found = long_model.grade_windows([texts[i] for i in chosen], **ALL)
        for place, i in enumerate(chosen):
            assert found.grades[place].tobytes() == alone[i].grades[0].tobytes()
            assert (found.start[place], found.end[place]) == (alone[i].start[0], alone[i].end[0])
        together = long_model.grade_published([texts[i] for i in chosen])
        assert [row.tobytes() for row in together] == [published[i].tobytes() for i in chosen]


def test_every_window_of_one_padded_length_runs_in_one_shape(long_model: EncoderGrade) -> None:
    shapes: dict[int, set[int]] = {}
    score = long_model._scorer.score

    def watch(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        shapes.setdefault(ids.shape[1], set()).add(ids.shape[0])
        return score(ids, mask)

    long_model._scorer.score = watch  # type: ignore[method-assign]
    try:
        chance = random.Random(2)
        long_model.grade_windows([write_words(chance, chance.randint(1, 300)) for _ in range(30)], **ALL)
    finally:
        long_model._scorer.score = score  # type: ignore[method-assign]
    assert set(shapes) <= set(range(32, 257, 32))
    assert len(shapes) >= 6
    assert all(rows == {max(1, 256 // length)} for length, rows in shapes.items())


def test_padding_is_not_read(long_model: EncoderGrade) -> None:
    """Padding to another length moves no more than the last digits."""
    text = " ".join(WORDS[:20])
    expected = long_model.grade_windows([text], **ALL).grades
    long_model._pad_length = lambda token_count: 128  # type: ignore[method-assign]
    try:
        padded = long_model.grade_windows([text], **ALL).grades
    finally:
        del long_model._pad_length
    assert padded == pytest.approx(expected, abs=1e-5)


def test_a_text_longer_than_a_block_is_tokenised_as_a_whole(
    long_model: EncoderGrade, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = write_words(random.Random(4), 3_000)
    whole = long_model._tokenize(text)
    monkeypatch.setattr(encoder_grade, "_BLOCK_CHARS", 2_000)
    blocks = long_model._tokenize(text)
    assert whole is not None
    assert blocks is not None
    assert len(whole.blocks) == 1
    assert len(blocks.blocks) > 5
    assert np.array_equal(whole.ids, blocks.ids)
    offsets = whole.blocks[0].encoding.offsets
    for start, end in [(0, 1), (0, 3_000), (7, 2_900), *((place, place + 1) for place in range(0, 3_000, 11))]:
        span = (offsets[start][0], offsets[end - 1][1])
        assert whole.find_span(start, end) == blocks.find_span(start, end) == span
    assert list(encoder_grade._cut_blocks("x" * 4_001)) == [(0, 2_000), (2_000, 4_000), (4_000, 4_001)]
    assert list(encoder_grade._cut_blocks("x" * 1_500 + " " + "y" * 999)) == [(0, 1_500), (1_500, 2_500)]


def rewrite_config(folder: Path, **fields: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.onnx"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_encoder(tmp_path / "encoder") / name).unlink()
    with pytest.raises(ArtifactError, match=f"encoder lacks {name}"):
        EncoderGrade(tmp_path / "encoder")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="There is no encoder folder"):
        EncoderGrade(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", b"{", "is not JSON"),
        ("config.json", b"[]", "holds no object"),
        ("tokenizer.json", b"{}", "is not a readable tokenizer"),
        ("model.onnx", b"none", "is not a readable ONNX model"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    folder = write_encoder(tmp_path / "encoder")
    (folder / name).write_bytes(content)
    with pytest.raises(ArtifactError, match=message) as caught:
        EncoderGrade(folder)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    "labels", [("K8", "K5", "K12", "OOS"), ("K5", "K8", "K12"), ("K5", "K8", "K12", "other"), ("LABEL_1",) * 4]
)
def test_other_labels_or_another_order_are_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(ArtifactError, match="not the four grade bands"):
        EncoderGrade(write_encoder(tmp_path, labels=labels))


@pytest.mark.parametrize("labels", [BANDS, ("k5", "k8", "k12", "oos"), ("LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3")])
def test_labels_in_order_by_name_or_unnamed_are_read(tmp_path: Path, labels: tuple[str, ...]) -> None:
    assert EncoderGrade(write_encoder(tmp_path, labels=labels)).grade_published(["cat"]).shape == (1, 4)


def test_an_output_of_another_shape_is_refused(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path, labels=("K5", "K8", "K12"))
    rewrite_config(folder, id2label={str(i): band for i, band in enumerate(BANDS)})
    with pytest.raises(ArtifactError, match=r"answers with the shape \(1, 3\)"):
        EncoderGrade(folder)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_position_embeddings": None}, "how long a text may be"),
        ({"primer_window_tokens": 513}, "not a number from 1 to 512"),
        ({"primer_window_tokens": "many"}, "not a number from 1 to 512"),
        ({"primer_window_tokens": 2}, "has room for no text"),
    ],
)
def test_an_impossible_window_is_refused(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    folder = write_encoder(tmp_path)
    rewrite_config(folder, **fields)
    with pytest.raises(ArtifactError, match=message):
        EncoderGrade(folder)


def test_without_a_window_of_its_own_a_model_reads_up_to_2048_tokens(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    del config["primer_window_tokens"]
    (folder / "config.json").write_text(json.dumps(config))
    assert EncoderGrade(folder).window_tokens == 512
    rewrite_config(folder, max_position_embeddings=8_192)
    assert EncoderGrade(folder).window_tokens == 2_048


def test_a_device_that_is_not_there_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    monkeypatch.setenv(DEVICE_VARIABLE, "abacus")
    with pytest.raises(ArtifactError, match="PRIMER_ENCODER_DEVICE is 'abacus'"):
        EncoderGrade(folder)
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this machine has the CUDA provider")
    monkeypatch.setenv(DEVICE_VARIABLE, "cuda")
    with pytest.raises(ArtifactError, match="Install onnxruntime-gpu"):
        EncoderGrade(folder)
