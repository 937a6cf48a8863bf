"""Rulings: what people decided in the place of the profile. Rows are added and never changed; undo is an entry.

Single and bulk rulings of a source share one count of revisions, which rises by one with each and has no gap.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Hash, Id, Name, Note, Seconds


class Override(Base):
    """A ruling on one row of a shard. `action`: keep, exclude or undo."""

    __tablename__ = "overrides"
    __table_args__ = (
        UniqueConstraint("source_id", "revision"),
        Index(None, "source_id", "shard_sha256", "row"),
        Index(None, "source_id", "author"),
    )

    id: Mapped[Id]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    revision: Mapped[int]
    shard_sha256: Mapped[Hash]
    row: Mapped[int]
    action: Mapped[Name]
    author: Mapped[Name]
    reason: Mapped[Note]
    at: Mapped[Seconds]


class BulkRuling(Base):
    """One ruling on many rows, which are in a Parquet file. `file` is relative to the data folder; `query` is how the rows
    were found, null where they were listed."""

    __tablename__ = "bulk_rulings"
    __table_args__ = (UniqueConstraint("source_id", "revision"),)

    id: Mapped[Id]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    revision: Mapped[int]
    action: Mapped[Name]
    author: Mapped[Name]
    reason: Mapped[Note]
    at: Mapped[Seconds]
    row_count: Mapped[int]
    file: Mapped[Note]
    file_sha256: Mapped[Hash]
    query: Mapped[dict[str, Any] | None]
