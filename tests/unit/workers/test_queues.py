"""The limits of queues nest, every kind of task has a queue, and a worker with limits that do not nest does not start."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from primer.app.core.settings import Settings
from primer.app.jobs.states import QUEUE_OF, Queue, TaskKind
from primer.workers.queues import LIMITS, require_nested_limits


def test_the_defaults_nest_for_every_queue() -> None:
    settings = Settings()
    require_nested_limits(settings)
    assert set(LIMITS) == set(Queue)
    assert set(QUEUE_OF) == set(TaskKind)
    for limits in LIMITS.values():
        assert settings.heartbeat < settings.lease < limits.soft < limits.hard < settings.visibility_timeout
        assert limits.reason


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"heartbeat": 60}, "PRIMER_HEARTBEAT (60 s) must be less than PRIMER_LEASE (60 s)."),
        ({"lease": 1_800}, "PRIMER_LEASE (1800 s) must be less than the soft limit of measure (1800 s)."),
        (
            {"visibility_timeout": 86_400},
            "the hard limit of export (86400 s) must be less than PRIMER_VISIBILITY_TIMEOUT (86400 s).",
        ),
    ],
)
def test_limits_that_do_not_nest_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        require_nested_limits(Settings(**values))


def test_a_visibility_timeout_below_an_hour_is_no_setting() -> None:
    with pytest.raises(ValidationError):
        Settings(visibility_timeout=3_599)
