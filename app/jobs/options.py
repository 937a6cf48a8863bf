"""What a person may choose of a job, beyond source and profile."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from curation.export.request import DEFAULT_SHARD_BYTES, ControlMatch
from curation.recipe import DEFAULT_SLICE_BYTES
from curation.request import ExportOptions
from curation.slice_sample import Sample

TRIAL_SHARE = 0.01


class JobOptions(BaseModel):
    """Whole shards or a part of them, with or without the encoder, by which vocabulary, and how the export is laid out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: int | None = Field(default=None, ge=0, description="Read only the first so many rows.")
    sample_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Measure only this share of the slices, drawn by the sample seed; 0.01 is a trial.",
    )
    sample_seed: int = Field(default=0, ge=0)
    vocabulary_id: int | None = Field(
        default=None,
        ge=1,
        lt=1 << 63,
        description="A saved vocabulary version. Default: the plain one, without rulings.",
    )
    has_encoder: bool = Field(default=True, description="False leaves the encoder's stage out: faster, coarser.")
    slice_bytes: int = Field(
        default=DEFAULT_SLICE_BYTES, ge=1 << 10, description="Rows of about so many bytes of text make one task."
    )
    token_budget: int | None = Field(default=None, ge=1)
    validation_share: float = Field(default=0.0, ge=0, lt=1)
    shuffle_seed: int | None = None
    control_match: ControlMatch = ControlMatch.TOKENS
    control_seed: int = 0

    def describe_sample(self) -> Sample | None:
        return None if self.sample_share is None else Sample(share=self.sample_share, seed=self.sample_seed)

    def describe_export(self) -> ExportOptions:
        return ExportOptions(
            shard_bytes=DEFAULT_SHARD_BYTES,
            shuffle_seed=self.shuffle_seed,
            token_budget=self.token_budget,
            validation_share=self.validation_share,
            control_match=self.control_match,
            control_seed=self.control_seed,
        )
