"""Debian's Chromium for the workbench's tests and pictures, and the whole service for it to look at.

Nothing here is faked: `primer up` in a folder of its own, on a port of its own, with one worker.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPO = Path(__file__).resolve().parents[2]
SAMPLE = REPO / "curation" / "sample" / "shards"
BUILT = REPO / "frontend" / "dist" / "index.html"

_START_SECONDS = 180.0
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


def find_obstacle() -> str | None:
    """Why no browser can look at the workbench here; None when one can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    if find_chromium() is None:
        return "chromium is not installed"
    if not BUILT.is_file():
        return "the workbench is not built: make install, with Node"
    return None


def find_chromium() -> str | None:
    return next((path for name in _PROGRAMS if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), headless=True, args=list(_SWITCHES))
        yield browser
        browser.close()


class Service:
    """`primer up` in `folder`. It can be stopped and started again with what it has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _find_free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.password = ""
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def start(self) -> None:
        """Returns once it answers."""
        log = self.folder / "up.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "primer.cli", "up", "--data", str(self.folder / "data"),
                 "--port", str(self.port), "--workers", "1", "--no-sample"],
                env={**os.environ, "PRIMER_PASSWORD_MEMORY_KIB": "8", "PRIMER_PASSWORD_ROUNDS": "1",
                     "PRIMER_MIN_FREE_BYTES": "0", "OMP_NUM_THREADS": "1"},
                cwd=self.folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while "Stop " not in log.read_text(errors="replace"):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the service did not start:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.1)
        if found := re.search(r"^Password\s+(\S+)", log.read_text(errors="replace"), re.MULTILINE):
            self.password = found.group(1)

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=60)
        self._process = None


class Caller:
    """The API, as a person who is signed in calls it."""

    def __init__(self, service: Service, name: str = "admin", password: str | None = None) -> None:
        self._address = f"{service.address}/api/v1"
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self._token = ""
        password = service.password if password is None else password
        self._token = self.call("POST", "/session", {"name": name, "password": password})["csrf_token"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Raises urllib's HTTPError for what is refused."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "X-CSRF-Token": self._token}
        request = urllib.request.Request(self._address + path, data=data, method=method, headers=headers)
        with self._opener.open(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def wait_for(self, path: str, *states: str, seconds: float = 300) -> Any:
        """What is at `path`, once its state is one of these."""
        deadline = time.monotonic() + seconds
        while (found := self.call("GET", path))["state"] not in states:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} is {found['state']} after {seconds} s: {found.get('error')}")
            time.sleep(0.2)
        return found


@contextmanager
def running_service(folder: Path) -> Iterator[Service]:
    service = Service(folder)
    try:
        service.start()
        yield service
    finally:
        service.stop()


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
