"""Signing in and out by the HTTP interface, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from accounts import PASSWORD, add_user, open_browser, sign_in
from fastapi import FastAPI
from service_fixtures import BASE_URL
from sqlalchemy import select, update
from starlette.testclient import TestClient

from primer.app.auth.digests import digest
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.core.settings import Settings
from primer.app.main import create_app
from primer.app.models import BrowserSession, LoginAttempts, User

SESSION = "/api/v1/session"


@pytest.fixture(autouse=True)
def anna(context: Context) -> User:
    return add_user(context, "anna", Role.CURATOR)


def _try(client: TestClient, name: str = "anna", password: str = "a wrong password") -> int:
    return client.post(SESSION, json={"name": name, "password": password}).status_code


def _let_the_window_end(context: Context) -> None:
    with context.database.transaction() as session:
        session.execute(update(LoginAttempts).values(ends_at=LoginAttempts.ends_at - context.settings.login_window))


def test_who_signs_in_gets_a_cookie_that_scripts_and_other_sites_cannot_use(client: TestClient, anna: User) -> None:
    answer = client.post(SESSION, json={"name": "anna", "password": PASSWORD})
    assert answer.status_code == 200
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name.startswith("primer_session=")
    assert sorted(attributes) == ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=strict"]
    body = answer.json()
    assert {key: body[key] for key in ("user_id", "name", "role", "is_program")} == {
        "user_id": anna.id, "name": "anna", "role": "curator", "is_program": False,
    }  # fmt: skip
    assert len(body["csrf_token"]) == 64
    assert body["expires_at"].endswith("Z")
    assert client.get(SESSION).json() == body


def test_by_https_the_cookie_is_secure_and_bound_to_the_host(service_settings: Settings) -> None:
    app = create_app(service_settings.model_copy(update={"is_https": True}))
    client = TestClient(app, base_url="https://127.0.0.1")
    answer = client.post(SESSION, json={"name": "anna", "password": PASSWORD})
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name.startswith("__Host-primer_session=")
    assert sorted(attributes) == ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=strict", "Secure"]
    assert client.get(SESSION).status_code == 200
    foreign = name.removeprefix("__Host-")
    assert TestClient(app, base_url="https://127.0.0.1", headers={"Cookie": foreign}).get(SESSION).status_code == 401


def test_secrets_are_kept_as_hashes_alone(client: TestClient, context: Context) -> None:
    sign_in(client, "anna")
    secret = client.cookies["primer_session"]
    with context.database.reading() as session:
        row = session.execute(select(BrowserSession)).scalar_one()
        user = session.execute(select(User).where(User.name == "anna")).scalar_one()
    kept = " ".join(str(value) for value in (*vars(row).values(), *vars(user).values()))
    assert secret not in kept
    assert client.headers["X-CSRF-Token"] not in kept
    assert PASSWORD not in kept
    assert row.digest == digest(secret)


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(client: TestClient, context: Context) -> None:
    wrong = client.post(SESSION, json={"name": "anna", "password": "a wrong password"})
    unknown = client.post(SESSION, json={"name": "nobody", "password": "a wrong password"})
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()
    assert wrong.json()["detail"] == "Name or password is wrong."
    assert "set-cookie" not in wrong.headers
    with context.database.reading() as session:
        assert session.execute(select(BrowserSession)).all() == []


def test_an_unknown_name_takes_as_long(service_settings: Settings, context: Context) -> None:
    slow = service_settings.model_copy(update={"password_memory_kib": 32_768, "password_rounds": 2})
    app = create_app(slow)
    add_user(app.state.context, "slow")
    took: dict[str, list[float]] = {"slow": [], "nobody": []}
    client = open_browser(app)
    for _ in range(4):
        for name, times in took.items():
            begun = time.process_time()  # of this process, the application in it: other load does not count
            assert _try(client, name) == 401
            times.append(time.process_time() - begun)
    assert min(took["nobody"]) > 0.5 * min(took["slow"])
    assert min(took["slow"]) > 0.5 * min(took["nobody"])


@pytest.mark.parametrize(
    "name", ["an\x00na", "anna\r\nx", "\u202eanna", "x" * 10_000, "", "' OR 1=1 --", "\ud800", "Anna", "anna "]
)
def test_hostile_names_are_unknown_names(client: TestClient, name: str) -> None:
    body = json.dumps({"name": name, "password": PASSWORD})
    answer = client.post(SESSION, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 401
    assert answer.json()["detail"] == "Name or password is wrong."


def test_a_huge_password_is_a_wrong_password(client: TestClient) -> None:
    assert _try(client, password="x" * 1_000_000) == 401


def test_a_form_of_another_site_cannot_sign_anyone_in(client: TestClient) -> None:
    body = f'{{"name": "anna", "password": "{PASSWORD}"}}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = client.post(SESSION, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 422
        assert "set-cookie" not in answer.headers


def test_a_password_hashed_under_another_cost_is_hashed_anew(service_settings: Settings, context: Context) -> None:
    app = create_app(service_settings.model_copy(update={"password_memory_kib": 16}))
    client = open_browser(app)
    sign_in(client, "anna")
    with context.database.reading() as session:
        user = session.execute(select(User).where(User.name == "anna")).scalar_one()
    assert user.password_hash.startswith("$argon2id$v=19$m=16,")
    assert user.epoch == 1
    assert client.get(SESSION).status_code == 200


def test_every_sign_in_has_a_session_of_its_own_and_ends_the_browsers_former(client: TestClient) -> None:
    client.cookies.set("primer_session", "chosen-by-somebody-else", domain="127.0.0.1", path="/")
    sign_in(client, "anna")
    first = client.cookies["primer_session"]
    assert first != "chosen-by-somebody-else"
    sign_in(client, "anna")
    second = client.cookies["primer_session"]
    assert second != first
    for secret, status in (("chosen-by-somebody-else", 401), (first, 401), (second, 200)):
        other = TestClient(client.app, base_url=BASE_URL, headers={"Cookie": f"primer_session={secret}"})
        assert other.get(SESSION).status_code == status


def test_signing_out_ends_the_session_and_no_other(service: FastAPI) -> None:
    here, there = open_browser(service), open_browser(service)
    sign_in(here, "anna")
    sign_in(there, "anna")
    secret = here.cookies["primer_session"]
    answer = here.delete(SESSION)
    assert answer.status_code == 204
    assert 'primer_session=""' in answer.headers["set-cookie"]
    assert "primer_session" not in here.cookies
    thief = TestClient(service, base_url=BASE_URL, headers={"Cookie": f"primer_session={secret}"})
    assert thief.get(SESSION).status_code == 401
    assert there.get(SESSION).status_code == 200


def test_a_session_ends_when_its_time_is_over(client: TestClient, context: Context) -> None:
    sign_in(client, "anna")
    assert client.get(SESSION).status_code == 200
    with context.database.transaction() as session:
        session.execute(update(BrowserSession).values(expires_at=BrowserSession.expires_at - 12 * 3_600))
    answer = client.get(SESSION)
    assert answer.status_code == 401
    assert answer.json()["detail"] == "The session has ended."


def test_a_change_needs_the_csrf_token_of_its_own_session(service: FastAPI) -> None:
    mine, others = open_browser(service), open_browser(service)
    sign_in(mine, "anna")
    sign_in(others, "anna")
    right = mine.headers.pop("X-CSRF-Token")
    asked = {"name": "mine", "role": "viewer"}
    for given in (None, "", "wrong", right[:-1], right.upper(), others.headers["X-CSRF-Token"], "é"):
        headers = {} if given is None else {"X-CSRF-Token": given.encode()}
        answer = mine.post("/api/v1/tokens", json=asked, headers=headers)  # type: ignore[arg-type]
        assert answer.status_code == 403, given
        assert answer.json()["detail"] == "The request does not carry this session's X-CSRF-Token."
        assert mine.delete(SESSION, headers=headers).status_code == 403  # type: ignore[arg-type]
    assert mine.get("/api/v1/tokens").json()["items"] == []
    assert mine.post("/api/v1/tokens", json=asked, headers={"X-CSRF-Token": right}).status_code == 201


def test_a_name_is_locked_after_so_many_wrong_passwords_until_the_window_ends(
    service: FastAPI, context: Context
) -> None:
    add_user(context, "ben")
    client = open_browser(service)
    limit = context.settings.login_attempts_per_name
    assert [_try(client) for _ in range(limit)] == [401] * limit
    answer = client.post(SESSION, json={"name": "anna", "password": PASSWORD})
    assert answer.status_code == 429
    seconds = int(answer.headers["retry-after"])
    assert context.settings.login_window - 60 < seconds <= context.settings.login_window
    assert answer.json()["detail"] == f"Too many attempts to sign in. Try again in {seconds} seconds."
    # From another address, and in another process, the name is as locked; other names are not.
    elsewhere = open_browser(create_app(context.settings), address="198.51.100.1")
    assert _try(elsewhere, password=PASSWORD) == 429
    assert _try(client, "ben", PASSWORD) == 200
    _let_the_window_end(context)
    assert _try(client, password=PASSWORD) == 200


def test_attempts_that_are_refused_do_not_lengthen_the_wait(service: FastAPI, context: Context) -> None:
    client = open_browser(service)
    limit = context.settings.login_attempts_per_name
    assert [_try(client) for _ in range(limit + 5)] == [401] * limit + [429] * 5
    with context.database.reading() as session:
        counted = session.execute(select(LoginAttempts.attempts)).scalars().all()
    assert list(counted) == [limit, limit]


def test_unknown_names_are_locked_like_known_ones(service: FastAPI, context: Context) -> None:
    client = open_browser(service)
    limit = context.settings.login_attempts_per_name
    assert [_try(client, "nobody") for _ in range(limit + 1)] == [401] * limit + [429]


def test_a_right_password_forgives_the_wrong_ones(service: FastAPI, context: Context) -> None:
    client = open_browser(service)
    wrong = context.settings.login_attempts_per_name - 1
    for _ in range(2):
        assert [_try(client) for _ in range(wrong)] == [401] * wrong
        assert _try(client, password=PASSWORD) == 200


def test_an_address_is_locked_whatever_names_it_tries(service_settings: Settings, context: Context) -> None:
    app = create_app(service_settings.model_copy(update={"login_attempts_per_address": 5}))
    client = open_browser(app, "2001:db8::1")
    # Whoever may sign in cannot thereby win more attempts at others' names.
    for number in range(5):
        assert _try(client, f"name-{number}") == 401
        assert number == 4 or _try(client, "anna", PASSWORD) == 200
    assert _try(client, "name-5") == 429
    assert _try(open_browser(app, "2001:db8::ffff"), "anna", PASSWORD) == 429  # the same /64
    assert _try(open_browser(app, "2001:db8:0:1::1"), "anna", PASSWORD) == 200
    assert _try(open_browser(app, "192.0.2.1"), "anna", PASSWORD) == 200
    # A locked address does not lock names for others.
    for _ in range(context.settings.login_attempts_per_name):
        assert _try(client, "anna", PASSWORD) == 429
    assert _try(open_browser(app, "192.0.2.1"), "anna", PASSWORD) == 200


def test_attempts_at_one_moment_are_all_counted(service: FastAPI, context: Context) -> None:
    limit = context.settings.login_attempts_per_name
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: _try(open_browser(service)), range(limit + 10)))
    assert sorted(statuses) == [401] * limit + [429] * 10


def test_what_is_over_is_swept_away(client: TestClient, context: Context) -> None:
    assert [_try(client, f"name-{number}") for number in range(3)] == [401] * 3
    _let_the_window_end(context)
    assert _try(client, password=PASSWORD) == 200
    with context.database.reading() as session:
        assert len(session.execute(select(LoginAttempts)).all()) <= 1  # this address, begun anew


@pytest.mark.parametrize("header", ["Basic YW5uYTp4", "Bearer", "Bearer ", "Bearer x y", "prm_x", "Bearer \xff"])
def test_an_authorization_that_is_none_is_refused_even_beside_a_session(client: TestClient, header: str) -> None:
    sign_in(client, "anna")
    assert client.get(SESSION, headers={"Authorization": header.encode("latin-1")}).status_code == 401  # type: ignore[dict-item]
    assert client.get(SESSION).status_code == 200
