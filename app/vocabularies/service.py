"""What people do with versions of vocabularies: save, revert, compare. Each change is one transaction, and audited.

A version follows the newest one or it is not saved: whoever has not seen that one is told whose it is, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.vocabulary_audit import VocabularyDiff, diff_versions, make_next_version, revert_version
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotFound, Unprocessable
from primer.app.models import VocabularyRecord
from primer.app.vocabularies import repository
from primer.app.vocabularies.content import WordRulings, describe_content

_SHOWN_NOTE_CHARS = 200

Make = Callable[[VocabularyVersion | None, datetime], VocabularyVersion]


def list_vocabularies(
    context: Context, actor: Actor, *, after: str, limit: int
) -> Sequence[tuple[VocabularyRecord, int]]:
    """By name: the newest version, and how many there are."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_newest(session, after, limit)


def list_versions(
    context: Context, actor: Actor, name: str, *, before: int | None, limit: int
) -> Sequence[VocabularyRecord]:
    """The newest first."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_versions(session, name, before, limit)


def read_record(context: Context, actor: Actor, name: str, version: int) -> VocabularyRecord:
    """Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_numbered(session, name, version)


def read_record_by_id(context: Context, actor: Actor, version_id: int) -> VocabularyRecord:
    """Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_record(session, version_id)


def read_version(context: Context, actor: Actor, name: str, version: int) -> VocabularyVersion:
    """A version as the library knows it. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.restore(session, repository.require_numbered(session, name, version))


def compare_versions(context: Context, actor: Actor, before_id: int, after_id: int) -> VocabularyDiff:
    """What changed from one version to another, of the same name or not. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        before, after = (repository.read_version(session, version_id) for version_id in (before_id, after_id))
    return diff_versions(before, after)


def save_version(
    context: Context, actor: Actor, name: str, *, based_on: int | None, rulings: WordRulings, note: str
) -> VocabularyRecord:
    """The version that follows the one it is based on; `based_on` None: the first of its name.

    Raises Conflict that names who saved another one since, NotFound, Unprocessable when it rules as that one did.
    """

    def make(newest: VocabularyVersion | None, moment: datetime) -> VocabularyVersion:
        content = rulings.name_version(name, 1, author=actor.name, note=note, created=moment)
        if newest is None:
            return content
        return make_next_version(newest, content, author=actor.name, note=note, created=moment)

    return _save(context, actor, "vocabulary.save", name, based_on, make)


def revert(context: Context, actor: Actor, name: str, *, based_on: int, to_version: int, note: str) -> VocabularyRecord:
    """A new version that rules as an earlier one did. Raises as `save_version` does."""
    actor.require(Action.RULE)
    with context.database.reading() as session:
        wanted = repository.restore(session, repository.require_numbered(session, name, to_version))

    def make(newest: VocabularyVersion | None, moment: datetime) -> VocabularyVersion:
        assert newest is not None
        return revert_version(newest, wanted, author=actor.name, created=moment, note=note)

    return _save(context, actor, "vocabulary.revert", name, based_on, make)


def _save(context: Context, actor: Actor, action: str, name: str, based_on: int | None, make: Make) -> VocabularyRecord:
    actor.require(Action.RULE)
    if name == PLAIN_VOCABULARY.name:
        raise Conflict(f"{name} is the vocabulary without rulings.", hint="Choose another name.")
    try:
        with context.database.transaction() as session:
            newest = repository.find_newest(session, name)
            _require_newest(session, name, based_on, newest)
            moment = session.execute(select(now())).scalar_one()
            parent = None if newest is None else repository.restore(session, newest)
            version = make(parent, datetime.fromtimestamp(moment, UTC))
            if parent is not None and not diff_versions(parent, version).changes:
                raise Unprocessable(
                    f"This rules as {name} version {parent.version} does.", hint="There is nothing to save."
                )
            record = VocabularyRecord(
                name=name,
                version=version.version,
                content=describe_content(version),
                sha256=version.sha256,
                note=version.note,
                author=actor.name,
                created_at=moment,
                parent_id=None if newest is None else newest.id,
            )
            session.add(record)
            session.flush()
            record_change(
                session,
                actor,
                action,
                f"vocabulary/{record.id}",
                before=None if newest is None else _describe(newest),
                after=_describe(record),
            )
            return record
    except IntegrityError:
        # Another one was saved between the look and the insert.
        with context.database.reading() as session:
            _require_newest(session, name, based_on, repository.find_newest(session, name))
        raise


def _require_newest(session: Session, name: str, based_on: int | None, newest: VocabularyRecord | None) -> None:
    """Raises Conflict, NotFound for an id that is of no version of this name."""
    if newest is None:
        if based_on is not None:
            raise NotFound(f"There is no vocabulary {name!a} yet.", hint="Save its first version with based_on null.")
        return
    if based_on == newest.id:
        return
    if based_on is not None and repository.require_record(session, based_on).name != name:
        raise NotFound(
            f"Version {based_on} is of another vocabulary than {name!a}.", hint=f"The newest is {newest.id}."
        )
    moment = datetime.fromtimestamp(newest.created_at, UTC).isoformat(timespec="seconds")
    said = f" ({newest.note[:_SHOWN_NOTE_CHARS]})" if newest.note else ""
    look = "" if based_on is None else f" See GET /api/v1/vocabularies/diff?before={based_on}&after={newest.id}."
    raise Conflict(
        f"{newest.author} saved version {newest.version} of {name} at {moment}{said}; yours is based on an older one.",
        hint=f"Nothing was saved, and nothing overwritten.{look} Then save again with based_on {newest.id}.",
    )


def _describe(record: VocabularyRecord) -> dict[str, object]:
    counts = {key: len(record.content[key]) for key in ("allow", "block", "senses")}
    return {
        "id": record.id,
        "name": record.name,
        "version": record.version,
        "sha256": record.sha256,
        "note": record.note,
        **counts,
    }
