"""Jobs on real workers, brokers and databases: what they leave has the bytes of `primer run` with the same options."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cli_runs
import pytest
import zstandard
from service_stack import SMALL_SLICES, Stack, running_stack

from curation.ledger.encoder import list_encoder_layers
from curation.run_folder import RunFolder
from primer.app.auth.actor import SYSTEM
from primer.app.jobs import service
from primer.app.jobs.states import JobState, TaskState
from primer.app.jobs.views import read_detail

SAMPLE_ROWS = 254


@dataclass(frozen=True)
class Case:
    """One job and the command that must leave the same. `source`: a fixture's name."""

    source: str
    options: dict[str, Any]
    arguments: tuple[str, ...]


CASES = {
    "every kind of file": Case("mixed", {"has_encoder": False}, ("--no-encoder",)),
    "export options": Case(
        "mixed",
        {
            "has_encoder": False,
            "validation_share": 0.2,
            "shuffle_seed": 7,
            "token_budget": 9_000,
            "control_match": "tokens_length",
            "control_seed": 5,
        },
        (
            *("--no-encoder", "--validation-share", "0.2", "--shuffle-seed", "7", "--tokens", "9000"),
            *("--match", "tokens_length", "--control-seed", "5"),
        ),
    ),
    "row limit": Case("mixed", {"has_encoder": False, "limit": 140}, ("--no-encoder", "--limit", "140")),
    "no row": Case("mixed", {"has_encoder": False, "limit": 0}, ("--no-encoder", "--limit", "0")),
    "trial": Case(
        "mixed",
        {"has_encoder": False, "sample_share": 0.3, "sample_seed": 3},
        ("--no-encoder", "--sample", "0.3", "--sample-seed", "3"),
    ),
    "encoder": Case("mixed", {"limit": 24}, ("--limit", "24")),
    "shared shard": Case("fineweb", {"has_encoder": False}, ("--no-encoder",)),
}


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample as Parquet, and again as lines, compressed in two ways."""
    folder = tmp_path_factory.mktemp("mixed")
    cli_runs.write_sample_lines(folder / "a.jsonl")
    content = (folder / "a.jsonl").read_bytes()
    (folder / "b.jsonl.zst").write_bytes(zstandard.compress(content[: len(content) // 3]))
    for shard in cli_runs.SAMPLE.glob("*.parquet"):
        shutil.copy(shard, folder)
    return folder


@pytest.fixture(scope="session")
def fineweb(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(shared / "data/shards/fineweb_edu-00000.parquet", tmp_path_factory.mktemp("fineweb")))


@pytest.fixture(scope="session")
def run_command(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, Any]]:
    """What the command of a case leaves, and its report; run once, whatever the job runs on."""
    runs: dict[str, tuple[Path, Any]] = {}

    def run(name: str) -> tuple[Path, Any]:
        if name not in runs:
            case, out = CASES[name], tmp_path_factory.mktemp("command") / "run"
            source = request.getfixturevalue(case.source)
            slices = ("--slice-mb", repr(SMALL_SLICES / (1 << 20)))
            report = cli_runs.run_json(
                "run", source, "--out", out, *slices, *case.arguments, "--workers", "2", OMP_NUM_THREADS="1"
            )
            runs[name] = out, report
        return runs[name]

    return run


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One worker of two processes that all jobs of the module share."""
    folder = tmp_path_factory.mktemp("stack")
    url = f"sqlite:///{folder / 'primer.sqlite3'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create_database("jobs")
    broker = request.getfixturevalue("valkey").choose_database()
    # Nothing is lost here: a slow machine must not look like a dead worker.
    patient = {"PRIMER_LEASE": "30", "PRIMER_HEARTBEAT": "2"}
    with running_stack(folder, database_url=url, broker_url=broker, environment=patient) as stack:
        stack.start_worker("--concurrency", "2")
        yield stack


