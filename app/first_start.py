"""What an installation has from its first start on: the schema, the library's profiles, and the bundled sample as a job."""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from curation.profile import DEFAULT_PROFILE
from primer.app.auth.actor import SYSTEM
from primer.app.concepts.bundled import import_bundled_catalogue
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.core.migrate import migrate
from primer.app.jobs import service as jobs
from primer.app.jobs.options import JobOptions
from primer.app.models import Job, Source
from primer.app.profiles import repository as profiles
from primer.app.profiles.bundled import import_bundled
from primer.app.sources import allow_list
from primer.app.sources import service as sources

SAMPLE = "sample"


def lay_ground(context: Context) -> None:
    """Safe to repeat. Raises Conflict when the database is of a newer version."""
    migrate(context.database)
    with context.database.transaction() as session:
        import_bundled(session)
        import_bundled_catalogue(session)


def register_sample(context: Context) -> Source | None:
    """The sample as a source that waits for its scan; None once people have sources or jobs of their own."""
    with context.database.reading() as session:
        if session.execute(select(exists().where(Job.id > 0))).scalar_one() or _has_other_sources(session):
            return None
        found = _find_sample(session)
    if found is not None:
        return found
    folder = str(find_sample_folder())
    with suppress(Conflict):  # an earlier start came as far as this
        allow_list.allow_prefix(context, SYSTEM, prefix=folder, allows_private=False, note="the bundled sample")
    return sources.register_source(
        context, SYSTEM, name=SAMPLE, locations=[folder], config=None, split=None, text_field="text"
    )


def start_sample_job(context: Context, source_id: int) -> Job:
    """Curate the sample by the recommended profile. Raises Conflict when it is not scanned, QuotaError without room."""
    with context.database.reading() as session:
        profile = profiles.find_newest_published(session, DEFAULT_PROFILE)
    assert profile is not None
    return jobs.start_job(context, SYSTEM, source_id=source_id, profile_id=profile.id, options=JobOptions())


def find_sample_folder() -> Path:
    return Path(str(files("curation"))).resolve() / "sample" / "shards"


def _has_other_sources(session: Session) -> bool:
    return bool(session.execute(select(exists().where(Source.name != SAMPLE))).scalar_one())


def _find_sample(session: Session) -> Source | None:
    return session.execute(select(Source).where(Source.name == SAMPLE)).scalar_one_or_none()
