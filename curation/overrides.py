"""Overrides: a person's replacement of a decision, read from an append-only file. The latest line of a row wins.

Keyed by (shard sha256, row); a shard may also be named. Undo is an entry, so nothing is ever erased.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from curation.errors import ProfileError

Action = Literal["keep", "exclude", "undo"]
Rows = npt.NDArray[np.int64]

MAX_EXAMPLES = 20  # of rulings on rows that are not there

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_IS_BULK = re.compile(rb'"rows"\s*:')
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Row = Annotated[int, Field(ge=0, lt=1 << 63)]


class Ruling(BaseModel):
    """One line: what is ruled on which row, by whom and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shard_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    shard: str | None = None
    row: _Row
    action: Action
    author: str = ""
    reason: str = ""
    time: str = ""

    @model_validator(mode="after")
    def _names_a_shard(self) -> Ruling:
        if (self.shard_sha256 is None) == (self.shard is None):
            raise ValueError("needs either shard_sha256 or shard")
        return self


class _BulkLine(BaseModel):
    """One line that rules on many rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: dict[_Sha256, list[_Row]]
    action: Action
    author: str = ""
    reason: str = ""
    time: str = ""


@dataclass(frozen=True, eq=False)
class BulkRuling:
    """One entry on many rows. `rows`: by the sha256 of their shard, ascending and each once."""

    rows: Mapping[str, Rows]
    action: Action
    author: str = ""
    reason: str = ""
    time: str = ""

    @property
    def row_count(self) -> int:
        return sum(len(rows) for rows in self.rows.values())


Entry = Ruling | BulkRuling


@dataclass(frozen=True)
class Overrides:
    """All entries in order. `sha256` is of the file as read, or as `encode_entry` writes it; `revision` counts the entries."""

    rulings: tuple[Entry, ...]
    sha256: str
    _resolved: dict[tuple[str, str], tuple[Rows, Rows]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def revision(self) -> int:
        return len(self.rulings)

    def of_shard(self, sha256: str, name: str) -> dict[int, bool]:
        """Row -> keep, for one shard: later entries replace earlier ones, undo removes."""
        return self._to_dict(*self.find_in_force(sha256, name))

    def of_rows(self, sha256: str, name: str, first_row: int, row_count: int) -> dict[int, bool]:
        """The same, for a run of rows."""
        rows, entries = self.find_in_force(sha256, name)
        start, end = np.searchsorted(rows, [first_row, first_row + row_count]).tolist()
        return self._to_dict(rows[start:end], entries[start:end])

    def find_in_force(self, sha256: str, name: str) -> tuple[Rows, Rows]:
        """The rows of a shard with a ruling in force, ascending, and the place of each one's entry in `rulings`."""
        found = self._resolved.get((sha256, name))
        if found is None:
            found = self._resolved[sha256, name] = self._resolve(sha256, name)
        return found

    def find_strays(self, shards: Iterable[tuple[str, str, int]]) -> StrayRulings:
        """What is ruled on rows that are in none of `shards` (sha256, name, row count)."""
        counts: dict[tuple[str, str], int] = {}
        for sha256, name, row_count in shards:
            for key in (("sha256", sha256), ("name", name)):
                counts[key] = max(counts.get(key, 0), row_count)
        total = 0
        examples: list[dict[str, object]] = []
        for shard, key, rows in self._list_targets():
            stray = rows[rows >= counts.get(key, 0)]
            total += len(stray)
            examples += [{"shard": shard, "row": row} for row in stray[: MAX_EXAMPLES - len(examples)].tolist()]
        return StrayRulings(total, examples)

    def _list_targets(self) -> Iterable[tuple[str, tuple[str, str], Rows]]:
        for entry in self.rulings:
            if isinstance(entry, BulkRuling):
                yield from ((sha256, ("sha256", sha256), rows) for sha256, rows in entry.rows.items())
            else:
                key = ("name", entry.shard) if entry.shard is not None else ("sha256", entry.shard_sha256 or "")
                yield key[1], key, np.array([entry.row], np.int64)

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[int]]:
        """Where the entries of a shard are, by its hash and by its name."""
        places: dict[tuple[str, str], list[int]] = {}
        for place, entry in enumerate(self.rulings):
            if isinstance(entry, BulkRuling):
                for sha256 in entry.rows:
                    places.setdefault(("sha256", sha256), []).append(place)
            elif entry.shard_sha256 is not None:
                places.setdefault(("sha256", entry.shard_sha256), []).append(place)
            else:
                places.setdefault(("name", entry.shard or ""), []).append(place)
        return places

    @cached_property
    def _actions(self) -> npt.NDArray[np.str_]:
        return np.array([entry.action for entry in self.rulings], np.str_)

    def _resolve(self, sha256: str, name: str) -> tuple[Rows, Rows]:
        places = {*self._places.get(("sha256", sha256), ()), *self._places.get(("name", name), ())}
        single_rows, single_places = [], []
        row_parts, place_parts = [], []
        for place in places:
            entry = self.rulings[place]
            if isinstance(entry, BulkRuling):
                row_parts.append(entry.rows[sha256])
                place_parts.append(np.full(len(entry.rows[sha256]), place, np.int64))
            else:
                single_rows.append(entry.row)
                single_places.append(place)
        rows = np.concatenate([np.array(single_rows, np.int64), *row_parts])
        entries = np.concatenate([np.array(single_places, np.int64), *place_parts])
        order = np.lexsort((entries, rows))
        rows, entries = rows[order], entries[order]
        is_latest = np.append(rows[1:] != rows[:-1], np.ones(min(len(rows), 1), bool))
        rows, entries = rows[is_latest], entries[is_latest]
        is_in_force = self._actions[entries] != "undo"
        return rows[is_in_force], entries[is_in_force]

    def _to_dict(self, rows: Rows, entries: Rows) -> dict[int, bool]:
        return dict(zip(rows.tolist(), (self._actions[entries] == "keep").tolist(), strict=True))


@dataclass(frozen=True)
class StrayRulings:
    """Rulings on rows that are not there: how many rows, and the first MAX_EXAMPLES of them."""

    count: int = 0
    examples: list[dict[str, object]] = field(default_factory=list)

    def report(self) -> dict[str, object]:
        return {"count": self.count, "examples": self.examples}


def encode_entry(entry: Entry) -> bytes:
    """The entry as the one line that stands for it in a file, with its end."""
    if isinstance(entry, BulkRuling):
        content: dict[str, Any] = {
            "rows": {sha256: np.ascontiguousarray(rows) for sha256, rows in entry.rows.items()},
            "action": entry.action,
            "author": entry.author,
            "reason": entry.reason,
            "time": entry.time,
        }
    else:
        content = entry.model_dump(exclude_none=True)
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)


def read_overrides(path: Path) -> Overrides:
    """One JSON object a line. Raises ProfileError that names the line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read ({error.strerror}).") from error
    rulings: list[Entry] = []
    for number, line in enumerate(content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            rulings.append(_read_line(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ProfileError(f"{path}: line {number}: {place + ': ' if place else ''}{first['msg']}.") from error
    return Overrides(tuple(rulings), hashlib.sha256(content).hexdigest())


def _read_line(line: bytes) -> Entry:
    if not _IS_BULK.search(line):
        return Ruling.model_validate_json(line)
    found = _BulkLine.model_validate_json(line)
    rows = {sha256: np.unique(np.array(rows, np.int64)) for sha256, rows in found.rows.items()}
    return BulkRuling(rows, found.action, found.author, found.reason, found.time)
