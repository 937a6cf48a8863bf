"""Where documents come from: sources and their shards, what may be named as one, and what must not be used of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Hash, Id, Name, Note, Seconds


class AllowedPrefix(Base):
    """A place that sources may name: a folder, or the beginning of a URL. `allows_private`: addresses of private networks too."""

    __tablename__ = "allowed_prefixes"

    id: Mapped[Id]
    prefix: Mapped[Note] = mapped_column(unique=True)
    allows_private: Mapped[bool]
    note: Mapped[Note] = mapped_column(default="")
    created_by: Mapped[Name]
    created_at: Mapped[Seconds]


class Source(Base):
    """`state`: registered, scanning, ready or failed. Counts are null until its shards are scanned.

    `scan_token` is new with every claim of the scan; `scan_until` is when it lapses, or when workers are told again."""

    __tablename__ = "sources"

    id: Mapped[Id]
    name: Mapped[Name] = mapped_column(unique=True)
    locations: Mapped[list[Any]]
    config: Mapped[Name | None]
    split: Mapped[Name | None]
    text_field: Mapped[Name]
    state: Mapped[Name]
    error: Mapped[Note | None]
    shard_count: Mapped[int | None]
    row_count: Mapped[int | None]
    size_bytes: Mapped[int | None]
    created_by: Mapped[Name]
    created_at: Mapped[Seconds]
    scanned_at: Mapped[Seconds | None]
    scan_token: Mapped[Name | None]
    scan_until: Mapped[Seconds | None]
    scan_attempts: Mapped[int] = mapped_column(default=0, server_default="0")


class SourceShard(Base):
    """A shard as it was scanned. `row_count` and `row_groups` are null where a format does not say without reading it all."""

    __tablename__ = "source_shards"
    __table_args__ = (UniqueConstraint("source_id", "position"),)

    id: Mapped[Id]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    position: Mapped[int]
    name: Mapped[Note]
    size_bytes: Mapped[int | None]
    sha256: Mapped[Hash | None]
    row_count: Mapped[int | None]
    row_groups: Mapped[int | None]
    error: Mapped[Note | None]


class SourceRule(Base):
    """Documents that must not be kept: of a `domain`, below a `url_prefix`, or under a `licence`. `source_id` null: of every source."""

    __tablename__ = "source_rules"
    __table_args__ = (Index(None, "source_id"),)

    id: Mapped[Id]
    source_id: Mapped[int | None] = mapped_column(ForeignKey("sources.id"))
    kind: Mapped[Name]
    value: Mapped[Note]
    reason: Mapped[Note]
    created_by: Mapped[Name]
    created_at: Mapped[Seconds]
    retired_by: Mapped[Name | None]
    retired_at: Mapped[Seconds | None]
