"""Reading the audit log, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from primer.app.auth.actor import Actor
from primer.app.auth.roles import Action
from primer.app.core.context import Context
from primer.app.core.csv_cells import write_csv
from primer.app.models import AuditEntry

_ROWS_AT_ONCE = 1_000
_COLUMNS = ("id", "at", "user", "action", "subject", "before", "after")


@dataclass(frozen=True)
class AuditFilter:
    """None asks for all. `action` is a beginning: `user.` finds `user.change`."""

    user: str | None = None
    action: str | None = None
    subject: str | None = None


def list_entries(
    context: Context, actor: Actor, wanted: AuditFilter, *, before: int | None, limit: int
) -> Sequence[AuditEntry]:
    """Entries with an id below `before`."""
    actor.require(Action.AUDIT_LOG)
    with context.database.reading() as session:
        return _select_entries(session, wanted, before, limit)


def stream_csv(context: Context, actor: Actor, wanted: AuditFilter) -> Iterator[str]:
    """All entries as CSV, some at a time; what is added meanwhile is left out."""
    actor.require(Action.AUDIT_LOG)
    return _write_entries(context, wanted)


def _write_entries(context: Context, wanted: AuditFilter) -> Iterator[str]:
    yield write_csv([_COLUMNS])
    before: int | None = None
    while True:
        with context.database.reading() as session:
            entries = _select_entries(session, wanted, before, _ROWS_AT_ONCE)
        if not entries:
            return
        yield write_csv(_list_cells(entry) for entry in entries)
        before = entries[-1].id


def _select_entries(session: Session, wanted: AuditFilter, before: int | None, limit: int) -> Sequence[AuditEntry]:
    query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    if wanted.user is not None:
        query = query.where(AuditEntry.user_name == wanted.user)
    if wanted.action is not None:
        query = query.where(AuditEntry.action.startswith(wanted.action, autoescape=True))
    if wanted.subject is not None:
        query = query.where(AuditEntry.subject == wanted.subject)
    return session.execute(query).scalars().all()


def _list_cells(entry: AuditEntry) -> tuple[object, ...]:
    at = datetime.fromtimestamp(entry.at, UTC).isoformat()
    return entry.id, at, entry.user_name, entry.action, entry.subject, _dump(entry.before), _dump(entry.after)


def _dump(side: dict[str, Any] | None) -> str | None:
    return None if side is None else orjson.dumps(side, option=orjson.OPT_SORT_KEYS).decode()
