"""Versions of profiles. A draft may be changed; a published version never is."""

from __future__ import annotations

from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped

from primer.app.models.base import Base, Hash, Id, Name, Note, Seconds


class ProfileVersion(Base):
    """`content` is a `curation.profile.Profile`; `state` is draft, published or discarded."""

    __tablename__ = "profile_versions"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[Id]
    name: Mapped[Name]
    version: Mapped[int]
    state: Mapped[Name]
    content: Mapped[dict[str, Any]]
    sha256: Mapped[Hash]
    note: Mapped[Note]
    author: Mapped[Name]
    created_at: Mapped[Seconds]
    changed_at: Mapped[Seconds]
    published_at: Mapped[Seconds | None]
