"""What the tasks of exports do: build one, verify one, push one.

Each may be repeated at any moment: a built export is found finished, a check is replaced, a push sends what is missing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from curation.artifacts.artifact_set import resolve_artifacts
from curation.concepts.catalogue import Catalogue
from curation.curate import build_export_request, describe_export, open_decision_set
from curation.errors import ExportError, TooManyLeaks, UndecidedRows
from curation.export.build import write_export
from curation.export.problem import VerifyReport
from curation.export.push import push_export
from curation.export.request import ExportProgress
from curation.export.verify import verify_export
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.overrides import Overrides
from curation.request import read_request
from curation.run_folder import RunFolder
from primer.app.concepts.content import read_catalogue
from primer.app.concepts.repository import require_version
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.events import record_event
from primer.app.exports import repository
from primer.app.exports.options import ExportChoices
from primer.app.jobs.flow import StepResult
from primer.app.jobs.repository import read_profile
from primer.app.models import Export, ExportCheck, ExportPush, Job
from primer.app.overrides.service import load_overrides
from primer.app.vocabularies.repository import read_version

log = structlog.get_logger(__name__)

Check = Callable[[], None]

SAMPLE_ROWS: Final = 100  # measured and decided again, as `primer verify` does
_MAX_PROBLEMS: Final = 50
_LEAST_SECONDS: Final = 1.0  # between two notes of progress


class ExportSteps:
    def __init__(self, context: Context) -> None:
        self._context = context

    def build(self, job: Job, check: Check) -> StepResult:
        """Raises UndecidedRows, ExportError when it does not verify, and whatever `check` raises."""
        with self._context.database.reading() as session:
            export = repository.find_of_job(session, job.id)
            profile = read_profile(session, job.profile_id)
        if export.deleted_at is not None:
            raise ExportError(f"Export {export.id} was deleted.", hint="Ask for another.")
        overrides = self._load_overrides(export)
        choices = ExportChoices.model_validate(export.options)
        decisions = open_decision_set(
            RunFolder(self._context.settings.data_dir / job.folder),
            profile=profile,
            vocabulary=self._choose_vocabulary(choices),
            overrides=overrides,
        )
        progress = _Progress(self._context, export, check)
        request = build_export_request(
            decisions,
            self._folder(export),
            choices.describe_export(),
            leak_catalogue=self._load_catalogue(choices),
            on_progress=progress.note,
        )
        try:
            result = write_export(request)
        except UndecidedRows as error:
            base = f"POST /api/v1/jobs/{export.base_job_id}"
            senses = ""
            if decisions.vocabulary.senses and choices.vocabulary_id is not None:
                senses = f" Words told apart by sense: {base}/vocabulary/measure-senses with vocabulary_id {choices.vocabulary_id}."
            raise UndecidedRows(
                error.message,
                hint=f"Let them be measured: {base}/measure-undecided with profile_id {job.profile_id}.{senses} Or choose a "
                "profile that does not read the missing signal.",
            ) from error
        except TooManyLeaks as error:
            raise TooManyLeaks(
                error.message,
                hint=f"Look at them: POST /api/v1/probes with base_job_id {export.base_job_id} and profile_id {job.profile_id}. "
                "Then rule on them, choose a stricter profile, or allow a larger share.",
            ) from error
        progress.write()
        check()
        with self._context.database.transaction() as session:
            if session.execute(select(ExportCheck.id).where(ExportCheck.job_id == job.id)).first() is None:
                session.add(ExportCheck(export_id=export.id, job_id=job.id))
        found = self._verify(job, export, overrides, check)
        if not found.is_sound:
            raise ExportError(
                f"The export does not verify: {found.problems[0]}",
                hint="See its checks; export again when this is mended.",
            )
        return StepResult(report={**describe_export(result), "statement": result.statement, **_describe_check(found)})

    def verify(self, job: Job, check: Check) -> StepResult:
        with self._context.database.reading() as session:
            export = session.get_one(Export, repository.find_check(session, job.id).export_id)
        return StepResult(report=_describe_check(self._verify(job, export, self._load_overrides(export), check)))

    def push(self, job: Job, check: Check) -> StepResult:
        """Raises ExportError without a token, or when the Hub refuses."""
        with self._context.database.reading() as session:
            push = repository.find_push(session, job.id)
            export = session.get_one(Export, push.export_id)
        token = os.environ.get("HF_TOKEN", "").strip()
        if not token:
            raise ExportError(
                "There is no token for the Hub.",
                hint="Set HF_TOKEN where the workers run, to a token that may write to the repository.",
            )
        pushed = push_export(
            self._folder(export),
            push.repository,
            revision=push.revision,
            is_private=push.is_private,
            token=token,
            checkpoint=check,
        )

        with self._context.database.transaction() as session:
            session.execute(
                update(ExportPush)
                .where(ExportPush.job_id == job.id)
                .values(commit_sha=pushed.commit, url=pushed.url, pushed_at=now())
            )
        return StepResult(report={"repository": push.repository, "commit": pushed.commit, "url": pushed.url})

    def _verify(self, job: Job, export: Export, overrides: Overrides | None, check: Check) -> VerifyReport:
        run = RunFolder(self._context.settings.data_dir / job.folder)
        request = read_request(run.folder)
        artifacts = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None)
        found = verify_export(
            self._folder(export), run, SAMPLE_ROWS, 0, artifacts=artifacts, overrides=overrides, checkpoint=check
        )
        with self._context.database.transaction() as session:
            _record_check(session, job.id, found)
        return found

    def _choose_vocabulary(self, choices: ExportChoices) -> VocabularyVersion | None:
        """None: the run's own."""
        if choices.vocabulary_id is None:
            return PLAIN_VOCABULARY if choices.vocabulary == "plain" else None
        with self._context.database.reading() as session:
            return read_version(session, choices.vocabulary_id)

    def _load_overrides(self, export: Export) -> Overrides | None:
        """The pinned rulings; None where there are none: an export by none has the bytes of a run's own."""
        if not export.overrides_revision:
            return None
        return load_overrides(self._context, export.source_id, export.overrides_revision)

    def _load_catalogue(self, choices: ExportChoices) -> Catalogue | None:
        """What the gate looks for; None where there is no gate."""
        if choices.max_leak_share is None:
            return None
        with self._context.database.reading() as session:
            return read_catalogue(require_version(session, choices.leak_catalogue))

    def _folder(self, export: Export) -> Path:
        return self._context.settings.data_dir / export.folder


