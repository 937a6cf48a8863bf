"""Tokens of programs by the HTTP interface, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest
from accounts import PASSWORD, add_user, open_browser, open_program, sign_in
from fastapi import FastAPI
from service_fixtures import BASE_URL
from sqlalchemy import select, update
from starlette.testclient import TestClient

from primer.app.auth.digests import digest
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.models import ApiToken, User

TOKENS = "/api/v1/tokens"


@pytest.fixture(autouse=True)
def anna(context: Context) -> User:
    return add_user(context, "anna", Role.OPERATOR)


@pytest.fixture
def browser(service: FastAPI, anna: User) -> TestClient:
    browser = open_browser(service)
    sign_in(browser, anna.name)
    return browser


def _create(browser: TestClient, role: str = "viewer", **others: object) -> dict[str, object]:
    answer = browser.post(TOKENS, json={"name": "nightly", "role": role, **others})
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert isinstance(body, dict)
    return body


def _open(service: FastAPI, created: dict[str, object]) -> TestClient:
    return TestClient(service, base_url=BASE_URL, headers={"Authorization": f"Bearer {created['secret']}"})


def _status(client: TestClient) -> int:
    return client.get("/api/v1/session").status_code


def test_a_token_is_shown_once_and_kept_as_a_hash(service: FastAPI, browser: TestClient, context: Context) -> None:
    created = _create(browser, expires_in_days=7)
    secret, token = str(created["secret"]), created["token"]
    assert isinstance(token, dict)
    assert secret.startswith(f"{token['prefix']}")
    assert len(secret) == 4 + 43
    assert len(token["prefix"]) == 12
    assert {key: token[key] for key in ("name", "role", "is_live", "revoked_at", "last_used_at")} == {
        "name": "nightly", "role": "viewer", "is_live": True, "revoked_at": None, "last_used_at": None,
    }  # fmt: skip
    listed = browser.get(TOKENS)
    assert listed.json() == {"items": [token], "next": None}
    assert secret not in listed.text
    with context.database.reading() as session:
        row = session.execute(select(ApiToken)).scalar_one()
    assert row.expires_at is not None
    assert row.expires_at - row.created_at == pytest.approx(7 * 86_400, abs=1e-3)
    assert row.digest == digest(secret)
    assert secret not in " ".join(str(value) for value in vars(row).values())


def test_a_token_needs_no_csrf_token_and_has_its_own_role(service: FastAPI, browser: TestClient) -> None:
    program = _open(service, _create(browser))
    body = program.get("/api/v1/session").json()
    assert (body["name"], body["role"], body["is_program"], body["csrf_token"]) == ("anna", "viewer", True, None)
    answer = program.delete("/api/v1/session")
    assert answer.status_code == 409
    assert answer.json()["detail"] == "A token has no session to end."


def test_a_role_above_the_owners_is_refused(browser: TestClient, context: Context) -> None:
    answer = browser.post(TOKENS, json={"name": "more", "role": "admin"})
    assert answer.status_code == 403
    assert answer.json()["detail"] == ("A token of anna cannot have the role admin, for anna has the role operator.")
    assert browser.get(TOKENS).json()["items"] == []


def test_a_program_cannot_make_itself_a_successor(service: FastAPI, browser: TestClient) -> None:
    created = _create(browser, role="operator")
    program = _open(service, created)
    token = created["token"]
    assert isinstance(token, dict)
    assert program.post(TOKENS, json={"name": "next", "role": "viewer"}).status_code == 403
    assert program.delete(f"{TOKENS}/{token['id']}").status_code == 403
    change = {"old_password": PASSWORD, "new_password": "other words, as unexpected"}
    assert program.put("/api/v1/session/password", json=change).status_code == 403
    assert [item["prefix"] for item in program.get(TOKENS).json()["items"]] == [token["prefix"]]


def test_an_expired_token_opens_nothing(service: FastAPI, browser: TestClient, context: Context) -> None:
    program = _open(service, _create(browser, expires_in_days=1))
    assert _status(program) == 200
    with context.database.transaction() as session:
        session.execute(update(ApiToken).values(expires_at=ApiToken.expires_at - 86_400))
    answer = program.get("/api/v1/session")
    assert answer.status_code == 401
    assert answer.json()["detail"] == "The token is unknown, expired or revoked."
    assert [item["is_live"] for item in browser.get(TOKENS).json()["items"]] == [False]


def test_a_revoked_token_opens_nothing_and_the_others_still_do(service: FastAPI, browser: TestClient) -> None:
    first, second = _create(browser), _create(browser)
    token = first["token"]
    assert isinstance(token, dict)
    for _ in range(2):  # twice is once
        assert browser.delete(f"{TOKENS}/{token['id']}").status_code == 204
    assert _status(_open(service, first)) == 401
    assert _status(_open(service, second)) == 200
    items = browser.get(TOKENS).json()["items"]
    assert [(item["is_live"], item["revoked_at"] is None) for item in items] == [(False, False), (True, True)]


def test_a_token_of_another_can_neither_be_seen_nor_revoked(service: FastAPI, browser: TestClient) -> None:
    open_program(service, Role.VIEWER, "ben")
    assert browser.get(TOKENS).json()["items"] == []
    answer = browser.delete(f"{TOKENS}/1")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no token 1 of this user."


def test_the_last_use_is_noted_once_a_minute(service: FastAPI, browser: TestClient, context: Context) -> None:
    program = _open(service, _create(browser))

    def read() -> float | None:
        with context.database.reading() as session:
            return session.execute(select(ApiToken.last_used_at)).scalar_one()

    assert read() is None
    assert _status(program) == 200
    first = read()
    assert first is not None
    assert _status(program) == 200
    assert read() == first
    with context.database.transaction() as session:
        session.execute(update(ApiToken).values(last_used_at=first - 61))
    assert _status(program) == 200
    assert (read() or 0) >= first


def test_tokens_come_in_pages(browser: TestClient) -> None:
    prefixes = []
    for _ in range(5):
        token = _create(browser)["token"]
        assert isinstance(token, dict)
        prefixes.append(token["prefix"])
    found: list[str] = []
    cursor: str | None = None
    sizes = []
    while cursor is not None or not sizes:
        page = browser.get(TOKENS, params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        sizes.append(len(page["items"]))
        found += [item["prefix"] for item in page["items"]]
        cursor = page["next"]
    assert (sizes, found) == ([2, 2, 1], prefixes)


@pytest.mark.parametrize(
    "asked",
    [
        {"name": "a\u202eb", "role": "viewer"},
        {"name": "a\u0000b", "role": "viewer"},
        {"name": "x" * 10_000, "role": "viewer"},
        {"name": "", "role": "viewer"},
        {"name": "a", "role": "owner"},
        {"name": "a"},
        {"name": "a", "role": "viewer", "expires_in_days": 0},
        {"name": "a", "role": "viewer", "expires_in_days": 3_651},
        {"name": "a", "role": "viewer", "expires": "never"},
    ],
)
def test_what_is_no_token_is_refused(browser: TestClient, asked: dict[str, object]) -> None:
    assert browser.post(TOKENS, json=asked).status_code == 422
    assert browser.get(TOKENS).json()["items"] == []
