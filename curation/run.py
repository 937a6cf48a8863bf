"""Measuring a source: open its shards, measure their slices on worker processes, commit what was measured.

A run that was killed carries on: what is committed is not measured again. One slice that fails is reported and the
rest goes on. Bytes do not depend on the number of workers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from curation.errors import PrimerError, QuotaError
from curation.funnel import Funnel
from curation.ledger.store import SliceRef
from curation.shards.manifest import ShardManifest
from curation.slice_sample import choose_slices
from curation.slice_work import MeasureJob, SliceResult, SliceWork
from curation.worker_pool import WorkerPool


@dataclass(frozen=True)
class Part:
    """Part `number` of `total` (1-based) of a run split over machines."""

    number: int
    total: int

    def owns(self, shard_index: int, slice_index: int, *, by_shard: bool) -> bool:
        return (shard_index if by_shard else shard_index + slice_index) % self.total == self.number - 1


WHOLE = Part(1, 1)


@dataclass
class Progress:
    """What is done so far, in this process's run. `funnel` is of the slices measured now and before."""

    funnel: Funnel
    shards_total: int = 0
    shards_opened: int = 0
    slices_known: int = 0
    slices_done: int = 0
    slices_reused: int = 0
    documents: int = 0
    text_bytes: int = 0
    measured_documents: int = 0
    measured_bytes: int = 0
    scored_later: int = 0  # documents that the encoder scored because the profile asks for more than the recipe selects
    started: float = field(default_factory=time.monotonic)
    failures: list[dict[str, str]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


OnProgress = Callable[[Progress], None]


def measure_run(
    job: MeasureJob,
    *,
    workers: int,
    part: Part = WHOLE,
    on_progress: OnProgress = lambda _: None,
) -> Progress:
    """Measure every slice of this part that is not committed yet. Slices that failed are in `Progress.failures`.

    Raises QuotaError when a disk is full, LedgerError when a shard changed meanwhile; everything committed stays.
    """
    progress = Progress(Funnel(job.bound.stages), shards_total=len(job.plan.shards))
    scheduler = _Scheduler(job, part, progress)
    with WorkerPool[_Task, _Outcome](partial(_Worker, job), workers) as pool:
        while True:
            while pool.has_room and (task := scheduler.next_task()) is not None:
                pool.submit(task)
            if pool.is_idle:
                return progress
            for task, outcome in pool.wait():
                scheduler.finish(task, outcome)
                on_progress(progress)


@dataclass(frozen=True)
class _OpenTask:
    index: int
    row_limit: int | None


@dataclass(frozen=True)
class _MeasureTask:
    ref: SliceRef


_Task = _OpenTask | _MeasureTask


@dataclass(frozen=True)
class _MeasuredSlice:
    is_reused: bool
    result: SliceResult


_Outcome = ShardManifest | _MeasuredSlice | PrimerError


class _Scheduler:
    """Decides what comes next: slices of opened shards first, then the next shard. Shards under a limit open one by one."""

    def __init__(self, job: MeasureJob, part: Part, progress: Progress) -> None:
        self._job, self._shards, self._part, self._progress = job, job.plan.shards, part, progress
        self._rows_left = job.plan.row_limit
        self._by_shard = len(self._shards) >= part.total and job.plan.row_limit is None
        self._next_shard = 0
        self._opening = 0
        self._slices: deque[SliceRef] = deque()

    def next_task(self) -> _Task | None:
        if self._slices:
            return _MeasureTask(self._slices.popleft())
        while self._next_shard < len(self._shards):
            if self._rows_left is not None and (self._opening or self._rows_left == 0):
                return None
            index = self._next_shard
            self._next_shard += 1
            if self._by_shard and not self._part.owns(index, 0, by_shard=True):
                continue
            self._opening += 1
            return _OpenTask(index, self._rows_left)
        return None

    def finish(self, task: _Task, outcome: _Outcome) -> None:
        progress = self._progress
        if isinstance(task, _OpenTask):
            self._opening -= 1
        if isinstance(outcome, QuotaError):
            raise outcome
        if isinstance(outcome, PrimerError):
            place = (
                self._shards[task.index].name
                if isinstance(task, _OpenTask)
                else f"{task.ref.shard.name} slice {task.ref.id}"
            )
            progress.failures.append({"where": place, "error": str(outcome)})
        elif isinstance(outcome, ShardManifest):
            self._job.folder.ledger.add_shard(outcome)
            progress.shards_opened += 1
            if self._rows_left is not None:
                self._rows_left -= outcome.row_count
            for piece in choose_slices(outcome, self._job.plan.sample):
                if self._part.owns(outcome.index, piece.index, by_shard=self._by_shard):
                    self._slices.append(SliceRef(outcome, piece))
                    progress.slices_known += 1
        else:
            result = outcome.result
            progress.slices_done += 1
            progress.documents += result.documents
            progress.text_bytes += result.text_bytes
            progress.scored_later += result.scored_later
            progress.funnel.merge(result.funnel)
            if outcome.is_reused:
                progress.slices_reused += 1
            else:
                progress.measured_documents += result.documents
                progress.measured_bytes += result.text_bytes


class _Worker:
    """What one process does: open a shard, or measure a slice."""

    def __init__(self, job: MeasureJob) -> None:
        self._work = SliceWork(job)

    def perform(self, task: _Task) -> _Outcome:
        if isinstance(task, _OpenTask):
            return self._work.open_shard(task.index, task.row_limit)
        is_reused = self._work.measure(task.ref)
        is_reused = self._work.score(task.ref) and is_reused
        return _MeasuredSlice(is_reused, self._work.settle(task.ref))
