"""What the routes of sources, the allow-list and source rules take and answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from curation.source_rules import RuleKind
from primer.app.core.fields import Label
from primer.app.core.times import Instant
from primer.app.sources.states import SourceState

_SOURCE: JsonDict = {
    "id": 4,
    "name": "fineweb-edu-sample",
    "locations": ["hf://datasets/HuggingFaceFW/fineweb-edu"],
    "config": "sample-10BT",
    "split": "train",
    "text_field": "text",
    "state": "ready",
    "error": None,
    "shard_count": 14,
    "row_count": 9672101,
    "size_bytes": 28543987712,
    "created_by": "anna.berg",
    "created_at": "2026-03-01T09:30:00Z",
    "scanned_at": "2026-03-01T09:31:10Z",
}
_SHARD: JsonDict = {
    "position": 0,
    "name": "sample/10BT/000_00000.parquet",
    "size_bytes": 2152819512,
    "sha256": "3e5c0c5f7f3e4b2fbf1b2a8c0b4a6d2f0c5d1e6b7a8f9c0d1e2f3a4b5c6d7e8f",
    "row_count": 726000,
    "row_groups": 726,
    "error": None,
}
_PREFIX: JsonDict = {
    "id": 2,
    "prefix": "s3://corpora/web",
    "allows_private": False,
    "note": "the team's bucket",
    "created_by": "admin",
    "created_at": "2026-03-01T09:00:00Z",
}
_RULE: JsonDict = {
    "id": 7,
    "source_id": None,
    "kind": "domain",
    "value": "example.org",
    "reason": "takedown request of 3 March",
    "created_by": "anna.berg",
    "created_at": "2026-03-03T10:00:00Z",
    "retired_by": None,
    "retired_at": None,
}

Location = Annotated[str, Field(min_length=1, max_length=2000)]
Choice = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Reason = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^\x00]*\S[^\x00]*$")]


class Asked(BaseModel):
    """What is not known is refused: a misspelt field must not be taken for none."""

    model_config = ConfigDict(extra="forbid")


class Row(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SourceCreate(Asked):
    """`locations`: absolute paths, globs, URLs, hf://datasets/OWNER/NAME. `config` and `split` are of Hub data sets."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "fineweb-edu-sample",
                    "locations": ["hf://datasets/HuggingFaceFW/fineweb-edu"],
                    "config": "sample-10BT",
                    "split": "train",
                },
                {"name": "readers", "locations": ["/srv/corpora/readers/*.jsonl.gz"], "text_field": "content"},
            ]
        }
    )

    name: Label
    locations: list[Location] = Field(min_length=1, max_length=1000)
    config: Choice | None = None
    split: Choice | None = None
    text_field: Choice = "text"


class SourceAnswer(Row):
    """`row_count` is null where a format does not say; `error` is why the source is failed."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SOURCE]})

    id: int
    name: str
    locations: list[str]
    config: str | None
    split: str | None
    text_field: str
    state: SourceState
    error: str | None
    shard_count: int | None
    row_count: int | None
    size_bytes: int | None
    created_by: str
    created_at: Instant
    scanned_at: Instant | None


class ShardAnswer(Row):
    """`sha256` is null for remote files without a published hash; rows and row groups where only reading would tell."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SHARD]})

    position: int
    name: str
    size_bytes: int | None
    sha256: str | None
    row_count: int | None
    row_groups: int | None
    error: str | None


class ColumnAnswer(BaseModel):
    name: str
    type: str


class PreviewAnswer(BaseModel):
    """Texts are cut after 500 characters. They are the source's, not ours: show them as text."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "shard": "part-0.parquet",
                    "columns": [{"name": "text", "type": "string"}, {"name": "url", "type": "string"}],
                    "rows": [{"text": "The cat sat on the mat.", "url": "https://example.org/cat"}],
                    "notes": [],
                }
            ]
        }
    )

    shard: str
    columns: list[ColumnAnswer]
    rows: list[dict[str, Any]]
    notes: list[str]


class PrefixCreate(Asked):
    """`prefix`: an absolute folder, the beginning of a URL, or hf://datasets/[OWNER[/NAME]]."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"prefix": "s3://corpora/web", "note": "the team's bucket"}]}
    )

    prefix: Location
    allows_private: bool = False
    note: Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")] = ""


class PrefixAnswer(Row):
    model_config = ConfigDict(json_schema_extra={"examples": [_PREFIX]})

    id: int
    prefix: str
    allows_private: bool
    note: str
    created_by: str
    created_at: Instant


class RuleCreate(Asked):
    """`source_id` null: for every source."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"kind": "domain", "value": "example.org", "reason": "takedown request of 3 March"}]
        }
    )

    kind: RuleKind
    value: Location
    reason: Reason
    source_id: Annotated[int, Field(ge=1, lt=1 << 63)] | None = None


class RuleAnswer(Row):
    """`value` is in its normal spelling."""

    model_config = ConfigDict(json_schema_extra={"examples": [_RULE]})

    id: int
    source_id: int | None
    kind: RuleKind
    value: str
    reason: str
    created_by: str
    created_at: Instant
    retired_by: str | None
    retired_at: Instant | None
