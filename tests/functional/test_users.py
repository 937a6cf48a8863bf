"""Users by the HTTP interface, on SQLite and on PostgreSQL: what an admin may change, and what ends with a change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from accounts import PASSWORD, add_user, open_browser, open_program, sign_in
from fastapi import FastAPI
from starlette.testclient import TestClient

from primer.app.auth import service as users
from primer.app.auth.actor import SYSTEM
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.models import User

USERS = "/api/v1/users"
OTHER_PASSWORD = "other words, as unexpected"


@pytest.fixture
def root(context: Context) -> User:
    return add_user(context, "root", Role.ADMIN)


@pytest.fixture
def admin(service: FastAPI, root: User) -> TestClient:
    browser = open_browser(service)
    sign_in(browser, root.name)
    return browser


def _status(client: TestClient) -> int:
    return client.get("/api/v1/session").status_code


def _audit(admin: TestClient, **wanted: str) -> list[dict[str, object]]:
    keys = ("user_name", "action", "subject", "before", "after")
    return [{key: item[key] for key in keys} for item in admin.get("/api/v1/audit", params=wanted).json()["items"]]


def test_an_admin_adds_a_user_who_can_sign_in(service: FastAPI, admin: TestClient) -> None:
    answer = admin.post(USERS, json={"name": "anna", "role": "curator", "password": PASSWORD})
    assert answer.status_code == 201
    user = answer.json()
    assert PASSWORD not in answer.text
    assert {key: user[key] for key in ("name", "role", "is_active")} == {
        "name": "anna", "role": "curator", "is_active": True,
    }  # fmt: skip
    assert admin.get(f"{USERS}/{user['id']}").json() == user
    assert [item["name"] for item in admin.get(USERS).json()["items"]] == ["root", "anna"]
    sign_in(open_browser(service), "anna")
    assert _audit(admin, subject=f"user/{user['id']}") == [
        {
            "user_name": "root",
            "action": "user.create",
            "subject": f"user/{user['id']}",
            "before": None,
            "after": {"name": "anna", "role": "curator", "is_active": True},
        }
    ]


def test_a_name_is_given_once(admin: TestClient) -> None:
    asked = {"name": "anna", "role": "viewer", "password": PASSWORD}
    assert admin.post(USERS, json=asked).status_code == 201
    answer = admin.post(USERS, json=asked)
    assert answer.status_code == 409
    assert answer.json()["detail"] == "There is already a user anna."
    assert len(_audit(admin, action="user.create")) == 2  # root and anna


@pytest.mark.parametrize("name", ["an\x00na", "anna\nx", "\u202eanna", "x" * 10_000, "", "Anna", "anna ", "аnna"])
def test_a_hostile_name_is_refused_and_not_repeated(admin: TestClient, name: str) -> None:
    answer = admin.post(USERS, json={"name": name, "role": "viewer", "password": PASSWORD})
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "A user's name has 1 to 64 small letters a-z, digits, and . _ @ - after the first."
    )
    assert [item["name"] for item in admin.get(USERS).json()["items"]] == ["root"]


@pytest.mark.parametrize("password", ["short", "x" * 10_000])
def test_a_poor_password_is_refused_and_not_repeated(admin: TestClient, password: str) -> None:
    answer = admin.post(USERS, json={"name": "anna", "role": "viewer", "password": password})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("A password has 12 to 1,000 characters;")
    assert password not in answer.text


@pytest.mark.parametrize("change", [{"role": "viewer"}, {"role": "operator"}, {"is_active": False}])
def test_a_change_ends_sessions_and_tokens_at_once(
    service: FastAPI, admin: TestClient, context: Context, change: dict[str, object]
) -> None:
    anna = add_user(context, "anna", Role.CURATOR)
    browser, program = open_browser(service), open_program(service, Role.CURATOR, "anna")
    sign_in(browser, "anna")
    assert (_status(browser), _status(program)) == (200, 200)
    assert admin.patch(f"{USERS}/{anna.id}", json=change).status_code == 200
    assert (_status(browser), _status(program)) == (401, 401)
    assert _status(admin) == 200
    assert [item["is_live"] for item in admin.get(f"{USERS}/{anna.id}/tokens").json()["items"]] == [False]
    before = {"role": "curator", "is_active": True}
    assert _audit(admin, action="user.change") == [
        {
            "user_name": "root",
            "action": "user.change",
            "subject": f"user/{anna.id}",
            "before": before,
            "after": {**before, **change},
        }
    ]
    # The old token does not come back with the old role.
    admin.patch(f"{USERS}/{anna.id}", json=before)
    assert _status(program) == 401


def test_what_changes_nothing_ends_nothing(service: FastAPI, admin: TestClient, context: Context) -> None:
    anna = add_user(context, "anna", Role.CURATOR)
    browser = open_browser(service)
    sign_in(browser, "anna")
    for change in ({}, {"role": "curator"}, {"is_active": True}, {"role": None}):
        assert admin.patch(f"{USERS}/{anna.id}", json=change).status_code == 200
    assert _status(browser) == 200
    assert _audit(admin, action="user.change") == []


def test_who_is_shut_out_cannot_sign_in(service: FastAPI, admin: TestClient, context: Context) -> None:
    anna = add_user(context, "anna")
    admin.patch(f"{USERS}/{anna.id}", json={"is_active": False})
    answer = open_browser(service).post("/api/v1/session", json={"name": "anna", "password": PASSWORD})
    assert answer.status_code == 401
    assert answer.json()["detail"] == "Name or password is wrong."
    admin.patch(f"{USERS}/{anna.id}", json={"is_active": True})
    sign_in(open_browser(service), "anna")


def test_a_password_that_an_admin_sets_replaces_the_old_and_ends_the_wait(
    service: FastAPI, admin: TestClient, context: Context
) -> None:
    anna = add_user(context, "anna")
    browser, program = open_browser(service), open_program(service, Role.VIEWER, "anna")
    sign_in(browser, "anna")
    for _ in range(context.settings.login_attempts_per_name + 1):
        last = open_browser(service).post("/api/v1/session", json={"name": "anna", "password": "wrong"})
    assert last.status_code == 429
    assert admin.put(f"{USERS}/{anna.id}/password", json={"password": OTHER_PASSWORD}).status_code == 204
    assert (_status(browser), _status(program)) == (401, 401)
    old = open_browser(service).post("/api/v1/session", json={"name": "anna", "password": PASSWORD})
    assert old.status_code == 401
    sign_in(open_browser(service), "anna", OTHER_PASSWORD)
    assert _audit(admin, action="user.password") == [
        {
            "user_name": "root",
            "action": "user.password",
            "subject": f"user/{anna.id}",
            "before": None,
            "after": None,
        }
    ]


def test_a_user_changes_the_own_password_with_the_old_one(service: FastAPI, context: Context) -> None:
    add_user(context, "anna")
    here, there = open_browser(service), open_browser(service)
    sign_in(here, "anna")
    sign_in(there, "anna")
    change = {"old_password": "a wrong password", "new_password": OTHER_PASSWORD}
    answer = here.put("/api/v1/session/password", json=change)
    assert answer.status_code == 403
    assert answer.json()["detail"] == "The old password is wrong."
    assert (_status(here), _status(there)) == (200, 200)
    assert here.put("/api/v1/session/password", json={**change, "old_password": PASSWORD}).status_code == 204
    assert (_status(here), _status(there)) == (401, 401)
    sign_in(here, "anna", OTHER_PASSWORD)


def test_a_stolen_session_cannot_guess_the_old_password_for_long(service: FastAPI, context: Context) -> None:
    add_user(context, "anna")
    browser = open_browser(service)
    sign_in(browser, "anna")
    limit = context.settings.login_attempts_per_name
    change = {"old_password": "a wrong password", "new_password": OTHER_PASSWORD}
    statuses = [browser.put("/api/v1/session/password", json=change).status_code for _ in range(limit + 1)]
    assert statuses == [403] * limit + [429]


@pytest.mark.parametrize("change", [{"role": "operator"}, {"is_active": False}])
def test_the_last_active_admin_stays(
    admin: TestClient, root: User, context: Context, change: dict[str, object]
) -> None:
    other = add_user(context, "other", Role.ADMIN)
    assert admin.patch(f"{USERS}/{other.id}", json=change).status_code == 200
    answer = admin.patch(f"{USERS}/{root.id}", json=change)
    assert answer.status_code == 409
    assert answer.json()["detail"] == "root is the last active admin: nobody could let anyone in."
    assert _status(admin) == 200
    assert admin.get(f"{USERS}/{root.id}").json()["role"] == "admin"
    # The other becomes an admin again: now root may go.
    admin.patch(f"{USERS}/{other.id}", json={"role": "admin", "is_active": True})
    assert admin.patch(f"{USERS}/{root.id}", json=change).status_code == 200
    assert _status(admin) == 401


def test_two_admins_who_demote_each_other_at_once_leave_one(context: Context) -> None:
    for number in range(10):
        pair = [add_user(context, f"admin-{number}-{side}", Role.ADMIN) for side in "ab"]

        def demote(user: User) -> bool:
            try:
                users.change_user(context, SYSTEM, user.id, role=Role.VIEWER)
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(demote, pair)) == [False, True]
        # For the next round there is nobody but its own pair.
        rest = next(u for u in pair if users.read_user(context, SYSTEM, u.id).role == Role.ADMIN)
        with context.database.transaction() as session:
            session.get_one(User, rest.id).is_active = False


def test_an_admin_lists_and_revokes_a_users_tokens(service: FastAPI, admin: TestClient, context: Context) -> None:
    anna, ben = add_user(context, "anna"), add_user(context, "ben")
    program = open_program(service, Role.VIEWER, "anna")
    items = admin.get(f"{USERS}/{anna.id}/tokens").json()["items"]
    assert [(item["name"], item["is_live"]) for item in items] == [("test", True)]
    assert admin.delete(f"{USERS}/{ben.id}/tokens/{items[0]['id']}").status_code == 404
    assert _status(program) == 200
    assert admin.delete(f"{USERS}/{anna.id}/tokens/{items[0]['id']}").status_code == 204
    assert _status(program) == 401
    assert [entry["user_name"] for entry in _audit(admin, action="token.revoke")] == ["root"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/users/7", 404),
        ("/api/v1/users/7/tokens", 404),
        ("/api/v1/users/0", 422),
        ("/api/v1/users/-1", 422),
        ("/api/v1/users/9223372036854775807", 404),
        ("/api/v1/users/9223372036854775808", 422),
        ("/api/v1/users/%00", 422),
        ("/api/v1/users?limit=0", 422),
        ("/api/v1/users?cursor=x", 422),
        ("/api/v1/users?cursor=WzkyMjMzNzIwMzY4NTQ3NzU4MDhd", 422),
    ],
)
def test_ids_and_cursors_that_are_none_are_refused(admin: TestClient, path: str, status: int) -> None:
    assert admin.get(path).status_code == status


def test_the_first_admin_is_made_once(service: FastAPI, context: Context) -> None:
    password = users.ensure_admin(context)
    assert password is not None
    assert len(password) == 24
    assert users.ensure_admin(context) is None
    browser = open_browser(service)
    sign_in(browser, "admin", password)
    assert browser.get("/api/v1/session").json()["role"] == "admin"


def test_processes_that_start_at_once_make_one_first_admin(context: Context) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = [password for password in pool.map(lambda _: users.ensure_admin(context), range(4)) if password]
    assert len(made) == 1
    assert [user.name for user in users.list_users(context, SYSTEM, after=0, limit=10)] == ["admin"]
