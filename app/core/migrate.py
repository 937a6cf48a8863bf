"""Bringing the database's schema to this version: all of it in one transaction, one process at a time, or not at all.

A process that is killed meanwhile leaves the schema as it was; the next start does it again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

import primer
from primer.app.core.db import Database
from primer.app.core.errors import Conflict
from primer.app.models import Base

_SCRIPTS = Path(primer.__file__).parent / "migrations"
_LOCK = 0x5072696D6572  # PostgreSQL: who holds this number migrates


def migrate(database: Database) -> str:
    """Upgrade to the newest revision and return it. Raises Conflict when the schema is newer than this version knows."""
    config = _configure()
    with database.engine.begin() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        _require_known(connection, config)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return _read_revision(connection) or ""


def is_current(database: Database) -> bool:
    """Whether the schema is the one that this version works with."""
    with database.engine.connect() as connection:
        return _read_revision(connection) == _find_head()


def read_revision(database: Database) -> str | None:
    """The revision of the schema as it is; None where there is none."""
    with database.engine.connect() as connection:
        return _read_revision(connection)


def find_drift(database: Database) -> list[object]:
    """What differs between the migrated schema and the models; empty when nothing does."""
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, Base.metadata))


@cache
def _find_head() -> str | None:
    return ScriptDirectory.from_config(_configure()).get_current_head()


def _configure() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    return config


def _read_revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _require_known(connection: Connection, config: Config) -> None:
    found = _read_revision(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise Conflict(
            f"The database has the schema {found}, which this version does not know.",
            hint="Start the version that migrated it, or restore a backup.",
        )
