"""Exports: corpora for trainers, what checks of them found, and where they were pushed to.

How far an export is, and why it failed, its job says. Files may be deleted; the rows stay.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Id, Name, Note, Seconds


class Export(Base):
    """`kind`: first, a curate job's own, or made, asked for later. `base_job_id` is the job whose run it is of, `job_id` the
    one that makes it: of a first export the same. `folder` is relative to the data folder. `options` and
    `overrides_revision` are null for a first export, which no ruling decides."""

    __tablename__ = "exports"
    __table_args__ = (Index(None, "source_id"), Index(None, "base_job_id"))

    id: Mapped[Id]
    kind: Mapped[Name]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    base_job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"))
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    folder: Mapped[Note]
    options: Mapped[dict[str, Any] | None]
    overrides_revision: Mapped[int | None]
    documents_written: Mapped[int] = mapped_column(default=0)
    tokens_written: Mapped[int] = mapped_column(default=0)
    bytes_written: Mapped[int] = mapped_column(default=0)
    deleted_by: Mapped[Name | None]
    deleted_at: Mapped[Seconds | None]


class ExportCheck(Base):
    """One verification. `is_sound` and what follows are null until it is done; `problems` holds the first ones."""

    __tablename__ = "export_checks"
    __table_args__ = (Index(None, "export_id"),)

    id: Mapped[Id]
    export_id: Mapped[int] = mapped_column(ForeignKey("exports.id"))
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    is_sound: Mapped[bool | None]
    files_checked: Mapped[int | None]
    rows_rechecked: Mapped[int | None]
    problem_count: Mapped[int | None]
    problems: Mapped[list[Any] | None]
    checked_at: Mapped[Seconds | None]


class ExportPush(Base):
    """One upload to a repository of the Hub. `commit_sha` and `url` are null until it is done."""

    __tablename__ = "export_pushes"
    __table_args__ = (Index(None, "export_id"),)

    id: Mapped[Id]
    export_id: Mapped[int] = mapped_column(ForeignKey("exports.id"))
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    repository: Mapped[Name]
    revision: Mapped[Name]
    is_private: Mapped[bool]
    commit_sha: Mapped[Name | None]
    url: Mapped[Note | None]
    pushed_at: Mapped[Seconds | None]
