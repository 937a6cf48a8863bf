"""The SQL of exports. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, aliased

from primer.app.core.errors import NotFound
from primer.app.jobs.states import FINAL
from primer.app.models import Export, ExportCheck, ExportPush, Job, LeakProbe, ProfileVersion, Source


@dataclass(frozen=True)
class Found:
    """An export with its job, whose profile decides it, and its source."""

    export: Export
    job: Job
    profile: ProfileVersion
    source: Source


def require_export(session: Session, export_id: int) -> Found:
    """Raises NotFound."""
    row = session.execute(_select().where(Export.id == export_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no export {export_id}.", hint="See the list of exports.")
    return Found(row[0], row[1], row[2], row[3])


def lock_export(session: Session, export_id: int) -> Found:
    """Nobody else checks, pushes or deletes it until the transaction ends. Raises NotFound."""
    session.execute(select(Export.id).where(Export.id == export_id).with_for_update())
    return require_export(session, export_id)


def list_exports(
    session: Session, *, before: int | None, limit: int, source_id: int | None, base_job_id: int | None
) -> Sequence[Found]:
    """Newest first."""
    wanted = _select().order_by(Export.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(Export.id < before)
    if source_id is not None:
        wanted = wanted.where(Export.source_id == source_id)
    if base_job_id is not None:
        wanted = wanted.where(Export.base_job_id == base_job_id)
    return [Found(row[0], row[1], row[2], row[3]) for row in session.execute(wanted)]


def find_of_job(session: Session, job_id: int) -> Export:
    """What an export job makes."""
    return session.execute(select(Export).where(Export.job_id == job_id)).scalar_one()


def find_check(session: Session, job_id: int) -> ExportCheck:
    return session.execute(select(ExportCheck).where(ExportCheck.job_id == job_id)).scalar_one()


def find_push(session: Session, job_id: int) -> ExportPush:
    return session.execute(select(ExportPush).where(ExportPush.job_id == job_id)).scalar_one()


def list_checks(session: Session, export_id: int) -> Sequence[tuple[ExportCheck, Job]]:
    """Newest first."""
    wanted = select(ExportCheck, Job).join(Job, Job.id == ExportCheck.job_id).where(ExportCheck.export_id == export_id)
    return [(row[0], row[1]) for row in session.execute(wanted.order_by(ExportCheck.id.desc()))]


def list_pushes(session: Session, export_id: int) -> Sequence[tuple[ExportPush, Job]]:
    """Newest first."""
    wanted = select(ExportPush, Job).join(Job, Job.id == ExportPush.job_id).where(ExportPush.export_id == export_id)
    return [(row[0], row[1]) for row in session.execute(wanted.order_by(ExportPush.id.desc()))]


def find_active_job(session: Session, export_id: int) -> int | None:
    """A job that makes, checks, pushes or probes the export now; None where there is none."""
    keys = (
        (Export, Export.id),
        (ExportCheck, ExportCheck.export_id),
        (ExportPush, ExportPush.export_id),
        (LeakProbe, LeakProbe.export_id),
    )
    for model, key in keys:
        found = session.execute(
            select(Job.id).join(model, model.job_id == Job.id).where(key == export_id, Job.state.not_in(FINAL)).limit(1)
        ).scalar_one_or_none()
        if found is not None:
            return found
    return None


def _select() -> Select[Export, Job, ProfileVersion, Source]:
    maker = aliased(Job)
    return (
        select(Export, maker, ProfileVersion, Source)
        .join(maker, maker.id == Export.job_id)
        .join(ProfileVersion, ProfileVersion.id == maker.profile_id)
        .join(Source, Source.id == Export.source_id)
    )
