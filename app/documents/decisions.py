"""Which decision set a request is about: a job's run, seen through a stored or draft profile and vocabulary, with the rulings."""

from __future__ import annotations

from dataclasses import dataclass

from curation.index.request import DecisionRequest
from curation.index.senses import add_senses
from curation.lexicon.vocabulary import VocabularyVersion
from curation.profile import Profile, bind_profile
from curation.request import read_request
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.documents.indexes import Indexes, OpenIndex
from primer.app.documents.schemas import DecisionChoice
from primer.app.jobs import repository
from primer.app.jobs.states import JobState
from primer.app.models import Job
from primer.app.overrides.loading import load_overrides
from primer.app.vocabularies.repository import read_version


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
    vocabulary_id: int | None = None,
    draft_vocabulary: VocabularyVersion | None = None,
    revision: int | None = None,
) -> OpenDecisions:
    """The decisions of a finished job; its own profile and vocabulary unless others are named; the newest rulings unless a
    revision is.

    Raises NotFound, Conflict while the job is not measured to its end, NotReady while its index is built, ProfileError
    when the profile binds other models than the run measured with.
    """
    with context.database.reading() as session:
        job = repository.get_job(session, job_id)
        _require_measured(job)
        profile = draft or repository.read_profile(session, profile_id or job.profile_id)
        vocabulary = draft_vocabulary
        if vocabulary_id is not None:
            vocabulary = read_version(session, vocabulary_id)
    overrides = load_overrides(context, job.source_id, revision)
    run = context.settings.data_dir / job.folder
    opened = indexes.get(run)
    bound = bind_profile(profile, opened.folder.ledger.read_plan().recipe)
    asked = read_request(run)
    vocabulary = vocabulary or asked.vocabulary
    add_senses(opened.folder, opened.index, vocabulary.senses)
    return OpenDecisions(job, opened, DecisionRequest(bound, vocabulary, overrides, asked.source_rules))


def open_choice(context: Context, indexes: Indexes, job_id: int, choice: DecisionChoice) -> OpenDecisions:
    """The decisions that a request chooses. Raises as `open_decisions` does."""
    draft = choice.vocabulary
    return open_decisions(
        context,
        indexes,
        job_id,
        profile_id=choice.profile_id,
        draft=choice.profile,
        vocabulary_id=choice.vocabulary_id,
        draft_vocabulary=None if draft is None else draft.name_version("draft", 1),
        revision=choice.revision,
    )


def _require_measured(job: Job) -> None:
    if job.state != JobState.SUCCEEDED:
        raise Conflict(
            f"Job {job.id} is {job.state}: its documents can be browsed once it has succeeded.",
            hint="Wait for its end, or retry what failed.",
        )
