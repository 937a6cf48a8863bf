"""Server-sent events from the events table: resumable by sequence number, alive by heartbeats, re-authorised every minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select
from sse_starlette import EventSourceResponse, ServerSentEvent

from primer.app.core.context import Context
from primer.app.core.events import EVENT_COUNTER
from primer.app.jobs import repository
from primer.app.jobs.schemas import EventView
from primer.app.models import Counter, Event

_POLL_SECONDS = 0.5
_HEARTBEAT_SECONDS = 15
_AUTHORISE_SECONDS = 60.0
_BATCH = 200


def stream_events(
    context: Context, after: int | None, job_id: int | None, *, is_allowed: Callable[[], bool]
) -> EventSourceResponse:
    """`after` None: what happens from now on. The stream ends when `is_allowed` says no."""
    # No proxy may hold events back: X-Accel-Buffering is what nginx heeds.
    return EventSourceResponse(
        _read_events(context, after, job_id, is_allowed),
        ping=_HEARTBEAT_SECONDS,
        headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"},
    )


async def _read_events(
    context: Context, after: int | None, job_id: int | None, is_allowed: Callable[[], bool]
) -> AsyncIterator[ServerSentEvent]:
    position = after if after is not None else await run_in_threadpool(_read_position, context)
    authorised = time.monotonic()
    yield ServerSentEvent(comment="connected", retry=2_000)
    while True:
        if time.monotonic() - authorised > _AUTHORISE_SECONDS:
            if not await run_in_threadpool(is_allowed):
                return
            authorised = time.monotonic()
        events = await run_in_threadpool(_read_batch, context, position, job_id)
        for event in events:
            position = event.sequence
            view = EventView.model_validate(event, from_attributes=True)
            yield ServerSentEvent(view.model_dump_json(), event=event.kind, id=str(event.sequence))
        if len(events) < _BATCH:
            await asyncio.sleep(_POLL_SECONDS)


def _read_batch(context: Context, after: int, job_id: int | None) -> Sequence[Event]:
    with context.database.reading() as session:
        return repository.list_events(session, after=after, limit=_BATCH, job_id=job_id)


def _read_position(context: Context) -> int:
    with context.database.reading() as session:
        return session.execute(select(Counter.value).where(Counter.name == EVENT_COUNTER)).scalar_one()
