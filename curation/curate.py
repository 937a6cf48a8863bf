"""The main job: measure a source into a run folder, decide, export, report. What `primer run` and `primer finish` call.

A finished run is left alone; a killed one carries on; a folder that holds another run is refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from curation.artifacts.artifact_set import KINDS, ArtifactSet, resolve_artifacts
from curation.concepts.catalogue import Catalogue
from curation.encoder_selection import derive_selection
from curation.errors import LedgerError
from curation.export.build import write_export
from curation.export.request import CONTROL, CURRICULUM, ExportRequest, ExportResult
from curation.export.request import OnProgress as OnExport
from curation.export.statement import make_statement
from curation.finish import RunSummary, require_complete, summarize_run
from curation.ledger.store import Plan, PlannedShard
from curation.lexicon.vocabulary import VocabularyVersion, WordScores, read_vocabulary_table
from curation.overrides import Overrides
from curation.profile import DEFAULT_PROFILE, BoundProfile, Profile, bind_profile, load_profile
from curation.publish import replace_bytes
from curation.recipe import build_recipe
from curation.request import ExportOptions, RunRequest, read_request, record_request
from curation.run import WHOLE, OnProgress, Part, Progress, measure_run
from curation.run_folder import RunFolder
from curation.shards.source import SourceShard, list_shards
from curation.slice_sample import Sample
from curation.slice_work import MeasureJob
from curation.source_rules import SourceRule, describe_rules

REPORT_SCHEMA = 1


@dataclass(frozen=True)
class DecisionSet:
    """A run seen through a profile, a vocabulary, overrides and source rules. `word_scores`: the blocked words with their scores."""

    folder: RunFolder
    artifacts: ArtifactSet
    bound: BoundProfile
    vocabulary: VocabularyVersion
    overrides: Overrides | None
    word_scores: WordScores
    source_rules: tuple[SourceRule, ...] = ()

    @property
    def statement(self) -> str:
        """What really ran, in a sentence."""
        return make_statement(self.bound, self.artifacts.origins)


def open_decision_set(
    folder: RunFolder,
    *,
    profile: Profile | None = None,
    vocabulary: VocabularyVersion | None = None,
    overrides: Overrides | None = None,
    source_rules: tuple[SourceRule, ...] | None = None,
) -> DecisionSet:
    """The decisions of a measured run: its own profile, vocabulary and source rules unless others are given.

    Raises ArtifactError when this machine's artefacts are not those that the run measured with.
    """
    request = read_request(folder.folder)
    recipe = folder.ledger.read_plan().recipe
    found = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None)
    artifacts = found.restrict_to(recipe.artifacts)
    if artifacts.hashes != recipe.artifacts:
        raise LedgerError(
            f"{folder.folder} was measured with other artefacts than {request.artifacts or 'the bundled'} ones are now.",
            hint="Put the same files back (their hashes are in ledger/plan.json) or measure again.",
        )
    bound = bind_profile(profile or request.profile, recipe)
    vocabulary = vocabulary or request.vocabulary
    stage = bound.profile.vocabulary
    scores = WordScores({})
    if stage is not None:
        scores = vocabulary.score_words(read_vocabulary_table(artifacts.require("vocabulary").path), stage.min_score)
    rules = request.source_rules if source_rules is None else source_rules
    return DecisionSet(folder, artifacts, bound, vocabulary, overrides, scores, rules)


def begin_run(
    folder: RunFolder,
    request: RunRequest,
    *,
    text_field: str,
    slice_bytes: int,
    row_limit: int | None,
    has_encoder: bool = True,
    sample: Sample | None = None,
    shards: Sequence[SourceShard] | None = None,
) -> MeasureJob:
    """List the source, lay the plan and the request. Raises LedgerError when the folder holds something else.

    `shards`: the source as somebody listed it already, who may have left out what must not be read.
    `sample`: measure only these slices of the rows within the limit; None: all of them.
    `has_encoder` False leaves an encoder that there is out of the recipe. The rows it scores unasked are chosen by the
    default profile whatever the request's is, so that runs under any profile have the same recipe.
    """
    folder.claim()
    artifacts = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None)
    if not has_encoder:
        artifacts = artifacts.restrict_to(set(KINDS) - {"encoder"})
    selection = derive_selection(load_profile(DEFAULT_PROFILE))
    recipe = build_recipe(artifacts, text_field=text_field, slice_bytes=slice_bytes, selection=selection)
    bound = bind_profile(request.profile, recipe)
    if shards is None:
        shards = list_shards(request.sources, config=request.config, split=request.split)
    planned = tuple(PlannedShard(name=shard.name, size_bytes=shard.size_bytes) for shard in shards)
    plan = Plan(recipe=recipe, shards=planned, row_limit=row_limit, sample=sample)
    folder.ledger.create(plan)
    record_request(folder.folder, request)
    folder.write_locations(shards)
    return MeasureJob(folder, plan, artifacts, bound, request.vocabulary, request.source_rules)


def begin_measuring(
    folder: RunFolder, *, profile: Profile | None = None, vocabulary: VocabularyVersion | None = None
) -> MeasureJob:
    """The job that scores what is undecided for the encoder in a measured run, under its own profile or another.

    Raises LedgerError when slices are missing or the run has no encoder.
    """
    job = reopen_run(folder, profile=profile, vocabulary=vocabulary)
    require_complete(folder)
    if not job.has_encoder:
        raise LedgerError(
            f"{folder.folder} was measured without an encoder.", hint="Run again into a new folder, with an encoder."
        )
    return job


def reopen_run(
    folder: RunFolder, *, profile: Profile | None = None, vocabulary: VocabularyVersion | None = None
) -> MeasureJob:
    """A run that was begun, wherever its folder can be seen: nothing is listed again."""
    decisions = open_decision_set(folder, profile=profile, vocabulary=vocabulary)
    plan = folder.ledger.read_plan()
    return MeasureJob(folder, plan, decisions.artifacts, decisions.bound, decisions.vocabulary, decisions.source_rules)


def is_finished(folder: RunFolder) -> bool:
    """Whether the folder's run was measured, decided and exported to its end."""
    return read_report(folder).get("state") == "finished"


