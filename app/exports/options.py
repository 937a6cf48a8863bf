"""What a person may choose of an export, beyond the run that it is of."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from curation.export.request import DEFAULT_SHARD_BYTES, ControlMatch
from curation.request import ExportOptions


class ExportChoices(BaseModel):
    """How the documents are chosen and laid out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vocabulary: Literal["plain"] = "plain"
    shard_bytes: int = Field(
        default=DEFAULT_SHARD_BYTES, ge=1 << 16, le=5 << 30, description="Compressed size at which a file ends."
    )
    token_budget: int | None = Field(default=None, ge=1, lt=1 << 53)
    validation_share: float = Field(default=0.0, ge=0, lt=1)
    shuffle_seed: int | None = Field(default=None, ge=0, lt=1 << 63)
    control_match: ControlMatch = ControlMatch.TOKENS
    control_seed: int = Field(default=0, ge=0, lt=1 << 63)
    has_curriculum: bool = Field(default=True, description="False writes the control alone.")

    def describe_export(self) -> ExportOptions:
        return ExportOptions(**self.model_dump(exclude={"vocabulary"}))
