"""Claims of scans: one process scans a source at a time, and one that has fallen silent is replaced.

Every function is one step of a transaction. The row is the truth: a claim is one conditional UPDATE, its token the fence
that refuses what a process records that has lost it.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import partial

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.db import after_commit
from primer.app.models import Source
from primer.app.sources.states import SourceState

_IS_DUE = Source.state.in_((SourceState.REGISTERED, SourceState.SCANNING)) & or_(
    Source.scan_until.is_(None), Source.scan_until < now()
)


@dataclass(frozen=True)
class ScanClaim:
    source_id: int
    token: str


def claim(session: Session, source_id: int, *, seconds: float) -> ScanClaim | None:
    """Take a source that waits for its scan; None where there is nothing to take, whoever asks and however often."""
    token = uuid.uuid4().hex
    found = session.execute(
        update(Source)
        .where(Source.id == source_id, Source.state == SourceState.REGISTERED)
        .values(
            state=SourceState.SCANNING,
            error=None,
            scan_token=token,
            scan_until=now() + seconds,
            scan_attempts=Source.scan_attempts + 1,
        )
        .returning(Source.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if found is None else ScanClaim(source_id, token)


def extend(session: Session, held: ScanClaim, *, seconds: float) -> bool:
    """Say that the scan goes on; False when the claim is lost."""
    found = session.execute(
        update(Source)
        .where(Source.id == held.source_id, Source.scan_token == held.token)
        .values(scan_until=now() + seconds)
        .returning(Source.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return found is not None


def lock_claimed(session: Session, held: ScanClaim) -> Source | None:
    """The source, for its holder to record the scan's end; None when the claim is lost or the source gone."""
    found = session.execute(
        select(Source)
        .where(Source.id == held.source_id, Source.scan_token == held.token)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).scalar_one_or_none()
    if found is not None:
        found.scan_token = found.scan_until = None
        found.scan_attempts = 0
    return found


def let_go(session: Session, held: ScanClaim) -> None:
    """The worker stops: the source waits for another, as if it had not been tried."""
    session.execute(
        update(Source)
        .where(Source.id == held.source_id, Source.scan_token == held.token)
        .values(state=SourceState.REGISTERED, scan_token=None, scan_until=None, scan_attempts=Source.scan_attempts - 1)
        .execution_options(synchronize_session=False)
    )


def wait_for_scan(session: Session, context: Context, source: Source) -> None:
    """Let a source wait, whatever it was, and tell the workers after the commit. A scan under way counts for nothing."""
    source.state = SourceState.REGISTERED
    source.scan_token = None
    source.scan_attempts = 0
    session.flush()
    _announce(session, context, Source.id == source.id)


def announce_due(context: Context) -> list[int]:
    """Announce sources that nobody scans: never told of, told of long ago, or left by a process that fell silent.

    One whose scan ended its process too often fails, and says so. The ids of those announced.
    """
    with context.database.reading() as session:
        if session.execute(select(Source.id).where(_IS_DUE).limit(1)).first() is None:
            return []
    with context.database.transaction() as session:
        _fail_hopeless(session, context.settings.max_attempts)
        return _announce(session, context, _IS_DUE)


def _fail_hopeless(session: Session, max_attempts: int) -> None:
    session.execute(
        update(Source)
        .where(
            Source.state == SourceState.SCANNING,
            Source.scan_until < now(),
            Source.scan_attempts >= max_attempts,
        )
        .values(
            state=SourceState.FAILED,
            error=f"The process that scanned it ended, or fell silent, {max_attempts} times.",
            scan_token=None,
            scan_until=None,
            scan_attempts=0,
        )
        .execution_options(synchronize_session=False)
    )


def _announce(session: Session, context: Context, which: ColumnElement[bool]) -> list[int]:
    found = session.execute(
        update(Source)
        .where(which)
        .values(state=SourceState.REGISTERED, scan_token=None, scan_until=now() + context.settings.resend_after)
        .returning(Source.id)
        .execution_options(synchronize_session=False)
    ).all()
    announced = sorted(row.id for row in found)
    if announced:
        after_commit(session, partial(_send, context, announced))
    return announced


def _send(context: Context, source_ids: list[int]) -> None:
    context.messenger.send_scans(source_ids)
