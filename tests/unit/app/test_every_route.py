"""Every route of the application, whatever rooms it has: who may, and who may not."""

from __future__ import annotations

import pytest
from accounts import add_user
from fastapi import FastAPI
from role_matrix import MATRIX, OPEN, fill, find_wrong_answers, list_routes
from starlette.testclient import TestClient

from primer.app.auth.roles import Role
from primer.app.core.context import Context


def test_every_route_but_health_and_sign_in_refuses_who_is_not_signed_in(service: FastAPI, client: TestClient) -> None:
    routes = [route for route in list_routes(service) if route not in OPEN]
    assert ("GET", "/api/v1/users/{user_id}") in routes
    answered = {}
    for method, path in routes:
        answer = client.request(method, fill(path))
        if answer.status_code != 401:
            answered[method, path] = answer.status_code
        else:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["www-authenticate"] == "Bearer"
    assert answered == {}


def test_the_matrix_names_every_route(service: FastAPI) -> None:
    assert set(list_routes(service)) - OPEN - set(MATRIX) == set()
    assert set(MATRIX) - set(list_routes(service)) == set()


@pytest.mark.parametrize("role", list(Role))
def test_every_route_lets_in_the_roles_of_the_matrix_and_no_other(
    service: FastAPI, context: Context, role: Role
) -> None:
    add_user(context, "first", Role.ADMIN)
    assert find_wrong_answers(service, role) == []
