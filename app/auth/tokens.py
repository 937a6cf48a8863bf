"""Tokens of programs. One is shown once, when it is made; it may at most what its maker may, and only until it expires."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from primer.app.auth import repository
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.digests import SHOWN_CHARS, TOKEN_PREFIX, digest, make_secret
from primer.app.auth.roles import Action, Role
from primer.app.core.context import Context
from primer.app.core.errors import NotAllowed
from primer.app.models import ApiToken

MAX_DAYS = 3_650
_DAY_SECONDS = 86_400


def create_token(context: Context, actor: Actor, *, name: str, role: Role, days: int) -> tuple[str, ApiToken]:
    """The secret, which nobody sees again, and the token. Raises NotAllowed for a role above the maker's."""
    user_id = actor.require_person()
    if role.rank > actor.role.rank:
        raise NotAllowed(
            f"A token of {actor.name} cannot have the role {role}, for {actor.name} has the role {actor.role}.",
            hint="Ask for that role or a lesser one.",
        )
    secret = TOKEN_PREFIX + make_secret()
    with context.database.transaction() as session:
        user = repository.lock_user(session, user_id)
        created_at = repository.read_clock(session)
        token = ApiToken(
            user_id=user.id,
            name=name,
            prefix=secret[:SHOWN_CHARS],
            digest=digest(secret),
            role=role,
            epoch=user.epoch,
            created_at=created_at,
            expires_at=created_at + days * _DAY_SECONDS,
            revoked_at=None,
            last_used_at=None,
        )
        session.add(token)
        session.flush()
        record_change(session, actor, "token.create", f"token/{token.id}", after=_describe(token, user.name))
    return secret, token


def list_own_tokens(context: Context, actor: Actor, *, after: int, limit: int) -> Sequence[tuple[ApiToken, bool]]:
    """In the order of their making, and whether each still opens anything."""
    if actor.user_id is None:
        return []
    with context.database.reading() as session:
        return repository.list_tokens(session, actor.user_id, after, limit)


def list_tokens_of(
    context: Context, actor: Actor, user_id: int, *, after: int, limit: int
) -> Sequence[tuple[ApiToken, bool]]:
    """The same of any user. Raises NotFound."""
    actor.require(Action.USERS)
    with context.database.reading() as session:
        repository.require_user(session, user_id)
        return repository.list_tokens(session, user_id, after, limit)


def revoke_own_token(context: Context, actor: Actor, token_id: int) -> None:
    """Revoking twice is revoking once. Raises NotFound for another's token."""
    user_id = actor.require_person()
    with context.database.transaction() as session:
        _revoke(session, actor, user_id, actor.name, token_id)


def revoke_token_of(context: Context, actor: Actor, user_id: int, token_id: int) -> None:
    """The same of any user."""
    actor.require(Action.USERS)
    with context.database.transaction() as session:
        user = repository.require_user(session, user_id)
        _revoke(session, actor, user_id, user.name, token_id)


def _revoke(session: Session, actor: Actor, user_id: int, user_name: str, token_id: int) -> None:
    token = repository.revoke_token(session, user_id, token_id)
    if token is not None:
        record_change(session, actor, "token.revoke", f"token/{token.id}", before=_describe(token, user_name))


def _describe(token: ApiToken, user_name: str) -> dict[str, str]:
    return {"user": user_name, "name": token.name, "prefix": token.prefix, "role": token.role}
