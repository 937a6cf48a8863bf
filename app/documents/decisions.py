"""Which decision set a request is about: a job's run, seen through a stored profile or a draft, with the rulings in force."""

from __future__ import annotations

from dataclasses import dataclass

from curation.index.request import DecisionRequest
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import Profile, bind_profile
from curation.request import read_request
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.documents.indexes import Indexes, OpenIndex
from primer.app.jobs import repository
from primer.app.jobs.states import JobState
from primer.app.models import Job
from primer.app.overrides.loading import load_overrides


@dataclass(frozen=True)
class OpenDecisions:
    """A run's open index with the request for its decisions."""

    job: Job
    opened: OpenIndex
    request: DecisionRequest


def open_decisions(
    context: Context,
    indexes: Indexes,
    job_id: int,
    *,
    profile_id: int | None = None,
    draft: Profile | None = None,
    revision: int | None = None,
) -> OpenDecisions:
    """The decisions of a finished job; its own profile unless another is named; the newest rulings unless a revision is.

    Raises NotFound, Conflict while the job is not measured to its end, NotReady while its index is built, ProfileError
    when the profile binds other models than the run measured with.
    """
    with context.database.reading() as session:
        job = repository.get_job(session, job_id)
        _require_measured(job)
        profile = draft or repository.read_profile(session, profile_id or job.profile_id)
    overrides = load_overrides(context, job.source_id, revision)
    run = context.settings.data_dir / job.folder
    opened = indexes.get(run)
    bound = bind_profile(profile, opened.folder.ledger.read_plan().recipe)
    rules = read_request(run).source_rules
    return OpenDecisions(job, opened, DecisionRequest(bound, PLAIN_VOCABULARY, overrides, rules))


def _require_measured(job: Job) -> None:
    if job.state != JobState.SUCCEEDED:
        raise Conflict(
            f"Job {job.id} is {job.state}: its documents can be browsed once it has succeeded.",
            hint="Wait for its end, or retry what failed.",
        )
