"""What the API says of rulings and takes of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from primer.app.core.times import Instant

MAX_LISTED_ROWS = 100_000
_EXAMPLE_SHARD = "0" * 64

ShardHash = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="The sha256 of the shard.")]
RowNumber = Annotated[int, Field(ge=0, lt=1 << 63, description="The row in the shard, counted from 0.")]
Reason = Annotated[str, Field(min_length=1, max_length=2_000)]


class RulingRequest(BaseModel):
    """A ruling on one document."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"shard_sha256": _EXAMPLE_SHARD, "row": 7, "action": "keep", "reason": "a fable, not a lecture"}
            ]
        },
    )

    shard_sha256: ShardHash
    row: RowNumber
    action: Literal["keep", "exclude"]
    reason: Reason


class BulkRequest(BaseModel):
    """One ruling on many documents: their rows by shard."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"rows": {_EXAMPLE_SHARD: [1, 2, 3]}, "action": "exclude", "reason": "advertisements"}]
        },
    )

    rows: dict[ShardHash, list[RowNumber]]
    action: Literal["keep", "exclude"]
    reason: Reason

    @model_validator(mode="after")
    def _is_short(self) -> BulkRequest:
        if (count := sum(map(len, self.rows.values()))) > MAX_LISTED_ROWS:
            raise ValueError(f"at most {MAX_LISTED_ROWS} rows may be listed, here are {count}")
        return self


class UndoRequest(BaseModel):
    """What to undo: the ruling in force on one document, or one ruling wherever it is in force, by its revision."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"revision": 12, "reason": "the list was of another source"}]}
    )

    shard_sha256: ShardHash | None = None
    row: RowNumber | None = None
    revision: Annotated[int, Field(ge=1, lt=1 << 63)] | None = None
    reason: Reason

    @model_validator(mode="after")
    def _names_one_thing(self) -> UndoRequest:
        names_row = self.shard_sha256 is not None and self.row is not None
        names_part = (self.shard_sha256 is None) != (self.row is None)
        if names_part or names_row == (self.revision is not None):
            raise ValueError("name either shard_sha256 and row, or revision")
        return self


class RulingAnswer(BaseModel):
    """A ruling. `shard_sha256` and `row` are null for a bulk ruling, whose rows are `row_count`."""

    model_config = ConfigDict(from_attributes=True)

    revision: int
    action: Literal["keep", "exclude", "undo"]
    author: str
    reason: str
    at: Instant
    is_bulk: bool
    shard_sha256: str | None
    row: int | None
    row_count: int
    file_sha256: str | None = Field(description="Of the frozen list of rows of a bulk ruling.")
    query: dict[str, Any] | None


class DisagreementAnswer(BaseModel):
    """Another person's ruling that was in force and said otherwise. It stays in the history."""

    model_config = ConfigDict(from_attributes=True)

    shard_sha256: str
    row: int
    revision: int
    action: Literal["keep", "exclude"]
    author: str
    reason: str


class RuledAnswer(BaseModel):
    """The ruling that was made, and whom it overrules: `disagreement_count` rows, of which the first are named."""

    ruling: RulingAnswer
    disagreement_count: int
    disagreements: list[DisagreementAnswer]


class RevisionAnswer(BaseModel):
    """`at` is null where nothing was ruled yet."""

    revision: int
    at: Instant | None
