"""The SQL of accounts: users, their sessions, their tokens. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from primer.app.auth.roles import Role
from primer.app.core.clock import now
from primer.app.core.errors import NotFound
from primer.app.models import ApiToken, BrowserSession, User


def read_clock(session: Session) -> float:
    return session.execute(select(now())).scalar_one()


def find_user(session: Session, name: str) -> User | None:
    return session.execute(select(User).where(User.name == name)).scalar_one_or_none()


def require_user(session: Session, user_id: int) -> User:
    """Raises NotFound."""
    user = session.get(User, user_id)
    if user is None:
        raise NotFound(f"There is no user {user_id}.")
    return user


def lock_user(session: Session, user_id: int) -> User:
    """The user, that nobody else changes until the transaction ends. Raises NotFound."""
    user = session.get(User, user_id, with_for_update={"key_share": True})
    if user is None:
        raise NotFound(f"There is no user {user_id}.")
    return user


def lock_active_admins(session: Session) -> Sequence[int]:
    """Ids of those who may let others in; who holds them holds off every other change of an admin."""
    return (
        session.execute(
            select(User.id)
            .where(User.role == Role.ADMIN, User.is_active)
            .order_by(User.id)
            .with_for_update(key_share=True)
        )
        .scalars()
        .all()
    )


def has_users(session: Session) -> bool:
    return session.execute(select(func.count()).select_from(User)).scalar_one() > 0


def list_users(session: Session, after: int, limit: int) -> Sequence[User]:
    return session.execute(select(User).where(User.id > after).order_by(User.id).limit(limit)).scalars().all()


def find_live_session(session: Session, digest: str) -> tuple[BrowserSession, User] | None:
    """A session that has not ended, of a user who has not changed since it began."""
    row = session.execute(
        select(BrowserSession, User)
        .join(User, User.id == BrowserSession.user_id)
        .where(
            BrowserSession.digest == digest,
            BrowserSession.ended_at.is_(None),
            BrowserSession.expires_at > now(),
            BrowserSession.epoch == User.epoch,
            User.is_active,
        )
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def end_session(session: Session, *, digest: str | None = None, session_id: int | None = None) -> None:
    is_it = BrowserSession.digest == digest if session_id is None else BrowserSession.id == session_id
    session.execute(update(BrowserSession).where(is_it, BrowserSession.ended_at.is_(None)).values(ended_at=now()))


def delete_expired_sessions(session: Session, user_id: int) -> None:
    is_dead = or_(BrowserSession.expires_at <= now(), BrowserSession.ended_at.is_not(None))
    session.execute(
        delete(BrowserSession)
        .where(BrowserSession.user_id == user_id, is_dead)
        .execution_options(synchronize_session=False)
    )


def find_live_token(session: Session, digest: str, *, touch_after: float) -> tuple[ApiToken, User, bool] | None:
    """The same of tokens, and whether its last use was noted more than `touch_after` seconds ago."""
    is_stale = or_(ApiToken.last_used_at.is_(None), ApiToken.last_used_at < now() - touch_after)
    row = session.execute(
        select(ApiToken, User, is_stale)
        .join(User, User.id == ApiToken.user_id)
        .where(
            ApiToken.digest == digest,
            ApiToken.revoked_at.is_(None),
            or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now()),
            ApiToken.epoch == User.epoch,
            User.is_active,
        )
    ).one_or_none()
    return None if row is None else (row[0], row[1], bool(row[2]))


def touch_token(session: Session, token_id: int) -> None:
    session.execute(update(ApiToken).where(ApiToken.id == token_id).values(last_used_at=now()))


def list_tokens(session: Session, user_id: int, after: int, limit: int) -> Sequence[tuple[ApiToken, bool]]:
    """Tokens, and whether each still opens anything."""
    is_live = (
        ApiToken.revoked_at.is_(None)
        & (ApiToken.expires_at.is_(None) | (ApiToken.expires_at > now()))
        & (ApiToken.epoch == User.epoch)
        & User.is_active
    )
    rows = session.execute(
        select(ApiToken, is_live)
        .join(User, User.id == ApiToken.user_id)
        .where(ApiToken.user_id == user_id, ApiToken.id > after)
        .order_by(ApiToken.id)
        .limit(limit)
    ).all()
    return [(row[0], bool(row[1])) for row in rows]


def revoke_token(session: Session, user_id: int, token_id: int) -> ApiToken | None:
    """The token, if this call ended it; None where it was revoked before. Raises NotFound for another's."""
    token = session.get(ApiToken, token_id, with_for_update=True)
    if token is None or token.user_id != user_id:
        raise NotFound(f"There is no token {token_id} of this user.")
    if token.revoked_at is not None:
        return None
    token.revoked_at = read_clock(session)
    return token
