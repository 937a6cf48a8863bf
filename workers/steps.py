"""What each kind of task does: one call of the library, and what follows from its answer.

A step may be repeated, by this process or another, at any moment: what it commits to the ledger is the same bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict

from sqlalchemy import select

from curation.cascade import Meters
from curation.curate import begin_measuring, begin_run, finish_run, reopen_run
from curation.errors import LedgerError, SourceError
from curation.index import build_index
from curation.ledger.store import SliceRef
from curation.request import RunRequest, has_request, read_request
from curation.run_folder import RunFolder
from curation.sense_layer import measure_senses
from curation.shards.manifest import ShardManifest
from curation.slice_sample import choose_slices
from curation.slice_work import MeasureJob, SliceResult, SliceWork
from primer.app.core.context import Context
from primer.app.jobs.flow import Follower, SettledSlice, StepResult
from primer.app.jobs.leases import Lease
from primer.app.jobs.options import JobOptions
from primer.app.jobs.repository import read_profile
from primer.app.jobs.states import JobKind, TaskKind
from primer.app.models import Job, Source, SourceShard
from primer.app.sources.listing import list_allowed, reaching_source
from primer.app.sources.repository import read_places
from primer.app.sources.rules import read_binding_rules
from primer.app.vocabularies.repository import choose_version, read_version
from primer.workers.concept_steps import ConceptSteps
from primer.workers.export_steps import ExportSteps

_OPEN_RUNS = 4  # runs whose plans, word scores and shard checks a process remembers

Check = Callable[[], None]


class Steps:
    """The steps of one process. Models are loaded once a process and recipe."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._exports = ExportSteps(context)
        self._concepts = ConceptSteps(context)
        self._work: OrderedDict[int, tuple[MeasureJob, SliceWork]] = OrderedDict()
        self._meters: tuple[str, Meters] | None = None
        self._check: Check = lambda: None

    def perform(self, lease: Lease, check: Check) -> StepResult:
        """Do a claimed task. Raises PrimerError for what is wrong with its input, and whatever `check` raises."""
        self._check = check
        with self._context.database.reading() as session:
            job = session.get_one(Job, lease.job_id)
            locations = session.get_one(Source, job.source_id).locations
            places = read_places(session)
        with reaching_source(places, locations):
            return self._perform(job, lease)

    def _perform(self, job: Job, lease: Lease) -> StepResult:
        match lease.kind:
            case TaskKind.PLAN:
                return self._plan(job)
            case TaskKind.OPEN:
                return self._open(job, lease.shard_index)
            case TaskKind.MEASURE:
                return self._measure(job, lease)
            case TaskKind.ENCODE:
                return self._encode(job, lease)
            case TaskKind.FINISH:
                return self._finish(job)
            case TaskKind.EXPORT:
                return self._exports.build(job, self._check)
            case TaskKind.VERIFY:
                return self._exports.verify(job, self._check)
            case TaskKind.PUSH:
                return self._exports.push(job, self._check)
            case TaskKind.CONCEPTS:
                return self._concepts.measure(job, lease, self._check)
            case TaskKind.PROBE:
                return self._concepts.probe(job, self._check)
            case TaskKind.SENSES:
                return self._measure_senses(job)

    def _plan(self, job: Job) -> StepResult:
        options = JobOptions.model_validate(job.options)
        measure = self._begin(job, options)
        facts = {
            "run_id": measure.plan.run_id,
            "recipe_sha256": measure.plan.recipe.sha256,
            "stages": list(measure.bound.stages),
            "left_out": list(measure.bound.left_out),
        }
        if job.kind == JobKind.MEASURE_UNDECIDED:
            refs = list(measure.folder.ledger.slices())
            followers = [Follower(TaskKind.ENCODE, ref.shard.index, ref.piece.index) for ref in refs]
            rows = sum(ref.piece.row_count for ref in refs)
            return StepResult(followers, slices_found=len(refs), documents_found=rows, facts=facts)
        count = len(measure.plan.shards)
        if options.limit is not None:
            # Under a limit a shard says how many rows are left for the next.
            count = min(count, 1) if options.limit else 0
        followers = [Follower(TaskKind.OPEN, index) for index in range(count)]
        return StepResult(followers, rows_left=options.limit, facts=facts)

    def _begin(self, job: Job, options: JobOptions) -> MeasureJob:
        with self._context.database.reading() as session:
            source = session.get_one(Source, job.source_id)
            profile = read_profile(session, job.profile_id)
            vocabulary = choose_version(session, options.vocabulary_id)
            rules = read_binding_rules(session, job.source_id)
            places = read_places(session)
        folder = self._folder(job)
        if job.kind == JobKind.MEASURE_UNDECIDED:
            return begin_measuring(folder, profile=profile)
        if has_request(folder.folder):
            # An earlier attempt began the run: what it was asked for then binds it.
            rules = read_request(folder.folder).source_rules
        request = RunRequest(
            sources=tuple(source.locations),
            config=source.config,
            split=source.split,
            artifacts=None,
            aoa=None,
            profile=profile,
            vocabulary=vocabulary,
            export=options.describe_export(),
            source_rules=rules,
        )
        return begin_run(
            folder,
            request,
            text_field=source.text_field,
            slice_bytes=options.slice_bytes,
            row_limit=options.limit,
            has_encoder=options.has_encoder,
            sample=options.describe_sample(),
            shards=list_allowed(places, source.locations, config=source.config, split=source.split),
        )

    def _open(self, job: Job, index: int) -> StepResult:
        measure, work = self._reopen(job)
        manifest = work.open_shard(index, job.rows_left)
        self._require_scanned(job, manifest)
        measure.folder.ledger.add_shard(manifest)
        pieces = choose_slices(manifest, measure.plan.sample)
        followers = [Follower(TaskKind.MEASURE, index, piece.index) for piece in pieces]
        rows_left = None if job.rows_left is None else job.rows_left - manifest.row_count
        if rows_left and index + 1 < len(measure.plan.shards):
            followers.append(Follower(TaskKind.OPEN, index + 1))
        return StepResult(
            followers,
            slices_found=len(pieces),
            documents_found=sum(piece.row_count for piece in pieces),
            rows_left=rows_left,
        )

    def _require_scanned(self, job: Job, manifest: ShardManifest) -> None:
        """Raises SourceError when the shard is not the one that was scanned."""
        with self._context.database.reading() as session:
            scanned = session.execute(
                select(SourceShard.sha256).where(
                    SourceShard.source_id == job.source_id, SourceShard.name == manifest.name
                )
            ).scalar_one_or_none()
        if scanned is not None and scanned != manifest.sha256:
            raise SourceError(
                f"{manifest.name} has changed since its source was scanned.",
                hint="Restore the file, or scan the source again and start a new job.",
            )

    def _measure(self, job: Job, lease: Lease) -> StepResult:
        measure, work = self._reopen(job)
        ref = _find_slice(measure, lease)
        work.measure(ref)
        if measure.has_encoder:
            return StepResult([Follower(TaskKind.ENCODE, lease.shard_index, lease.slice_index)])
        return StepResult(settled=_settle(work.settle(ref)))

    def _encode(self, job: Job, lease: Lease) -> StepResult:
        measure, work = self._reopen(job)
        ref = _find_slice(measure, lease)
        work.score(ref)
        return StepResult(settled=_settle(work.settle(ref)))

    def _finish(self, job: Job) -> StepResult:
        folder = self._folder(job)
        report = finish_run(folder, checkpoint=self._check)
        # Now, so that whoever opens the run's documents need not wait; without it they would be indexed then.
        build_index(folder, self._context.settings.indexes, lambda _progress: self._check())
        return StepResult(report=report)

    def _measure_senses(self, job: Job) -> StepResult:
        """What is committed stays: a task that is let go of carries on at the next slice."""
        options = JobOptions.model_validate(job.options)
        assert options.vocabulary_id is not None
        with self._context.database.reading() as session:
            version = read_version(session, options.vocabulary_id)
        progress = measure_senses(self._folder(job), version, lambda _progress: self._check())
        return StepResult(report={} if progress is None else asdict(progress))

    def _reopen(self, job: Job) -> tuple[MeasureJob, SliceWork]:
        found = self._work.pop(job.id, None)
        if found is None:
            measure = self._reopen_run(job)
            work = SliceWork(measure, meters=self._load_meters(measure), checkpoint=lambda: self._check())
            found = measure, work
        self._work[job.id] = found
        while len(self._work) > _OPEN_RUNS:
            self._work.popitem(last=False)
        return found

    def _reopen_run(self, job: Job) -> MeasureJob:
        if job.kind == JobKind.CURATE:
            return reopen_run(self._folder(job))
        with self._context.database.reading() as session:
            profile = read_profile(session, job.profile_id)
        return reopen_run(self._folder(job), profile=profile)

    def _load_meters(self, measure: MeasureJob) -> Meters:
        recipe = measure.plan.recipe
        if self._meters is None or self._meters[0] != recipe.sha256:
            self._meters = recipe.sha256, Meters(measure.artifacts, recipe)
        return self._meters[1]

    def _folder(self, job: Job) -> RunFolder:
        return RunFolder(self._context.settings.data_dir / job.folder)


def _find_slice(measure: MeasureJob, lease: Lease) -> SliceRef:
    manifest = measure.folder.ledger.read_shard(lease.shard_index)
    if manifest is None:
        raise LedgerError(
            f"The ledger of {measure.folder.folder.name} lacks shard {lease.shard_index}.", hint="Start a new job."
        )
    return SliceRef(manifest, manifest.slices[lease.slice_index])


def _settle(result: SliceResult) -> SettledSlice:
    return SettledSlice(result.documents, result.text_bytes, result.funnel)
