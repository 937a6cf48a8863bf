"""What every answer carries and every request passes, over an application of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog
from fastapi import FastAPI, Response
from pydantic import BaseModel
from starlette.testclient import TestClient

from primer.app.core.errors import NotFound, install_error_handlers
from primer.app.core.middleware import install_middleware
from primer.app.core.settings import Settings

_LIMIT = 1_000


class _Sent(BaseModel):
    text: str


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    install_error_handlers(app)
    install_middleware(app, Settings(max_body_bytes=_LIMIT))

    @app.get("/api/plain")
    def _plain() -> dict[str, object]:
        return dict(structlog.contextvars.get_contextvars())

    @app.get("/api/tagged")
    def _tagged(response: Response) -> None:
        response.headers["ETag"] = '"1"'

    @app.get("/api/kept")
    def _kept(response: Response) -> None:
        response.headers["Cache-Control"] = "private, max-age=60"
        response.headers["Content-Security-Policy"] = "default-src 'none'"

    @app.get("/page")
    def _page() -> str:
        return "page"

    @app.get("/api/broken")
    def _broken() -> None:
        raise RuntimeError("the text of a document")

    @app.get("/api/quoting")
    def _quoting() -> None:
        raise NotFound("There is no \ud800.")

    @app.post("/api/length")
    def _length(sent: _Sent) -> int:
        return len(sent.text)

    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


_EXPECTED = {
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize("path", ["/api/plain", "/page", "/api/nowhere", "/api/broken"])
def test_every_answer_carries_safe_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers.get(name) for name in _EXPECTED} == _EXPECTED
    assert len(headers["x-request-id"]) == 32


def test_a_foreign_host_is_refused_with_safe_headers_too(client: TestClient) -> None:
    answer = client.get("/api/plain", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert {name: answer.headers.get(name) for name in _EXPECTED} == _EXPECTED


def test_api_answers_are_not_stored_unless_their_route_says_how(client: TestClient) -> None:
    assert client.get("/api/plain").headers["cache-control"] == "no-store"
    assert client.get("/api/tagged").headers["cache-control"] == "private, no-cache"
    assert client.get("/api/kept").headers["cache-control"] == "private, max-age=60"
    assert client.get("/api/kept").headers["content-security-policy"] == "default-src 'none'"
    assert "cache-control" not in client.get("/page").headers


def test_an_unexpected_error_is_a_problem_that_does_not_quote_it(client: TestClient) -> None:
    answer = client.get("/api/broken")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "The service failed."
    assert "document" not in answer.text


def test_a_plain_request_id_is_bound_and_echoed(client: TestClient) -> None:
    answer = client.get("/api/plain", headers={"X-Request-Id": "run-7.a_B"})
    assert answer.headers["x-request-id"] == "run-7.a_B"
    assert answer.json() == {"request_id": "run-7.a_B"}
    assert structlog.contextvars.get_contextvars() == {}


@pytest.mark.parametrize(
    "given", [b"", b"a b", b"a\r\nSet-Cookie: x=1", b"a\nb", b"\xe9", b"a" * 65, b"<script>", b"a;b", b"a\x00"]
)
def test_a_request_id_that_is_no_plain_token_is_replaced(client: TestClient, given: bytes) -> None:
    answer = client.get("/api/plain", headers=[(b"x-request-id", given)])  # type: ignore[arg-type]
    assert answer.status_code == 200
    assert len(answer.headers["x-request-id"]) == 32
    assert answer.json() == {"request_id": answer.headers["x-request-id"]}
    assert "set-cookie" not in answer.headers


def test_two_request_ids_are_none(client: TestClient) -> None:
    answer = client.get("/api/plain", headers=[("X-Request-Id", "a"), ("X-Request-Id", "b")])  # type: ignore[arg-type]
    assert len(answer.headers["x-request-id"]) == 32


def _body_of(size: int) -> bytes:
    empty = json.dumps({"text": ""})
    return json.dumps({"text": "x" * (size - len(empty))}).encode()


def _in_chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 100):
        yield body[start : start + 100]


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_may_reach_the_limit_and_not_pass_it(client: TestClient, is_chunked: bool) -> None:
    headers = {"Content-Type": "application/json"}
    for size, status in ((_LIMIT, 200), (_LIMIT + 1, 413), (50 * _LIMIT, 413)):
        body = _body_of(size)
        answer = client.post("/api/length", content=_in_chunks(body) if is_chunked else body, headers=headers)
        assert answer.status_code == status
        if status == 413:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["detail"] == "A request's body may have 1,000 bytes."
            assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("length", ["9" * 5_000, "1001", "18446744073709551617"])
def test_a_length_beyond_the_limit_is_refused_before_the_body_is_read(client: TestClient, length: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": length}
    assert client.post("/api/length", content=b"{}", headers=headers).status_code == 413


def test_an_error_may_quote_what_is_no_unicode(client: TestClient) -> None:
    answer = client.get("/api/quoting")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no \\ud800."
