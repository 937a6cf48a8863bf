"""What curators do with the catalogue: save an edit, go back to an older version, compare. A version is never changed.

An edit names the version that it was made from. Where somebody saved meanwhile it is refused, and says who, what and when.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from curation.concepts.catalogue import Catalogue, CatalogueDiff, diff_catalogues
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.concepts import content, repository
from primer.app.concepts.content import Edit
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.core.events import record_event
from primer.app.models import CatalogueRecord

_NAMED_CONCEPTS = 5


def list_versions(context: Context, actor: Actor, *, before: int | None, limit: int) -> Sequence[CatalogueRecord]:
    """Newest first."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_versions(session, before=before, limit=limit)


def read_version(context: Context, actor: Actor, version: int | None) -> CatalogueRecord:
    """With what it holds; None: the newest. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_version(session, version)


def compare_versions(
    context: Context, actor: Actor, before: int, after: int
) -> tuple[Catalogue, Catalogue, CatalogueDiff]:
    """Raises NotFound."""
    old = content.read_catalogue(read_version(context, actor, before))
    new = content.read_catalogue(read_version(context, actor, after))
    return old, new, diff_catalogues(old, new)


def draft_version(context: Context, actor: Actor, *, based_on: int, edit: Edit) -> tuple[Catalogue, Catalogue]:
    """The version that an edit is made from and the one that saving it would make. Raises NotFound, Unprocessable."""
    base = content.read_catalogue(read_version(context, actor, based_on))
    return base, content.apply_edit(base, edit, base.version + 1)


def save_version(context: Context, actor: Actor, *, based_on: int, edit: Edit, note: str) -> CatalogueRecord:
    """Raises NotFound, Unprocessable that names what is wrong, Conflict when `based_on` is not the newest or nothing differs."""
    actor.require(Action.RULE)
    base, drafted = draft_version(context, actor, based_on=based_on, edit=edit)
    return _save(context, actor, base, drafted, note, "catalogue.save")


def revert_version(context: Context, actor: Actor, *, based_on: int, to: int, note: str) -> CatalogueRecord:
    """A new version that says what an older one said. Raises as `save_version`."""
    actor.require(Action.RULE)
    older = content.read_catalogue(read_version(context, actor, to))
    base, drafted = draft_version(context, actor, based_on=based_on, edit=Edit(concepts=older.concepts))
    return _save(context, actor, base, drafted, note, "catalogue.revert", {"to": to})


def _save(
    context: Context,
    actor: Actor,
    base: Catalogue,
    drafted: Catalogue,
    note: str,
    action: str,
    told: dict[str, object] | None = None,
) -> CatalogueRecord:
    diff = diff_catalogues(base, drafted)
    if base.concepts == drafted.concepts:
        raise Conflict(f"Nothing differs from version {base.version}.", hint="Change something, then save.")
    try:
        with context.database.transaction() as session:
            _require_newest(session, base.version)
            record = CatalogueRecord(
                version=drafted.version,
                content=content.dump_content(drafted),
                sha256=drafted.sha256,
                concept_count=len(drafted.concepts),
                changes=content.describe_changes(diff),
                note=note,
                author=actor.name,
                created_at=session.execute(select(now())).scalar_one(),
                based_on=base.version,
            )
            session.add(record)
            session.flush()
            described = {"based_on": base.version, "sha256": record.sha256, "note": note, **record.changes}
            record_change(session, actor, action, f"catalogue/{record.version}", after=described | (told or {}))
            record_event(session, "catalogue", {"version": record.version, "author": actor.name})
            return record
    except IntegrityError:
        # Somebody else's transaction ended between this one's look and its insert.
        with context.database.reading() as session:
            _require_newest(session, base.version)
        raise


def _require_newest(session: Session, version: int) -> None:
    newest = repository.require_version(session, None)
    if newest.version != version:
        at = datetime.fromtimestamp(newest.created_at, UTC).isoformat(timespec="seconds")
        note = f" with the note {newest.note!a}" if newest.note else ""
        raise Conflict(
            f"{newest.author} saved version {newest.version} at {at}{note}: {_say_changes(newest)}. Your edit is made from "
            f"version {version}.",
            hint=f"Look at what changed since version {version}, then make your edit from version {newest.version}.",
        )


def _say_changes(record: CatalogueRecord) -> str:
    said = []
    for verb, ids in record.changes.items():
        if ids:
            more = f" and {len(ids) - _NAMED_CONCEPTS} more" if len(ids) > _NAMED_CONCEPTS else ""
            said.append(f"{verb} {', '.join(ids[:_NAMED_CONCEPTS])}{more}")
    return "; ".join(said) or "in another order"
