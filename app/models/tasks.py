"""Tasks: what a worker does at one time. The row is the truth; a message only says that it is there."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Id, Name, Note, Seconds


class Task(Base):
    """`lease_token` is new with every claim: who holds an older one can change nothing any more."""

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("job_id", "kind", "shard_index", "slice_index"),
        Index(None, "state", "lease_until"),
        Index(None, "job_id", "state", "sent_at"),
    )

    id: Mapped[Id]
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"))
    kind: Mapped[Name]
    queue: Mapped[Name]
    shard_index: Mapped[int] = mapped_column(default=-1)
    slice_index: Mapped[int] = mapped_column(default=-1)
    state: Mapped[Name]
    attempts: Mapped[int] = mapped_column(default=0)
    lease_token: Mapped[Name | None]
    lease_until: Mapped[Seconds | None]
    worker: Mapped[Name | None]
    sent_at: Mapped[Seconds | None]
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]
    documents: Mapped[int | None]
    text_bytes: Mapped[int | None]
    error: Mapped[Note | None]
    error_hint: Mapped[Note | None]
    created_at: Mapped[Seconds]
