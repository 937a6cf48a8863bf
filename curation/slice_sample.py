"""A sample of a run's slices, for a trial: which are in it follows from the seed, the shard's hash and the slice's number.

A slice is drawn or not whatever the other shards hold, so that parts and workers agree without asking each other.
"""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from curation.chance import draw_row_fractions
from curation.shards.manifest import ShardManifest, Slice


class Sample(BaseModel):
    """About this share of the slices; a slice in a sample is in every larger one of its seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: float = Field(gt=0, lt=1)
    seed: int = Field(default=0, ge=0)


def choose_slices(manifest: ShardManifest, sample: Sample | None) -> tuple[Slice, ...]:
    """The slices of an opened shard that a run measures; all of them where `sample` is None.

    Those whose fraction is below the share. Where that is none of the run's first shard, its first slice is taken, so that
    a trial of a short source is not empty.
    """
    if sample is None:
        return manifest.slices
    numbers = np.array([piece.index for piece in manifest.slices], np.int64)
    fractions = draw_row_fractions(manifest.sha256, numbers, sample.seed, "slices")
    drawn = tuple(piece for piece, fraction in zip(manifest.slices, fractions, strict=True) if fraction < sample.share)
    return drawn if drawn or manifest.index != 0 else manifest.slices[:1]
