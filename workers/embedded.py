"""The embedded service from its start to its end: one call that returns when everything it started has stopped."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from curation.errors import PrimerError
from primer.app import first_start
from primer.app.auth.service import FIRST_ADMIN, ensure_admin
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.core.settings import Settings
from primer.app.jobs.states import FINAL, JobState
from primer.app.models import Job, Source
from primer.app.sources.states import SourceState
from primer.app.status.checks import OK
from primer.workers import children
from primer.workers.folder_lock import FolderLock
from primer.workers.scans import perform_scan
from primer.workers.supervisor import Supervisor

_ASK_SECONDS = 5.0
_EXPLAIN_SECONDS = 30.0
_SCANNED = (SourceState.READY, SourceState.FAILED)
_EVERYWHERE = {"0.0.0.0", "::", ""}
_LOCAL = "127.0.0.1"


@dataclass(frozen=True)
class Started:
    """The service answers. `password` is the first admin's, None when there are users already."""

    address: str
    user_name: str
    password: str | None
    sample_job_id: int | None


@dataclass(frozen=True)
class Told:
    """What becomes of what happens: `started` once, `said` for what a person should know."""

    started: Callable[[Started], None]
    said: Callable[[str], None]


def run_embedded(settings: Settings, *, processes: int, has_sample: bool, tell: Told) -> None:
    """Raises Conflict when folder or port are taken, ChildFailed when a part cannot be kept running."""
    with FolderLock(settings.data_dir) as lock:
        _require_free_port(settings)
        context = Context.open(settings)
        supervisor = Supervisor(children.find_logs(settings), say=tell.said, kept_open=[lock.inherited])
        supervisor.heed_signals()
        first_start.lay_ground(context)
        try:
            _run(context, supervisor, processes, has_sample, tell)
        finally:
            supervisor.stop_all()
            context.database.engine.dispose()


def _run(context: Context, supervisor: Supervisor, processes: int, has_sample: bool, tell: Told) -> None:
    settings = context.settings
    if (broker := children.describe_broker(settings)) is not None:
        supervisor.start(broker)
        if not supervisor.wait_until(lambda: children.is_broker_up(settings)):
            return
    supervisor.start(children.describe_api(settings))
    supervisor.start(children.describe_worker(settings, processes))
    job_id = _begin_sample(context, supervisor, tell) if has_sample else None
    if not supervisor.wait_until(_Readiness(settings, tell.said).is_reached):
        return
    tell.started(
        Started(f"http://{_find_address(settings)}:{settings.port}", FIRST_ADMIN, ensure_admin(context), job_id)
    )
    if job_id is not None and supervisor.wait_until(lambda: _is_over(context, job_id)):
        tell.said(_describe_outcome(context, job_id))
    supervisor.wait_until(lambda: False)


def _begin_sample(context: Context, supervisor: Supervisor, tell: Told) -> int | None:
    """The id of the sample's job, when this start began it. A sample that cannot be curated keeps nobody from working."""
    try:
        source = first_start.register_sample(context)
        if source is None:
            return None
        perform_scan(context, source.id)
        if not supervisor.wait_until(lambda: _read_source_state(context, source.id) in _SCANNED):
            return None
        return first_start.start_sample_job(context, source.id).id
    except PrimerError as error:
        tell.said(f"The sample is left out: {error}")
        return None


def _read_source_state(context: Context, source_id: int) -> str:
    with context.database.reading() as session:
        return session.get_one(Source, source_id).state


def _is_over(context: Context, job_id: int) -> bool:
    with context.database.reading() as session:
        return session.get_one(Job, job_id).state in FINAL


def _describe_outcome(context: Context, job_id: int) -> str:
    with context.database.reading() as session:
        job = session.get_one(Job, job_id)
    if job.state != JobState.SUCCEEDED or job.report is None:
        return f"The sample's job {job_id} has {job.state.replace('_', ' ')}."
    kept = job.report["funnel"]["documents"]["kept"]
    return (
        f"The sample is curated: {kept:,} of {job.documents_done:,} documents kept. "
        f"Export: {context.settings.data_dir.resolve() / job.folder / 'export'}"
    )


def _require_free_port(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise Conflict(
                f"{settings.host}:{settings.port} cannot be listened at ({error.strerror}).",
                hint="Choose another --port or --host.",
            ) from error


def _find_address(settings: Settings) -> str:
    return _LOCAL if settings.host in _EVERYWHERE else settings.host


class _Readiness:
    """Whether the API says that all is well; after some time, what it says is not."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._say: Callable[[str], None] | None = say
        self._explain_at = time.monotonic() + _EXPLAIN_SECONDS

    def is_reached(self) -> bool:
        status, answer = self._ask()
        if status == HTTPStatus.OK:
            return True
        if self._say is not None and time.monotonic() > self._explain_at:
            self._say(_explain(answer))
            self._say = None
        return False

    def _ask(self) -> tuple[int, bytes]:
        """Status and body, (0, nothing) without an answer. By a name that the service answers to, and past any proxy."""
        host = next((name for name in self._settings.allowed_hosts if "*" not in name), _LOCAL)
        connection = HTTPConnection(_find_address(self._settings), self._settings.port, timeout=_ASK_SECONDS)
        try:
            connection.request("GET", "/readyz", headers={"Host": host})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, HTTPException):
            return 0, b""
        finally:
            connection.close()


def _explain(answer: bytes) -> str:
    """`answer`: the body of a readiness that is not `ok`; empty where there was none."""
    try:
        checks = json.loads(answer)["checks"]
    except (ValueError, KeyError, TypeError):
        return "Still waiting for the API to answer; its log says more."
    wrong = [f"{name.replace('_', ' ')}: {found}" for name, found in checks.items() if found != OK]
    return f"Still waiting: {'; '.join(wrong)}."
