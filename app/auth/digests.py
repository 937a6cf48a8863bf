"""Secrets that the service makes itself: 256 random bits, kept as their sha256. Passwords are another matter."""

from __future__ import annotations

import hashlib
import hmac
import secrets

TOKEN_PREFIX = "prm_"
SHOWN_CHARS = len(TOKEN_PREFIX) + 8  # 48 of the 256 bits: enough to tell tokens apart, too few to help a guess


def make_secret() -> str:
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is kept of a secret. A slow hash would guard no better what nobody can guess."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def derive_csrf_token(session_secret: str) -> str:
    """The session's other secret, which its scripts may read while the cookie stays out of their reach."""
    return hmac.new(session_secret.encode(), b"primer csrf token", "sha256").hexdigest()


def is_same(expected: str, given: str) -> bool:
    """Compared in constant time."""
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass"))
