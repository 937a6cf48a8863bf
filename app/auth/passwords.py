"""Passwords: what one must be like, and argon2id over it. Verifying takes as long for a name that nobody has."""

from __future__ import annotations

import secrets
from functools import lru_cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from primer.app.core.errors import Unprocessable
from primer.app.core.settings import Settings

MIN_CHARS = 12
MAX_CHARS = 1_000
_AT_ONCE = 4  # hashes of a process at one time, for each takes password_memory_kib


class Passwords:
    """Hashes under one cost."""

    def __init__(self, memory_kib: int, rounds: int) -> None:
        self._hasher = PasswordHasher(time_cost=rounds, memory_cost=memory_kib, parallelism=1)
        self._room = BoundedSemaphore(_AT_ONCE)
        self._nobodys = self._hasher.hash(secrets.token_urlsafe(32))

    def hash(self, password: str) -> str:
        with self._room:
            return self._hasher.hash(_encode(password))

    def verify(self, kept: str | None, password: str) -> bool:
        """Whether `kept` is the password's hash. None, for nobody's, is never, and takes as long."""
        with self._room:
            try:
                is_right = self._hasher.verify(kept or self._nobodys, _encode(password[: MAX_CHARS + 1]))
            except (VerificationError, InvalidHashError):
                return False
        return is_right and kept is not None

    def is_outdated(self, kept: str) -> bool:
        """Whether the hash was made under another cost."""
        return self._hasher.check_needs_rehash(kept)


def open_passwords(settings: Settings) -> Passwords:
    return _open(settings.password_memory_kib, settings.password_rounds)


@lru_cache
def _open(memory_kib: int, rounds: int) -> Passwords:
    return Passwords(memory_kib, rounds)


def require_good(password: str, *, user_name: str) -> None:
    """Raises Unprocessable for a password that is too short, too long, or the name itself."""
    if not MIN_CHARS <= len(password) <= MAX_CHARS:
        raise Unprocessable(
            f"A password has {MIN_CHARS} to {MAX_CHARS:,} characters; this one has {len(password):,}.",
            hint="A few words that nobody would expect together make a good one.",
        )
    if user_name.lower() in password.lower() and len(password) - len(user_name) < MIN_CHARS // 2:
        raise Unprocessable(
            "The password is hardly more than the name.", hint="Choose one that does not follow from it."
        )


def _encode(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
