"""What the tasks of concepts do: measure a catalogue in a run a stretch at a time, probe a run or an export.

Measured slices are committed one by one and stay, so that a stretch may end anywhere and another carries on. A probe is
recorded whole, in one transaction, and the same however often it is done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Final

from sqlalchemy import update

from curation.concepts.catalogue import Catalogue
from curation.concepts.measure import ConceptProgress, measure_concepts
from curation.concepts.probe import ProbeReport, probe_export
from curation.concepts.probe_run import probe_run
from curation.curate import open_decision_set
from curation.errors import ExportError, LedgerError
from curation.run_folder import RunFolder
from primer.app.concepts import repository
from primer.app.concepts.content import read_catalogue
from primer.app.core.context import Context
from primer.app.jobs.flow import Follower, StepResult
from primer.app.jobs.leases import Lease
from primer.app.jobs.repository import read_profile
from primer.app.jobs.states import TaskKind
from primer.app.models import Export, Job, LeakProbe
from primer.app.overrides.service import load_overrides

Check = Callable[[], None]

STRETCH_SECONDS: Final = 900.0  # then scans and plans of others get their turn


class _StretchEnded(Exception):
    """The slices that are done are committed; what is left is for another task."""


class ConceptSteps:
    def __init__(self, context: Context, *, stretch_seconds: float = STRETCH_SECONDS) -> None:
        self._context, self._stretch_seconds = context, stretch_seconds

    def measure(self, job: Job, lease: Lease, check: Check) -> StepResult:
        """Raises LedgerError that names a slice which cannot be read, and whatever `check` raises, with whole slices committed."""
        with self._context.database.reading() as session:
            measuring = repository.find_measuring(session, job.id)
            catalogue = read_catalogue(repository.require_by_id(session, measuring.catalogue_id))
        began = time.monotonic()

        def note(progress: ConceptProgress) -> None:
            check()
            is_left = progress.slices_done + len(progress.failures) < progress.slices
            if is_left and time.monotonic() - began >= self._stretch_seconds:
                raise _StretchEnded

        check()
        try:
            done = measure_concepts(self._folder(job), catalogue, on_progress=note)
        except _StretchEnded:
            # Numbered on from the first task's -1.
            return StepResult([Follower(TaskKind.CONCEPTS, slice_index=lease.slice_index + 1)])
        if done.failures:
            first = done.failures[0]
            raise LedgerError(
                f"{len(done.failures):,} of {done.slices:,} slices were not measured. {first['where']}: {first['error']}",
                hint="Restore the shards, then retry the job: it measures what is missing.",
            )
        report = {"layer": done.layer, "slices": done.slices, "concepts": done.concepts}
        return StepResult(report={**report, "catalogue": catalogue.label, "version": catalogue.version})

    def probe(self, job: Job, check: Check) -> StepResult:
        """Raises ExportError for an export that is gone, LedgerError for a row that is, and whatever `check` raises."""
        with self._context.database.reading() as session:
            probe = repository.find_probe_of_job(session, job.id)
            catalogue = read_catalogue(repository.require_by_id(session, probe.catalogue_id))
            export = session.get_one(Export, probe.export_id) if probe.export_id is not None else None
        found = (
            self._probe_export(export, catalogue, check) if export else self._probe_run(job, probe, catalogue, check)
        )
        with self._context.database.transaction() as session:
            session.execute(
                update(LeakProbe)
                .where(LeakProbe.id == probe.id)
                .values(documents=found.documents, leaking=found.leaking, report=json.dumps(found.to_json()))
            )
        counts = {"documents": found.documents, "leaking": found.leaking, "share": found.share}
        return StepResult(report={"probe_id": probe.id, **counts, "interval_95": list(found.interval)})

    def _probe_run(self, job: Job, probe: LeakProbe, catalogue: Catalogue, check: Check) -> ProbeReport:
        with self._context.database.reading() as session:
            profile = read_profile(session, job.profile_id)
        overrides = None
        if probe.overrides_revision:
            overrides = load_overrides(self._context, job.source_id, probe.overrides_revision)
        decisions = open_decision_set(self._folder(job), profile=profile, overrides=overrides)
        return probe_run(decisions, catalogue, checkpoint=check)

    def _probe_export(self, export: Export, catalogue: Catalogue, check: Check) -> ProbeReport:
        if export.deleted_at is not None:
            raise ExportError(f"Export {export.id} was deleted.", hint="Probe the run, or export it again.")
        return probe_export(self._context.settings.data_dir / export.folder, catalogue, checkpoint=check)

    def _folder(self, job: Job) -> RunFolder:
        return RunFolder(self._context.settings.data_dir / job.folder)