class _Progress:
    """Notes in the database, now and then, how far an export is; and asks at every step whether to go on."""

    def __init__(self, context: Context, export: Export, check: Check) -> None:
        self._context, self._export, self._check = context, export, check
        self._interval = max(_LEAST_SECONDS, context.settings.heartbeat)
        self._noted_at = time.monotonic()
        self._latest = ExportProgress(0, 0, 0)

    def note(self, progress: ExportProgress) -> None:
        self._check()
        self._latest = progress
        if time.monotonic() - self._noted_at >= self._interval:
            self.write()

    def write(self) -> None:
        latest = self._latest
        self._noted_at = time.monotonic()
        if not latest.documents:
            return  # nothing yet, or the export was found finished
        written = {
            "documents_written": latest.documents, "tokens_written": latest.tokens, "bytes_written": latest.bytes,
        }  # fmt: skip
        try:
            with self._context.database.transaction() as session:
                session.execute(update(Export).where(Export.id == self._export.id).values(written))
                told = {"export_id": self._export.id, **written}
                record_event(session, "export.progress", told, job_id=self._export.job_id)
        except SQLAlchemyError as error:
            # The next note says more.
            log.warning("progress_not_noted", error=type(error).__name__)


def _record_check(session: Session, job_id: int, found: VerifyReport) -> None:
    problems = [{"file": p.file, "row": p.row, "what": p.what} for p in found.problems[:_MAX_PROBLEMS]]
    session.execute(
        update(ExportCheck)
        .where(ExportCheck.job_id == job_id)
        .values(
            is_sound=found.is_sound,
            files_checked=found.files_checked,
            rows_rechecked=found.rows_rechecked,
            problem_count=len(found.problems),
            problems=problems,
            checked_at=now(),
        )
    )


def _describe_check(found: VerifyReport) -> dict[str, object]:
    return {
        "is_sound": found.is_sound,
        "files_checked": found.files_checked,
        "rows_rechecked": found.rows_rechecked,
        "problem_count": len(found.problems),
    }
