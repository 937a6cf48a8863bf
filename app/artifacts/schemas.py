"""What the API says of artefacts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from curation.artifacts.artifact_set import Kind


class ArtifactView(BaseModel):
    """A model or table. `licence` and `made_on` are null where its notice says it in words."""

    kind: Kind
    title: str | None
    file: str
    sha256: str
    size_bytes: int
    origin: str
    licence: str | None
    made_on: str | None


class ArtifactList(BaseModel):
    """`reports`: names of what there is to read about all of them."""

    items: list[ArtifactView]
    reports: list[str]


class CardView(BaseModel):
    """`facts`: what the card states beside its text: training data, settings, scores."""

    kind: Kind
    title: str | None
    text: str
    is_markdown: bool
    facts: dict[str, Any]


class ReportView(BaseModel):
    name: str
    text: str = Field(description="Markdown.")
