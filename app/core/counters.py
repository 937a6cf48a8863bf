"""Numbers that only rise and outlive every process: kept in the database, raised in the transaction of what they count."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from primer.app.models import Counter

LEASE_EXPIRIES: Final = "lease_expiries"


def raise_counter(session: Session, name: str) -> int:
    """The new value, 1 at first. Until the transaction ends nobody else raises it."""
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    raised = (
        dialect.insert(Counter)
        .values(name=name, value=1)
        .on_conflict_do_update(index_elements=["name"], set_={"value": Counter.value + 1})
        .returning(Counter.value)
    )
    return int(session.execute(raised).scalar_one())


def read_counter(session: Session, name: str) -> int:
    """0 where nothing was counted yet."""
    return session.execute(select(Counter.value).where(Counter.name == name)).scalar_one_or_none() or 0
