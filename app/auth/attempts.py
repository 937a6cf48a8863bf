"""How often somebody may try a password: so many times a window for one name, and for one address.

Counted in the database before the password is looked at, so that any number of processes and of tries at one moment
keep to the limit. Rows are always taken address first, then name: no two sign-ins wait for each other.
"""

from __future__ import annotations

import ipaddress
import math

from sqlalchemy import case, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from primer.app.auth.digests import digest
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import TooManyRequests
from primer.app.models import LoginAttempts


def count_attempt(context: Context, *, name: str, address: str) -> None:
    """Raises TooManyRequests, that says for how many seconds, beyond either limit. A refused attempt is not counted."""
    settings = context.settings
    with context.database.transaction() as session:
        _count(session, _key_of_address(address), settings.login_attempts_per_address, settings.login_window)
        _count(session, _key_of_name(name), settings.login_attempts_per_name, settings.login_window)


def forgive(session: Session, *, name: str, address: str) -> None:
    """The attempt was right: the name begins anew; the address is only as if it had not tried."""
    session.execute(
        update(LoginAttempts)
        .where(LoginAttempts.key == _key_of_address(address), LoginAttempts.attempts > 0)
        .values(attempts=LoginAttempts.attempts - 1)
    )
    forgive_name(session, name)


def forgive_name(session: Session, name: str) -> None:
    session.execute(delete(LoginAttempts).where(LoginAttempts.key == _key_of_name(name)))


def sweep(session: Session) -> None:
    """Delete what is over. Rows that others hold are left to the next: alone in its transaction, it waits for nobody."""
    over = select(LoginAttempts.key).where(LoginAttempts.ends_at < now()).with_for_update(skip_locked=True)
    session.execute(
        delete(LoginAttempts).where(LoginAttempts.key.in_(over)).execution_options(synchronize_session=False)
    )


def _count(session: Session, key: str, limit: int, window: float) -> None:
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    is_over = LoginAttempts.ends_at <= now()
    counted = session.execute(
        insert(LoginAttempts)
        .values(key=key, attempts=1, ends_at=now() + window)
        .on_conflict_do_update(
            index_elements=[LoginAttempts.key],
            set_={
                "attempts": case((is_over, 1), else_=LoginAttempts.attempts + 1),
                "ends_at": case((is_over, now() + window), else_=LoginAttempts.ends_at),
            },
        )
        .returning(LoginAttempts.attempts, (LoginAttempts.ends_at - now()).label("seconds_left"))
    ).one()
    if counted.attempts > limit:
        seconds = max(1, math.ceil(counted.seconds_left))
        raise TooManyRequests(
            f"Too many attempts to sign in. Try again in {seconds} seconds.",
            hint="An admin can set a new password, which ends the wait for a name.",
            retry_after_seconds=seconds,
        )


def _key_of_name(name: str) -> str:
    return digest(f"name {name}")


def _key_of_address(address: str) -> str:
    """An IPv6 host has a whole /64 to itself, so that counts as one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return digest(f"address {address}")
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    prefix = 64 if parsed.version == 6 and mapped is None else 32
    return digest(f"address {ipaddress.ip_network((mapped or parsed, prefix), strict=False)}")
