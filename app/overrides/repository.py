"""The SQL of rulings. Single and bulk rulings are read as one history, `Record`s by revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from primer.app.core.counters import raise_counter, read_counter
from primer.app.models import BulkRuling, Override
from primer.app.overrides.id_sets import RowsByShard

ReadIds = Callable[["Record"], RowsByShard]


@dataclass(frozen=True)
class Record:
    """One ruling. `shard_sha256` and `row` are None for a bulk ruling, `file` and `query` for a single one."""

    revision: int
    action: str
    author: str
    reason: str
    at: float
    row_count: int
    shard_sha256: str | None = None
    row: int | None = None
    file: str | None = None
    file_sha256: str | None = None
    query: dict[str, Any] | None = None

    @property
    def is_bulk(self) -> bool:
        return self.file is not None


def take_revision(session: Session, source_id: int) -> int:
    """The next number of the source. Until the transaction ends nobody else rules on it."""
    return raise_counter(session, _name_counter(source_id))


def read_revision(session: Session, source_id: int) -> int:
    """The number of the newest ruling; 0 where there is none."""
    return read_counter(session, _name_counter(source_id))


def list_rulings(
    session: Session,
    source_id: int,
    *,
    before: int | None = None,
    limit: int | None = None,
    author: str | None = None,
) -> list[Record]:
    """Newest first."""

    def narrow(model: type[Override | BulkRuling]) -> Select[Any]:
        wanted = select(model).where(model.source_id == source_id)
        if before is not None:
            wanted = wanted.where(model.revision < before)
        if author is not None:
            wanted = wanted.where(model.author == author)
        return wanted.order_by(model.revision.desc()).limit(limit)

    found = [_read_single(row) for row in session.execute(narrow(Override)).scalars()]
    found += [_read_bulk(row) for row in session.execute(narrow(BulkRuling)).scalars()]
    return sorted(found, key=lambda record: -record.revision)[:limit]


def list_of_row(
    session: Session,
    source_id: int,
    shard_sha256: str,
    row: int,
    read_ids: ReadIds,
    *,
    before: int | None = None,
    limit: int,
    author: str | None = None,
) -> list[Record]:
    """Newest first: what was ruled on one row, alone or among others."""
    singles = select(Override).where(
        Override.source_id == source_id, Override.shard_sha256 == shard_sha256, Override.row == row
    )
    bulks = select(BulkRuling).where(BulkRuling.source_id == source_id)
    if before is not None:
        singles, bulks = singles.where(Override.revision < before), bulks.where(BulkRuling.revision < before)
    if author is not None:
        singles, bulks = singles.where(Override.author == author), bulks.where(BulkRuling.author == author)
    found = [
        _read_single(single)
        for single in session.execute(singles.order_by(Override.revision.desc()).limit(limit)).scalars()
    ]
    oldest = found[-1].revision if len(found) == limit else 0
    for bulk in session.execute(bulks.where(BulkRuling.revision > oldest)).scalars():
        record = _read_bulk(bulk)
        rows = read_ids(record).get(shard_sha256)
        if rows is not None and _holds(rows, row):
            found.append(record)
    return sorted(found, key=lambda record: -record.revision)[:limit]


def find_ruling(session: Session, source_id: int, revision: int) -> Record | None:
    found = list_rulings(session, source_id, before=revision + 1, limit=1)
    return found[0] if found and found[0].revision == revision else None


def list_between(session: Session, source_id: int, after: int, until: int) -> Sequence[Record]:
    """Oldest first: those of revision `after` + 1 to `until`."""
    singles = select(
        Override.revision,
        Override.action,
        Override.author,
        Override.reason,
        Override.at,
        Override.shard_sha256,
        Override.row,
    ).where(Override.source_id == source_id, Override.revision > after, Override.revision <= until)
    found = [
        Record(line.revision, line.action, line.author, line.reason, line.at, 1, line.shard_sha256, line.row)
        for line in session.execute(singles)
    ]
    bulks = select(BulkRuling).where(
        BulkRuling.source_id == source_id, BulkRuling.revision > after, BulkRuling.revision <= until
    )
    found += [_read_bulk(bulk) for bulk in session.execute(bulks).scalars()]
    return sorted(found, key=lambda record: record.revision)


def find_time(session: Session, source_id: int, revision: int) -> float | None:
    """When a ruling was made; None where there is no such ruling."""
    times = [
        session.execute(
            select(func.max(model.at)).where(model.source_id == source_id, model.revision == revision)
        ).scalar_one()
        for model in (Override, BulkRuling)
    ]
    return next((time for time in times if time is not None), None)


def _name_counter(source_id: int) -> str:
    return f"rulings/{source_id}"


def _holds(rows: Any, row: int) -> bool:
    place = int(rows.searchsorted(row))
    return place < len(rows) and int(rows[place]) == row


def _read_single(row: Override) -> Record:
    return Record(row.revision, row.action, row.author, row.reason, row.at, 1, row.shard_sha256, row.row)


def _read_bulk(row: BulkRuling) -> Record:
    return Record(
        row.revision,
        row.action,
        row.author,
        row.reason,
        row.at,
        row.row_count,
        file=row.file,
        file_sha256=row.file_sha256,
        query=row.query,
    )
