"""Running the real `primer` command in processes of its own, and telling whether two folders hold the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from ready_primer import ReadyPrimer, is_ready_for, start_ready

REPO = Path(__file__).resolve().parent.parent
SAMPLE = REPO / "curation" / "sample" / "shards"
PRIMER = [sys.executable, "-m", "primer.cli"]


def start_primer(*arguments: str | Path, **environment: str) -> subprocess.Popen[str] | ReadyPrimer:
    """The command, started; its output is kept. It leads a process group of its own.

    A run measures in one process unless the test says in how many: each loads every model, and the texts are few.
    """
    if arguments[0] == "run" and not {"--workers", "-w"} & set(arguments):
        arguments = (*arguments, "--workers", "1")
    whole = {**os.environ, "COLUMNS": "200", **environment}
    if is_ready_for(whole):
        return start_ready(arguments, environment=whole, folder=REPO)
    return start_anew(*arguments, **environment)


def start_anew(*arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
    """The same, by a new Python that imports everything itself."""
    return subprocess.Popen(
        [*PRIMER, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPO,
        env={**os.environ, "COLUMNS": "200", **environment},
        start_new_session=True,
        preexec_fn=_take_interrupts,
    )


def _take_interrupts() -> None:
    """A suite that runs in the background ignores SIGINT, and its children would too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_primer(*arguments: str | Path, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, run to its end; fails with its output unless it exits with `status`."""
    process = start_primer(*arguments, **environment)
    out, err = process.communicate(timeout=300)
    assert process.returncode == status, f"status {process.returncode}\n{out}\n{err}"
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run_json(*arguments: str | Path, status: int = 0, **environment: str) -> Any:
    """What the command prints with --json."""
    return json.loads(run_primer(*arguments, "--json", status=status, **environment).stdout)


def digest_folder(folder: Path) -> dict[str, str]:
    """The sha256 of every file below a folder, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def write_sample_lines(path: Path) -> int:
    """The bundled sample as JSONL, which can be cut into slices of any size; the number of lines."""
    rows = [row for shard in sorted(SAMPLE.glob("*.parquet")) for row in pq.read_table(shard).to_pylist()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return len(rows)
