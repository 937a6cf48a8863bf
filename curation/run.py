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

import pyarrow as pa

from curation.artifacts.artifact_set import ArtifactSet
from curation.cascade import Meters, measure_slice
from curation.encoder_layer import commit_rows, commit_selected, find_undecided
from curation.errors import PrimerError, QuotaError
from curation.funnel import Funnel
from curation.ledger.counts import count_tokens
from curation.ledger.encoder import read_encoder
from curation.ledger.signals import DecidedSlice, decide_slice
from curation.ledger.store import Ledger, Plan, SliceRef
from curation.lexicon.vocabulary import VocabularyVersion
from curation.profile import BoundProfile
from curation.recipe import Recipe
from curation.run_folder import RunFolder
from curation.shards.manifest import ShardManifest
from curation.shards.prepare import prepare_shard
from curation.worker_pool import WorkerPool


@dataclass(frozen=True)
class Part:
    """Part `number` of `total` (1-based) of a run split over machines."""

    number: int
    total: int

    def owns(self, shard_index: int, slice_index: int, *, by_shard: bool) -> bool:
        return (shard_index if by_shard else shard_index + slice_index) % self.total == self.number - 1


WHOLE = Part(1, 1)


@dataclass(frozen=True)
class MeasureJob:
    """What every worker process needs; sent to each once."""

    folder: RunFolder
    plan: Plan
    artifacts: ArtifactSet
    bound: BoundProfile
    vocabulary: VocabularyVersion


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


@dataclass(frozen=True)
class _SliceResult:
    documents: int
    text_bytes: int
    is_reused: bool
    scored_later: int
    funnel: Funnel


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
_Outcome = ShardManifest | _SliceResult | PrimerError


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
            for piece in outcome.slices:
                if self._part.owns(outcome.index, piece.index, by_shard=self._by_shard):
                    self._slices.append(SliceRef(outcome, piece))
                    progress.slices_known += 1
        else:
            progress.slices_done += 1
            progress.documents += outcome.documents
            progress.text_bytes += outcome.text_bytes
            progress.scored_later += outcome.scored_later
            progress.funnel.merge(outcome.funnel)
            if outcome.is_reused:
                progress.slices_reused += 1
            else:
                progress.measured_documents += outcome.documents
                progress.measured_bytes += outcome.text_bytes


class _Worker:
    """What one process does: open a shard, or measure a slice. Models load when the first slice needs them."""

    def __init__(self, job: MeasureJob) -> None:
        self._job = job
        self._meters: Meters | None = None
        self._word_scores: dict[str, float] | None = None

    def perform(self, task: _Task) -> _Outcome:
        return self._open(task) if isinstance(task, _OpenTask) else self._measure(task.ref)

    @property
    def meters(self) -> Meters:
        if self._meters is None:
            self._meters = Meters(self._job.artifacts, self._job.plan.recipe)
        return self._meters

    def _open(self, task: _OpenTask) -> ShardManifest:
        recipe: Recipe = self._job.plan.recipe
        name = self._job.plan.shards[task.index].name
        with self._job.folder.shard_file(name) as path:
            return prepare_shard(
                path,
                name,
                task.index,
                staging_root=self._job.folder.staging,
                text_field=recipe.text_field,
                slice_bytes=recipe.slice_bytes,
                row_limit=task.row_limit,
            )

    def _measure(self, ref: SliceRef) -> _SliceResult:
        ledger: Ledger = self._job.folder.ledger
        has_encoder = "encoder" in self._job.plan.recipe.artifacts
        is_reused = ledger.is_committed("postings", ref.id) and ledger.is_committed("core", ref.id)
        if not is_reused:
            with self._job.folder.slice_file(ref.shard, ref.piece) as path:
                layers = measure_slice(self.meters, path, ref.shard.name, ref.piece)
            ledger.commit("postings", ref.id, layers.postings)
            ledger.commit("core", ref.id, layers.core)
            del layers  # committed, and as large as what is read back below
        core = ledger.read_part("core", ref.id)
        postings = ledger.read_part("postings", ref.id)
        if has_encoder and not ledger.is_committed("encoder", ref.id):
            commit_selected(self._job.folder, self.meters, ref, core, postings)
            is_reused = False
        decided = self._decide(ref, core, postings)
        scored = 0
        stage = self._job.bound.profile.encoder
        # What the recipe does not select but this profile asks for: a run must not end with rows undecided.
        if has_encoder and stage is not None and (is_undecided := find_undecided(decided.decisions)).any():
            scored = commit_rows(self._job.folder, self.meters, ref, core, is_undecided, stage.reads)
            decided = self._decide(ref, core, postings)
        funnel = Funnel(self._job.bound.stages)
        funnel.add(decided.decisions, count_tokens(core)[0])
        text_bytes = int(core["n_bytes"].fill_null(0).to_numpy().sum())
        return _SliceResult(core.num_rows, text_bytes, is_reused, scored, funnel)

    def _decide(self, ref: SliceRef, core: pa.Table, postings: pa.Table) -> DecidedSlice:
        reads_encoder = "encoder" in self._job.bound.stages
        encoder = read_encoder(self._job.folder.ledger, ref.id) if reads_encoder else None
        return decide_slice(ref, core, postings, encoder, self._job.bound, self._scores(), None)

    def _scores(self) -> dict[str, float]:
        stage = self._job.bound.profile.vocabulary
        if stage is None:
            return {}
        if self._word_scores is None:
            self._word_scores = self._job.vocabulary.score_words(self.meters.vocabulary, stage.min_score)
        return self._word_scores
