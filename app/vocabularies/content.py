"""What a version rules, as people send it and the database keeps it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from curation.lexicon.senses import SenseRule
from curation.lexicon.vocabulary import VocabularyVersion

MAX_WORDS = 100_000
MAX_SENSES = 2_000
_MAX_WORD_CHARS = 100
_MAX_NOTE_CHARS = 2_000

Word = Annotated[str, Field(max_length=_MAX_WORD_CHARS)]
WordNote = Annotated[str, Field(max_length=_MAX_NOTE_CHARS)]


class WordRulings(BaseModel):
    """Words always allowed, always blocked, and told apart by the words around them; `notes` say why, a sense rule has its own."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "allow": ["volcano"],
                    "block": [],
                    "senses": [
                        {
                            "term": "cell",
                            "note": "a room of a prison",
                            "innocent_if": [{"words": ["prison", "jail"], "left": 8, "right": 8}],
                        }
                    ],
                    "notes": {"volcano": "taught in grade 4"},
                }
            ]
        },
    )

    allow: tuple[Word, ...] = Field(default=(), max_length=MAX_WORDS)
    block: tuple[Word, ...] = Field(default=(), max_length=MAX_WORDS)
    senses: tuple[SenseRule, ...] = Field(default=(), max_length=MAX_SENSES)
    notes: dict[Word, WordNote] = Field(default_factory=dict, max_length=MAX_WORDS)

    @model_validator(mode="after")
    def _fits_together(self) -> WordRulings:
        try:
            self.name_version("draft", 1)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None
        notes = [*self.notes.values(), *(rule.note for rule in self.senses)]
        if any("\x00" in note or len(note) > _MAX_NOTE_CHARS for note in notes):
            raise ValueError(f"a note has at most {_MAX_NOTE_CHARS} characters, and none of them is NUL")
        return self

    @classmethod
    def of(cls, version: VocabularyVersion) -> WordRulings:
        return cls(allow=version.allow, block=version.block, senses=version.senses, notes=version.notes)

    def name_version(self, name: str, number: int, **origin: Any) -> VocabularyVersion:
        """These rulings as a version of the library. `origin`: author, note, created and parent, where they are known."""
        return VocabularyVersion(
            name=name,
            version=number,
            allow=self.allow,
            block=self.block,
            senses=self.senses,
            notes=self.notes,
            **origin,
        )


def describe_content(version: VocabularyVersion) -> dict[str, Any]:
    """As JSON, which a row keeps: words in order, each once."""
    return WordRulings.of(version).model_dump(mode="json")


def restore_version(
    content: dict[str, Any], name: str, number: int, *, author: str, note: str, created: datetime, parent: str | None
) -> VocabularyVersion:
    """The version that a row keeps."""
    return VocabularyVersion.model_validate(
        {
            **content,
            "name": name,
            "version": number,
            "author": author,
            "note": note,
            "created": created,
            "parent": parent,
        }
    )
