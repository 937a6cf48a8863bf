"""Chance: equal to a plain integer computation, uniform, and a function of shard, row, seed and purpose alone."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from curation.chance import draw_row_fractions, draw_row_keys

SHARD = hashlib.sha256(b"a shard").hexdigest()
MASK = (1 << 64) - 1


def mix(shard: str, row: int, seed: int, purpose: str) -> int:
    """splitmix64 in whole numbers."""
    digest = hashlib.sha256(f"{shard}:{seed}:{purpose}".encode()).digest()
    key = (int.from_bytes(digest[:8], "big") + row * 0x9E3779B97F4A7C15) & MASK
    key = ((key ^ key >> 30) * 0xBF58476D1CE4E5B9) & MASK
    key = ((key ^ key >> 27) * 0x94D049BB133111EB) & MASK
    return key ^ key >> 31


@pytest.mark.parametrize("seed", [0, 1, -5, 2**70])
def test_equals_the_computation_in_whole_numbers(seed: int) -> None:
    rows = np.array([0, 1, 2, 499, 10**9, 2**62], np.int64)
    keys = [mix(SHARD, row, seed, "audit") for row in rows.tolist()]
    assert draw_row_keys(SHARD, rows, seed, "audit").tolist() == keys
    assert draw_row_fractions(SHARD, rows, seed, "audit").tolist() == [(key >> 11) / 2**53 for key in keys]


def test_values_are_pinned() -> None:
    # A change here changes every sample that was ever drawn.
    assert draw_row_keys("ab" * 32, np.array([0, 7], np.int64), 3, "vocabulary").tolist() == [
        4221103622473634310,
        11979475672024971543,
    ]


def test_a_row_draws_the_same_in_any_company() -> None:
    rows = np.arange(1000)
    whole = draw_row_keys(SHARD, rows, 1, "x")
    assert draw_row_keys(SHARD, rows[::-1].copy(), 1, "x").tolist() == whole[::-1].tolist()
    assert draw_row_keys(SHARD, rows[417:418], 1, "x").tolist() == [whole[417]]
    assert draw_row_keys(SHARD, rows[:0], 1, "x").tolist() == []


def test_shards_seeds_and_purposes_are_independent() -> None:
    rows = np.arange(20_000)
    draws = [
        draw_row_fractions(shard, rows, seed, purpose)
        for shard, seed, purpose in [(SHARD, 1, "x"), (SHARD[::-1], 1, "x"), (SHARD, 2, "x"), (SHARD, 1, "y")]
    ]
    correlations = np.corrcoef(draws)
    assert np.abs(correlations - np.eye(4)).max() < 0.03


def test_fractions_are_uniform_and_below_one() -> None:
    fractions = draw_row_fractions(SHARD, np.arange(100_000), 1, "x")
    assert fractions.min() >= 0.0
    assert fractions.max() < 1.0
    counts = np.histogram(fractions, bins=20, range=(0, 1))[0]
    assert np.abs(counts - 5000).max() < 350  # five standard deviations
    assert len(np.unique(fractions)) == 100_000
