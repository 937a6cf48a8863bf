"""Clients that send or read a byte at a time, against `primer api` itself: others are answered, and the slow are let go."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx2 as httpx
import pytest
import servers
from accounts import open_program
from api_process import ApiProcess, running_api
from cli_runs import SAMPLE, run_primer
from exported_runs import bring_run
from service_stack import Stack, running_stack

from curation.export.request import CURRICULUM
from primer.app.auth.roles import Role
from primer.app.core.events import record_event
from primer.app.main import create_app

PATIENCE = 2.0
SLOW_CLIENTS = 40
HEAD = b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@dataclass(frozen=True)
class World:
    stack: Stack
    api: ApiProcess
    token: str

    def get(self, path: str) -> bytes:
        """The head of a request of somebody who is signed in."""
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("slow")
    with running_stack(
        folder / "stack",
        database_url=f"sqlite:///{folder}/primer.sqlite3",
        broker_url=f"redis://127.0.0.1:{servers.find_free_port()}/0",
    ) as stack:
        token = open_program(create_app(stack.settings), Role.OPERATOR).headers["Authorization"].split()[1]
        run_primer("run", SAMPLE, "--out", folder / "run", "--no-encoder", "--limit", "60", "--quiet")
        bring_run(stack.context, folder / "run", SAMPLE)
        with running_api(stack, {"PRIMER_CLIENT_PATIENCE": str(PATIENCE)}) as api:
            yield World(stack, api, token)
        assert "Traceback" not in (stack.folder / "api.log").read_text()


class SlowClient(threading.Thread):
    """Sends a first part at once, then a byte at a time for as long as the server lets it."""

    def __init__(self, port: int, first: bytes, rest: bytes) -> None:
        super().__init__(daemon=True)
        self._first, self._rest = first, rest
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.answer = b""
        self.seconds = 0.0

    def run(self) -> None:
        began = time.monotonic()
        self._socket.settimeout(0.1)
        with contextlib.suppress(ConnectionError), self._socket:
            self._socket.sendall(self._first)
            for place in range(len(self._rest)):
                self._socket.sendall(self._rest[place : place + 1])
                with contextlib.suppress(TimeoutError):
                    part = self._socket.recv(65_536)
                    self.answer += part
                    if not part:
                        break
        self.seconds = time.monotonic() - began


def _measure_others(world: World, is_over: Callable[[], bool]) -> list[float]:
    """How long others wait for their answers meanwhile."""
    found = []
    while not is_over():
        began = time.monotonic()
        assert world.api.is_healthy()
        found.append(time.monotonic() - began)
        time.sleep(0.02)
    return found


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        (b"", HEAD + b"X-Filler: " + b"x" * 500),
        (HEAD + b"Content-Length: 500\r\n\r\n", b"{" + b" " * 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"190\r\n{" + b" " * 399),
    ],
    ids=["head", "body", "chunks"],
)
def test_a_request_that_trickles_is_ended_and_others_are_answered(world: World, first: bytes, rest: bytes) -> None:
    clients = [SlowClient(world.api.port, first, rest) for _ in range(SLOW_CLIENTS)]
    for client in clients:
        client.start()
    waits = _measure_others(world, lambda: not any(client.is_alive() for client in clients))
    assert len(waits) > 10
    assert max(waits) < 2
    for client in clients:
        assert PATIENCE - 0.1 < client.seconds < PATIENCE + 4, client.answer
        assert client.answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert client.answer.endswith(b"The request did not come whole in time.")


def test_a_connection_that_sends_nothing_is_ended(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.api.port), timeout=PATIENCE + 4) as connection:
        began = time.monotonic()
        assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - began > PATIENCE - 0.1


def test_requests_that_come_whole_are_not_ended(world: World) -> None:
    """One connection, for longer than the server would wait for a single request."""
    answers = 0
    with socket.create_connection(("127.0.0.1", world.api.port), timeout=5) as connection:
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE * 2:
            request = world.get("/healthz")
            connection.sendall(request[:20])
            time.sleep(0.3)
            connection.sendall(request[20:])
            answer = connection.recv(65_536)
            while b'{"status":"alive"}' not in answer:
                answer += connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200 ")
            answers += 1
    assert answers > 8


def test_an_event_stream_outlives_the_patience(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.api.port), timeout=10) as connection:
        connection.sendall(world.get("/api/v1/events/stream"))
        assert b"200 OK" in connection.recv(200)
        time.sleep(PATIENCE * 2)
        with world.stack.context.database.transaction() as session:
            record_event(session, "late", {})
        heard = b""
        while b"event: late" not in heard:
            part = connection.recv(65_536)
            assert part, heard
            heard += part


def test_streams_and_downloads_that_nobody_reads_are_ended_and_others_are_answered(world: World) -> None:
    path = _add_download(world, 64 << 20)
    with world.stack.context.database.transaction() as session:
        for _ in range(1_000):
            record_event(session, "long", {"note": "x" * 20_000})
    connections = []
    for target in [path] * 10 + ["/api/v1/events/stream?after=0"] * 10:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(20)
        connection.connect(("127.0.0.1", world.api.port))
        connection.sendall(world.get(target))
        assert connection.recv(12) == b"HTTP/1.1 200"
        connections.append(connection)
    end = time.monotonic() + PATIENCE + 3
    waits = _measure_others(world, lambda: time.monotonic() > end)
    assert len(waits) > 10
    assert max(waits) < 2
    for connection in connections:
        received = 0
        with contextlib.suppress(ConnectionResetError), connection:
            while part := connection.recv(1 << 20):
                received += len(part)
        assert received < 20 << 20, "it was cut off, and not sent to its end"


def test_a_download_that_is_read_slowly_comes_whole(world: World) -> None:
    size = 3 << 20
    path = _add_download(world, size)
    received = b""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        connection.settimeout(20)
        connection.connect(("127.0.0.1", world.api.port))
        connection.sendall(world.get(path).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        began = time.monotonic()
        while part := connection.recv(32_768):
            received += part
            time.sleep(0.05)
    assert time.monotonic() - began > PATIENCE + 1
    assert len(received.partition(b"\r\n\r\n")[2]) == size


def _add_download(world: World, size: int) -> str:
    """Where a file of so many bytes is to be had."""
    answer = httpx.get(f"{world.api.address}/api/v1/exports/1", headers={"Authorization": f"Bearer {world.token}"})
    file = next(file["path"] for file in answer.json()["files"] if file["config"] == CURRICULUM)
    os.truncate(world.stack.run_folder(1) / "export" / file, size)
    return f"/api/v1/exports/1/files/{file}"
