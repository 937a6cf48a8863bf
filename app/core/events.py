"""Writing events, in the order of their commits."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from primer.app.core.clock import now
from primer.app.models import Counter, Event

EVENT_COUNTER = "events"


def record_event(session: Session, kind: str, data: dict[str, Any], *, job_id: int | None = None) -> None:
    """Add an event. Call it last: from here to the commit nobody else can."""
    number = session.execute(
        update(Counter).where(Counter.name == EVENT_COUNTER).values(value=Counter.value + 1).returning(Counter.value)
    ).scalar_one()
    session.execute(insert(Event).values(sequence=number, at=now(), job_id=job_id, kind=kind, data=data))
