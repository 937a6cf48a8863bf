"""What the routes of the catalogue take and answer. Concepts are the library's own (`curation.concepts.catalogue`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from curation.concepts.catalogue import Concept
from primer.app.concepts.content import MAX_CONCEPTS, Edit
from primer.app.concepts.csv_file import import_csv
from primer.app.core.times import Instant
from primer.app.documents.schemas import DecisionChoice

_MAX_CSV_CHARS = 4_000_000
_CONCEPT: JsonDict = {
    "id": "plate-tectonics",
    "name": "plate tectonics",
    "subject": "earth & space science",
    "band": "K8",
    "standard": "MS-ESS2-3",
    "terms": ["plate tectonics", "tectonic plate"],
    "k5_neighbour": "volcanoes and earthquakes on maps (4-ESS2-2)",
}
_VERSION: JsonDict = {
    "version": 2,
    "sha256": "0c7a5f9d1e3b4a6c8d2f0e1b3a5c7d9f1e2d3c4b5a69788796a5b4c3d2e1f009",
    "concept_count": 335,
    "changes": {"added": ["plate-tectonics"], "removed": [], "changed": [], "reworded": []},
    "note": "volcano pages name plates",
    "author": "anna.berg",
    "created_at": "2026-03-01T09:30:00Z",
    "based_on": 1,
}

Version = Annotated[int, Field(ge=1, lt=1 << 63)]
Note = Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")]
ConceptId = Annotated[str, Field(max_length=60)]


class CatalogueEdit(BaseModel):
    """An edit of version `based_on`: concepts to put in the place of those of their ids, or at the end, and ids to remove; or `csv`,
    a whole catalogue in the place of the old one."""

    model_config = ConfigDict(extra="forbid")

    based_on: Version
    put: Annotated[list[Concept], Field(max_length=MAX_CONCEPTS)] = []
    remove: Annotated[list[ConceptId], Field(max_length=MAX_CONCEPTS)] = []
    csv: str | None = Field(default=None, max_length=_MAX_CSV_CHARS)

    @model_validator(mode="after")
    def _says_one_thing(self) -> CatalogueEdit:
        if (self.csv is not None) == bool(self.put or self.remove):
            raise ValueError("give either put and remove, or csv")
        return self

    def read_edit(self) -> Edit:
        """Raises Unprocessable that names the wrong lines of the CSV."""
        if self.csv is not None:
            return Edit(concepts=import_csv(self.csv))
        return Edit(self.put, self.remove)


class CatalogueSaveRequest(CatalogueEdit):
    """Refused with 409 where `based_on` is not the newest version: the answer says who saved what, and when."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"based_on": 1, "put": [_CONCEPT], "note": "volcano pages name plates"}],
        },
    )

    note: Note = ""


class CatalogueRevertRequest(BaseModel):
    """Say again what version `to` said, as the version after `based_on`, which must be the newest."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"based_on": 2, "to": 1}]})

    based_on: Version
    to: Version
    note: Note = ""


class CatalogueImpactRequest(CatalogueEdit):
    """What an edit would change; with `job_id` also in that job's run. Nothing is saved. Of a run so many documents are drawn by the
    seed and read."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"based_on": 1, "put": [_CONCEPT], "job_id": 1}]}
    )

    job_id: Version | None = None
    decisions: DecisionChoice = DecisionChoice()
    sample: int = Field(default=200, ge=0, le=1_000)
    seed: int = Field(default=0, ge=0, lt=1 << 63)


class CatalogueChanges(BaseModel):
    """Ids of concepts: `changed` find otherwise, `reworded` are only described otherwise. All empty for the first version."""

    added: list[str] = []
    removed: list[str] = []
    changed: list[str] = []
    reworded: list[str] = []


class CatalogueVersionView(BaseModel):
    """One version of the catalogue. `changes`: since version `based_on`, which is null for the first."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [_VERSION]})

    version: int
    sha256: str
    concept_count: int
    changes: CatalogueChanges
    note: str
    author: str
    created_at: Instant
    based_on: int | None


class CatalogueVersionDetail(CatalogueVersionView):
    """How many concepts there are by subject, band and standard, for filters; "" counts those without a code."""

    name: str
    subjects: dict[str, int]
    bands: dict[str, int]
    standards: dict[str, int]


class ConceptChange(BaseModel):
    """A concept before and after; null where a version lacks it. `fields`: those that differ. `is_remeasured`: what it finds may
    differ."""

    id: str
    fields: list[str]
    is_remeasured: bool
    before: Concept | None
    after: Concept | None


class CatalogueDiffView(BaseModel):
    """`remeasured`: the concepts that must be looked for in every document before the newer one can be asked of a run; the hits of
    the others are copied."""

    before: int
    after: int
    changes: list[ConceptChange]
    remeasured: list[str]


class CatalogueSampleLine(BaseModel):
    """One place that the edit adds to or takes from what is found. `left` and `right` are text beside it."""

    change: str = Field(description="gained or lost")
    concept: str
    position: int
    shard: str
    row: int
    outcome: str
    left: str
    hit: str
    right: str


class CatalogueSampleChange(BaseModel):
    """Of the documents that were read, those that mention the concept after the edit alone, or before it alone."""

    concept: str
    gained: int
    lost: int


class CatalogueRunImpact(BaseModel):
    """What an edit means for a run. `documents_to_read`: must be measured again, all of them or none. `removed_documents` mention
    removed concepts, `removed_alone` of them no other concept; null where version `based_on` is not measured.
    `sample_documents` were drawn and read now: `sample` counts and `lines` quotes what changes in them."""

    job_id: int
    documents: int
    documents_to_read: int
    slices_to_measure: int
    slices: int
    removed_documents: int | None
    removed_alone: int | None
    removed_alone_kept: int | None
    sample_documents: int
    sample: list[CatalogueSampleChange]
    lines: list[CatalogueSampleLine]


class CatalogueImpactView(BaseModel):
    """`measured_jobs`: the jobs whose runs were measured with version `based_on`, which the new one must be measured in again."""

    diff: CatalogueDiffView
    measured_jobs: list[int]
    run: CatalogueRunImpact | None
