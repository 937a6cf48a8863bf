"""The service for tests: real state and broker, real worker processes, and small slices so that faults land in the middle."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ready_primer import ReadyPrimer, is_ready_for, start_ready
from servers import end_with_parent
from sqlalchemy import select

from curation.profile import load_profile
from curation.recipe import hash_json
from primer.app.auth.actor import SYSTEM
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.migrate import migrate
from primer.app.core.settings import Settings
from primer.app.jobs import service
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import FINAL, JobState
from primer.app.models import AllowedPrefix, Job, ProfileVersion, Source, Task

REPO = Path(__file__).resolve().parent.parent

# Short times: a lease runs out in two seconds, and the steward looks every half second.
SHORT_TIMES = {
    "PRIMER_HEARTBEAT": "0.4",
    "PRIMER_LEASE": "2",
    "PRIMER_STEWARD_INTERVAL": "0.5",
    "PRIMER_RESEND_AFTER": "1.5",
    "PRIMER_MIN_FREE_BYTES": "0",
    "PRIMER_LOG_FORMAT": "text",
}
SMALL_SLICES = 40_000  # bytes


def start_service(*arguments: str, environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes] | ReadyPrimer:
    """`primer api` or `primer worker` in the folder of its log; it leads a process group of its own."""
    whole = {**os.environ, **environment}
    with log.open("wb") as output:
        if is_ready_for({"COLUMNS": "200", **whole}):
            return start_ready(arguments, environment=whole, folder=log.parent, output=output.fileno())
        return subprocess.Popen(
            [sys.executable, "-m", "primer.cli", *arguments],
            env=whole,
            cwd=log.parent,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )


class Stack:
    """One installation in `folder`. `worker` starts processes of `primer worker` that end with the stack."""

    def __init__(
        self, folder: Path, *, database_url: str, broker_url: str, environment: Mapping[str, str] = {}
    ) -> None:
        self.folder = folder
        self.environment = {
            **SHORT_TIMES,
            "PRIMER_DATA_DIR": str(folder / "data"),
            "PRIMER_DATABASE_URL": database_url,
            "PRIMER_BROKER_URL": broker_url,
            **environment,
        }
        names = {key.removeprefix("PRIMER_").lower(): value for key, value in self.environment.items()}
        self.settings = Settings(**names)  # type: ignore[arg-type]
        self.context = Context.open(self.settings)
        self._workers: list[subprocess.Popen[bytes] | ReadyPrimer] = []
        folder.mkdir(parents=True, exist_ok=True)
        migrate(self.context.database)

    def start_worker(
        self, *arguments: str, environment: Mapping[str, str] = {}
    ) -> subprocess.Popen[bytes] | ReadyPrimer:
        log = self.folder / f"worker-{len(self._workers)}.log"
        process = start_service(
            "worker", *arguments, environment={**self.environment, "OMP_NUM_THREADS": "1", **environment}, log=log
        )
        self._workers.append(process)
        return process

    def kill_worker(self, process: subprocess.Popen[bytes] | ReadyPrimer, number: int = signal.SIGKILL) -> None:
        """The parent and every process that it forked, also those that outlived it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        process.wait(timeout=30)

    def close(self) -> None:
        for process in self._workers:
            self.kill_worker(process)
        self.context.database.engine.dispose()

    def add_source(self, *locations: Path | str, name: str = "source") -> int:
        """A source as its scan would leave it, without hashes, at places that are allowed."""
        with self.context.database.transaction() as session:
            allowed = set(session.execute(select(AllowedPrefix.prefix)).scalars())
            for prefix in {_find_prefix(str(place)) for place in locations} - allowed:
                session.add(AllowedPrefix(prefix=prefix, allows_private=False, created_by="test", created_at=now()))
            source = Source(
                name=name, locations=[str(place) for place in locations], text_field="text", state="ready",
                created_by="test", created_at=now(),
            )  # fmt: skip
            session.add(source)
            session.flush()
            return source.id

    def add_profile(self, name: str = "recommended") -> int:
        profile = load_profile(name)
        content = profile.model_dump(mode="json")
        with self.context.database.transaction() as session:
            found = session.execute(select(ProfileVersion.id).where(ProfileVersion.name == name)).scalar_one_or_none()
            if found is not None:
                return found
            version = ProfileVersion(
                name=name, version=profile.version, state="published", content=content, sha256=hash_json(content), note="",
                author="test", created_at=now(), changed_at=now(), published_at=now(),
            )  # fmt: skip
            session.add(version)
            session.flush()
            return version.id

    def start_job(self, source_id: int, *, profile: str = "recommended", **options: Any) -> int:
        chosen = JobOptions(**{"slice_bytes": SMALL_SLICES, **options})
        profile_id = self.add_profile(profile)
        return service.start_job(self.context, SYSTEM, source_id=source_id, profile_id=profile_id, options=chosen).id

    def read_job(self, job_id: int) -> Job:
        with self.context.database.reading() as session:
            return session.get_one(Job, job_id)

    def read_tasks(self, job_id: int) -> list[Task]:
        with self.context.database.reading() as session:
            return list(session.execute(select(Task).where(Task.job_id == job_id).order_by(Task.id)).scalars())

    def wait_for(self, job_id: int, *states: JobState, seconds: float = 120) -> Job:
        """The job once it is in one of the states (default: at its end)."""
        wanted = states or FINAL
        return self.wait_until(lambda: job if (job := self.read_job(job_id)).state in wanted else None, seconds=seconds)

    def wait_until(self, find: Callable[[], Any], *, seconds: float = 120) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            found = find()
            if found:
                return found
            assert time.monotonic() < deadline, f"waited {seconds} s in vain\n{self.read_logs()}"
            time.sleep(0.05)

    def read_logs(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(self.folder.glob("worker-*.log")))

    def run_folder(self, job_id: int) -> Path:
        return self.settings.data_dir / self.read_job(job_id).folder


def _find_prefix(place: str) -> str:
    """What the allow-list must have for a location: a URL itself, or a path down to its first wildcard."""
    if "://" in place:
        return place
    path = Path(place).resolve()
    return str(path.parent if "*" in path.name else path)


@contextmanager
def running_stack(folder: Path, **options: Any) -> Iterator[Stack]:
    stack = Stack(folder, **options)
    try:
        yield stack
    finally:
        stack.close()
