"""The SQL of catalogue versions, measurings and probes. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from primer.app.core.errors import NotFound
from primer.app.jobs.states import FINAL, JobState
from primer.app.models import CatalogueRecord, ConceptMeasuring, Job, LeakProbe

_WHOLE = undefer(CatalogueRecord.content)


def find_newest(session: Session) -> CatalogueRecord | None:
    """With what it holds."""
    wanted = select(CatalogueRecord).options(_WHOLE).order_by(CatalogueRecord.version.desc()).limit(1)
    return session.execute(wanted).scalar_one_or_none()


def require_version(session: Session, version: int | None) -> CatalogueRecord:
    """With what it holds; None: the newest. Raises NotFound."""
    if version is None:
        found = find_newest(session)
    else:
        wanted = select(CatalogueRecord).options(_WHOLE).where(CatalogueRecord.version == version)
        found = session.execute(wanted).scalar_one_or_none()
    if found is None:
        said = "any version" if version is None else f"a version {version}"
        raise NotFound(f"There is not {said} of the catalogue of concepts.", hint="See the list of its versions.")
    return found


def require_by_id(session: Session, catalogue_id: int) -> CatalogueRecord:
    return session.execute(
        select(CatalogueRecord).options(_WHOLE).where(CatalogueRecord.id == catalogue_id)
    ).scalar_one()


def list_versions(session: Session, *, before: int | None, limit: int) -> Sequence[CatalogueRecord]:
    """Newest first, without what they hold."""
    wanted = select(CatalogueRecord).order_by(CatalogueRecord.version.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(CatalogueRecord.version < before)
    return session.execute(wanted).scalars().all()


def number_versions(session: Session) -> dict[str, int]:
    """Version numbers by hash; of equal ones the first."""
    rows = session.execute(
        select(CatalogueRecord.sha256, CatalogueRecord.version).order_by(CatalogueRecord.version.desc())
    )
    return {row.sha256: row.version for row in rows}


def find_measuring(session: Session, job_id: int) -> ConceptMeasuring:
    return session.execute(select(ConceptMeasuring).where(ConceptMeasuring.job_id == job_id)).scalar_one()


def list_measurings(session: Session, base_job_id: int) -> Sequence[tuple[int, Job]]:
    """The catalogue versions that jobs measured in a run, with the newest job of each."""
    rows = session.execute(
        select(CatalogueRecord.version, Job)
        .join(ConceptMeasuring, ConceptMeasuring.catalogue_id == CatalogueRecord.id)
        .join(Job, Job.id == ConceptMeasuring.job_id)
        .where(ConceptMeasuring.base_job_id == base_job_id)
        .order_by(Job.id)
    ).all()
    return list({row[0]: (row[0], row[1]) for row in rows}.values())


def list_jobs_measured_with(session: Session, version: int) -> list[int]:
    """The jobs in whose runs a version was measured by this service, by id."""
    rows = session.execute(
        select(ConceptMeasuring.base_job_id)
        .join(CatalogueRecord, CatalogueRecord.id == ConceptMeasuring.catalogue_id)
        .join(Job, Job.id == ConceptMeasuring.job_id)
        .where(CatalogueRecord.version == version, Job.state == JobState.SUCCEEDED)
        .distinct()
        .order_by(ConceptMeasuring.base_job_id)
    )
    return list(rows.scalars())


def find_active_measuring(session: Session, base_job_id: int, catalogue_id: int) -> int | None:
    """A job that measures this catalogue in this run now; None where there is none."""
    return session.execute(
        select(Job.id)
        .join(ConceptMeasuring, ConceptMeasuring.job_id == Job.id)
        .where(
            ConceptMeasuring.base_job_id == base_job_id,
            ConceptMeasuring.catalogue_id == catalogue_id,
            Job.state.not_in(FINAL),
        )
        .limit(1)
    ).scalar_one_or_none()


def find_probe_of_job(session: Session, job_id: int) -> LeakProbe:
    return session.execute(select(LeakProbe).where(LeakProbe.job_id == job_id)).scalar_one()


def require_probe(session: Session, probe_id: int) -> tuple[LeakProbe, Job, CatalogueRecord]:
    """With its report. Raises NotFound."""
    row = session.execute(
        select(LeakProbe, Job, CatalogueRecord)
        .options(undefer(LeakProbe.report))
        .join(Job, Job.id == LeakProbe.job_id)
        .join(CatalogueRecord, CatalogueRecord.id == LeakProbe.catalogue_id)
        .where(LeakProbe.id == probe_id)
    ).one_or_none()
    if row is None:
        raise NotFound(f"There is no probe {probe_id}.", hint="See the list of probes.")
    return row[0], row[1], row[2]


def list_probes(
    session: Session, *, before: int | None, limit: int, base_job_id: int | None, export_id: int | None
) -> Sequence[tuple[LeakProbe, Job, CatalogueRecord]]:
    """Newest first, without their reports."""
    wanted = (
        select(LeakProbe, Job, CatalogueRecord)
        .join(Job, Job.id == LeakProbe.job_id)
        .join(CatalogueRecord, CatalogueRecord.id == LeakProbe.catalogue_id)
        .order_by(LeakProbe.id.desc())
        .limit(limit)
    )
    if before is not None:
        wanted = wanted.where(LeakProbe.id < before)
    if base_job_id is not None:
        wanted = wanted.where(LeakProbe.base_job_id == base_job_id)
    if export_id is not None:
        wanted = wanted.where(LeakProbe.export_id == export_id)
    return [(row[0], row[1], row[2]) for row in session.execute(wanted)]
