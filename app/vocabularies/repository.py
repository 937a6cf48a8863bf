"""The SQL of vocabulary versions. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from primer.app.core.errors import NotFound
from primer.app.models import VocabularyRecord
from primer.app.vocabularies.content import restore_version


def require_record(session: Session, version_id: int) -> VocabularyRecord:
    """Raises NotFound."""
    found = session.get(VocabularyRecord, version_id)
    if found is None:
        raise NotFound(
            f"There is no vocabulary version with the id {version_id}.", hint="See the list of vocabularies."
        )
    return found


def require_numbered(session: Session, name: str, version: int) -> VocabularyRecord:
    """Raises NotFound."""
    wanted = select(VocabularyRecord).where(VocabularyRecord.name == name, VocabularyRecord.version == version)
    found = session.execute(wanted).scalar_one_or_none()
    if found is None:
        raise NotFound(f"There is no version {version} of a vocabulary {name!a}.")
    return found


def find_newest(session: Session, name: str) -> VocabularyRecord | None:
    wanted = select(VocabularyRecord).where(VocabularyRecord.name == name)
    return session.execute(wanted.order_by(VocabularyRecord.version.desc()).limit(1)).scalar_one_or_none()


def read_version(session: Session, version_id: int) -> VocabularyVersion:
    """A version as the library decides by it. Raises NotFound."""
    return restore(session, require_record(session, version_id))


def choose_version(session: Session, version_id: int | None) -> VocabularyVersion:
    """The same; None: the plain one. Raises NotFound."""
    return PLAIN_VOCABULARY if version_id is None else read_version(session, version_id)


def restore(session: Session, record: VocabularyRecord) -> VocabularyVersion:
    """The version that a record keeps, with the hash of its parent."""
    parent = None if record.parent_id is None else require_record(session, record.parent_id).sha256
    return restore_version(
        record.content,
        record.name,
        record.version,
        author=record.author,
        note=record.note,
        created=datetime.fromtimestamp(record.created_at, UTC),
        parent=parent,
    )


def list_newest(session: Session, after: str, limit: int) -> Sequence[tuple[VocabularyRecord, int]]:
    """By name: the newest version, and how many there are."""
    newest = (
        select(VocabularyRecord.name, func.max(VocabularyRecord.version).label("version"), func.count().label("count"))
        .where(VocabularyRecord.name > after)
        .group_by(VocabularyRecord.name)
        .order_by(VocabularyRecord.name)
        .limit(limit)
        .subquery()
    )
    rows = session.execute(
        select(VocabularyRecord, newest.c.count)
        .join(newest, (VocabularyRecord.name == newest.c.name) & (VocabularyRecord.version == newest.c.version))
        .order_by(VocabularyRecord.name)
    ).all()
    return [(row[0], row[1]) for row in rows]


def list_versions(session: Session, name: str, before: int | None, limit: int) -> Sequence[VocabularyRecord]:
    """The newest first."""
    wanted = select(VocabularyRecord).where(VocabularyRecord.name == name)
    if before is not None:
        wanted = wanted.where(VocabularyRecord.version < before)
    return session.execute(wanted.order_by(VocabularyRecord.version.desc()).limit(limit)).scalars().all()
