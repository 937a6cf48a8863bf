"""What people do with exports: ask for one, verify, push, delete. Each change is one transaction, and audited."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.profile import bind_profile
from curation.run_folder import RunFolder
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.concepts.repository import require_version
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotFound
from primer.app.exports import repository
from primer.app.exports.first import MADE
from primer.app.exports.options import ExportChoices
from primer.app.exports.repository import Found
from primer.app.jobs import repository as jobs
from primer.app.jobs.options import JobOptions
from primer.app.jobs.service import add_job_on_run, require_published, require_room
from primer.app.jobs.states import JobKind, JobState, TaskKind
from primer.app.models import Export, ExportCheck, ExportPush, Job
from primer.app.overrides.repository import read_revision
from primer.app.vocabularies.repository import choose_version

_DELETING: Final = ".deleting-"


def request_export(
    context: Context,
    actor: Actor,
    *,
    base_job_id: int,
    profile_id: int | None,
    overrides_revision: int | None,
    choices: ExportChoices,
) -> Found:
    """Export a finished job's run. `profile_id` None: that job's own; `overrides_revision` None: the newest of now.

    Raises NotFound, Conflict when the job is not measured to its end or the profile is a draft, ProfileError when the
    profile binds other models than the run's, QuotaError when the disk has no room.
    """
    actor.require(Action.EXPORTS)
    with context.database.transaction() as session:
        base = jobs.get_job(session, base_job_id)
        if base.state != JobState.SUCCEEDED or base.kind != JobKind.CURATE:
            raise Conflict(
                f"Job {base_job_id} is {base.state}, of the kind {base.kind}: only a run that is measured to its end can be "
                "exported.",
                hint="Name the job that curated the source, and wait for its end.",
            )
        profile_id = profile_id or base.profile_id
        _require_binding(context, session, base, profile_id)
        choose_version(session, choices.vocabulary_id)
        newest = read_revision(session, base.source_id)
        revision = newest if overrides_revision is None else overrides_revision
        if revision > newest:
            raise NotFound(f"The source's rulings have no revision {revision}.", hint=f"The newest is {newest}.")
        source = jobs.get_source(session, base.source_id)
        require_room(context, source.size_bytes or 0, JobOptions.model_validate(base.options))
        job = add_job_on_run(session, context, actor, base, JobKind.EXPORT, TaskKind.EXPORT, profile_id=profile_id)
        if choices.max_leak_share is not None:
            catalogue = require_version(session, choices.leak_catalogue)
            choices = choices.model_copy(update={"leak_catalogue": catalogue.version})
        described = choices.model_dump(mode="json")
        export = Export(
            kind=MADE,
            source_id=base.source_id,
            base_job_id=base.id,
            job_id=job.id,
            folder="",
            options=described,
            overrides_revision=revision,
            documents_written=0,
            tokens_written=0,
            bytes_written=0,
        )
        session.add(export)
        session.flush()
        export.folder = f"exports/export-{export.id:06d}"
        asked = {"base_job_id": base.id, "profile_id": profile_id, "overrides_revision": revision}
        record_change(session, actor, "export.request", f"export/{export.id}", after=asked | described)
        return repository.require_export(session, export.id)


def list_exports(
    context: Context, actor: Actor, *, before: int | None, limit: int, source_id: int | None, base_job_id: int | None
) -> Sequence[Found]:
    """Newest first."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_exports(
            session, before=before, limit=limit, source_id=source_id, base_job_id=base_job_id
        )


def request_check(context: Context, actor: Actor, export_id: int) -> Job:
    """Verify an export again. Raises NotFound, Conflict when it is not there."""
    actor.require(Action.EXPORTS)
    with context.database.transaction() as session:
        found = repository.lock_export(session, export_id)
        require_files(found)
        job = _add_job(session, context, actor, found, JobKind.VERIFY_EXPORT, TaskKind.VERIFY)
        session.add(ExportCheck(export_id=export_id, job_id=job.id))
        record_change(session, actor, "export.verify", f"export/{export_id}", after={"job_id": job.id})
        return job


def request_push(
    context: Context, actor: Actor, export_id: int, *, repo_id: str, revision: str, is_private: bool
) -> Job:
    """Upload an export to a repository of the Hub. Raises NotFound, Conflict when it is not there."""
    actor.require(Action.EXPORTS)
    with context.database.transaction() as session:
        found = repository.lock_export(session, export_id)
        require_files(found)
        job = _add_job(session, context, actor, found, JobKind.PUSH_EXPORT, TaskKind.PUSH)
        session.add(
            ExportPush(export_id=export_id, job_id=job.id, repository=repo_id, revision=revision, is_private=is_private)
        )
        described = {"job_id": job.id, "repository": repo_id, "revision": revision, "is_private": is_private}
        record_change(session, actor, "export.push", f"export/{export_id}", after=described)
        return job


def delete_export(context: Context, actor: Actor, export_id: int) -> None:
    """Remove its files; the row stays. Doing so again removes what a crash left. Raises NotFound, Conflict while a job
    works on it."""
    actor.require(Action.EXPORTS)
    with context.database.transaction() as session:
        found = repository.lock_export(session, export_id)
        active = repository.find_active_job(session, export_id)
        if active is not None:
            raise Conflict(f"Job {active} is working on export {export_id}.", hint="Wait for its end, or cancel it.")
        if found.export.deleted_at is None:
            found.export.deleted_by = actor.name
            found.export.deleted_at = session.execute(select(now())).scalar_one()
            record_change(
                session, actor, "export.delete", f"export/{export_id}", before={"folder": found.export.folder}
            )
    _remove(context.settings.data_dir / found.export.folder)


def find_files(context: Context, actor: Actor, export_id: int) -> tuple[Found, Path]:
    """A finished export and its folder. Raises NotFound, Conflict when it is not finished, or deleted."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        found = repository.require_export(session, export_id)
    require_files(found)
    return found, context.settings.data_dir / found.export.folder


def has_files(found: Found) -> bool:
    return found.export.deleted_at is None and found.job.state == JobState.SUCCEEDED


def require_files(found: Found) -> None:
    """Raises Conflict."""
    export = found.export
    if export.deleted_at is not None:
        raise Conflict(
            f"{export.deleted_by} has deleted the files of export {export.id}.", hint="Ask for the same export again."
        )
    if found.job.state != JobState.SUCCEEDED:
        raise Conflict(f"Export {export.id} is {found.job.state}.", hint=f"See job {found.job.id}.")


def _require_binding(context: Context, session: Session, base: Job, profile_id: int) -> None:
    """Raises NotFound, Conflict, ProfileError."""
    require_published(session, profile_id)
    profile = jobs.read_profile(session, profile_id)
    bind_profile(profile, RunFolder(context.settings.data_dir / base.folder).ledger.read_plan().recipe)


def _add_job(session: Session, context: Context, actor: Actor, found: Found, kind: JobKind, task: TaskKind) -> Job:
    base = jobs.get_job(session, found.export.base_job_id)
    return add_job_on_run(session, context, actor, base, kind, task, profile_id=found.job.profile_id)


def _remove(folder: Path) -> None:
    """At once for whoever looks for it, and then file by file."""
    for leftover in folder.parent.glob(f"{_DELETING}{folder.name}-*"):
        shutil.rmtree(leftover)
    if folder.exists():
        hidden = folder.parent / f"{_DELETING}{folder.name}-{uuid.uuid4().hex}"
        os.rename(folder, hidden)
        shutil.rmtree(hidden)