def read_report(folder: RunFolder) -> dict[str, object]:
    """run.json; empty where there is none yet."""
    try:
        found = json.loads(folder.report.read_bytes())
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def measure(job: MeasureJob, *, workers: int, part: Part = WHOLE, on_progress: OnProgress = lambda _: None) -> Progress:
    """Measure this part's slices. A part of several leaves `parts/` with its times and failures."""
    progress = measure_run(job, workers=workers, part=part, on_progress=on_progress)
    if part != WHOLE:
        content = {"part": part.number, "of": part.total, **_describe_times(progress), "failures": progress.failures}
        replace_bytes(_part_path(job.folder, part), json.dumps(content, indent=1).encode())
    return progress


def _part_path(folder: RunFolder, part: Part) -> Path:
    return folder.folder / "parts" / f"part-{part.number}-of-{part.total}.json"


def finish_run(
    folder: RunFolder, *, progress: Progress | None = None, checkpoint: Callable[[], None] = lambda: None
) -> dict[str, object]:
    """Decide and export a measured run; write and return run.json. `progress` None: the parts' times are joined.

    `checkpoint` is called between slices and batches of rows; what it raises ends the work with nothing exported.

    Raises LedgerError when slices are missing. Failed slices leave the run incomplete: there is no export then.
    """
    failures = progress.failures if progress is not None else []
    if failures:
        report = {**_describe_run(folder), "state": "incomplete", "failures": failures}
        replace_bytes(folder.report, json.dumps(report, indent=1).encode())
        return report
    require_complete(folder)
    folder.ledger.sweep()
    folder.sweep_staging()
    began = time.monotonic()
    decisions = open_decision_set(folder)
    summary = summarize_run(
        folder,
        decisions.bound,
        decisions.word_scores,
        source_rules=decisions.source_rules,
        checkpoint=checkpoint,
    )
    decided_seconds = time.monotonic() - began
    options = read_request(folder.folder).export
    wanted = build_export_request(decisions, folder.export, options, on_progress=lambda _: checkpoint())
    exported = write_export(wanted)
    times = _describe_times(progress) if progress is not None else {"parts": _read_parts(folder)}
    report = {
        **_describe_run(folder),
        "state": "finished",
        **_describe_decisions(decisions, summary),
        "failures": [],
        "export": describe_export(exported),
        "times": {
            **times,
            "decide_seconds": decided_seconds,
            "export_seconds": time.monotonic() - began - decided_seconds,
        },
    }
    replace_bytes(folder.report, json.dumps(report, indent=1).encode())
    return report


