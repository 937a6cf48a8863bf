"""Overrides: a person's replacement of a decision, read from an append-only file. The latest line of a row wins.

Keyed by (shard sha256, row); a shard may also be named. Undo is an entry, so nothing is ever erased.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from curation.errors import ProfileError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Ruling(BaseModel):
    """One line: what is ruled on which row, by whom and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shard_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    shard: str | None = None
    row: int = Field(ge=0, lt=1 << 63)
    action: Literal["keep", "exclude", "undo"]
    author: str = ""
    reason: str = ""
    time: str = ""

    @model_validator(mode="after")
    def _names_a_shard(self) -> Ruling:
        if (self.shard_sha256 is None) == (self.shard is None):
            raise ValueError("needs either shard_sha256 or shard")
        return self


@dataclass(frozen=True)
class Overrides:
    """The rulings in force. `sha256` is of the file as read; `revision` counts its entries."""

    rulings: tuple[Ruling, ...]
    sha256: str

    @property
    def revision(self) -> int:
        return len(self.rulings)

    def of_shard(self, sha256: str, name: str) -> dict[int, bool]:
        """Row -> keep, for one shard: later entries replace earlier ones, undo removes."""
        rows: dict[int, bool] = {}
        for ruling in self.rulings:
            if ruling.shard_sha256 == sha256 or ruling.shard == name:
                if ruling.action == "undo":
                    rows.pop(ruling.row, None)
                else:
                    rows[ruling.row] = ruling.action == "keep"
        return rows


def read_overrides(path: Path) -> Overrides:
    """One JSON object a line. Raises ProfileError that names the line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read ({error.strerror}).") from error
    rulings = []
    for number, line in enumerate(content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            rulings.append(Ruling.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ProfileError(f"{path}: line {number}: {place + ': ' if place else ''}{first['msg']}.") from error
    return Overrides(tuple(rulings), hashlib.sha256(content).hexdigest())
