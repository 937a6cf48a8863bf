"""What jobs and tasks can be, and where tasks wait."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    SUCCEEDED = "succeeded"
    PARTLY_FAILED = "partly_failed"
    FAILED = "failed"


FINAL = (JobState.CANCELLED, JobState.SUCCEEDED, JobState.PARTLY_FAILED, JobState.FAILED)
ACTIVE = tuple(state for state in JobState if state not in FINAL)


class JobKind(StrEnum):
    CURATE = "curate"  # measure a source, decide, export
    MEASURE_UNDECIDED = "measure_undecided"  # score what another job's run left undecided, under this job's profile
    EXPORT = "export"  # export another job's run
    VERIFY_EXPORT = "verify_export"
    PUSH_EXPORT = "push_export"  # to a repository of the Hub
    MEASURE_CONCEPTS = "measure_concepts"  # look for a catalogue's concepts in another job's run
    PROBE = "probe"  # look for them in what a run keeps, or in an export
    MEASURE_SENSES = "measure_senses"  # tell the words of a vocabulary version apart in another job's run


class TaskState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # it says why, and would say so again
    QUARANTINED = "quarantined"  # it ended its process, or did not end, so often that it is put aside
    CANCELLED = "cancelled"


class TaskKind(StrEnum):
    PLAN = "plan"  # list the source and lay the run's plan
    OPEN = "open"  # hash, count and cut one shard
    MEASURE = "measure"  # the cheap signals of one slice
    ENCODE = "encode"  # the encoder's grades of one slice
    FINISH = "finish"  # decide, export, report
    EXPORT = "export"  # decide, export, verify
    VERIFY = "verify"  # an export
    PUSH = "push"  # an export
    CONCEPTS = "concepts"  # one stretch of measuring concepts
    PROBE = "probe"  # a run or an export
    SENSES = "senses"  # of a whole run


# A job begins with one of these.
FIRST_TASKS = (
    TaskKind.PLAN,
    TaskKind.EXPORT,
    TaskKind.VERIFY,
    TaskKind.PUSH,
    TaskKind.CONCEPTS,
    TaskKind.PROBE,
    TaskKind.SENSES,
)


class Queue(StrEnum):
    MEASURE = "measure"
    ENCODER = "encoder"
    EXPORT = "export"
    MAINTENANCE = "maintenance"


QUEUE_OF: dict[TaskKind, Queue] = {
    TaskKind.PLAN: Queue.MAINTENANCE,
    TaskKind.OPEN: Queue.MEASURE,
    TaskKind.MEASURE: Queue.MEASURE,
    TaskKind.ENCODE: Queue.ENCODER,
    TaskKind.FINISH: Queue.EXPORT,
    TaskKind.EXPORT: Queue.EXPORT,
    TaskKind.VERIFY: Queue.EXPORT,
    TaskKind.PUSH: Queue.EXPORT,
    TaskKind.CONCEPTS: Queue.MAINTENANCE,
    TaskKind.PROBE: Queue.EXPORT,  # like an export it reads a whole corpus and cannot carry on half-way
    TaskKind.SENSES: Queue.EXPORT,  # of a frequent word it reads most of a corpus
}