def build_export_request(
    decisions: DecisionSet,
    out: Path,
    options: ExportOptions,
    *,
    leak_catalogue: Catalogue | None = None,
    on_progress: OnExport = lambda _: None,
) -> ExportRequest:
    """An export of a decision set. `leak_catalogue`: what its gate looks for; None: the newest bundled concepts."""
    return ExportRequest(
        run=decisions.folder,
        bound=decisions.bound,
        vocabulary=decisions.vocabulary,
        word_scores=decisions.word_scores,
        overrides=decisions.overrides,
        source_rules=decisions.source_rules,
        out=out,
        shard_bytes=options.shard_bytes,
        shuffle_seed=options.shuffle_seed,
        token_budget=options.token_budget,
        validation_share=options.validation_share,
        control=options.control_match,
        control_seed=options.control_seed,
        has_curriculum=options.has_curriculum,
        origins=decisions.artifacts.origins,
        max_leak_share=options.max_leak_share,
        leak_catalogue=leak_catalogue,
        on_progress=on_progress,
    )


def describe_export(result: ExportResult) -> dict[str, object]:
    """Rows, tokens and bytes of an export, as JSON."""
    return {
        "folder": str(result.folder),
        "files": len(result.files),
        "bytes": sum(file.size_bytes for file in result.files),
        "curriculum_rows": result.count_rows(CURRICULUM),
        "curriculum_tokens": result.count_tokens(CURRICULUM),
        "control_rows": result.count_rows(CONTROL),
        "control_tokens": result.count_tokens(CONTROL),
    }


def _describe_run(folder: RunFolder) -> dict[str, object]:
    plan = folder.ledger.read_plan()
    return {
        "schema": REPORT_SCHEMA,
        "run_id": plan.run_id,
        "version": version("primer-curation"),
        "sources": list(read_request(folder.folder).sources),
        "recipe_sha256": plan.recipe.sha256,
        "row_limit": plan.row_limit,
        "sample": plan.sample.model_dump() if plan.sample is not None else None,
    }


def _describe_decisions(decisions: DecisionSet, summary: RunSummary) -> dict[str, object]:
    profile = decisions.bound.profile
    return {
        "profile": {"name": profile.name, "version": profile.version, "sha256": decisions.bound.sha256},
        "vocabulary": {"name": decisions.vocabulary.name, "version": decisions.vocabulary.version},
        "source_rules": describe_rules(decisions.source_rules),
        "statement": decisions.statement,
        **summary.report(),
    }


def _describe_times(progress: Progress) -> dict[str, object]:
    seconds = max(progress.seconds, 1e-9)
    return {
        "measure_seconds": progress.seconds,
        "measured_documents": progress.measured_documents,
        "reused_slices": progress.slices_reused,
        "documents_per_second": progress.measured_documents / seconds,
        "megabytes_per_second": progress.measured_bytes / seconds / 1e6,
    }


def _read_parts(folder: RunFolder) -> list[object]:
    return [json.loads(path.read_bytes()) for path in sorted((folder.folder / "parts").glob("part-*.json"))]
