"""What is asked and answered about the words of a decision set. Columns are the library's own (`curation.vocabulary_audit`)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.concepts.catalogue import Subject
from curation.index.query import Outcome
from curation.lexicon.senses import SenseRule
from curation.signals.senses import Sense
from curation.vocabulary_audit.concordance import (
    DEFAULT_CONTEXT_CHARS,
    DEFAULT_LINES_A_DOCUMENT,
    DEFAULT_MAX_DOCUMENTS,
    LineSort,
)
from curation.vocabulary_audit.term_list import Ruling, TermSort
from primer.app.core.fields import RowId
from primer.app.documents.schemas import DecisionChoice, Move, MoveView
from primer.app.vocabularies.content import WordRulings
from primer.app.vocabularies.schemas import WordChangeAnswer

Term = Annotated[str, Path(pattern=r"^[a-z]{2,}$", max_length=100, description="One word, lower case.")]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]


class TermsRequest(BaseModel):
    """Which words of a decision set, in which order. `harmless` sorts by documents that a word loses alone, halved for every point
    above the threshold. Words that no document holds are left out unless `has_absent`. `cursor`: `next` of the page before."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"looks_harmless": True, "sort": "harmless", "limit": 50}]},
    )

    decisions: DecisionChoice = DecisionChoice()
    search: str = Field(default="", max_length=100, description="Letters that the word holds.")
    subject: Subject | None = Field(default=None, description="Of the concepts in whose terms the word stands.")
    ruling: Ruling | None = None
    min_score: float | None = Field(default=None, allow_inf_nan=False)
    max_score: float | None = Field(default=None, allow_inf_nan=False)
    looks_harmless: bool = False
    has_sole: bool = Field(default=False, description="Only words that alone lose documents.")
    has_absent: bool = False
    sort: TermSort = "sole_documents"
    is_descending: bool = True
    cursor: str | None = Field(default=None, max_length=500)
    limit: int = Field(default=50, ge=1, le=500)


class TotalView(BaseModel):
    documents: int
    tokens: int


class LossesView(BaseModel):
    """What vocabulary excludes, by what would bring it back; the four add up to `excluded`. See
    `curation.vocabulary_audit.Losses`."""

    excluded: TotalView
    with_others: TotalView
    one_word: TotalView
    maybe_one_word: TotalView
    several_words: TotalView


class WordCountsView(BaseModel):
    """Occurrences and documents in the texts that the table was trained with."""

    model_config = ConfigDict(from_attributes=True)

    count_k5: int
    count_beyond: int
    docs_k5: int
    docs_beyond: int


class WordView(BaseModel):
    """One word. `score` is null for a word that the table does not have, and where it was never seen in K-5 texts. Of `documents`
    that hold it, it counts in `hit_documents` and alone loses `sole_documents`; `several_documents` only vocabulary loses, by it
    and others together."""

    word: str
    score: float | None
    is_never_in_k5: bool
    ruling: Literal["", "allow", "block", "sense"]
    subjects: list[str]
    counts: WordCountsView | None
    documents: int
    hit_documents: int
    sole_documents: int
    sole_tokens: int
    maybe_sole_documents: int
    several_documents: int
    several_tokens: int
    kept_documents: int
    kept_tokens: int
    kept_share: float = Field(description="Of the kept documents.")
    kept_token_share: float
    looks_harmless: bool


class TermsPage(BaseModel):
    """`total` counts the words of the query. `needs_senses`: the vocabulary tells words apart that nobody measured in this run."""

    items: list[WordView]
    next: str | None
    total: int
    losses: LossesView
    kept: TotalView
    min_score: float
    needs_senses: bool


class TermRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"decisions": {"vocabulary_id": 3}}]})

    decisions: DecisionChoice = DecisionChoice()


class RelatedView(BaseModel):
    """Another form of the word that documents hold. `is_blocked`: it counts where no sense rule says otherwise."""

    word: str
    score: float | None
    is_never_in_k5: bool
    ruling: str | None
    is_blocked: bool
    documents: int


class TermDetail(BaseModel):
    """`figures` is null for a word that can exclude nothing here. Its documents: POST .../documents/search with query.term."""

    word: str
    documents: int
    subjects: list[str]
    figures: WordView | None
    note: str
    rule: SenseRule | None
    related: list[RelatedView]


