"""What happened, in the order in which it was committed: what a stream of server-sent events reads.

`sequence` comes from a counter row that a transaction takes last and holds until it commits, so that no number appears
after a higher one.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, BigId, Name, Seconds


class Event(Base):
    """`job_id` is null for what belongs to no job."""

    __tablename__ = "events"
    __table_args__ = (Index(None, "job_id", "sequence"),)

    sequence: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    at: Mapped[Seconds]
    job_id: Mapped[int | None]
    kind: Mapped[Name]
    data: Mapped[dict[str, Any]]


class Counter(Base):
    __tablename__ = "counters"

    name: Mapped[Name] = mapped_column(primary_key=True)
    value: Mapped[int]
