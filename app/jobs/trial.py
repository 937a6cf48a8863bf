"""What a job is likely to keep and to take: some documents of its source, measured and decided at once as the job would.

Nothing is kept: the run lies in a temporary folder. It is bounded in documents, bytes and time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from curation.concepts.interval import find_interval
from curation.curate import begin_run
from curation.encoder_selection import select_rows
from curation.funnel import Funnel
from curation.ledger.store import SliceRef
from curation.request import RunRequest
from curation.run_folder import RunFolder
from curation.shards.source import SourceShard as ListedShard
from curation.shards.source import list_local_shards
from curation.slice_work import MeasureJob, SliceWork
from primer.app.auth.actor import Actor
from primer.app.auth.roles import Action
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.jobs import repository
from primer.app.jobs.options import JobOptions
from primer.app.jobs.service import require_published
from primer.app.jobs.states import Queue
from primer.app.jobs.trial_turns import TrialTurns
from primer.app.models import SourceShard
from primer.app.sources.listing import list_allowed, reaching_source
from primer.app.sources.repository import read_places
from primer.app.sources.rules import read_binding_rules
from primer.app.sources.scattered import TEXT, Reach, Scattered, draw_scattered
from primer.app.texts.meters import load_meters
from primer.app.vocabularies.repository import choose_version

DOCUMENTS = 200
SECONDS = 20.0  # of reading and measuring together; loading the models, once a process, is not counted
_READING_SHARE = 0.5
_SLICE_BYTES = 1 << 10  # every row group of the drawn file is a slice of its own


@dataclass(frozen=True)
class Trial:
    """`documents`: of the whole job, None where the source does not say. `kept`, `undecided` and `unreadable` are of the
    `tried`. `kept_share` is of the tried, with its exact 95 % interval; None where nothing was tried. `tokens_kept` and `seconds` are
    of the whole job: None where `documents` is, and `seconds` also where no worker answers. `processes`: that would do it."""

    documents: int | None
    tried: int
    kept: int
    undecided: int
    unreadable: int
    too_long: int
    kept_share: float | None
    kept_share_low: float | None
    kept_share_high: float | None
    tokens_kept: int | None
    seconds: float | None
    processes: int
    seconds_tried: float
    is_cut_short: bool
    notes: list[str]


def try_job(
    context: Context,
    turns: TrialTurns,
    actor: Actor,
    *,
    source_id: int,
    profile_id: int,
    options: JobOptions,
    check: Callable[[], None] = lambda: None,
) -> Trial:
    """`check` is called between documents; what it raises ends the trial.

    Raises NotFound, NotAllowed where the allow-list has changed, Conflict when source or profile are not ready, or the same
    person asks for another; SourceError when the source cannot be listed.
    """
    actor.require(Action.JOBS)
    with context.database.reading() as session:
        source = repository.get_source(session, source_id)
        if source.state != "ready":
            raise Conflict(
                f"The source {source.name} is {source.state}, not ready.", hint="Wait for its scan, or see its error."
            )
        require_published(session, profile_id)
        request = RunRequest(
            sources=(),
            config=None,
            split=None,
            artifacts=None,
            aoa=None,
            profile=repository.read_profile(session, profile_id),
            vocabulary=choose_version(session, options.vocabulary_id),
            export=options.describe_export(),
            source_rules=read_binding_rules(session, source_id),
        )
        places = read_places(session)
        rows_of = dict(
            session.execute(
                select(SourceShard.name, SourceShard.row_count).where(SourceShard.source_id == source_id)
            ).all()
        )
    with turns.take(actor.user_id) as check_turn, ThreadPoolExecutor(1) as pool:

        def go_on() -> None:
            check_turn()
            check()

        load_meters()
        go_on()
        began = time.monotonic()
        processes = pool.submit(_count_processes, context)
        with reaching_source(places, source.locations):
            shards = list_allowed(places, source.locations, config=source.config, split=source.split)
            reaches = _find_reach(shards, rows_of, options.limit)
            drawn = draw_scattered(reaches, source.text_field, DOCUMENTS, deadline=began + _READING_SHARE * SECONDS)
        found = _measure(drawn, request, options, go_on, deadline=began + SECONDS)
        documents = _count_documents(source.row_count, options)
        return _conclude(found, drawn, documents, processes.result(), seconds_tried=time.monotonic() - began)


def _count_processes(context: Context) -> int:
    """That take slices to be measured now."""
    workers = context.messenger.ask_workers() or []
    return sum(len(worker.processes) for worker in workers if Queue.MEASURE in worker.queues)


def _find_reach(shards: Sequence[ListedShard], rows_of: dict[str, int | None], limit: int | None) -> list[Reach]:
    """The shards that a job reads; under a limit those that it comes to, as far as their rows are known."""
    if limit is None:
        return [Reach(shard) for shard in shards]
    reaches: list[Reach] = []
    left = limit
    for shard in shards:
        rows = rows_of.get(shard.name)
        reaches.append(Reach(shard, left if rows is None else min(left, rows)))
        left -= left if rows is None else rows
        if left <= 0:
            break
    return reaches


def _count_documents(row_count: int | None, options: JobOptions) -> int | None:
    if row_count is None:
        return None
    limited = row_count if options.limit is None else min(options.limit, row_count)
    return round(limited * (options.sample_share or 1.0))


@dataclass
class _Found:
    """What was decided until the time was up. `seconds_each`: of a document of the job, on one process; None: not known."""

    funnel: Funnel
    seconds_each: float | None


def _measure(
    drawn: Scattered, request: RunRequest, options: JobOptions, check: Callable[[], None], *, deadline: float
) -> _Found:
    with tempfile.TemporaryDirectory(prefix="primer-trial-") as temporary:
        path = Path(temporary) / "source" / "drawn.parquet"
        path.parent.mkdir()
        drawn.write(path)
        job = begin_run(
            RunFolder(Path(temporary) / "run"),
            request.model_copy(update={"sources": (str(path),)}),
            text_field=TEXT,
            slice_bytes=_SLICE_BYTES,
            row_limit=None,
            has_encoder=options.has_encoder,
            shards=list_local_shards(str(path)),
        )
        return _measure_slices(job, check, deadline)


def _measure_slices(job: MeasureJob, check: Callable[[], None], deadline: float) -> _Found:
    """The cheap stages first, and the encoder for those documents alone whose decision needs it. A job scores more, so that
    thresholds can be moved later: those that its recipe selects are counted, and their time with them."""
    work = SliceWork(job, meters=load_meters().meters, checkpoint=check)
    if job.has_encoder:
        _ = work.meters.encoder  # loaded here, so that it counts for no document
    job.folder.ledger.add_shard(work.open_shard(0, None))
    began = time.monotonic()
    halfway = (began + deadline) / 2
    measured: list[SliceRef] = []
    for ref in job.folder.ledger.slices():
        work.measure(ref)
        measured.append(ref)
        check()
        if time.monotonic() > halfway:
            break
    cheap_seconds = (time.monotonic() - began) / max(1, sum(ref.piece.row_count for ref in measured))
    funnel, scored, selected = Funnel(job.bound.stages), 0, 0
    began = time.monotonic()
    for ref in measured:
        result = work.settle(ref)
        funnel.merge(result.funnel)
        scored += result.scored_later
        selected += _count_selected(job, work, ref)
        check()
        if time.monotonic() > deadline:
            break
    settle_seconds = time.monotonic() - began
    if not funnel.document_count:
        return _Found(funnel, None)
    if scored:
        settle_seconds *= max(1.0, selected / scored)
    elif selected:
        return _Found(funnel, None)
    return _Found(funnel, cheap_seconds + settle_seconds / funnel.document_count)


def _count_selected(job: MeasureJob, work: SliceWork, ref: SliceRef) -> int:
    """The documents of a slice that the job's encoder scores whatever the profile asks for."""
    selection = job.plan.recipe.encoder_selection
    if not job.has_encoder or selection is None:
        return 0
    core, postings = job.folder.ledger.read_part("core", ref.id), job.folder.ledger.read_part("postings", ref.id)
    return int(select_rows(selection, ref, core, postings, work.meters.selection_scores).sum())


def _conclude(found: _Found, drawn: Scattered, documents: int | None, processes: int, *, seconds_tried: float) -> Trial:
    funnel = found.funnel
    tried, kept = funnel.document_count, funnel.documents["kept"]
    low, high = find_interval(kept, tried) if tried else (None, None)
    tokens = seconds = None
    if documents is not None and tried:
        tokens = round(funnel.tokens["kept"] / tried * documents)
        if processes and found.seconds_each is not None:
            seconds = found.seconds_each * documents / processes
    return Trial(
        documents=documents,
        tried=tried,
        kept=kept,
        undecided=funnel.documents["undecided"],
        unreadable=funnel.documents["error"],
        too_long=drawn.too_long,
        kept_share=kept / tried if tried else None,
        kept_share_low=low,
        kept_share_high=high,
        tokens_kept=tokens,
        seconds=seconds,
        processes=processes,
        seconds_tried=seconds_tried,
        is_cut_short=tried < len(drawn.rows),
        notes=drawn.notes,
    )
