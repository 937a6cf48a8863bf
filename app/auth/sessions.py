"""Signing in, signing out, and who a request comes from. A session's secret is new at every sign-in and kept as a hash.

Sessions and tokens hold for the epoch of their user in which they were made, and for no later one.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from sqlalchemy.orm import Session

from primer.app.auth import attempts, repository
from primer.app.auth.actor import Actor
from primer.app.auth.digests import derive_csrf_token, digest, is_same, make_secret
from primer.app.auth.names import is_user_name
from primer.app.auth.passwords import open_passwords
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotAllowed, NotAuthenticated
from primer.app.models import BrowserSession, User

log = structlog.get_logger(__name__)

_TOUCH_SECONDS = 60  # the last use of a token is known to the minute, for a write each


@dataclass(frozen=True)
class Identity:
    """Who a request comes from. `session_id` and `csrf_token` are None where it came with a token."""

    actor: Actor
    expires_at: float | None
    session_id: int | None = None
    csrf_token: str | None = None

    def require_csrf_token(self, given: str | None) -> None:
        """Raises NotAllowed unless the session's own token was sent along: a foreign page cannot know it."""
        assert self.csrf_token is not None
        if given is None or not is_same(self.csrf_token, given):
            raise NotAllowed(
                "The request does not carry this session's X-CSRF-Token.",
                hint="GET /api/v1/session says the token; send it as a header with every change.",
            )


def sign_in(
    context: Context, name: str, password: str, *, address: str, replaces: str | None = None
) -> tuple[str, Identity]:
    """A new session's secret, and who it is of; the browser's former session ends.

    Raises NotAuthenticated, the same for an unknown name, a wrong password and a user who was shut out.
    """
    attempts.count_attempt(context, name=name, address=address)
    passwords = open_passwords(context.settings)
    with context.database.reading() as session:
        # What cannot be a name is not asked for: a database may choke on it.
        found = repository.find_user(session, name) if is_user_name(name) else None
    kept = found.password_hash if found is not None else None
    is_right = passwords.verify(kept, password)
    if found is None or not is_right or not found.is_active:
        log.info("sign_in_refused", user_id=found.id if found is not None else None)
        raise NotAuthenticated("Name or password is wrong.", hint="Both are case-sensitive.")
    renewed = passwords.hash(password) if passwords.is_outdated(found.password_hash) else None
    secret = make_secret()
    with context.database.transaction() as session:
        attempts.forgive(session, name=name, address=address)
        user = repository.lock_user(session, found.id)
        if user.password_hash != kept or not user.is_active:
            raise NotAuthenticated("Name or password is wrong.", hint="Both are case-sensitive.")
        if renewed is not None:
            user.password_hash = renewed
        if replaces is not None:
            repository.end_session(session, digest=digest(replaces))
        repository.delete_expired_sessions(session, user.id)
        identity = _begin(session, user, secret, hours=context.settings.session_hours)
    with context.database.transaction() as session:
        attempts.sweep(session)
    return secret, identity


def sign_out(context: Context, identity: Identity) -> None:
    """Raises Conflict for a token, which has no session."""
    if identity.session_id is None:
        raise Conflict("A token has no session to end.", hint="Revoke the token: DELETE /api/v1/tokens/{id}.")
    with context.database.transaction() as session:
        repository.end_session(session, session_id=identity.session_id)


def identify_session(context: Context, secret: str) -> Identity:
    """Whose session it is. Raises NotAuthenticated."""
    with context.database.reading() as session:
        found = repository.find_live_session(session, digest(secret))
    if found is None:
        raise NotAuthenticated("The session has ended.", hint="Sign in again.")
    browser_session, user = found
    actor = Actor(user.id, user.name, Role(user.role))
    return Identity(actor, browser_session.expires_at, browser_session.id, derive_csrf_token(secret))


def identify_token(context: Context, secret: str) -> Identity:
    """Whose token it is, with the role of the token. Raises NotAuthenticated."""
    with context.database.reading() as session:
        found = repository.find_live_token(session, digest(secret), touch_after=_TOUCH_SECONDS)
    if found is None:
        raise NotAuthenticated("The token is unknown, expired or revoked.", hint="Create a new one.")
    token, user, is_stale = found
    if is_stale:
        with context.database.transaction() as session:
            repository.touch_token(session, token.id)
    role = min(Role(token.role), Role(user.role), key=lambda role: role.rank)
    return Identity(Actor(user.id, user.name, role, is_program=True), token.expires_at)


def _begin(session: Session, user: User, secret: str, *, hours: float) -> Identity:
    begun_at = repository.read_clock(session)
    browser_session = BrowserSession(
        user_id=user.id,
        digest=digest(secret),
        epoch=user.epoch,
        created_at=begun_at,
        expires_at=begun_at + hours * 3_600,
        ended_at=None,
    )
    session.add(browser_session)
    session.flush()
    actor = Actor(user.id, user.name, Role(user.role))
    return Identity(actor, browser_session.expires_at, browser_session.id, derive_csrf_token(secret))
