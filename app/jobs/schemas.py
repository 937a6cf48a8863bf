"""What the API says of jobs and takes of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from primer.app.core.fields import RowId
from primer.app.core.times import Instant
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobKind, JobState, Queue, TaskKind, TaskState


class JobRequest(BaseModel):
    """A job to start."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"source_id": 1, "profile_id": 2, "options": {"sample_share": 0.01}}]},
    )

    source_id: RowId
    profile_id: RowId
    options: JobOptions = JobOptions()


class UndecidedRequest(BaseModel):
    """Under which profile's needs the encoder scores more of a run."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"profile_id": 2}]})

    profile_id: RowId


class EstimateView(BaseModel):
    """What a job is likely to do, from a trial of some of its documents; see `app.jobs.trial.Trial`."""

    model_config = ConfigDict(from_attributes=True)

    documents: int | None = Field(description="That the job reads; null where the source does not say beforehand.")
    tried: int
    kept: int
    undecided: int
    unreadable: int
    too_long: int = Field(description="Documents of more than 1 MiB that the trial passed over; the job reads them.")
    kept_share: float | None
    kept_share_low: float | None = Field(description="The lower end of its 95 % interval.")
    kept_share_high: float | None
    tokens_kept: int | None = Field(description="Of the whole job.")
    seconds: float | None = Field(description="Of the whole job, with the processes that answer now.")
    processes: int
    seconds_tried: float
    is_cut_short: bool = Field(description="The time was up before all drawn documents were measured.")
    notes: list[str] = Field(description="What of the source could not be read.")


class Named(BaseModel):
    id: int
    name: str


class NamedProfile(Named):
    version: int


class JobView(BaseModel):
    """A job and how far it is. Rates are documents a second over the last minute."""

    id: int
    kind: JobKind
    state: JobState
    source: Named
    profile: NamedProfile
    base_job_id: int | None
    options: JobOptions
    created_by: str
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    error: str | None
    hint: str | None
    slices_done: int
    slices_total: int
    failed_tasks: int
    documents_done: int
    documents_total: int
    bytes_done: int


class JobDetail(JobView):
    """`funnel` is of what is measured so far; `report` is there once the job has succeeded."""

    is_total_known: bool
    documents_per_second: float | None
    seconds_left: float | None
    tasks: dict[TaskState, int] = Field(description="How many tasks are in each state.")
    tokens_kept: int | None
    funnel: dict[str, Any] | None
    facts: dict[str, Any] | None
    report: dict[str, Any] | None


class TaskView(BaseModel):
    """One task; `slice_index` is -1 where it is not of a slice."""

    id: int
    kind: TaskKind
    queue: Queue
    state: TaskState
    shard: str | None
    shard_index: int
    slice_index: int
    attempts: int
    worker: str | None
    documents: int | None
    error: str | None
    hint: str | None
    started_at: Instant | None
    finished_at: Instant | None


class EventView(BaseModel):
    sequence: int
    at: Instant
    job_id: int | None
    kind: str
    data: dict[str, Any]


class EventPage(BaseModel):
    """`next` is what to ask after; it stays where nothing is new."""

    items: list[EventView]
    next: int
