"""`primer user`, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import cli_runs
import pytest
from accounts import PASSWORD, open_browser, open_program, sign_in
from fastapi import FastAPI
from sqlalchemy import text
from typer.testing import CliRunner, Result

from curation.errors import PrimerError
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.core.settings import Settings
from primer.cli import user


@pytest.fixture
def environment(service_settings: Settings) -> dict[str, str]:
    return {
        "PRIMER_DATA_DIR": str(service_settings.data_dir),
        "PRIMER_DATABASE_URL": service_settings.database,
        "PRIMER_PASSWORD_MEMORY_KIB": "8",
        "PRIMER_PASSWORD_ROUNDS": "1",
    }


def _run(
    environment: dict[str, str], *arguments: str, typed: str = "", status: int = 0, error: str | None = None
) -> Result:
    """The command with `typed` on its standard input; `error` is how the message begins that it must fail with."""
    result = CliRunner(env=environment).invoke(user.app, arguments, input=typed)
    if error is not None:
        assert isinstance(result.exception, PrimerError), result.output
        assert result.exception.message.startswith(error)
        assert result.exception.hint
    else:
        assert result.exit_code == status, result.output
    return result


def _list(environment: dict[str, str]) -> Any:
    return json.loads(_run(environment, "list", "--json").stdout)


def test_users_are_added_changed_and_listed(service: FastAPI, context: Context, environment: dict[str, str]) -> None:
    added = _run(environment, "add", "anna", "--role", "curator", "--password-stdin", typed=f"{PASSWORD}\n")
    assert added.stderr == "anna is a user with the role curator.\n"
    assert PASSWORD not in added.stdout + added.stderr
    browser = open_browser(service)
    sign_in(browser, "anna")
    assert browser.get("/api/v1/session").json()["role"] == "curator"

    _run(environment, "set-role", "anna", "--role", "operator")
    assert browser.get("/api/v1/session").status_code == 401
    assert _list(environment) == [{"id": 1, "name": "anna", "role": "operator", "is_active": True}]

    sign_in(browser, "anna")
    _run(environment, "password", "anna", "--password-stdin", typed="other words, as unexpected\n")
    assert browser.get("/api/v1/session").status_code == 401
    sign_in(browser, "anna", "other words, as unexpected")

    entries = open_program(service, Role.ADMIN).get("/api/v1/audit", params={"subject": "user/1"}).json()["items"]
    assert [(entry["user_name"], entry["user_id"], entry["action"]) for entry in entries] == [
        ("system", None, "user.password"),
        ("system", None, "user.change"),
        ("system", None, "user.create"),
    ]


@pytest.mark.parametrize(
    ("arguments", "typed", "message"),
    [
        (
            ("add", "An\u202ena", "-r", "viewer", "--password-stdin"),
            PASSWORD,
            "A user's name has 1 to 64 small letters",
        ),
        (("add", "anna", "-r", "viewer", "--password-stdin"), "short", "A password has 12 to 1,000 characters"),
        (("add", "anna", "-r", "viewer", "--password-stdin"), "", "A password has 12 to 1,000 characters"),
        (("password", "nobody", "--password-stdin"), PASSWORD, "There is no user nobody."),
        (("set-role", "nobody", "-r", "viewer"), "", "There is no user nobody."),
    ],
)
def test_what_cannot_be_done_is_said_in_one_message(
    environment: dict[str, str], arguments: tuple[str, ...], typed: str, message: str
) -> None:
    _run(environment, *arguments, typed=typed, error=message)
    assert _list(environment) == []


def test_the_last_admin_keeps_the_role(environment: dict[str, str]) -> None:
    _run(environment, "add", "root", "-r", "admin", "--password-stdin", typed=f"{PASSWORD}\n")
    _run(environment, "set-role", "root", "-r", "viewer", error="root is the last active admin")
    assert [user["role"] for user in _list(environment)] == ["admin"]


def test_a_password_is_never_an_argument(environment: dict[str, str]) -> None:
    _run(environment, "add", "anna", "--role", "viewer", "--password", PASSWORD, status=2)
    assert _list(environment) == []


def test_a_schema_of_another_version_is_refused_and_left_alone(context: Context, environment: dict[str, str]) -> None:
    with context.database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    _run(environment, "list", error="The database has the schema of another version.")
    with context.database.reading() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0001"


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "nothing"
    _run({"PRIMER_DATA_DIR": str(folder)}, "list", error=f"There is no database {folder / 'primer.sqlite3'}.")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"PRIMER_DATABASE_URL": "postgresql+psycopg://u:secret@127.0.0.1:1/x"},
            "The database postgresql+psycopg://u:***@127.0.0.1:1/x does not answer.",
        ),
        ({"PRIMER_DATABASE_URL": "secret"}, "PRIMER_DATABASE_URL is no SQLAlchemy URL."),
        (
            {"PRIMER_DATABASE_URL": "postgresql://u:secret@h/x", "PRIMER_LEASE": "soon"},
            "The settings do not fit: PRIMER_LEASE: Input should be a valid number",
        ),
    ],
)
def test_settings_that_do_not_fit_are_named_without_their_secrets(variables: dict[str, str], message: str) -> None:
    result = _run(variables, "list", error=message)
    assert "secret" not in str(result.exception)


def test_the_command_reads_a_password_from_a_pipe_and_fails_without_a_traceback(environment: dict[str, str]) -> None:
    command = [*cli_runs.PRIMER, "user", "add", "anna", "--role", "viewer", "--password-stdin"]
    for typed, status, message in (
        (f"{PASSWORD}\n", 0, "anna is a user with the role viewer.\n"),
        (f"{PASSWORD}\n", 1, "Error: There is already a user anna.\nChoose another name.\n"),
    ):
        done = subprocess.run(
            command,
            input=typed,
            capture_output=True,
            text=True,
            cwd=cli_runs.REPO,
            env={**os.environ, "COLUMNS": "200", **environment},
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (status, "", message)
