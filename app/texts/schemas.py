"""What is posted and answered when a text is tried."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from curation.profile import Profile
from primer.app.core.fields import RowId

MAX_TEXT_CHARS = 1_000_000


class TextRequest(BaseModel):
    """A text, and the profile that decides: a stored version by its id, or a draft as it stands; default: recommended."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "The sun is a star. It gives us light."}]}
    )

    text: str = Field(max_length=MAX_TEXT_CHARS)
    profile_id: RowId | None = None
    profile: Profile | None = None


class EvidenceView(BaseModel):
    """A place in the text, in characters, and what it says."""

    kind: str
    name: str
    start: int
    end: int
    value: float | None


class StageView(BaseModel):
    stage: str
    verdict: str
    values: dict[str, Any]
    thresholds: dict[str, Any]
    evidence: list[EvidenceView]


class ExplanationView(BaseModel):
    """`text` is the form that the profile reads; offsets are in it. `kept` is null when undecided."""

    kept: bool | None
    decided_by: str | None
    excluded_by: list[str]
    undecided_for: list[str]
    profile: str
    form: str
    text: str
    changes: dict[str, int]
    stages: list[StageView]
