"""Bodies beyond the limit and forged headers against a real server, byte by byte."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
import uvicorn

from primer.app.core.settings import Settings
from primer.app.main import create_app

_LIMIT = 20_000


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where the service listens; no request of these tests comes as far as its database."""
    folder: Path = tmp_path_factory.mktemp("limits")
    port = servers.find_free_port()
    app = create_app(Settings(data_dir=folder, max_body_bytes=_LIMIT))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join(10)


def _exchange(port: int, sent: list[bytes]) -> tuple[bytes, int]:
    """What the server answers before it closes or falls silent, and how many of the parts it took."""
    answer, taken = b"", 0
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        try:
            for part in sent:
                connection.sendall(part)
                taken += 1
        except (BrokenPipeError, ConnectionResetError):
            pass
        connection.settimeout(1)
        try:
            while part := connection.recv(65_536):
                answer += part
        except (TimeoutError, ConnectionResetError):
            pass
    return answer, taken


def _head(*headers: str) -> bytes:
    lines = ("POST /api/v1/session HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *headers)
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


def test_a_body_that_says_it_is_too_long_is_refused_before_it_comes(port: int) -> None:
    answer, _ = _exchange(port, [_head(f"Content-Length: {_LIMIT + 1}")])
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"\r\ncontent-type: application/problem+json\r\n" in answer.lower()
    assert b"\r\nconnection: close\r\n" in answer.lower()


def test_a_chunked_body_is_refused_once_it_is_too_long(port: int) -> None:
    chunk = b"3e8\r\n" + b"x" * 1_000 + b"\r\n"
    answer, _ = _exchange(port, [_head("Transfer-Encoding: chunked"), *[chunk] * 21])
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"\r\ncontent-type: application/problem+json\r\n" in answer.lower()
    assert b"20,000 bytes" in answer


def test_a_chunked_body_without_end_does_not_fill_the_memory(port: int) -> None:
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    answer, taken = _exchange(port, [_head("Transfer-Encoding: chunked"), *[chunk] * 2_000])
    assert taken < 2_000 or answer.startswith(b"HTTP/1.1 413 ")


def test_a_chunked_body_within_the_limit_is_read(port: int) -> None:
    answer, _ = _exchange(port, [_head("Transfer-Encoding: chunked"), b"2\r\n{}\r\n", b"0\r\n\r\n"])
    assert answer.startswith(b"HTTP/1.1 422 ")  # read, and no name in it


@pytest.mark.parametrize("length", ["-1", "1e9", "x", "0x10"])
def test_a_length_that_is_none_is_refused(port: int, length: str) -> None:
    answer, _ = _exchange(port, [_head(f"Content-Length: {length}")])
    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "forged", [b"a\rSet-Cookie: stolen=1", b"a\nSet-Cookie: stolen=1", b"a\x00b", b"a b", b"\xc3\xa9"]
)
def test_a_request_id_puts_no_header_into_the_answer(port: int, forged: bytes) -> None:
    head = b"GET /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX-Request-Id: " + forged
    answer, _ = _exchange(port, [head + b"\r\n\r\n"])
    head_lines = answer.split(b"\r\n\r\n")[0].lower()
    assert answer[:13] in {b"HTTP/1.1 401 ", b"HTTP/1.1 400 "}
    assert b"stolen" not in head_lines
    assert forged not in head_lines
