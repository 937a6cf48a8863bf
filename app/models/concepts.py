"""Versions of the catalogue of concepts, and what was measured and probed with them. Versions are added and never changed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Double, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Hash, Id, Name, Note, Seconds


class CatalogueRecord(Base):
    """`content` is a `curation.concepts.catalogue.Catalogue` as JSON, loaded only where it is asked for. `based_on` is the version
    that it was made from, null for the first; `changes` the ids of concepts by what happened to them since that one."""

    __tablename__ = "catalogue_versions"

    id: Mapped[Id]
    version: Mapped[int] = mapped_column(unique=True)
    content: Mapped[str] = mapped_column(Text, deferred=True)
    sha256: Mapped[Hash]
    concept_count: Mapped[int]
    changes: Mapped[dict[str, Any]]
    note: Mapped[Note]
    author: Mapped[Name]
    created_at: Mapped[Seconds]
    based_on: Mapped[int | None]


class ConceptMeasuring(Base):
    """A job that measures a catalogue in the run of another. How far it is, the run's ledger says."""

    __tablename__ = "concept_measurings"
    __table_args__ = (Index(None, "base_job_id"),)

    id: Mapped[Id]
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    base_job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"))
    catalogue_id: Mapped[int] = mapped_column(ForeignKey("catalogue_versions.id"))


class LeakProbe(Base):
    """A probe of what a run keeps, or of an export's curriculum where `export_id` is not null. `documents` and what follows are null
    until it is done; `report` is JSON in ASCII, for it quotes documents. `overrides_revision`: of a run's rulings."""

    __tablename__ = "leak_probes"
    __table_args__ = (Index(None, "base_job_id"), Index(None, "export_id"))

    id: Mapped[Id]
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    base_job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"))
    export_id: Mapped[int | None] = mapped_column(ForeignKey("exports.id"))
    catalogue_id: Mapped[int] = mapped_column(ForeignKey("catalogue_versions.id"))
    overrides_revision: Mapped[int]
    max_share: Mapped[float | None] = mapped_column(Double)
    documents: Mapped[int | None]
    leaking: Mapped[int | None]
    report: Mapped[str | None] = mapped_column(Text, deferred=True)
