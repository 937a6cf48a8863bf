"""What the routes of profiles take and answer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from primer.app.core.times import Instant
from primer.app.profiles.service import Template
from primer.app.profiles.states import VersionState

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]*$"
_MAX_YAML_CHARS = 100_000

_SUMMARY: JsonDict = {
    "id": 3,
    "name": "stricter-words",
    "version": 2,
    "state": "published",
    "sha256": "0c7a5f9d1e3b4a6c8d2f0e1b3a5c7d9f1e2d3c4b5a69788796a5b4c3d2e1f009",
    "note": "fewer words beyond grade 5",
    "author": "anna.berg",
    "created_at": "2026-03-01T09:30:00Z",
    "changed_at": "2026-03-02T14:00:00Z",
    "published_at": "2026-03-02T14:05:00Z",
}
_CONTENT: JsonDict = {
    "name": "stricter-words",
    "version": 2,
    "form": "normalized",
    "lexical": {"max_p95_aoa": 11.0, "max_oov_ratio": 0.05},
}

ProfileName = Annotated[str, Path(pattern=NAME_PATTERN, max_length=200)]
VersionNumber = Annotated[int, Path(ge=1, lt=1 << 63)]
Note = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")]


class Asked(BaseModel):
    """What is not known is refused: a misspelt field must not be taken for none."""

    model_config = ConfigDict(extra="forbid")


class DraftChange(Asked):
    """Exactly one of `content` (fields), `yaml` (text), `bundled` (a name) and `version_id`: what the draft is to hold.
    Name and version in it are the draft's, whatever it says."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": _CONTENT, "note": "fewer words beyond grade 5"}]}
    )

    content: dict[str, Any] | None = None
    yaml: Annotated[str, Field(max_length=_MAX_YAML_CHARS)] | None = None
    bundled: Annotated[str, Field(max_length=200)] | None = None
    version_id: Annotated[int, Field(ge=1, lt=1 << 63)] | None = None
    note: Note | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> DraftChange:
        given = [value for value in (self.content, self.yaml, self.bundled, self.version_id) if value is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of content, yaml, bundled and version_id")
        return self

    @property
    def template(self) -> Template:
        return Template(self.content, self.yaml, self.bundled, self.version_id)


class DraftCreate(DraftChange):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "stricter-words", "bundled": "recommended", "note": "to be made stricter"},
                {"name": "stricter-words", "version_id": 3},
            ]
        }
    )

    name: Annotated[str, Field(pattern=NAME_PATTERN, max_length=200)]


class VersionSummary(BaseModel):
    """`author` made the draft or changed it last."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [_SUMMARY]})

    id: int
    name: str
    version: int
    state: VersionState
    sha256: str
    note: str
    author: str
    created_at: Instant
    changed_at: Instant
    published_at: Instant | None


class VersionAnswer(VersionSummary):
    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [{**_SUMMARY, "content": _CONTENT}]})

    content: dict[str, Any]


class ProfileAnswer(BaseModel):
    """A name, its newest version, and how many versions there are."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "stricter-words", "version_count": 2, "newest": _SUMMARY}]}
    )

    name: str
    version_count: int
    newest: VersionSummary


class DifferenceAnswer(BaseModel):
    """`before` or `after` is null where a version has nothing there."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={"examples": [{"path": "lexical.max_p95_aoa", "before": 12.0, "after": 11.0}]},
    )

    path: str
    before: Any
    after: Any
