"""What people do with profiles: draft, change, publish, discard, compare. Each change is one transaction, and audited.

A draft is changed only by who has seen what it holds; a published version by nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.core.etags import require_match
from primer.app.models import ProfileVersion
from primer.app.profiles import content, repository
from primer.app.profiles.bundled import list_bundled_names
from primer.app.profiles.content import Difference
from primer.app.profiles.states import VersionState


@dataclass(frozen=True)
class Template:
    """What a draft begins as: one of these, the others None."""

    given: Any = None
    text: str | None = None
    bundled: str | None = None
    version_id: int | None = None


def list_profiles(context: Context, actor: Actor, *, after: str, limit: int) -> Sequence[tuple[ProfileVersion, int]]:
    """By name: the newest version, and how many there are."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_newest(session, after, limit)


def list_versions(context: Context, actor: Actor, name: str, *, after: int, limit: int) -> Sequence[ProfileVersion]:
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_versions(session, name, after, limit)


def read_version(context: Context, actor: Actor, name: str, version: int) -> ProfileVersion:
    """Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_version(session, name, version)


def compare_versions(context: Context, actor: Actor, before_id: int, after_id: int) -> list[Difference]:
    """What changed from one version to another, of the same name or not. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        before = repository.require_version_by_id(session, before_id)
        after = repository.require_version_by_id(session, after_id)
    return content.compare(before.content, after.content)


def create_draft(context: Context, actor: Actor, *, name: str, note: str, template: Template) -> ProfileVersion:
    """The next version of a name. Raises Unprocessable that names a wrong field, Conflict for a name of the library's."""
    actor.require(Action.PROFILES)
    if name in list_bundled_names():
        raise Conflict(
            f"{name} is a profile of the library.", hint="Choose another name; a draft may begin as a copy of it."
        )
    try:
        with context.database.transaction() as session:
            number = repository.find_last_number(session, name) + 1
            described = _read_content(session, template, name, number)
            moment = session.execute(select(now())).scalar_one()
            draft = ProfileVersion(
                name=name,
                version=number,
                state=VersionState.DRAFT,
                content=described,
                sha256=content.hash_content(described),
                note=note,
                author=actor.name,
                created_at=moment,
                changed_at=moment,
                published_at=None,
            )
            session.add(draft)
            session.flush()
            record_change(session, actor, "profile.draft", f"profile/{draft.id}", after=_describe(draft))
            return draft
    except IntegrityError as error:
        raise Conflict(f"Somebody made a version of {name} at this moment.", hint="Try again.") from error


def change_draft(
    context: Context,
    actor: Actor,
    name: str,
    version: int,
    *,
    note: str | None,
    template: Template,
    if_match: str | None,
) -> ProfileVersion:
    """Replace what a draft holds, and its note unless None. Raises NotFound, Unprocessable, Conflict when it is published,
    PreconditionFailed when it is not as the caller has seen it."""
    actor.require(Action.PROFILES)
    with context.database.transaction() as session:
        draft = _require_draft(session, name, version)
        require_match(if_match, f'"{draft.sha256}"')
        before = _describe(draft)
        draft.content = _read_content(session, template, name, version)
        draft.sha256 = content.hash_content(draft.content)
        draft.note = draft.note if note is None else note
        draft.author = actor.name
        draft.changed_at = session.execute(select(now())).scalar_one()
        record_change(session, actor, "profile.change", f"profile/{draft.id}", before=before, after=_describe(draft))
        return draft


def publish_draft(context: Context, actor: Actor, name: str, version: int, *, if_match: str | None) -> ProfileVersion:
    """From now on it stays as it is. Raises NotFound, Conflict when it is published, PreconditionFailed as above."""
    actor.require(Action.PROFILES)
    with context.database.transaction() as session:
        draft = _require_draft(session, name, version)
        require_match(if_match, f'"{draft.sha256}"')
        draft.state = VersionState.PUBLISHED
        draft.published_at = session.execute(select(now())).scalar_one()
        record_change(session, actor, "profile.publish", f"profile/{draft.id}", after=_describe(draft))
        return draft


def discard_draft(context: Context, actor: Actor, name: str, version: int) -> None:
    """Raises NotFound, Conflict when it is published."""
    actor.require(Action.PROFILES)
    with context.database.transaction() as session:
        draft = _require_draft(session, name, version)
        before = _describe(draft)
        draft.state = VersionState.DISCARDED
        record_change(session, actor, "profile.discard", f"profile/{draft.id}", before=before)


def _require_draft(session: Session, name: str, version: int) -> ProfileVersion:
    found = repository.require_version(session, name, version, is_locked=True)
    if found.state != VersionState.DRAFT:
        raise Conflict(
            f"{name} version {version} is published and stays as it is.", hint="Make a draft from it and change that."
        )
    return found


def _read_content(session: Session, template: Template, name: str, version: int) -> dict[str, Any]:
    given = template.given
    if template.text is not None:
        given = content.parse_yaml(template.text)
    elif template.bundled is not None:
        given = content.describe(content.find_bundled(template.bundled))
    elif template.version_id is not None:
        given = repository.require_version_by_id(session, template.version_id).content
    return content.describe(content.read_profile(given, name=name, version=version))


def _describe(version: ProfileVersion) -> dict[str, object]:
    return {"name": version.name, "version": version.version, "state": version.state, "sha256": version.sha256}
