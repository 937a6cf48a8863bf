"""Routes of jobs."""

from __future__ import annotations

from typing import Annotated

from anyio import from_thread
from fastapi import APIRouter, Depends, Header, Query, Request, status
from sse_starlette import EventSourceResponse

from primer.app.auth.dependencies import ActorDep, read_actor
from primer.app.core.context import ContextDep
from primer.app.core.errors import Conflict
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.jobs import repository, service
from primer.app.jobs.schemas import (
    EstimateView,
    EventPage,
    EventView,
    JobDetail,
    JobRequest,
    JobView,
    TaskView,
    UndecidedRequest,
)
from primer.app.jobs.states import JobState, TaskState
from primer.app.jobs.stream import stream_events
from primer.app.jobs.trial import try_job
from primer.app.jobs.trial_turns import TrialTurns
from primer.app.jobs.views import describe_job, describe_task, read_detail

router = APIRouter(tags=["jobs"])


def _read_turns(request: Request) -> TrialTurns:
    turns = request.app.state.trial_turns
    assert isinstance(turns, TrialTurns)
    return turns


TurnsDep = Annotated[TrialTurns, Depends(_read_turns)]


@router.post("/jobs", status_code=status.HTTP_201_CREATED, summary="Start a job")
def start_job(body: JobRequest, context: ContextDep, actor: ActorDep) -> JobDetail:
    job = service.start_job(context, actor, source_id=body.source_id, profile_id=body.profile_id, options=body.options)
    return read_detail(context, job.id)


@router.post("/jobs/estimate", summary="Try a job on some of its documents; nothing is kept")
def estimate_job(
    body: JobRequest, request: Request, context: ContextDep, actor: ActorDep, turns: TurnsDep
) -> EstimateView:
    """Up to 200 documents from all over the source, measured and decided in at most about 20 seconds. It ends when the
    client goes, or asks for another."""

    def check() -> None:
        if from_thread.run(request.is_disconnected):
            raise Conflict("Nobody waits for this estimate any more.", hint="Ask again.")

    found = try_job(
        context, turns, actor, source_id=body.source_id, profile_id=body.profile_id, options=body.options, check=check
    )
    return EstimateView.model_validate(found)


@router.get("/jobs", summary="List jobs, the newest first")
def list_jobs(
    context: ContextDep,
    _actor: ActorDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    state: JobState | None = None,
    source_id: RowId | None = None,
) -> Page[JobView]:
    before = decode_id_cursor(cursor)
    with context.database.reading() as session:
        rows = repository.list_jobs(session, before=before, limit=limit + 1, state=state, source_id=source_id)
    items = [describe_job(*row) for row in rows[:limit]]
    return Page[JobView](items=items, next=encode_cursor(items[-1].id) if len(rows) > limit else None)


@router.get("/jobs/{job_id}", summary="One job: progress, funnel so far, report")
def read_job(job_id: RowId, context: ContextDep, _actor: ActorDep) -> JobDetail:
    return read_detail(context, job_id)


@router.get("/jobs/{job_id}/tasks", summary="The tasks of a job, with their attempts and errors")
def list_tasks(
    job_id: RowId,
    context: ContextDep,
    _actor: ActorDep,
    cursor: Cursor = None,
    limit: Limit = 100,
    state: TaskState | None = None,
) -> Page[TaskView]:
    after = decode_id_cursor(cursor)
    with context.database.reading() as session:
        job = repository.get_job(session, job_id)
        tasks = repository.list_tasks(session, job_id, after=after, limit=limit + 1, state=state)
        names = repository.name_shards(session, job.source_id, {task.shard_index for task in tasks})
    items = [describe_task(task, names) for task in tasks[:limit]]
    return Page[TaskView](items=items, next=encode_cursor(items[-1].id) if len(tasks) > limit else None)


@router.post("/jobs/{job_id}/pause", summary="Pause: what runs is let go of within a batch")
def pause_job(job_id: RowId, context: ContextDep, actor: ActorDep) -> JobDetail:
    service.pause_job(context, actor, job_id)
    return read_detail(context, job_id)


@router.post("/jobs/{job_id}/resume", summary="Resume a paused job")
def resume_job(job_id: RowId, context: ContextDep, actor: ActorDep) -> JobDetail:
    service.resume_job(context, actor, job_id)
    return read_detail(context, job_id)


@router.post("/jobs/{job_id}/cancel", summary="Cancel: nothing is exported")
def cancel_job(job_id: RowId, context: ContextDep, actor: ActorDep) -> JobDetail:
    service.cancel_job(context, actor, job_id)
    return read_detail(context, job_id)


@router.post("/jobs/{job_id}/retry", summary="Try the failed slices again, and nothing else")
def retry_job(job_id: RowId, context: ContextDep, actor: ActorDep) -> JobDetail:
    service.retry_job(context, actor, job_id)
    return read_detail(context, job_id)


@router.post("/jobs/{job_id}/clone", status_code=status.HTTP_201_CREATED, summary="Start the same job again")
def clone_job(job_id: RowId, context: ContextDep, actor: ActorDep) -> JobDetail:
    return read_detail(context, service.clone_job(context, actor, job_id).id)


@router.post(
    "/jobs/{job_id}/measure-undecided",
    status_code=status.HTTP_201_CREATED,
    summary="Let the encoder score what the run leaves undecided under a profile",
)
def measure_undecided(job_id: RowId, body: UndecidedRequest, context: ContextDep, actor: ActorDep) -> JobDetail:
    job = service.measure_undecided(context, actor, job_id, profile_id=body.profile_id)
    return read_detail(context, job.id)


@router.get("/events", summary="What happened after a sequence number, for clients that poll")
def list_events(
    context: ContextDep,
    _actor: ActorDep,
    after: Annotated[int, Query(ge=0, description="The last sequence number that you have seen.")] = 0,
    limit: Limit = 100,
    job_id: RowId | None = None,
) -> EventPage:
    with context.database.reading() as session:
        events = repository.list_events(session, after=after, limit=limit, job_id=job_id)
    items = [EventView.model_validate(event, from_attributes=True) for event in events]
    return EventPage(items=items, next=items[-1].sequence if items else after)


@router.get(
    "/events/stream",
    summary="The same as server-sent events",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events with their sequence as id."}},
)
def stream(
    request: Request,
    context: ContextDep,
    _actor: ActorDep,
    last_event_id: Annotated[str | None, Header(description="Resume after this event.", pattern=r"^\d{1,18}$")] = None,
    after: Annotated[int | None, Query(ge=0, description="Resume after this event; default: only what is new.")] = None,
    job_id: RowId | None = None,
) -> EventSourceResponse:
    start = int(last_event_id) if last_event_id is not None else after
    return stream_events(context, start, job_id, is_allowed=lambda: read_actor(context, request) is not None)
