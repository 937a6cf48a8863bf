"""The `primer` command in a process of its own that need not import anything: a fork of one that holds every library.

A second and a half of each of some hundred processes is nothing but imports. Tests of how `primer` starts, of what its
environment does to imports, or of its packaging start it as people do.

Run as a program this is the process that forks: it reads requests from the socket that it inherits.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

import servers

from primer import cli

_HELD = (
    "primer.cli.main", "primer.app.main", "primer.workers.celery_app", "primer.workers.steps", "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl", "celery.apps.worker", "celery.bin.worker", "celery.concurrency.prefork",
    "kombu.transport.redis", "kombu.transport.virtual", "billiard.pool", "sqlalchemy.dialects.sqlite", "psycopg",
    "sqlalchemy.dialects.postgresql", "fasttext", "tokenizers", "pandas",
)  # fmt: skip
_READ_AT_IMPORT = ("PYTHON", "HF_", "HUGGING", "HOME", "XDG_", "TMPDIR", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM")
_REQUEST_BYTES = 1 << 20


class ReadyPrimer:
    """A started command, with what tests use of `subprocess.Popen`. It leads a process group of its own."""

    def __init__(self, arguments: Sequence[str], pid: int, ended: int, pipes: Sequence[IO[str] | None]) -> None:
        self.args, self.pid = list(arguments), pid
        self.stdout, self.stderr = pipes
        self._ended = ended
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._wait(0)

    def wait(self, timeout: float | None = None) -> int:
        status = self._wait(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return status

    def _wait(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], seconds)[0]:
            said = os.read(self._ended, 16)
            os.close(self._ended)
            self.returncode = int(said) if said else -signal.SIGKILL
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it prints to its end, read while it runs, so that no pipe fills up."""
        found = ["", ""]

        def read(place: int, stream: IO[str]) -> None:
            found[place] = stream.read()

        streams = [(place, stream) for place, stream in enumerate((self.stdout, self.stderr)) if stream is not None]
        readers = [threading.Thread(target=read, args=one, daemon=True) for one in streams]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
        self.wait(timeout)
        return found[0], found[1]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def is_ready_for(environment: Mapping[str, str]) -> bool:
    """Whether a fork would see what a new process with this environment sees: libraries read some of it once, when imported."""
    held = _open_door()[1]
    names = {name for name in (*held, *environment) if name.startswith(_READ_AT_IMPORT)}
    return all(held.get(name) == environment.get(name) for name in names)


def start_ready(
    arguments: Sequence[str | Path], *, environment: Mapping[str, str], folder: Path, output: int | None = None
) -> ReadyPrimer:
    """The command with these arguments, in this folder. Both its outputs go to the file `output`, or into pipes."""
    words = list(map(str, arguments))
    pipes: list[IO[str] | None] = [None, None]
    outputs = [output, output]
    if output is None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        pipes, outputs = [os.fdopen(out), os.fdopen(err)], [out_end, err_end]
    ended, ended_end = os.pipe()
    request = json.dumps([words, dict(environment), str(folder)]).encode()
    door, _ = _open_door()
    socket.send_fds(door, [len(request).to_bytes(4, "big")], [*outputs, ended_end])
    door.sendall(request)
    pid = int.from_bytes(door.recv(4), "big")
    for number in {*outputs, ended_end} - {output}:
        os.close(number)
    return ReadyPrimer(words, pid, ended, pipes)


@cache
def _open_door() -> tuple[socket.socket, dict[str, str]]:
    """The socket of the process that forks, and the environment in which it imported everything."""
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "COLUMNS": "200", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())]
    subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
    theirs.close()
    return ours, environment


def serve(door: socket.socket) -> None:
    """Fork for every request until the other side is gone; report how each fork ended."""
    for name in _HELD:
        importlib.import_module(name)
    del sys.path[0]  # the tests' own folder
    children: dict[int, int] = {}
    wake, wake_end = os.pipe()
    os.set_blocking(wake_end, False)
    signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready = select.select([door, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
            _report_ended(children)
        if door in ready and not _answer(door, children):
            return


def _answer(door: socket.socket, children: dict[int, int]) -> bool:
    size, numbers, _, _ = socket.recv_fds(door, 4, 3)
    if not size:
        return False
    request = b""
    while len(request) < int.from_bytes(size, "big"):
        request += door.recv(_REQUEST_BYTES)
    *outputs, ended = numbers
    pid = os.fork()
    if pid == 0:
        door.detach()
        _become_primer(*json.loads(request), outputs)
    for number in outputs:
        os.close(number)
    children[pid] = ended
    door.sendall(pid.to_bytes(4, "big"))
    return True


def _report_ended(children: dict[int, int]) -> None:
    for pid in list(children):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended = children.pop(pid)
            os.write(ended, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(ended)


def _become_primer(words: list[str], environment: dict[str, str], folder: str, outputs: list[int]) -> NoReturn:
    os.setsid()
    servers.end_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A suite that runs in the background ignores SIGINT, and its children would too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for place, number in enumerate([os.open(os.devnull, os.O_RDONLY), *outputs]):
        os.dup2(number, place)
    os.closerange(3, 1 << 12)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["primer", *words]
    # What multiprocessing spawns imports the first module again: that of `python -m primer.cli`.
    sys.modules["__main__"].__spec__ = importlib.util.find_spec("primer.cli.__main__")
    cli.start()
    sys.exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
