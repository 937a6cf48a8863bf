"""The allow-list: the places that sources may name. Only admins change it, and every change is audited."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.models import AllowedPrefix
from primer.app.sources import repository
from primer.app.sources.places import normalize_prefix


def list_prefixes(context: Context, actor: Actor, *, after: int, limit: int) -> Sequence[AllowedPrefix]:
    actor.require(Action.ALLOW)
    with context.database.reading() as session:
        return repository.list_prefixes(session, after, limit)


def allow_prefix(context: Context, actor: Actor, *, prefix: str, allows_private: bool, note: str) -> AllowedPrefix:
    """Raises Unprocessable for what is no prefix, Conflict where it is allowed already."""
    actor.require(Action.ALLOW)
    text = normalize_prefix(prefix)
    try:
        with context.database.transaction() as session:
            row = AllowedPrefix(
                prefix=text,
                allows_private=allows_private,
                note=note,
                created_by=actor.name,
                created_at=session.execute(select(now())).scalar_one(),
            )
            session.add(row)
            session.flush()
            record_change(session, actor, "prefix.allow", f"prefix/{row.id}", after=_describe(row))
            return row
    except IntegrityError as error:
        raise Conflict(f"{text} is allowed already.", hint="Remove it first to allow it otherwise.") from error


def remove_prefix(context: Context, actor: Actor, prefix_id: int) -> None:
    """From now on nothing is listed or read there, whatever source names it. Raises NotFound."""
    actor.require(Action.ALLOW)
    with context.database.transaction() as session:
        row = repository.require_prefix(session, prefix_id)
        session.delete(row)
        record_change(session, actor, "prefix.remove", f"prefix/{prefix_id}", before=_describe(row))


def _describe(row: AllowedPrefix) -> dict[str, object]:
    return {"prefix": row.prefix, "allows_private": row.allows_private, "note": row.note}
