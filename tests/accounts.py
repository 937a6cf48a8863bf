"""People for tests of the service, one a role, signed in or with a token."""

from __future__ import annotations

from fastapi import FastAPI
from service_fixtures import BASE_URL
from starlette.testclient import TestClient

from primer.app.auth import service, tokens
from primer.app.auth.actor import SYSTEM, Actor
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.models import User

PASSWORD = "four words nobody expects"


def add_user(context: Context, name: str, role: Role = Role.VIEWER, password: str = PASSWORD) -> User:
    return service.create_user(context, SYSTEM, name=name, role=role, password=password)


def open_browser(app: FastAPI, address: str = "192.0.2.7") -> TestClient:
    """A client with cookies of its own."""
    return TestClient(app, base_url=BASE_URL, client=(address, 50_000))


def sign_in(client: TestClient, name: str, password: str = PASSWORD) -> None:
    """The client then carries cookie and CSRF token."""
    answer = client.post("/api/v1/session", json={"name": name, "password": password})
    assert answer.status_code == 200, answer.text
    client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]


def open_program(app: FastAPI, role: Role, name: str | None = None) -> TestClient:
    """A client with a token of a user of this role, who is made when there is none."""
    context: Context = app.state.context
    name = name or f"a-{role}"
    with context.database.reading() as session:
        user = service.repository.find_user(session, name)
    user = user or add_user(context, name, role)
    secret, _ = tokens.create_token(context, Actor(user.id, user.name, role), name="test", role=role, days=1)
    return TestClient(app, base_url=BASE_URL, headers={"Authorization": f"Bearer {secret}"})
