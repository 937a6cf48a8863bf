"""What the encoder benchmarks score: lengths as stored, windows and texts of exactly those lengths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks import encoder_inputs as inputs


def test_lengths_are_drawn_from_the_counts_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lengths.json"
    path.write_text(json.dumps({"step": 16, "counts": [0, 3, 0, 1]}))
    lengths = inputs.draw_lengths(4_000, path=path)
    assert set((lengths // 16).tolist()) == {1, 3}
    assert 0.7 < (lengths < 32).mean() < 0.8
    assert np.array_equal(lengths, inputs.draw_lengths(4_000, path=path))


def test_no_length_is_above_2048_or_below_a_token_between_the_special_ones() -> None:
    stored = json.loads(inputs.LENGTHS.read_text())
    assert sum(stored["counts"]) == stored["documents"]
    lengths = inputs.draw_lengths(20_000)
    assert lengths.max() == 2_048
    assert lengths.min() >= 3
    assert abs(lengths.mean() - stored["mean"]) < 15


def test_windows_and_texts_have_the_lengths_asked_for() -> None:
    lengths = [3, 17, 200]
    windows = inputs.draw_windows(lengths)
    assert [len(window) for window in windows] == lengths
    assert {(window[0], window[-1]) for window in windows} == {(101, 102)}
    tokenizer = inputs.read_tokenizer()
    assert [len(tokenizer.encode(text).ids) for text in inputs.write_texts(lengths)] == lengths
