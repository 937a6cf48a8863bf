"""`primer up` with a synthetic run of any number of decisions behind it, for benchmarks that ask it over HTTP."""

from __future__ import annotations

import sys
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.corpus import REPO
from benchmarks.service import write_source
from benchmarks.synthetic_ledger import write_ledger
from curation.artifacts.artifact_set import resolve_artifacts
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, read_vocabulary_table
from curation.profile import DEFAULT_PROFILE, load_profile
from curation.request import RunRequest, record_request
from curation.run_folder import RunFolder
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.settings import Settings
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobKind, JobState
from primer.app.models import Job, Source
from primer.app.profiles import repository as profiles
from primer.app.sources.states import SourceState

# The tests' own way to start a service, to call it, and to look at it.
sys.path.insert(0, str(REPO / "tests" / "browser"))
from desk import Desk, sign_in
from workbench import Caller, Service, find_obstacle, open_browser, running_service

__all__ = [
    "Caller", "Desk", "Service", "SyntheticService", "find_obstacle", "open_browser", "serve_decisions", "sign_in",
]  # fmt: skip

_FOLDER = "runs/synthetic"
_INDEX_SECONDS = 1_800


@dataclass(frozen=True)
class SyntheticService:
    """`job_id`: the synthetic run, whose index is built; `source_id`: real documents for a job that runs meanwhile."""

    service: Service
    job_id: int
    source_id: int
    rows: int

    def start_measuring(self, caller: Caller) -> int:
        """A job that keeps every worker process busy; its id."""
        options = JobOptions(has_encoder=False, slice_bytes=1 << 20).model_dump(mode="json")
        versions = caller.call("GET", "/profiles")["items"]
        profile_id = next(found["newest"]["id"] for found in versions if found["name"] == DEFAULT_PROFILE)
        asked = {"source_id": self.source_id, "profile_id": profile_id, "options": options}
        return int(caller.call("POST", "/jobs", asked)["id"])


@contextmanager
def serve_decisions(folder: Path, rows: int, *, megabytes: float) -> Iterator[SyntheticService]:
    """A service with a run of at least `rows` decisions and a source of `megabytes` of web text."""
    corpus = folder / "corpus"
    write_source(corpus, megabytes)
    with running_service(folder / "service") as service:
        data = service.folder / "data"
        found = _write_run(data / _FOLDER, rows)
        context = Context.open(Settings(data_dir=data))
        with context.database.transaction() as session:
            job_id = _add_job(session, found)
        context.database.engine.dispose()
        caller = Caller(service)
        caller.call("POST", "/allowed-prefixes", {"prefix": str(folder)})
        source = caller.call("POST", "/sources", {"name": "web", "locations": [str(corpus)]})
        caller.wait_for(f"/sources/{source['id']}", SourceState.READY)
        _wait_for_index(caller, job_id)
        yield SyntheticService(service, job_id, int(source["id"]), found)


def _wait_for_index(caller: Caller, job_id: int) -> None:
    """Until the first question is answered: an index is built when somebody asks."""
    deadline = time.monotonic() + _INDEX_SECONDS
    while True:
        try:
            caller.call("POST", f"/jobs/{job_id}/documents/search", {"limit": 1})
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                raise
            time.sleep(1)
        else:
            return


def _write_run(folder: Path, rows: int) -> int:
    """The run's row count."""
    table = read_vocabulary_table(resolve_artifacts(None).require("vocabulary").path)
    run = write_ledger(folder, rows, table)
    request = RunRequest(
        sources=("synthetic",),
        config=None,
        split=None,
        artifacts=None,
        aoa=None,
        profile=load_profile(DEFAULT_PROFILE),
        vocabulary=PLAIN_VOCABULARY,
        export=JobOptions().describe_export(),
    )
    record_request(folder, request)
    return sum(manifest.row_count for manifest in RunFolder(run.folder).ledger.read_shards())


def _add_job(session: Session, rows: int) -> int:
    moment = session.execute(select(now())).scalar_one()
    profile = profiles.find_newest_published(session, DEFAULT_PROFILE)
    assert profile is not None
    source = Source(
        name="synthetic", locations=["synthetic"], text_field="text", state=SourceState.READY, shard_count=0,
        row_count=rows, size_bytes=0, created_by="benchmark", created_at=moment, scanned_at=moment,
    )  # fmt: skip
    session.add(source)
    session.flush()
    job = Job(
        kind=JobKind.CURATE, state=JobState.SUCCEEDED, source_id=source.id, profile_id=profile.id,
        options=JobOptions().model_dump(mode="json"), folder=_FOLDER, documents_total=rows, documents_done=rows,
        created_by="benchmark", created_at=moment, started_at=moment, finished_at=moment,
    )  # fmt: skip
    session.add(job)
    session.flush()
    return int(job.id)
