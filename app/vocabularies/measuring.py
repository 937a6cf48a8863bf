"""The job that tells the words of a version apart in a run that is measured."""

from __future__ import annotations

from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, Unprocessable
from primer.app.jobs import repository as jobs
from primer.app.jobs.service import add_job_on_run
from primer.app.jobs.states import JobKind, JobState, TaskKind
from primer.app.models import Job
from primer.app.vocabularies.repository import read_version


def request_measuring(context: Context, actor: Actor, job_id: int, *, vocabulary_id: int) -> Job:
    """Raises NotFound, Conflict when the job is not measured to its end, Unprocessable for a version without sense rules."""
    actor.require(Action.JOBS)
    with context.database.transaction() as session:
        base = jobs.get_job(session, job_id)
        if base.state != JobState.SUCCEEDED or base.kind != JobKind.CURATE:
            raise Conflict(
                f"Job {job_id} is {base.state}, of the kind {base.kind}: senses are measured in runs that are measured to their "
                "end.",
                hint="Name the job that curated the source, and wait for its end.",
            )
        version = read_version(session, vocabulary_id)
        if not version.senses:
            raise Unprocessable(
                f"{version.name} version {version.version} tells no word apart by sense.",
                hint="There is nothing to measure.",
            )
        job = add_job_on_run(
            session,
            context,
            actor,
            base,
            JobKind.MEASURE_SENSES,
            TaskKind.SENSES,
            profile_id=base.profile_id,
            vocabulary_id=vocabulary_id,
        )
        described = {"job_id": job.id, "vocabulary_id": vocabulary_id}
        record_change(session, actor, "vocabulary.measure", f"job/{base.id}", after=described)
        return job