@pytest.fixture(scope="module")
def run_job(stack: Stack, request: pytest.FixtureRequest) -> Callable[[str], int]:
    """The job of a case, done; its id."""
    jobs: dict[str, int] = {}

    def run(name: str) -> int:
        if name not in jobs:
            case = CASES[name]
            source_id = stack.add_source(request.getfixturevalue(case.source), name=name)
            jobs[name] = stack.start_job(source_id, **case.options)
            job = stack.wait_for(jobs[name])
            assert (job.state, job.error) == (JobState.SUCCEEDED, None), stack.read_logs()
        return jobs[name]

    return run


def _digest(folder: Path) -> dict[str, dict[str, str]]:
    return {part: cli_runs.digest_folder(folder / part) for part in ("ledger", "export")}


@pytest.mark.parametrize("name", CASES)
def test_a_job_leaves_what_the_command_leaves(
    stack: Stack, run_job: Callable[[str], int], run_command: Callable[[str], tuple[Path, Any]], name: str
) -> None:
    job_id = run_job(name)
    out, report = run_command(name)
    folder = stack.run_folder(job_id)
    assert _digest(folder) == _digest(out)

    written = json.loads((folder / "run.json").read_bytes())
    machine_keys = ("times", "export")  # hold times and the place of the folder
    assert {key: value for key, value in written.items() if key not in machine_keys} == {
        key: value for key, value in report.items() if key not in machine_keys
    }
    detail = read_detail(stack.context, job_id)
    assert detail.report == written
    assert detail.funnel == report["funnel"]
    assert detail.tokens_kept == report["funnel"]["tokens"]["kept"]
    slices = list(RunFolder(out).ledger.slices())
    assert (detail.slices_done, detail.slices_total) == (len(slices), len(slices))
    assert (detail.documents_done, detail.documents_total) == (report["documents"], report["documents"])
    assert detail.is_total_known
    assert set(detail.tasks) == {TaskState.DONE}
    assert {task.attempts for task in stack.read_tasks(job_id)} == {1}


def test_a_trial_measures_a_part_of_the_whole(stack: Stack, run_job: Callable[[str], int]) -> None:
    whole, trial = (stack.read_job(run_job(name)) for name in ("every kind of file", "trial"))
    assert 0 < trial.slices_done < whole.slices_done
    assert 0 < trial.documents_done < whole.documents_done


def test_measuring_the_undecided_leaves_what_the_command_leaves(
    stack: Stack, run_job: Callable[[str], int], run_command: Callable[[str], tuple[Path, Any]], tmp_path: Path
) -> None:
    job_id = run_job("encoder")
    folder = stack.run_folder(job_id)
    before = _digest(folder)
    undecided = service.measure_undecided(stack.context, SYSTEM, job_id, profile_id=stack.add_profile("published"))
    job = stack.wait_for(undecided.id)
    assert (job.state, job.error) == (JobState.SUCCEEDED, None)

    out = tmp_path / "run"
    shutil.copytree(run_command("encoder")[0], out)
    measured = cli_runs.run_json("measure", out, "--profile", "published", OMP_NUM_THREADS="1")
    assert measured["scored"] > 0, "the case tests nothing"
    after = _digest(folder)
    assert after == _digest(out)
    assert after["export"] == before["export"]
    assert before["ledger"].items() <= after["ledger"].items()
    assert any(
        "encoder-2" in list_encoder_layers(RunFolder(folder).ledger, ref.id)
        for ref in RunFolder(folder).ledger.slices()
    )
    detail = read_detail(stack.context, undecided.id)
    assert detail.funnel == measured["funnel"]
    assert detail.funnel["documents"]["undecided"] == 0
    assert stack.read_job(job_id).report == json.loads((folder / "run.json").read_bytes())


def test_a_clone_is_the_same_again_in_a_folder_of_its_own(stack: Stack, run_job: Callable[[str], int]) -> None:
    job_id = run_job("export options")
    clone = service.clone_job(stack.context, SYSTEM, job_id)
    job = stack.wait_for(clone.id)
    assert (job.state, job.base_job_id) == (JobState.SUCCEEDED, job_id)
    assert job.folder != stack.read_job(job_id).folder
    assert job.options == stack.read_job(job_id).options
    assert _digest(stack.run_folder(clone.id)) == _digest(stack.run_folder(job_id))
