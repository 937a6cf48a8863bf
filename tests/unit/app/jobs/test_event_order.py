"""Events: numbered without a gap in the order of their commits, so that a reader who asks after the last misses none."""

from __future__ import annotations

import random
import threading
import time

from jobs_engine import Engine
from sqlalchemy import select

from primer.app.core.events import EVENT_COUNTER, record_event
from primer.app.models import Counter, Event

WRITERS, WRITES = 6, 25


def test_concurrent_writers_leave_no_gap_and_a_reader_sees_every_number_in_order(engine: Engine) -> None:
    with engine.database.reading() as session:
        first = session.execute(select(Counter.value).where(Counter.name == EVENT_COUNTER)).scalar_one()
    committed: list[list[tuple[int, int]]] = [[] for _ in range(WRITERS)]
    is_written = threading.Event()
    seen: list[int] = []

    def write(number: int) -> None:
        chance = random.Random(number)
        for turn in range(WRITES):
            try:
                with engine.database.transaction() as session:
                    time.sleep(chance.uniform(0, 0.002))
                    record_event(session, "test", {"writer": number, "turn": turn})
                    time.sleep(chance.uniform(0, 0.002))
                    if chance.random() < 0.2:
                        raise _RolledBack
            except _RolledBack:
                continue
            committed[number].append((number, turn))

    def read() -> None:
        position = first
        while True:
            is_last_look = is_written.is_set()
            with engine.database.reading() as session:
                found = list(
                    session.execute(
                        select(Event.sequence).where(Event.sequence > position).order_by(Event.sequence)
                    ).scalars()
                )
            seen.extend(found)
            position = max([position, *found])
            if is_last_look:
                return

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join(timeout=60)
    is_written.set()
    reader.join(timeout=60)

    expected = [pair for pairs in committed for pair in pairs]
    assert WRITERS < len(expected) < WRITERS * WRITES
    assert seen == list(range(first + 1, first + 1 + len(expected)))
    with engine.database.reading() as session:
        events = session.execute(select(Event).where(Event.sequence > first).order_by(Event.sequence)).scalars().all()
    stored = [(event.data["writer"], event.data["turn"]) for event in events]
    assert sorted(stored) == sorted(expected)
    for number in range(WRITERS):
        assert [pair for pair in stored if pair[0] == number] == committed[number], "a writer's own order"


class _RolledBack(Exception):
    pass
