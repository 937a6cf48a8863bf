"""People: who they are and what they may. Every change of role, password or access ends their sessions and tokens.

There is always an active admin: whoever would end that is refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from primer.app.auth import attempts, repository
from primer.app.auth.actor import SYSTEM, Actor
from primer.app.auth.audit import record_change
from primer.app.auth.names import require_user_name
from primer.app.auth.passwords import open_passwords, require_good
from primer.app.auth.roles import Action, Role
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotAllowed, NotFound
from primer.app.models import User

FIRST_ADMIN = "admin"


def create_user(context: Context, actor: Actor, *, name: str, role: Role, password: str) -> User:
    """Raises Conflict when the name is taken, Unprocessable when name or password will not do."""
    actor.require(Action.USERS)
    require_user_name(name)
    require_good(password, user_name=name)
    password_hash = open_passwords(context.settings).hash(password)
    try:
        with context.database.transaction() as session:
            return _add_user(session, actor, name=name, role=role, password_hash=password_hash)
    except IntegrityError as error:
        raise Conflict(f"There is already a user {name}.", hint="Choose another name.") from error


def list_users(context: Context, actor: Actor, *, after: int, limit: int) -> Sequence[User]:
    actor.require(Action.USERS)
    with context.database.reading() as session:
        return repository.list_users(session, after, limit)


def read_user(context: Context, actor: Actor, user_id: int) -> User:
    """Raises NotFound."""
    actor.require(Action.USERS)
    with context.database.reading() as session:
        return repository.require_user(session, user_id)


def find_user_by_name(context: Context, actor: Actor, name: str) -> User:
    """Raises NotFound, or Unprocessable for what is no name."""
    actor.require(Action.USERS)
    require_user_name(name)
    with context.database.reading() as session:
        user = repository.find_user(session, name)
    if user is None:
        raise NotFound(f"There is no user {name}.", hint="`primer user list` lists them.")
    return user


def change_user(
    context: Context, actor: Actor, user_id: int, *, role: Role | None = None, is_active: bool | None = None
) -> User:
    """Change what is not None. Raises NotFound, or Conflict where no active admin would be left."""
    actor.require(Action.USERS)
    with context.database.transaction() as session:
        admins = repository.lock_active_admins(session)
        user = repository.lock_user(session, user_id)
        before = _describe(user)
        user.role = user.role if role is None else role.value
        user.is_active = user.is_active if is_active is None else is_active
        after = _describe(user)
        if after == before:
            return user
        if list(admins) == [user.id]:
            raise Conflict(
                f"{user.name} is the last active admin: nobody could let anyone in.",
                hint="Make another user an admin first.",
            )
        user.epoch += 1
        record_change(session, actor, "user.change", f"user/{user.id}", before=before, after=after)
        return user


def set_password(context: Context, actor: Actor, user_id: int, password: str) -> None:
    """Raises NotFound, or Unprocessable for a password that will not do. A wait to sign in ends with it."""
    actor.require(Action.USERS)
    with context.database.reading() as session:
        name = repository.require_user(session, user_id).name
    _replace_password(context, actor, user_id, name, password)


def change_own_password(context: Context, actor: Actor, *, old: str, new: str, address: str) -> None:
    """Raises NotAllowed when the old password is wrong, TooManyRequests when it was tried too often."""
    user_id = actor.require_person()
    require_good(new, user_name=actor.name)
    attempts.count_attempt(context, name=actor.name, address=address)
    with context.database.reading() as session:
        kept = repository.require_user(session, user_id).password_hash
    if not open_passwords(context.settings).verify(kept, old):
        raise NotAllowed("The old password is wrong.", hint="An admin can set a new one.")
    _replace_password(context, actor, user_id, actor.name, new)


def ensure_admin(context: Context) -> str | None:
    """Where there are no users, make an admin; the password, which is shown once. None where there are some."""
    with context.database.reading() as session:
        if repository.has_users(session):
            return None
    password = secrets.token_urlsafe(18)
    password_hash = open_passwords(context.settings).hash(password)
    try:
        with context.database.transaction() as session:
            if repository.has_users(session):
                return None
            _add_user(session, SYSTEM, name=FIRST_ADMIN, role=Role.ADMIN, password_hash=password_hash)
    except IntegrityError:
        return None  # another process was faster
    return password


def _replace_password(context: Context, actor: Actor, user_id: int, name: str, password: str) -> None:
    require_good(password, user_name=name)
    password_hash = open_passwords(context.settings).hash(password)
    with context.database.transaction() as session:
        attempts.forgive_name(session, name)
        user = repository.lock_user(session, user_id)
        user.password_hash = password_hash
        user.epoch += 1
        record_change(session, actor, "user.password", f"user/{user.id}")


def _add_user(session: Session, actor: Actor, *, name: str, role: Role, password_hash: str) -> User:
    user = User(
        name=name,
        password_hash=password_hash,
        role=role,
        is_active=True,
        epoch=1,
        created_at=repository.read_clock(session),
    )
    session.add(user)
    session.flush()
    record_change(session, actor, "user.create", f"user/{user.id}", after={"name": name, **_describe(user)})
    return user


def _describe(user: User) -> dict[str, object]:
    return {"role": str(user.role), "is_active": user.is_active}
