"""The database: connections, and transactions with what must happen after them. Only this file commits.

On SQLite every transaction that writes takes the write lock when it begins, so that none fails half-way for another's sake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session, sessionmaker

_SQLITE_BUSY_SECONDS = 30
_IDLE_SECONDS = 60  # no transaction waits for anything but the database: this is a process that is no longer there
_AFTER_COMMIT = "after_commit"


class Database:
    """One per process. Connections are not shared with forked children: call `dispose` in them."""

    def __init__(self, url: str) -> None:
        self.engine = _create_engine(url)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Everything inside is committed together when the block ends, or rolled back when it raises.

        What `after_commit` was given then happens, in order; a crash in between may lose it.
        """
        with self._sessions() as session:
            with session.begin():
                yield session
            actions: list[Callable[[], None]] = session.info.pop(_AFTER_COMMIT, [])
        for action in actions:
            action()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A view of the database at one moment; nothing is written. Rows that were read stay readable after it."""
        with self._sessions() as session:
            if self.is_sqlite:
                session.connection(execution_options={"primer_reads": True})
            yield session

    def dispose(self) -> None:
        """Forget the connections without closing them: they are the parent's."""
        self.engine.dispose(close=False)


def after_commit(session: Session, action: Callable[[], None]) -> None:
    """Let `action` happen once the session's transaction is committed."""
    session.info.setdefault(_AFTER_COMMIT, []).append(action)


def _create_engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        # A process that stands still in the middle of a transaction would keep a job's row locked for as long.
        idle = {"options": f"-c idle_in_transaction_session_timeout={_IDLE_SECONDS}s"}
        return create_engine(
            parsed, pool_pre_ping=True, hide_parameters=True, pool_size=10, max_overflow=20, connect_args=idle
        )
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        parsed, hide_parameters=True, connect_args={"timeout": _SQLITE_BUSY_SECONDS, "check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        # The driver must not begin transactions of its own: BEGIN is said below.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        reads_only = connection.get_execution_options().get("primer_reads", False)
        connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")

    return engine
