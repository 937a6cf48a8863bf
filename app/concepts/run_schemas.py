"""What the routes of concepts in a run, and of probes, take and answer."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from primer.app.concepts.schemas import Version
from primer.app.core.fields import RowId
from primer.app.core.times import Instant
from primer.app.documents.schemas import DecisionChoice, DocumentRow
from primer.app.jobs.states import JobState

Outcome = Literal["kept", "excluded", "undecided"]
LineSort = Literal["document", "left", "right", "domain"]
Reason = Literal["lexical", "fasttext", "encoder", "notation", "vocabulary", "error", "override", "source_rule"]


class ConceptMeasureRequest(BaseModel):
    """Which version of the catalogue to look for; default: the newest."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"version": 2}, {}]})

    version: Version | None = None


class ConceptMeasuringJob(BaseModel):
    """The job that measures; `error` says why it failed."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    state: JobState
    error: str | None
    created_by: str
    created_at: Instant
    finished_at: Instant | None


class ConceptLayerView(BaseModel):
    """What a run was measured with. `version` is null for a catalogue that came with an imported run; `job` where no job of this service
    measured it."""

    layer: str
    version: int | None
    slices_measured: int
    slices: int
    is_whole: bool
    job: ConceptMeasuringJob | None


class ConceptPlanView(BaseModel):
    """What measuring a version takes. `concepts` must be looked for in the texts; what others find is copied from `base_layer`."""

    version: int
    layer: str
    slices_missing: int
    slices: int
    concepts: list[str]
    base_layer: str | None


class ConceptReportRequest(BaseModel):
    """`version` null: the newest that the run was measured with."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"version": 1, "decisions": {"profile_id": 2}}]}
    )

    version: Version | None = None
    decisions: DecisionChoice = DecisionChoice()
    judgements: int = Field(default=50, ge=0, le=500, description="Documents to judge at most.")


class MentionCounts(BaseModel):
    """Documents that mention something, by what was decided. `excluded_by`: by every stage that excludes them; `sole_cause`: by the only
    one. `kept_share`: of all kept documents, with the exact 95 % interval."""

    documents: int
    hits: int
    tokens: int
    kept: int
    kept_tokens: int
    kept_share: float
    kept_interval: tuple[float, float]
    excluded: int
    excluded_tokens: int
    undecided: int
    excluded_by: dict[str, int]
    sole_cause: dict[str, int]


class ConceptCounts(MentionCounts):
    concept: str
    name: str
    subject: str
    band: str
    standard: str | None


class GroupCounts(MentionCounts):
    """Of all concepts of a subject, band or standard together; a document counts once. "" is no standard."""

    name: str


class JudgementView(BaseModel):
    """A kept document that mentions concepts."""

    position: int
    shard: str
    row: int
    doc_id: str | None
    url: str | None
    concepts: list[str]
    hits: int


class PublishedView(BaseModel):
    """The published corpus' own figure: another list over other passages, to stand beside ours."""

    ngrams: int
    share: float


class ConceptReportView(BaseModel):
    """`leaking`: kept documents that mention any concept, of all `kept`."""

    version: int
    documents: int
    kept: int
    leaking: int
    leak_share: float
    leak_interval: tuple[float, float]
    published: PublishedView
    concepts: list[ConceptCounts]
    subjects: list[GroupCounts]
    bands: list[GroupCounts]
    standards: list[GroupCounts]
    to_judge: list[JudgementView]


class _Mentioning(BaseModel):
    """Documents that mention a concept: of one outcome, excluded by a reason, or by it alone."""

    model_config = ConfigDict(extra="forbid")

    version: Version | None = None
    decisions: DecisionChoice = DecisionChoice()
    outcome: Outcome | None = None
    excluded_by: Reason | None = None
    is_sole: bool = False


class ConceptConcordanceRequest(_Mentioning):
    """Of very many documents a sample is drawn by the seed and read."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"outcome": "kept", "sort": "right", "max_documents": 50}]}
    )

    sort: LineSort = "document"
    max_documents: int = Field(default=50, ge=1, le=200)
    lines_a_document: int = Field(default=5, ge=1, le=50)
    context_chars: int = Field(default=60, ge=0, le=300)
    seed: int = Field(default=0, ge=0, lt=1 << 63)


class ConceptConcordanceLine(BaseModel):
    """text[start:end] of the normalised text, and what stands beside it."""

    position: int
    shard: str
    row: int
    domain: str
    outcome: Outcome
    decided_by: str | None
    excluded_by: list[str]
    start: int
    end: int
    left: str
    hit: str
    right: str


class ConceptConcordanceView(BaseModel):
    """`documents` mention the concept and were asked for; `hits`: in those that were read, also beyond the lines of a document."""

    version: int
    concept: str
    documents: int
    documents_read: int
    is_sampled: bool
    hits: int
    lines: list[ConceptConcordanceLine]


class MentioningRequest(_Mentioning):
    """`cursor`: `next` of the page before."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"outcome": "kept", "limit": 50}]})

    cursor: str | None = Field(default=None, max_length=500)
    limit: int = Field(default=50, ge=1, le=500)


class MentioningPage(BaseModel):
    """Documents in the run's order; `total` counts all."""

    version: int
    concept: str
    items: list[DocumentRow]
    next: str | None
    total: int


class ProbeRequest(BaseModel):
    """Probe what a finished job's run keeps under a profile (default: its own) and the rulings of now, or an export's curriculum.
    `max_share`: say whether the share is above it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"base_job_id": 1, "max_share": 0.0005}, {"export_id": 2}]},
    )

    base_job_id: RowId | None = None
    export_id: RowId | None = None
    version: Version | None = Field(default=None, description="Of the catalogue; default: the newest.")
    profile_id: RowId | None = None
    max_share: float | None = Field(default=None, ge=0, lt=1)

    @model_validator(mode="after")
    def _names_one_thing(self) -> ProbeRequest:
        if (self.base_job_id is None) == (self.export_id is None):
            raise ValueError("give base_job_id or export_id")
        if self.export_id is not None and self.profile_id is not None:
            raise ValueError("an export was decided already: leave out profile_id")
        return self


class ProbeView(BaseModel):
    """A probe. What it found is null until its job has succeeded; `is_above` is false without a `max_share`."""

    id: int
    job_id: int
    state: JobState
    error: str | None
    hint: str | None
    base_job_id: int
    export_id: int | None
    version: int
    profile_id: int
    overrides_revision: int
    max_share: float | None
    created_by: str
    created_at: Instant
    finished_at: Instant | None
    documents: int | None
    leaking: int | None
    share: float | None
    interval: tuple[float, float] | None
    is_above: bool | None
    published: PublishedView


class LeakLine(BaseModel):
    """One hit in the normalised text, and what stands beside it. Shard and row are the source's."""

    concept: str
    left: str
    hit: str
    right: str
    domain: str
    shard: str
    row: int
    start: int
    end: int


class LeakView(BaseModel):
    """One concept that was found, with its first hits."""

    concept: str
    documents: int
    hits: int
    lines: list[LeakLine]


class ProbeDetail(ProbeView):
    """`concepts`: those that were found, most documents first."""

    concepts: list[LeakView] | None
