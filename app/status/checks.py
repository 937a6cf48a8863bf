"""What the service needs to work, each looked at anew. An answer names what is wrong and never how to reach it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from primer.app.core.context import Context
from primer.app.core.migrate import is_current

OK = "ok"


def check_readiness(context: Context) -> dict[str, str]:
    """`ok` or what is wrong, by what was looked at: database, schema, broker, data_folder."""
    database, schema = _check_database(context)
    return {
        "database": database,
        "schema": schema,
        "broker": OK if context.messenger.is_reachable() else "cannot be reached",
        "data_folder": _check_folder(context.settings.data_dir),
    }


def _check_database(context: Context) -> tuple[str, str]:
    try:
        is_fit = is_current(context.database)
    except SQLAlchemyError:
        return "cannot be reached", "unknown"
    return OK, OK if is_fit else "of another version: run `primer migrate`"


def _check_folder(folder: Path) -> str:
    """By writing: permissions alone do not tell of a full disk or one that turned read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        return f"cannot be written ({error.strerror})"
    return OK
