"""The library's own profiles as published versions, brought in when the service starts. Their names are nobody else's."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.profile import list_profiles
from primer.app.auth.actor import SYSTEM
from primer.app.auth.audit import record_change
from primer.app.core.clock import now
from primer.app.models import ProfileVersion
from primer.app.profiles import content, repository
from primer.app.profiles.states import VersionState


def list_bundled_names() -> frozenset[str]:
    return frozenset(profile.name for profile in list_profiles())


def import_bundled(session: Session) -> list[ProfileVersion]:
    """Publish what the library ships and the database lacks; what was added. A second call adds nothing.

    A profile that was shipped anew under its old number gets the next one: a published version is never changed.
    """
    added = []
    for profile in list_profiles():
        known = repository.find_newest_published(session, profile.name)
        described = content.describe(profile)
        if known is not None and known.content | {"version": 0} == described | {"version": 0}:
            continue
        number = max(profile.version, repository.find_last_number(session, profile.name) + 1)
        described["version"] = number
        moment = session.execute(select(now())).scalar_one()
        version = ProfileVersion(
            name=profile.name,
            version=number,
            state=VersionState.PUBLISHED,
            content=described,
            sha256=content.hash_content(described),
            note="comes with the library",
            author=SYSTEM.name,
            created_at=moment,
            changed_at=moment,
            published_at=moment,
        )
        session.add(version)
        session.flush()
        record_change(
            session, SYSTEM, "profile.import", f"profile/{version.id}", after={"name": profile.name, "version": number}
        )
        added.append(version)
    return added
