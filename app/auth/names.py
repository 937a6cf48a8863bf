"""What a user may be called: plain small letters, so that no two names look alike in the audit log."""

from __future__ import annotations

import re

from primer.app.core.errors import Unprocessable

USER_NAME_PATTERN = r"^[a-z0-9][a-z0-9._@-]{0,63}$"

_USER_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")


def is_user_name(name: str) -> bool:
    return _USER_NAME.fullmatch(name) is not None


def require_user_name(name: str) -> None:
    """Raises Unprocessable that says what a name is like; it does not repeat the name, which may be anything."""
    if not is_user_name(name):
        raise Unprocessable(
            "A user's name has 1 to 64 small letters a-z, digits, and . _ @ - after the first.",
            hint="For example anna.berg or anna@example.org.",
        )
