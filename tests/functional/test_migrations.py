"""Migrations on SQLite and on PostgreSQL: from empty, killed in the middle, two at once, from the future."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import cli_runs
import pytest
import servers
from alembic import command
from alembic.config import Config
from sqlalchemy import inspect, text

from primer.app.core.db import Database
from primer.app.core.errors import Conflict
from primer.app.core.migrate import find_drift, is_current, migrate
from primer.app.models import Base

# Migrates, and stands still where its argument says, so that it can be killed there or let go by a line on its input.
_MIGRATE = """
import sys
from sqlalchemy import Engine, event
from primer.app.core.db import Database
from primer.app.core.migrate import migrate

url, halt_after = sys.argv[1:]

@event.listens_for(Engine, "after_cursor_execute")
def halt(connection, cursor, statement, *_):
    if halt_after and halt_after in statement:
        print("halted", flush=True)
        sys.stdin.readline()

print(migrate(Database(url)), flush=True)
"""


@pytest.fixture
def database(empty_database_url: str) -> Iterator[Database]:
    database = Database(empty_database_url)
    yield database
    database.engine.dispose()


def _start(url: str, halt_after: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _MIGRATE, url, halt_after],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=cli_runs.REPO,
    )


def _read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _list_tables(database: Database) -> set[str]:
    return set(inspect(database.engine).get_table_names())


def test_from_empty_the_schema_becomes_that_of_the_models(database: Database) -> None:
    assert not is_current(database)
    revision = migrate(database)
    assert is_current(database)
    assert find_drift(database) == []
    assert _list_tables(database) == set(Base.metadata.tables) | {"alembic_version"}
    assert migrate(database) == revision
    with database.reading() as session:
        assert session.execute(text("SELECT name, value FROM counters")).all() == [("events", 0)]


def test_drift_is_found(database: Database) -> None:
    migrate(database)
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE users ADD COLUMN surplus INTEGER"))
        connection.execute(text("DROP TABLE login_attempts"))
    found = sorted(str(entry[0]) for entry in find_drift(database))  # type: ignore[index]
    assert found == ["add_index", "add_table", "remove_column"]


@pytest.mark.parametrize("halt_after", ["CREATE TABLE jobs", "INSERT INTO counters", "CREATE TABLE login_attempts"])
def test_a_migration_killed_in_the_middle_leaves_nothing_and_the_next_mends_it(
    database: Database, empty_database_url: str, halt_after: str
) -> None:
    process = _start(empty_database_url, halt_after)
    try:
        assert _read_line(process) == "halted"
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -9
    assert _list_tables(database) == set()
    assert not is_current(database)
    migrate(database)
    assert is_current(database)
    assert find_drift(database) == []


def test_a_migration_killed_on_top_of_an_older_schema_leaves_the_older(
    database: Database, empty_database_url: str
) -> None:
    with database.engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(cli_runs.REPO / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(text("UPDATE counters SET value = 7"))
    process = _start(empty_database_url, "CREATE TABLE login_attempts")
    try:
        assert _read_line(process) == "halted"
    finally:
        process.kill()
        process.communicate()
    assert "login_attempts" not in _list_tables(database)
    with database.reading() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0001"
    migrate(database)
    assert find_drift(database) == []
    with database.reading() as session:
        assert session.execute(text("SELECT value FROM counters")).scalar_one() == 7


def test_two_processes_at_once_migrate_once(database: Database, empty_database_url: str) -> None:
    first = _start(empty_database_url, "CREATE TABLE jobs")
    second = None
    try:
        assert _read_line(first) == "halted"
        second = _start(empty_database_url)
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(3)  # the first holds the lock
        first_out, _ = first.communicate("go on\n", timeout=60)
        second_out, _ = second.communicate(timeout=60)
    finally:
        for process in filter(None, (first, second)):
            process.kill()
            process.wait()
    assert (first.returncode, second.returncode) == (0, 0)
    assert first_out == second_out != ""
    assert find_drift(database) == []


def test_a_schema_from_the_future_is_refused_and_left_alone(database: Database) -> None:
    migrate(database)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Conflict) as refused:
        migrate(database)
    assert refused.value.message == "The database has the schema 9999, which this version does not know."
    assert not is_current(database)
    with database.reading() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"


def test_a_server_that_loses_power_in_the_middle_leaves_nothing(postgres: servers.PostgresServer) -> None:
    url = postgres.create_database("powerless")
    process = _start(url, "CREATE TABLE jobs")
    try:
        assert _read_line(process) == "halted"
        postgres.stop("immediate")
        postgres.start()
        process.communicate("go on\n", timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1
    database = Database(url)
    assert _list_tables(database) == set()
    migrate(database)
    assert find_drift(database) == []
    database.engine.dispose()
