"""What a person may choose of an export, beyond the run that it is of."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.export.request import DEFAULT_SHARD_BYTES, ControlMatch
from curation.request import ExportOptions


class ExportChoices(BaseModel):
    """How the documents are chosen and laid out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vocabulary: Literal["own", "plain"] = Field(
        default="own", description="The run's own, or the plain one without rulings, where no version is named."
    )
    vocabulary_id: int | None = Field(default=None, ge=1, lt=1 << 63, description="A saved vocabulary version.")
    shard_bytes: int = Field(
        default=DEFAULT_SHARD_BYTES, ge=1 << 16, le=5 << 30, description="Compressed size at which a file ends."
    )
    token_budget: int | None = Field(default=None, ge=1, lt=1 << 53)
    validation_share: float = Field(default=0.0, ge=0, lt=1)
    shuffle_seed: int | None = Field(default=None, ge=0, lt=1 << 63)
    control_match: ControlMatch = ControlMatch.TOKENS
    control_seed: int = Field(default=0, ge=0, lt=1 << 63)
    has_curriculum: bool = Field(default=True, description="False writes the control alone.")

    max_leak_share: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="The release gate: the export fails when a larger share of its documents mentions a concept. Default: nobody "
        "looks.",
    )
    leak_catalogue: int | None = Field(
        default=None, ge=1, lt=1 << 63, description="The gate's version of the catalogue. Default: the newest of now."
    )

    @model_validator(mode="after")
    def _names_one_vocabulary(self) -> ExportChoices:
        if self.vocabulary == "plain" and self.vocabulary_id is not None:
            raise ValueError("give vocabulary_id or the plain vocabulary, not both")
        return self

    @model_validator(mode="after")
    def _has_something_to_gate(self) -> ExportChoices:
        if self.max_leak_share is not None and not self.has_curriculum:
            raise ValueError("a control alone has no leaks to count: leave out max_leak_share")
        if self.leak_catalogue is not None and self.max_leak_share is None:
            raise ValueError("leak_catalogue is the gate's: give max_leak_share too")
        return self

    def describe_export(self) -> ExportOptions:
        return ExportOptions(**self.model_dump(exclude={"vocabulary", "vocabulary_id", "leak_catalogue"}))
