"""Rows of signals and profiles for the tests of decisions: what a test does not name is innocent or not measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curation.decide import Signals, VocabularyHits
from curation.profile import BoundProfile, Profile

SHARD = "a" * 64
NOT_READ = [np.nan] * 4


def make_bound(**stages: Any) -> BoundProfile:
    """A profile with the given stages, bound to nothing."""
    return BoundProfile(Profile.model_validate({"name": "test", "version": 1, "form": "raw", **stages}), {}, ())


def make_signals(rows: Sequence[dict[str, Any]], readings: Sequence[str] = (), shard_sha256: str = SHARD) -> Signals:
    """One entry a row. `readings` were measured: a row that gives no grades for one could not be read by the model."""
    n = len(rows)
    return Signals(
        shard_sha256=shard_sha256,
        rows=np.array([row.get("row", place) for place, row in enumerate(rows)], np.int64),
        has_error=np.array([row.get("error", False) for row in rows], bool),
        p95_aoa=np.array([row.get("p95_aoa", 8.0) for row in rows], np.float64),
        oov_ratio=np.array([row.get("oov_ratio", 0.0) for row in rows], np.float64),
        token_counts=np.array([row.get("token_count", 100) for row in rows], np.int64),
        grades={
            reading: np.array([row.get("grades", {}).get(reading, NOT_READ) for row in rows], np.float32).reshape(n, 4)
            for reading in readings
        },
        encoder=np.array([row.get("encoder", NOT_READ) for row in rows], np.float32).reshape(n, 4),
        is_encoded=np.array(["encoder" in row for row in rows], bool),
        rule_hits=np.array([row.get("rule_hits", 0) for row in rows], np.int64),
        vocabulary=VocabularyHits(
            np.array([row.get("term_count", 0) for row in rows], np.int64),
            np.array([row.get("max_score", -np.inf) for row in rows], np.float64),
        ),
    )
