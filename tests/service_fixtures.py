"""Databases and applications for tests of the service: every test that asks for one runs on SQLite and on PostgreSQL.

The service is imported when a test first asks for it: tests of the library alone start without.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import servers
    from fastapi import FastAPI
    from starlette.testclient import TestClient

    from primer.app.core.context import Context
    from primer.app.core.settings import Settings

BASE_URL = "http://127.0.0.1"
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.PostgresServer]:
    """A server in a folder of its own: other test runs close pytest's to other users, and so to the server."""
    import servers

    if servers.find_postgres() is None:
        _miss_service("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="primer-postgres-") as folder:
        server = servers.PostgresServer(Path(folder) / "server")
        yield server
        server.stop()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.ValkeyServer]:
    import servers

    server = servers.ValkeyServer(tmp_path_factory.mktemp("valkey"))
    yield server
    server.kill()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with this version's schema and nothing in it, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "migrated.sqlite3"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: servers.PostgresServer) -> str:
    """The name of such a database, to be a template."""
    _migrate(postgres.create_database("migrated"))
    return "migrated"


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of its own, without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'primer.sqlite3'}"
        return
    with _create_database(request.getfixturevalue("postgres"), "template1") as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of its own, with this version's schema."""
    if request.param == "sqlite":
        path = tmp_path / "primer.sqlite3"
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), path)
        yield f"sqlite:///{path}"
        return
    with _create_database(request.getfixturevalue("postgres"), request.getfixturevalue("migrated_postgres")) as url:
        yield url


@pytest.fixture
def service_settings(database_url: str, tmp_path: Path) -> Settings:
    """The cheapest passwords that argon2 allows."""
    from primer.app.core.settings import Settings

    return Settings(
        data_dir=tmp_path / "data",
        database_url=database_url,  # type: ignore[arg-type]
        password_memory_kib=8,
        password_rounds=1,
    )


@pytest.fixture
def service(service_settings: Settings) -> Iterator[FastAPI]:
    """The application over its own database."""
    from primer.app.main import create_app

    app = create_app(service_settings)
    yield app
    app.state.context.database.engine.dispose()


@pytest.fixture
def context(service: FastAPI) -> Context:
    """What the application works with."""
    from primer.app.core.context import Context

    context = service.state.context
    assert isinstance(context, Context)
    return context


@pytest.fixture
def client(service: FastAPI) -> TestClient:
    """A browser that nobody has signed in with yet."""
    from starlette.testclient import TestClient

    return TestClient(service, base_url=BASE_URL)


@contextmanager
def _create_database(server: servers.PostgresServer, template: str) -> Iterator[str]:
    """Its SQLAlchemy URL; it is dropped afterwards, whoever is still connected."""
    import psycopg

    name = f"test_{next(_numbers)}"
    maintenance = f"postgresql://primer@127.0.0.1:{server.port}/postgres"
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')  # type: ignore[arg-type]
    yield f"postgresql+psycopg://primer@127.0.0.1:{server.port}/{name}"
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]


def _miss_service(reason: str) -> None:
    """Skip the test, except where every service must be there."""
    if os.environ.get("CI") or os.environ.get("PRIMER_REQUIRE_SERVICES"):
        pytest.fail(f"{reason}, and CI or PRIMER_REQUIRE_SERVICES says that it must be.")
    pytest.skip(reason)


def _migrate(url: str) -> None:
    from primer.app.core.db import Database
    from primer.app.core.migrate import migrate

    database = Database(url)
    migrate(database)
    database.engine.dispose()
