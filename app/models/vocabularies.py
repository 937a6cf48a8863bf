"""Versions of vocabularies. Rows are added and never changed; going back is a row."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Hash, Id, Name, Note, Seconds


class VocabularyRecord(Base):
    """`content` is what a `curation.lexicon.vocabulary.VocabularyVersion` rules, with its notes; `parent_id` the version that it
    was made from, null for the first of a name."""

    __tablename__ = "vocabulary_versions"
    __table_args__ = (UniqueConstraint("name", "version"),)

    id: Mapped[Id]
    name: Mapped[Name]
    version: Mapped[int]
    content: Mapped[dict[str, Any]]
    sha256: Mapped[Hash]
    note: Mapped[Note]
    author: Mapped[Name]
    created_at: Mapped[Seconds]
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("vocabulary_versions.id"))
