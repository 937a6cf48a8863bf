"""The whole database in a file, at one moment, while others work: SQLite by its backup interface, PostgreSQL by pg_dump."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL

from primer.app.core.db import Database
from primer.app.core.errors import Conflict

# Where Debian keeps the programs of each version.
_PROGRAMS = "/usr/lib/postgresql"


def dump(database: Database, file: Path) -> None:
    """Raises Conflict when a program is missing or fails."""
    if database.is_sqlite:
        with closing(sqlite3.connect(_sqlite_path(database))) as source, closing(sqlite3.connect(file)) as target:
            source.backup(target)
            # In the file alone, without a journal beside it.
            target.execute("PRAGMA journal_mode=DELETE")
        return
    _run("pg_dump", database.engine.url, "--format=custom", "--no-owner", "--no-privileges", f"--file={file}")


def load(database: Database, file: Path) -> None:
    """Put a dump in the place of what the database holds. Raises Conflict as above."""
    database.engine.dispose()
    if database.is_sqlite:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(_sqlite_path(database))) as target:
            source.backup(target)
        return
    arguments = ("--clean", "--if-exists", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
    _run("pg_restore", database.engine.url, *arguments, f"--dbname={database.engine.url.database}", str(file))


def _sqlite_path(database: Database) -> str:
    return str(database.engine.url.database)


def _run(program: str, url: URL, *arguments: str) -> None:
    """The password goes by the environment, which other users cannot read as they can arguments."""
    values = {"PGHOST": url.host, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password}
    values["PGDATABASE"] = url.database
    environment = {**os.environ, **{name: str(value) for name, value in values.items() if value is not None}}
    done = subprocess.run([_find(program), *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Conflict(f"{program} failed: {reason}", hint="Its version must be at least the server's.")


def _find(program: str) -> str:
    """The newest that is installed."""
    versions = sorted(Path(_PROGRAMS).glob(f"*/bin/{program}"), key=lambda path: int(path.parts[-3]))
    found = str(versions[-1]) if versions else shutil.which(program)
    if found is None:
        raise Conflict(f"{program} is not installed.", hint="Install PostgreSQL's client programs.")
    return found
