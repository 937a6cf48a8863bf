"""What is asked and answered about documents. Queries are the library's own (`curation.index.query`)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.index.query import Query, Sort
from curation.profile import Profile
from primer.app.core.fields import RowId
from primer.app.texts.schemas import ExplanationView
from primer.app.vocabularies.content import WordRulings

Move = Literal["now_kept", "now_excluded", "now_undecided", "no_longer_undecided"]

_STRICT = ConfigDict(extra="forbid")


class DecisionChoice(BaseModel):
    """A decision set of the job's run: a stored profile version or a draft as it stands (default: the job's own profile), a
    stored vocabulary version or a draft (default: the run's own), with the rulings up to a revision (default: all in force)."""

    model_config = _STRICT

    profile_id: RowId | None = None
    profile: Profile | None = None
    vocabulary_id: RowId | None = None
    vocabulary: WordRulings | None = None
    revision: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _names_each_once(self) -> DecisionChoice:
        if self.profile_id is not None and self.profile is not None:
            raise ValueError("give profile_id or profile, not both")
        if self.vocabulary_id is not None and self.vocabulary is not None:
            raise ValueError("give vocabulary_id or vocabulary, not both")
        return self


class SearchRequest(BaseModel):
    """`cursor`: `next` of the page before."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "query": {"excluded_by": "notation", "sole": "certain"},
                    "sort": {"column": "tokens", "is_descending": True},
                    "limit": 50,
                }
            ]
        },
    )

    decisions: DecisionChoice = DecisionChoice()
    query: Query = Query()
    sort: Sort = Sort()
    cursor: str | None = Field(default=None, max_length=500)
    limit: int = Field(default=50, ge=1, le=500)
    columns: tuple[str, ...] = Field(default=(), max_length=12, description="Numeric columns to show with each row.")


class FacetRequest(BaseModel):
    model_config = _STRICT

    decisions: DecisionChoice = DecisionChoice()
    query: Query = Query()


class HistogramRequest(BaseModel):
    """Values of a column, kept, excluded and undecided apart."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"column": "p95_aoa", "bins": 40}]})

    decisions: DecisionChoice = DecisionChoice()
    query: Query = Query()
    column: str
    bins: int = Field(default=40, ge=1, le=400)
    low: float | None = None
    high: float | None = None


class WhatIfRequest(BaseModel):
    """`other` beside `baseline`, over every document of the run."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"baseline": {}, "other": {"profile_id": 1}}]}
    )

    baseline: DecisionChoice = DecisionChoice()
    other: DecisionChoice


class FlipRequest(WhatIfRequest):
    move: Move
    cursor: str | None = Field(default=None, max_length=500)
    limit: int = Field(default=50, ge=1, le=500)


class BulkRulingRequest(BaseModel):
    """A ruling on every document of a query. With `is_preview` nothing is ruled: the answer says what would be."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"query": {"domain": "example.org"}, "action": "exclude", "reason": "spam", "is_preview": True}
            ]
        },
    )

    decisions: DecisionChoice = DecisionChoice()
    query: Query
    action: Literal["keep", "exclude", "undo"]
    reason: str = Field(min_length=1, max_length=2_000)
    is_preview: bool = False
    expected_documents: int | None = Field(
        default=None, ge=0, description="The preview's count: another count is refused, for the ids would be others."
    )


class DecisionView(BaseModel):
    """`kept` is null when undecided. `sole_cause`: the only reason that is known to exclude it."""

    kept: bool | None
    decided_by: str | None
    excluded_by: list[str]
    undecided_for: list[str]


class PlaceView(BaseModel):
    """A row of a shard and its place in the run."""

    position: int
    shard: str
    shard_sha256: str
    row: int
    doc_id: str | None
    url: str | None


class DocumentRow(DecisionView, PlaceView):
    """One row of a page. `position` names it within this run."""

    tokens: int
    values: dict[str, float | None]


class DocumentPage(BaseModel):
    """`total` counts the documents of the query."""

    items: list[DocumentRow]
    next: str | None
    total: int


class FlipPage(BaseModel):
    items: list[DocumentRow]
    next: str | None
    total: int


class FacetView(BaseModel):
    """Exact counts of the query's documents; see `curation.index.facets.Facets`."""

    documents: int
    outcomes: dict[str, int]
    tokens: dict[str, int]
    decided_by: dict[str, int]
    excluded_by: dict[str, int]
    sole_causes: dict[str, int]
    possible_sole_causes: dict[str, int]
    undecided_for: dict[str, int]
    rules: dict[str, int]
    bands: dict[str, dict[str, int]]
    domains: list[tuple[str, int]]
    other_domain_count: int
    other_domains: int
    no_domain: int
    shards: dict[str, int]


class HistogramView(BaseModel):
    """`counts[outcome][i]`: documents with edges[i] <= value < edges[i + 1]."""

    column: str
    edges: list[float]
    counts: dict[str, list[int]]
    below: dict[str, int]
    above: dict[str, int]
    missing: dict[str, int]


class MoveView(BaseModel):
    documents: int
    tokens: int


class WhatIfView(BaseModel):
    """`funnel` is of `other`; `flips` says how documents move from `baseline` to it."""

    baseline: dict[str, Any]
    funnel: dict[str, Any]
    flips: dict[str, MoveView]


class DistanceView(BaseModel):
    """`margin` >= 0 passes; it counts in the value's own unit."""

    stage: str
    name: str
    value: float | None
    threshold: float
    margin: float | None


class DocumentView(PlaceView):
    """One document with everything that is known of it. `text` is null where the row cannot be read; `error` says why."""

    tokens: int
    is_estimated: bool
    decision: DecisionView
    text: str | None
    error: str | None
    explanation: ExplanationView | None
    distances: list[DistanceView]
    sole_cause: str | None
    is_sole_certain: bool
    signals: dict[str, Any]


class BulkRulingView(BaseModel):
    """`revision` is null for a preview."""

    documents: int
    tokens: int
    outcomes: dict[str, int]
    revision: int | None
