"""Which catalogues a run was measured with, what measuring another takes, and the job that does it. The run's ledger is the truth."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from curation.concepts.catalogue import Catalogue
from curation.concepts.layer import CATALOGUES, name_concepts_layer
from curation.concepts.measure import Remeasuring, plan_measuring
from curation.ledger.store import Ledger
from curation.run_folder import RunFolder
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.concepts import repository
from primer.app.concepts.content import read_catalogue
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.jobs import repository as jobs
from primer.app.jobs.service import add_job_on_run
from primer.app.jobs.states import JobKind, JobState, TaskKind
from primer.app.models import CatalogueRecord, ConceptMeasuring, Job


@dataclass(frozen=True)
class MeasuredLayer:
    """`version` None: of a catalogue that came with an imported run and is no version here. `job`: the newest that measured it."""

    layer: str
    version: int | None
    slices_measured: int
    slices: int
    job: Job | None


def list_layers(context: Context, actor: Actor, job_id: int) -> list[MeasuredLayer]:
    """Of a run: every catalogue that it was, or is being, measured with; versions first. Raises NotFound, Conflict."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        base = require_measured(session, job_id)
        numbers = repository.number_versions(session)
        measurings = dict(repository.list_measurings(session, _find_base(base)))
    ledger = RunFolder(context.settings.data_dir / base.folder).ledger
    slices = [ref.id for ref in ledger.slices()]
    versions = {f"concepts-{number}-{sha256[:12]}": number for sha256, number in numbers.items()}
    there = {path.stem for path in (ledger.folder / CATALOGUES).glob("concepts-*.yaml")}
    wanted = there | {layer for layer, number in versions.items() if number in measurings}
    found = [
        MeasuredLayer(
            layer,
            number := versions.get(layer),
            sum(ledger.is_committed(layer, slice_id) for slice_id in slices),
            len(slices),
            measurings.get(number) if number is not None else None,
        )
        for layer in wanted
    ]
    return sorted(found, key=lambda entry: (entry.version is None, -(entry.version or 0), entry.layer))


def is_measured(ledger: Ledger, catalogue: Catalogue) -> bool:
    """Whether every slice was measured with the catalogue."""
    layer = name_concepts_layer(catalogue)
    return all(ledger.is_committed(layer, ref.id) for ref in ledger.slices())


def plan(context: Context, actor: Actor, job_id: int, version: int | None) -> tuple[CatalogueRecord, Remeasuring]:
    """What measuring a version in a run takes; None: the newest. Raises NotFound, Conflict."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        base = require_measured(session, job_id)
        record = repository.require_version(session, version)
    folder = RunFolder(context.settings.data_dir / base.folder)
    return record, plan_measuring(folder, read_catalogue(record))


def request_measuring(context: Context, actor: Actor, job_id: int, version: int | None) -> Job:
    """Measure a version of the catalogue in a job's run, as a job of its own. Raises NotFound, Conflict where the job is not
    measured to its end, or one measures it already."""
    actor.require(Action.JOBS)
    with context.database.transaction() as session:
        base = require_measured(session, job_id, is_curated=True)
        record = repository.require_version(session, version)
        active = repository.find_active_measuring(session, base.id, record.id)
        if active is not None:
            raise Conflict(
                f"Job {active} measures version {record.version} in this run.", hint="Wait for its end, or cancel it."
            )
        job = add_job_on_run(
            session,
            context,
            actor,
            base,
            JobKind.MEASURE_CONCEPTS,
            TaskKind.CONCEPTS,
            profile_id=base.profile_id,
        )
        session.add(ConceptMeasuring(job_id=job.id, base_job_id=base.id, catalogue_id=record.id))
        described = {"job_id": job.id, "version": record.version}
        record_change(session, actor, "concepts.measure", f"job/{base.id}", after=described)
        return job


def require_measured(session: Session, job_id: int, *, is_curated: bool = False) -> Job:
    """A job whose run is measured to its end. Raises NotFound, Conflict. `is_curated`: the job that measured it itself."""
    job = jobs.get_job(session, job_id)
    if job.state != JobState.SUCCEEDED or (is_curated and job.kind != JobKind.CURATE):
        raise Conflict(
            f"Job {job_id} is {job.state}, of the kind {job.kind}: concepts are looked for in runs that are measured to their "
            "end.",
            hint="Name the job that curated the source, and wait for its end.",
        )
    return job


def _find_base(job: Job) -> int:
    return job.id if job.kind == JobKind.CURATE or job.base_job_id is None else job.base_job_id
