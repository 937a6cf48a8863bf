"""Runs test files of one folder again and again without starting Python anew: a fork of a process that holds the libraries.

Run as a program it reads JSON lists of pytest arguments from its input, a line each, and answers each with pytest's
exit status. The folder's own modules are never imported before the fork: what was changed on disk is what is tested.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_BROKEN = 3  # pytest's exit status for an internal error
# Most of what a test run takes to start.
_HELD = ("hypothesis", "hypothesis.strategies", "numpy", "pyarrow", "pyarrow.parquet")
_HELD_TOO = ("pyarrow.compute", "pydantic", "yaml", "orjson", "duckdb", "wordfreq", "zstandard", "fasttext")


class TestServer:
    """One process that forks for every run. `output`: the file that holds what the last run printed."""

    __test__ = False

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.output = folder / "pytest-output.txt"
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), str(self.output)],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, arguments: Sequence[str], limit_seconds: float | None) -> int | None:
        """pytest's exit status (negative: the signal that ended it); None where it took longer and was killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([limit_seconds, list(arguments)]).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())  # type: ignore[no-any-return]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve(output: Path) -> None:
    """Answer requests until the input ends."""
    for name in (*_HELD, *_HELD_TOO):
        importlib.import_module(name)
    for line in sys.stdin:
        limit_seconds, arguments = json.loads(line)
        sys.stdout.write(json.dumps(_run_forked(arguments, limit_seconds, output)) + "\n")
        sys.stdout.flush()


def _run_forked(arguments: list[str], limit_seconds: float | None, output: Path) -> int | None:
    child = os.fork()
    if child == 0:
        status = _BROKEN
        try:
            os.setsid()
            target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(target, 1)
            os.dup2(target, 2)
            status = int(pytest.main(arguments))
            sys.stdout.flush()
        finally:
            os._exit(status)  # whatever happened, this process must not go on to serve
    handle = os.pidfd_open(child)
    try:
        ended, _, _ = select.select([handle], [], [], limit_seconds)
        if not ended:
            os.killpg(child, signal.SIGKILL)
    finally:
        os.close(handle)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if ended else None


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
