"""Jobs: what a person asked for, how far it is, and what its documents came to.

Counters and outcomes are raised in the transaction that ends a task, once a task, so they are right after every restart.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, BigId, Id, Name, Note, Seconds


class Job(Base):
    """`folder` is the run's, relative to the data folder; `open_tasks` counts those that wait or run. `facts` is what the plan
    found out (run id, stages, statement), `report` what the finished run says of itself."""

    __tablename__ = "jobs"
    __table_args__ = (Index(None, "state"), Index(None, "source_id"))

    id: Mapped[Id]
    kind: Mapped[Name]
    state: Mapped[Name]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    profile_id: Mapped[int] = mapped_column(ForeignKey("profile_versions.id"))
    base_job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id"))
    options: Mapped[dict[str, Any]]
    folder: Mapped[Note]
    error: Mapped[Note | None]
    error_hint: Mapped[Note | None]
    open_tasks: Mapped[int] = mapped_column(default=0)
    failed_tasks: Mapped[int] = mapped_column(default=0)
    slices_total: Mapped[int] = mapped_column(default=0)
    slices_done: Mapped[int] = mapped_column(default=0)
    documents_total: Mapped[int] = mapped_column(default=0)
    documents_done: Mapped[int] = mapped_column(default=0)
    bytes_done: Mapped[int] = mapped_column(default=0)
    rows_left: Mapped[int | None]
    facts: Mapped[dict[str, Any] | None]
    report: Mapped[dict[str, Any] | None]
    created_by: Mapped[Name]
    created_at: Mapped[Seconds]
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]


class Outcome(Base):
    """Documents and tokens of a job by outcome, as `curation.funnel.Funnel` counts them."""

    __tablename__ = "outcomes"

    job_id: Mapped[int] = mapped_column(BigId, ForeignKey("jobs.id"), primary_key=True)
    failed: Mapped[int] = mapped_column(BigId, primary_key=True)
    missing: Mapped[int] = mapped_column(BigId, primary_key=True)
    kept: Mapped[int] = mapped_column(BigId, primary_key=True)
    documents: Mapped[int]
    tokens: Mapped[int]
