"""Limits a minute, kept on a clock that is turned by hand."""

from __future__ import annotations

import pytest
from judge_runs import HandClock

from curation.training.judge.pace import Pace, Stopped, SystemClock


def _starts(pace: Pace, clock: HandClock, tokens: list[int]) -> list[float]:
    starts = []
    for count in tokens:
        pace.wait_turn(count)
        starts.append(clock.now() - 1000.0)
    return starts


def test_no_limit_no_wait() -> None:
    clock = HandClock()
    assert _starts(Pace(clock, requests_per_minute=None, tokens_per_minute=None), clock, [9_999] * 50) == [0.0] * 50
    assert clock.slept == []


def test_requests_a_minute() -> None:
    clock = HandClock()
    starts = _starts(Pace(clock, requests_per_minute=20, tokens_per_minute=None), clock, [1] * 61)
    assert starts == [3.0 * number for number in range(61)]
    assert max(sum(begin <= start < begin + 60 for start in starts) for begin in starts) == 20


def test_tokens_a_minute() -> None:
    clock = HandClock()
    pace = Pace(clock, requests_per_minute=60, tokens_per_minute=6_000)
    assert _starts(pace, clock, [1_000, 50, 50, 400, 0]) == [0.0, 10.0, 11.0, 12.0, 16.0]


def test_hold_moves_every_start() -> None:
    clock = HandClock()
    pace = Pace(clock, requests_per_minute=None, tokens_per_minute=None)
    pace.hold(30.0)
    pace.hold(5.0)
    assert _starts(pace, clock, [1, 1]) == [30.0, 30.0]


def test_stop_breaks_waits_off() -> None:
    clock = SystemClock()
    pace = Pace(clock, requests_per_minute=None, tokens_per_minute=None)
    pace.hold(3600.0)
    clock.stop()
    with pytest.raises(Stopped):
        pace.wait_turn(1)
