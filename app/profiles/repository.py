"""The SQL of profile versions. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from primer.app.core.errors import NotFound
from primer.app.models import ProfileVersion
from primer.app.profiles.states import VersionState

_IS_SHOWN = ProfileVersion.state != VersionState.DISCARDED


def require_version(session: Session, name: str, version: int, *, is_locked: bool = False) -> ProfileVersion:
    """Raises NotFound, for discarded drafts too."""
    wanted = select(ProfileVersion).where(ProfileVersion.name == name, ProfileVersion.version == version, _IS_SHOWN)
    if is_locked:
        wanted = wanted.with_for_update(key_share=True)
    found = session.execute(wanted).scalar_one_or_none()
    if found is None:
        raise NotFound(f"There is no version {version} of a profile {name!a}.")
    return found


def require_version_by_id(session: Session, version_id: int) -> ProfileVersion:
    """Raises NotFound, for discarded drafts too."""
    found = session.get(ProfileVersion, version_id)
    if found is None or found.state == VersionState.DISCARDED:
        raise NotFound(f"There is no profile version with the id {version_id}.")
    return found


def find_last_number(session: Session, name: str) -> int:
    """The highest version number that was ever given; 0 where there is none."""
    wanted = select(func.max(ProfileVersion.version)).where(ProfileVersion.name == name)
    return session.execute(wanted).scalar_one() or 0


def list_newest(session: Session, after: str, limit: int) -> Sequence[tuple[ProfileVersion, int]]:
    """By name: the newest version that is shown, and how many there are."""
    newest = (
        select(func.max(ProfileVersion.version).label("version"), func.count().label("count"), ProfileVersion.name)
        .where(ProfileVersion.name > after, _IS_SHOWN)
        .group_by(ProfileVersion.name)
        .order_by(ProfileVersion.name)
        .limit(limit)
        .subquery()
    )
    rows = session.execute(
        select(ProfileVersion, newest.c.count)
        .join(newest, (ProfileVersion.name == newest.c.name) & (ProfileVersion.version == newest.c.version))
        .order_by(ProfileVersion.name)
    ).all()
    return [(row[0], row[1]) for row in rows]


def list_versions(session: Session, name: str, after: int, limit: int) -> Sequence[ProfileVersion]:
    wanted = select(ProfileVersion).where(ProfileVersion.name == name, ProfileVersion.version > after, _IS_SHOWN)
    return session.execute(wanted.order_by(ProfileVersion.version).limit(limit)).scalars().all()


def find_newest_published(session: Session, name: str) -> ProfileVersion | None:
    wanted = select(ProfileVersion).where(ProfileVersion.name == name, ProfileVersion.state == VersionState.PUBLISHED)
    return session.execute(wanted.order_by(ProfileVersion.version.desc()).limit(1)).scalar_one_or_none()
