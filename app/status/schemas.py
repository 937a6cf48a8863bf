"""What the routes of the status answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from primer.app.core.times import Instant
from primer.app.jobs.states import Queue, TaskKind


class Health(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "alive"}]})

    status: str


class Readiness(BaseModel):
    """`checks`: `ok` or what is wrong, by what was looked at."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "is_ready": False,
                    "checks": {"database": "ok", "schema": "ok", "broker": "cannot be reached", "data_folder": "ok"},
                }
            ]
        }
    )

    is_ready: bool
    checks: dict[str, str]


class HeldTaskView(BaseModel):
    """A task that a process works on. `lease_seconds`: until somebody else may take it; below 0: they may now."""

    model_config = ConfigDict(from_attributes=True)

    task_id: int
    job_id: int
    kind: TaskKind
    queue: Queue
    source: str
    shard: str | None
    slice_index: int
    attempts: int
    process: int
    started_at: Instant | None
    lease_seconds: float


class WorkerView(BaseModel):
    """A worker. One that does not answer is known by its leases alone: `pid` and `uptime_seconds` are null."""

    model_config = ConfigDict(from_attributes=True)

    host: str
    pid: int | None
    queues: list[str]
    process_count: int
    uptime_seconds: int | None
    is_answering: bool
    tasks: list[HeldTaskView]


class QueueView(BaseModel):
    """`waiting`: tasks that a worker could take now. `announced`: messages in the broker; null where it is down.
    `process_count`: of the workers that take from it."""

    model_config = ConfigDict(from_attributes=True)

    name: Queue
    waiting: int
    oldest_seconds: float
    announced: int | None
    running: int
    quarantined: int
    process_count: int


class OldestTaskView(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    task_id: int
    job_id: int
    kind: TaskKind
    queue: Queue
    created_at: Instant


class WorkView(BaseModel):
    """Who works and what waits. `oldest`: the task that has waited longest for a worker."""

    model_config = ConfigDict(from_attributes=True)

    is_broker_reachable: bool
    workers: list[WorkerView]
    queues: list[QueueView]
    oldest: OldestTaskView | None
