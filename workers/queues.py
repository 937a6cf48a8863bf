"""Every queue: how long one of its tasks may take, and why. Times are seconds.

A task over its soft limit is let go of at the next batch and counts as an attempt; over its hard limit its process ends.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from primer.app.core.settings import Settings
from primer.app.jobs.states import Queue


@dataclass(frozen=True)
class QueueLimits:
    soft: float
    hard: float
    reason: str


LIMITS: dict[Queue, QueueLimits] = {
    Queue.MEASURE: QueueLimits(
        1_800,
        2_100,
        "A slice is about 16 MB of text: 10 s on one core. Hashing and staging a shard of 2 GB takes minutes.",
    ),
    Queue.ENCODER: QueueLimits(
        7_200,
        7_500,
        "On a CPU the encoder reads about 2,000 tokens a second: a slice of which all is scored takes an hour.",
    ),
    Queue.EXPORT: QueueLimits(
        80_000,
        86_400,
        "Writes a whole corpus: a terabyte at 20 MB a second takes 14 hours. It cannot carry on half-way.",
    ),
    Queue.MAINTENANCE: QueueLimits(
        3_600,
        3_900,
        "Lists and scans sources: a Hub data set has thousands of shards. Concepts are measured a quarter of an hour at a time.",
    ),
}


def require_nested_limits(settings: Settings) -> None:
    """Raises ValueError unless heartbeat < lease < soft limit < hard limit < visibility timeout for every queue."""
    for queue, limits in LIMITS.items():
        chain = [
            ("PRIMER_HEARTBEAT", settings.heartbeat),
            ("PRIMER_LEASE", settings.lease),
            (f"the soft limit of {queue}", limits.soft),
            (f"the hard limit of {queue}", limits.hard),
            ("PRIMER_VISIBILITY_TIMEOUT", float(settings.visibility_timeout)),
        ]
        for (shorter_name, shorter), (longer_name, longer) in itertools.pairwise(chain):
            if shorter >= longer:
                raise ValueError(f"{shorter_name} ({shorter:g} s) must be less than {longer_name} ({longer:g} s).")
