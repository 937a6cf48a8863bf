"""What the routes of vocabulary versions take and answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from curation.lexicon.senses import SenseRule
from curation.vocabulary_audit import WordChange
from primer.app.core.fields import RowId
from primer.app.core.times import Instant
from primer.app.models import VocabularyRecord
from primer.app.vocabularies.content import WordRulings

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]*$"
MAX_CSV_CHARS = 4 << 20

_CONTENT: JsonDict = {"allow": ["volcano"], "block": [], "senses": [], "notes": {"volcano": "taught in grade 4"}}
_SUMMARY: JsonDict = {
    "id": 3,
    "name": "ours",
    "version": 2,
    "sha256": "0c7a5f9d1e3b4a6c8d2f0e1b3a5c7d9f1e2d3c4b5a69788796a5b4c3d2e1f009",
    "note": "volcanoes are taught in grade 4",
    "author": "anna.berg",
    "created_at": "2026-03-01T09:30:00Z",
    "parent_id": 2,
    "allow_count": 1,
    "block_count": 0,
    "sense_count": 0,
}

VocabularyName = Annotated[str, Path(pattern=NAME_PATTERN, max_length=100)]
VersionNumber = Annotated[int, Path(ge=1, lt=1 << 63)]
Note = Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")]


class VersionCreate(BaseModel):
    """A version to save: exactly one of `content` and `csv` (what the export writes, edited). `based_on` is the id of the version
    that it was made from, null for the first of its name; when another one was saved since, nothing is saved."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"based_on": 2, "content": _CONTENT, "note": "volcanoes are taught in grade 4"}]
        },
    )

    based_on: RowId | None = None
    content: WordRulings | None = None
    csv: Annotated[str, Field(max_length=MAX_CSV_CHARS)] | None = None
    note: Note = ""

    @model_validator(mode="after")
    def _says_one_thing(self) -> VersionCreate:
        if (self.content is None) == (self.csv is None):
            raise ValueError("give exactly one of content and csv")
        return self


class RevertRequest(BaseModel):
    """Back to what an earlier version ruled, as a new version."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"based_on": 3, "to_version": 1}]})

    based_on: RowId
    to_version: Annotated[int, Field(ge=1, lt=1 << 63)]
    note: Note = ""


class CsvRequest(BaseModel):
    """A CSV file to read; nothing is saved."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"csv": "term,ruling,context,words,left,right,note\nvolcano,allow,,,,,taught in grade 4\n"}]
        },
    )

    csv: Annotated[str, Field(max_length=MAX_CSV_CHARS)]


class VocabularySummary(BaseModel):
    """A version without its words. It never changes."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SUMMARY]})

    id: int
    name: str
    version: int
    sha256: str
    note: str
    author: str
    created_at: Instant
    parent_id: int | None
    allow_count: int
    block_count: int
    sense_count: int


class VocabularyDetail(VocabularySummary):
    model_config = ConfigDict(json_schema_extra={"examples": [{**_SUMMARY, "content": _CONTENT}]})

    content: WordRulings


class VocabularyAnswer(BaseModel):
    """A name, its newest version, and how many versions there are."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "ours", "version_count": 2, "newest": _SUMMARY}]}
    )

    name: str
    version_count: int
    newest: VocabularySummary


class WordChangeAnswer(BaseModel):
    """One word of which two versions say different things. `before` and `after`: allow, block, sense, "allow, sense" or
    "block, sense"; null for nothing. `is_note_only`: nothing that decides differs."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "word": "volcano",
                    "before": None,
                    "after": "allow",
                    "rule_before": None,
                    "rule_after": None,
                    "note_before": "",
                    "note_after": "taught in grade 4",
                    "is_note_only": False,
                }
            ]
        },
    )

    word: str
    before: str | None
    after: str | None
    rule_before: SenseRule | None
    rule_after: SenseRule | None
    note_before: str
    note_after: str
    is_note_only: bool


def describe_change(change: WordChange) -> WordChangeAnswer:
    return WordChangeAnswer.model_validate(change)


def summarize(record: VocabularyRecord) -> VocabularySummary:
    return VocabularySummary.model_validate(_describe(record))


def describe(record: VocabularyRecord) -> VocabularyDetail:
    return VocabularyDetail.model_validate({**_describe(record), "content": record.content})


def _describe(record: VocabularyRecord) -> dict[str, object]:
    columns = ("id", "name", "version", "sha256", "note", "author", "created_at", "parent_id")
    counts = {"allow_count": "allow", "block_count": "block", "sense_count": "senses"}
    return {
        **{column: getattr(record, column) for column in columns},
        **{name: len(record.content[key]) for name, key in counts.items()},
    }
