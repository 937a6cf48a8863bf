"""How grades are made where a GPU scores: pools, the band that is scored again, tokens by all cores. The GPU is invented:
the CPU's own model with its logits moved a little, so that what was scored again can be told from what was not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from measuring import BAND_WORDS
from tiny_encoder import write_encoder

from curation.signals import encoder_grade
from curation.signals.encoder_grade import EXACT_BAND, EncoderGrade, PoolScorer
from curation.signals.encoder_torch import choose_gpu

WORDS = [word for line in BAND_WORDS.values() for word in line.split()]
ALL = {"max_windows": 64, "seed": 1}


class InventedGpu:
    """`score_pool` moves the first logit by `moved`; every call's windows are kept."""

    def __init__(self, scorer: Any, moved: float = 0.01) -> None:
        self._scorer, self._moved = scorer, moved
        self.pools: list[list[bytes]] = []
        self.alone: list[bytes] = []

    def score_pool(self, windows: list[np.ndarray]) -> np.ndarray:
        self.pools.append([window.tobytes() for window in windows])
        return self._score(windows) + np.array([self._moved, 0, 0, 0], np.float32)

    def score_alone(self, windows: list[np.ndarray]) -> np.ndarray:
        self.alone.extend(window.tobytes() for window in windows)
        return self._score(windows)

    def _score(self, windows: list[np.ndarray]) -> np.ndarray:
        found = [
            self._scorer.score(window[None].astype(np.int64), np.ones((1, len(window)), np.int64)) for window in windows
        ]
        return np.concatenate([np.zeros((0, 4), np.float32), *found])


@pytest.fixture
def model(tmp_path: Path) -> EncoderGrade:
    return EncoderGrade(write_encoder(tmp_path / "encoder", sharpness=12.0))


def invent_gpu(model: EncoderGrade, moved: float = 0.01) -> InventedGpu:
    gpu = InventedGpu(model._scorer, moved)
    model._scorer = gpu
    assert isinstance(gpu, PoolScorer)
    return gpu


def write_texts(count: int, most_words: int) -> list[str]:
    chance = random.Random(count)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, most_words))) for _ in range(count)]


def test_grades_in_the_band_are_those_of_a_window_alone(model: EncoderGrade) -> None:
    texts = write_texts(200, 14)
    gpu = invent_gpu(model)
    found = model.grade_published(texts)
    plain = encoder_grade._to_probabilities
    windows = [np.frombuffer(window, np.int32) for window in gpu.pools[0]]
    fast, exact = plain(gpu._score(windows) + np.array([0.01, 0, 0, 0], np.float32)), plain(gpu._score(windows))
    is_near = (fast[:, 0] >= EXACT_BAND[0]) & (fast[:, 0] < EXACT_BAND[1])
    assert 0 < is_near.sum() < len(texts)
    assert [row.tobytes() for row in found] == [row.tobytes() for row in np.where(is_near[:, None], exact, fast)]
    assert gpu.alone == [window for window, is_chosen in zip(gpu.pools[0], is_near, strict=True) if is_chosen]


@pytest.mark.parametrize(
    ("scores", "owners", "near"),
    [
        ([0.5, 0.5], [0, 1], [0, 1]),
        ([0.05, 0.95], [0, 1], [0]),  # from 0.05 on, under 0.95
        ([0.049, 0.5, 0.5], [0, 0, 1], [2]),  # the first text's hardest window is beyond doubt
        ([0.99, 0.94, 0.96], [0, 0, 0], [1]),
        ([0.3, 0.2, 0.99], [1, 1, 1], [0, 1]),  # the first text has no window
        ([], [], []),
    ],
)
def test_only_texts_whose_hardest_window_is_in_the_band_are_scored_again(
    scores: list[float], owners: list[int], near: list[int]
) -> None:
    assert encoder_grade._find_near(np.array(scores, np.float32), owners) == near


def test_windows_and_places_are_those_of_the_cpu(model: EncoderGrade) -> None:
    texts = ["", *write_texts(40, 60), "\ud800 cat", "   "]
    expected, published = model.grade_windows(texts, **ALL), model.grade_published(texts)
    invent_gpu(model, moved=0.0)
    found = model.grade_windows(texts, **ALL)
    assert np.array_equal(found.start, expected.start)
    assert np.array_equal(found.end, expected.end)
    np.testing.assert_allclose(found.grades, expected.grades, atol=1e-5)
    np.testing.assert_allclose(model.grade_published(texts), published, atol=1e-5)


def test_pools_grow_and_scores_do_not_depend_on_them(model: EncoderGrade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_grade, "_POOL_WINDOWS", (8, 16))
    texts = write_texts(50, 14)
    gpu = invent_gpu(model)
    found = model.grade_published(texts)
    assert [len(pool) for pool in gpu.pools] == [8, 16, 16, 10]
    monkeypatch.setattr(encoder_grade, "_POOL_WINDOWS", (512, 4_096))
    assert found.tobytes() == model.grade_published(texts).tobytes()
    assert model.grade_published([]).shape == (0, 4)


def test_a_long_text_is_tokenised_as_on_a_cpu(model: EncoderGrade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_grade, "_BLOCK_CHARS", 200)
    monkeypatch.setattr(encoder_grade, "_TEXTS_AT_ONCE", 3)
    texts = ["", *write_texts(7, 200), "\ud800"]
    expected = [model._tokenize(text) for text in texts]
    invent_gpu(model)
    for tokens, right in zip(model._tokenize_all(texts), expected, strict=True):
        assert (tokens is None) == (right is None)
        if tokens is not None and right is not None:
            assert tokens.ids.tolist() == right.ids.tolist()
            count = len(tokens.ids)
            places = [(place, place + 1) for place in range(count)]
            assert [tokens.find_span(*place) for place in places] == [right.find_span(*place) for place in places]


def test_a_failure_on_the_gpu_reaches_the_caller(model: EncoderGrade) -> None:
    gpu = invent_gpu(model)

    def fail(windows: list[np.ndarray]) -> np.ndarray:
        raise MemoryError("no room")

    gpu.score_pool = fail  # type: ignore[method-assign]
    with pytest.raises(MemoryError, match="no room"):
        model.grade_published(["cat"])


def test_worker_processes_take_turns_at_the_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_gpu(4) == 0  # no worker process

    class Worker:
        def __init__(self, *numbers: int) -> None:
            self._identity = numbers

    for numbers, gpu in (((1,), 0), ((2,), 1), ((3,), 0), ((1, 2), 1)):
        monkeypatch.setattr("multiprocessing.current_process", lambda numbers=numbers: Worker(*numbers))
        assert choose_gpu(2) == gpu
