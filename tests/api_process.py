"""`primer api` as a process of its own, over a stack's state and broker."""

from __future__ import annotations

import http.client
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ready_primer import ReadyPrimer
from servers import find_free_port
from service_stack import Stack, start_service

_START_SECONDS = 60


@dataclass(frozen=True)
class ApiProcess:
    port: int
    process: subprocess.Popen[bytes] | ReadyPrimer

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def is_healthy(self, *, seconds: float = 5) -> bool:
        """Whether it answers within the time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


@contextmanager
def running_api(stack: Stack, environment: Mapping[str, str] = {}) -> Iterator[ApiProcess]:
    """Inside, it answers."""
    port = find_free_port()
    log = stack.folder / "api.log"
    process = start_service("api", environment={**stack.environment, "PRIMER_PORT": str(port), **environment}, log=log)
    api = ApiProcess(port, process)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not api.is_healthy():
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.1)
        yield api
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
