"""Probes: every concept looked for in what a run keeps, or in an export's curriculum, as a job of its own."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from curation.profile import bind_profile
from curation.run_folder import RunFolder
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.concepts import repository
from primer.app.concepts.measuring import require_measured
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotFound
from primer.app.jobs import repository as jobs
from primer.app.jobs.service import add_job_on_run, require_published
from primer.app.jobs.states import JobKind, JobState, TaskKind
from primer.app.models import CatalogueRecord, Export, Job, LeakProbe
from primer.app.overrides.repository import read_revision

FoundProbe = tuple[LeakProbe, Job, CatalogueRecord]


def request_probe(
    context: Context,
    actor: Actor,
    *,
    base_job_id: int | None,
    export_id: int | None,
    version: int | None,
    profile_id: int | None,
    max_share: float | None,
) -> FoundProbe:
    """Probe a run under a profile (None: its job's own) and the rulings of now, or an export. `version` None: the newest catalogue;
    `max_share`: what the answer is compared with.

    Raises NotFound, Conflict when there is nothing to read, ProfileError when the profile binds other models than the run's.
    """
    actor.require(Action.JOBS)
    with context.database.transaction() as session:
        revision = 0
        if export_id is not None:
            base_id, profile_id = _require_export(session, export_id)
            base = jobs.get_job(session, base_id)
        else:
            assert base_job_id is not None
            base = require_measured(session, base_job_id, is_curated=True)
            profile_id = profile_id or base.profile_id
            require_published(session, profile_id)
            folder = RunFolder(context.settings.data_dir / base.folder)
            bind_profile(jobs.read_profile(session, profile_id), folder.ledger.read_plan().recipe)
            revision = read_revision(session, base.source_id)
        record = repository.require_version(session, version)
        job = add_job_on_run(session, context, actor, base, JobKind.PROBE, TaskKind.PROBE, profile_id=profile_id)
        probe = LeakProbe(
            job_id=job.id,
            base_job_id=base.id,
            export_id=export_id,
            catalogue_id=record.id,
            overrides_revision=revision,
            max_share=max_share,
        )
        session.add(probe)
        session.flush()
        described = {"job_id": job.id, "base_job_id": base.id, "export_id": export_id, "version": record.version}
        record_change(session, actor, "probe.request", f"probe/{probe.id}", after={**described, "max_share": max_share})
        return repository.require_probe(session, probe.id)


def read_probe(context: Context, actor: Actor, probe_id: int) -> FoundProbe:
    """With its report. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_probe(session, probe_id)


def list_probes(
    context: Context,
    actor: Actor,
    *,
    before: int | None,
    limit: int,
    base_job_id: int | None,
    export_id: int | None,
) -> Sequence[FoundProbe]:
    """Newest first, without their reports."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_probes(session, before=before, limit=limit, base_job_id=base_job_id, export_id=export_id)


def _require_export(session: Session, export_id: int) -> tuple[int, int]:
    """Its run's job and the profile that decided it. Raises NotFound, Conflict where it has no files."""
    export = session.get(Export, export_id)
    if export is None:
        raise NotFound(f"There is no export {export_id}.", hint="See the list of exports.")
    job = jobs.get_job(session, export.job_id)
    if export.deleted_at is not None or job.state != JobState.SUCCEEDED:
        said = "deleted" if export.deleted_at is not None else job.state
        raise Conflict(f"Export {export_id} is {said}: it has no files.", hint="Probe its run, or export it again.")
    return export.base_job_id, job.profile_id
