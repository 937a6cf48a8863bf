"""Every Python example of README.md and docs/ runs, against a real service with a real worker.

The examples of one file are one program. They find a finished run of the sample at out/sample and out/mine.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import servers
from accounts import open_program
from api_process import ApiProcess, running_api
from cli_runs import SAMPLE, digest_folder
from service_stack import Stack, running_stack

from curation.export.request import CURRICULUM
from primer.app.auth.roles import Role
from primer.app.jobs.states import JobState
from primer.app.main import create_app

REPO = Path(__file__).resolve().parents[2]
_EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECONDS = 240


def _read_examples(path: Path) -> list[str]:
    return _EXAMPLE.findall(path.read_text(encoding="utf-8"))


CLIENT = REPO / "docs" / "client.md"
FILES = [path for path in (REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))) if _read_examples(path)]


@dataclass(frozen=True)
class World:
    """A service with a finished job, and a folder for programs."""

    stack: Stack
    api: ApiProcess
    folder: Path
    environment: dict[str, str]
    job_id: int

    def run(self, path: Path) -> str:
        """What the examples of a file print."""
        script = self.folder / f"{path.stem}.py"
        script.write_text("\n".join(_read_examples(path)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, script],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("examples")
    broker = servers.ValkeyServer(folder / "valkey")
    options = {"database_url": f"sqlite:///{folder}/primer.sqlite3", "broker_url": broker.url}
    try:
        with running_stack(folder / "stack", environment={"PRIMER_LEASE": "60"}, **options) as stack:
            stack.start_worker("--concurrency", "1")
            job_id = stack.start_job(stack.add_source(SAMPLE), has_encoder=False, slice_bytes=1 << 20)
            assert stack.wait_for(job_id, seconds=200).state == JobState.SUCCEEDED
            programs = folder / "programs"
            (programs / "out").mkdir(parents=True)
            for name in ("sample", "mine"):
                (programs / "out" / name).symlink_to(stack.run_folder(job_id))
            token = open_program(create_app(stack.settings), Role.OPERATOR).headers["Authorization"].split()[1]
            with running_api(stack) as api:
                environment = {
                    "PRIMER_ADDRESS": api.address,
                    "PRIMER_TOKEN": token,
                    "HF_HOME": str(folder / "hub"),
                    "HF_HUB_OFFLINE": "1",
                }
                yield World(stack, api, programs, environment, job_id)
    finally:
        broker.kill()


@pytest.mark.parametrize("path", [path for path in FILES if path != CLIENT], ids=lambda path: path.name)
def test_the_examples_of_a_file_run(world: World, path: Path) -> None:
    world.run(path)


def test_the_client_rules_exports_and_downloads(world: World) -> None:
    printed = world.run(CLIENT)
    assert printed.startswith("a-operator as operator\n")
    program = open_program(create_app(world.stack.settings), Role.OPERATOR)
    [ruling] = program.get("/api/v1/sources/1/rulings").json()["items"]
    assert (ruling["revision"], ruling["action"], ruling["reason"]) == (1, "keep", "read and fine")
    [made] = [export for export in program.get("/api/v1/exports").json()["items"] if export["kind"] == "made"]
    assert (made["state"], made["base_job_id"], made["overrides_revision"]) == ("succeeded", world.job_id, 1)
    report = world.stack.read_job(world.job_id).report
    assert report is not None
    assert made["documents_written"] >= report["funnel"]["documents"]["kept"] + 1
    assert f"{made['documents_written']} documents, {made['tokens_written']} tokens in downloaded\n" in printed
    downloaded = world.folder / "downloaded"
    assert digest_folder(downloaded) == digest_folder(
        world.stack.settings.data_dir / "exports" / f"export-{made['id']:06d}"
    )
    rows = [
        (row["primer_shard"], row["primer_row"])
        for path in (downloaded / "data" / CURRICULUM).glob("*.parquet")
        for row in pq.read_table(path, columns=["primer_shard", "primer_row"]).to_pylist()
    ]
    assert len(set(rows)) == len(rows) == report["funnel"]["documents"]["kept"] + 1
    names = {hashlib.sha256(path.read_bytes()).hexdigest(): path.name for path in SAMPLE.glob("*.parquet")}
    assert (names[ruling["shard_sha256"]], ruling["row"]) in rows
