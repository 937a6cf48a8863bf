"""Concepts on a real worker: a killed measuring is carried on, a probe counts what is kept, a gate stops an export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
from accounts import open_program
from cli_runs import SAMPLE
from exported_runs import EXPORTS
from service_stack import Stack, running_stack

from curation.concepts.catalogue import open_catalogue
from curation.concepts.measure import measure_concepts
from curation.concepts.probe_run import probe_run
from curation.curate import open_decision_set
from curation.run_folder import RunFolder
from primer.app.auth.roles import Role
from primer.app.concepts.bundled import import_bundled_catalogue
from primer.app.jobs.states import JobState
from primer.app.main import create_app


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    broker = servers.ValkeyServer(tmp_path / "valkey")
    try:
        with running_stack(
            tmp_path / "stack", database_url=f"sqlite:///{tmp_path}/primer.sqlite3", broker_url=broker.url
        ) as stack:
            with stack.context.database.transaction() as session:
                import_bundled_catalogue(session)
            yield stack
    finally:
        broker.kill()


def test_concepts_are_measured_through_a_kill_probed_and_gated(stack: Stack) -> None:
    worker = stack.start_worker("--concurrency", "1")
    base = stack.start_job(stack.add_source(SAMPLE), has_encoder=False)
    assert stack.wait_for(base, seconds=200).state == JobState.SUCCEEDED
    client = open_program(create_app(stack.settings), Role.OPERATOR)
    room = f"/api/v1/jobs/{base}/concepts"
    measuring = client.post(f"{room}/measure", json={}).json()["id"]
    run = RunFolder(stack.run_folder(base))
    catalogue = open_catalogue()

    def count_measured() -> int:
        return sum(layer["slices_measured"] for layer in client.get(room).json())

    stack.wait_until(lambda: count_measured() > 0)
    stack.kill_worker(worker)
    [layer] = client.get(room).json()
    stack.start_worker("--concurrency", "1")
    assert stack.wait_for(measuring, seconds=120).state == JobState.SUCCEEDED
    [layer] = client.get(room).json()
    assert (layer["version"], layer["is_whole"], layer["job"]["id"]) == (1, True, measuring)
    again = measure_concepts(run, catalogue)
    assert (again.slices_reused, again.documents) == (layer["slices"], 0)

    expected = probe_run(open_decision_set(run), catalogue)
    asked = client.post("/api/v1/probes", json={"base_job_id": base, "max_share": 0.0005}).json()
    assert stack.wait_for(asked["job_id"], seconds=120).state == JobState.SUCCEEDED
    probe = client.get(f"/api/v1/probes/{asked['id']}").json()
    assert (probe["documents"], probe["leaking"]) == (expected.documents, expected.leaking)

    export = client.post(EXPORTS, json={"base_job_id": base, "max_leak_share": 0.0}).json()
    failed = stack.wait_for(export["job_id"], seconds=120)
    assert failed.state == JobState.FAILED
    assert failed.error is not None
    assert failed.error.startswith(f"{expected.leaking} of {expected.documents} documents")
