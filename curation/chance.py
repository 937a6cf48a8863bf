"""Chance as a pure function: a fraction for every row of a shard that depends on its hash, its row and a seed alone.

The same on every machine, for any number of workers, in any order. Used wherever the project draws a sample.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt


def draw_row_keys(shard_sha256: str, rows: npt.NDArray[np.int64], seed: int, purpose: str) -> npt.NDArray[np.uint64]:
    """A uniform 64-bit key for each row. Different `purpose`s are independent of each other."""
    digest = hashlib.sha256(f"{shard_sha256}:{seed}:{purpose}".encode()).digest()
    base = np.uint64(int.from_bytes(digest[:8], "big"))
    # splitmix64 (Steele, Lea and Flood 2014): a bijection of the counter with good avalanche.
    with np.errstate(over="ignore"):
        key = base + rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return key ^ (key >> np.uint64(31))


def draw_row_fractions(
    shard_sha256: str, rows: npt.NDArray[np.int64], seed: int, purpose: str
) -> npt.NDArray[np.float64]:
    """A uniform fraction in [0, 1) for each row."""
    return (draw_row_keys(shard_sha256, rows, seed, purpose) >> np.uint64(11)).astype(np.float64) / float(1 << 53)