class ConcordanceRequest(BaseModel):
    """Which documents and lines. `is_sole`: only documents that nothing but vocabulary excludes. Of very many documents a sample
    is read, drawn with `seed`."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"outcome": "excluded", "is_sole": True, "sort": "right"}]}
    )

    decisions: DecisionChoice = DecisionChoice()
    outcome: Outcome | None = None
    domain: str | None = Field(default=None, max_length=300, description="That host and all below it.")
    is_sole: bool = False
    sort: LineSort = "document"
    seed: Seed = 0
    max_documents: int = Field(default=DEFAULT_MAX_DOCUMENTS, ge=1, le=1_000)
    lines_a_document: int = Field(default=DEFAULT_LINES_A_DOCUMENT, ge=1, le=50)
    context_chars: int = Field(default=DEFAULT_CONTEXT_CHARS, ge=10, le=400)


class LineView(BaseModel):
    """One occurrence. `start` and `end` are characters of the text in `form`. `sense` is what a rule makes of it."""

    position: int
    shard: str
    shard_sha256: str
    row: int
    doc_id: str | None
    url: str | None
    domain: str
    outcome: Outcome
    decided_by: str | None
    start: int
    end: int
    left: str
    match: str
    right: str
    sense: Sense | None


class ConcordanceView(BaseModel):
    """`documents` hold the word and were asked for; `occurrences` are in those that were read, beyond the lines shown too."""

    term: str
    form: Literal["raw", "normalized"]
    documents: int
    documents_read: int
    is_sampled: bool
    seed: int
    occurrences: int
    lines: list[LineView]


class ImpactRequest(BaseModel):
    """A version, saved (`vocabulary_id`) or not (`vocabulary`), beside the decision set of `decisions`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"decisions": {"vocabulary_id": 2}, "vocabulary": {"allow": ["volcano"]}, "seed": 1}]
        },
    )

    decisions: DecisionChoice = DecisionChoice()
    vocabulary_id: RowId | None = None
    vocabulary: WordRulings | None = None
    seed: Seed = 0
    examples: int = Field(default=20, ge=0, le=200)

    @model_validator(mode="after")
    def _names_one_version(self) -> ImpactRequest:
        if (self.vocabulary_id is None) == (self.vocabulary is None):
            raise ValueError("give exactly one of vocabulary_id and vocabulary")
        return self


class ExampleView(BaseModel):
    """A document that moves, and the words with another ruling that it holds."""

    position: int
    shard: str
    shard_sha256: str
    row: int
    doc_id: str | None
    url: str | None
    move: Move
    words: list[str]


class ImpactView(BaseModel):
    """`moves` hold whatever senses that were not measured turn out to be; of the `uncertain` ones, which wait for that, a re-run
    moves some. `undecided`: all without a decision afterwards. `examples` are drawn at random from all that move."""

    moves: dict[str, MoveView]
    uncertain: TotalView
    undecided: TotalView
    kept_before: TotalView
    kept_after: TotalView
    needs_senses: bool
    seed: int
    changes: list[WordChangeAnswer]
    examples: list[ExampleView]


class SensesRequest(BaseModel):
    """Which version's words to tell apart."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"vocabulary_id": 3}]})

    vocabulary_id: RowId


class SamplingRequest(BaseModel):
    """A text whose highest score is s is kept with chance 0.5 ** ((s - min_score) / halving). `halving` null: as the profile says."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"halving": 1.0, "sampling_seed": 0}]})

    decisions: DecisionChoice = DecisionChoice()
    halving: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    sampling_seed: Seed = 0


class ScoreBandView(BaseModel):
    """Documents whose highest score is from `low` to below `high`; both null: they hold a word never seen in K-5 texts; `high`
    alone null: no upper end. `expected` of them are kept, give or take `deviation`; the seed keeps `drawn`, of which `kept` pass
    every other stage too."""

    low: float | None
    high: float | None
    documents: int
    tokens: int
    expected: float
    deviation: float
    drawn: int
    kept: int


class SamplingView(BaseModel):
    halving: float
    seed: int
    min_score: float
    passing: int = Field(description="Documents that the stage lets through without a draw.")
    kept: TotalView
    kept_when_blocking: TotalView
    bands: list[ScoreBandView]
