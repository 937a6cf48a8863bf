"""Questions to a decision set: which rows, in which order, from where on. Values only; nothing is computed here.

Every condition must hold. Conditions about signals read the form (raw or normalised) that the profile reads.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Outcome = Literal["kept", "excluded", "undecided"]
Reading = Literal["fasttext_published", "fasttext_document", "fasttext_window", "encoder_published", "encoder_window"]
READINGS: tuple[Reading, ...] = (
    "fasttext_published",
    "fasttext_document",
    "fasttext_window",
    "encoder_published",
    "encoder_window",
)

# What a band facet counts beside the four bands: the model could read nothing, or the row was not scored.
UNREADABLE = "unreadable"
NOT_MEASURED = "not_measured"

# Numeric columns that can be cut, sorted by and drawn. `term_count` and `top_term_score` are of the decision set's
# vocabulary, `rule_count` of the profile's rules; grades are probabilities, NaN where not measured.
LENGTHS = ("tokens", "n_bytes", "n_chars", "n_words")
LEXICAL = ("p95_aoa", "oov_ratio", "lexical_tokens")
GRADES = tuple(f"{reading}_{band}" for reading in READINGS for band in ("k5", "k8", "k12", "oos"))
COLUMNS = (*LENGTHS, *LEXICAL, *GRADES, "rule_count", "term_count", "top_term_score")


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Range(_Value):
    """`low` <= value < `high`; None is open. A row without a value is in no range, unless `is_missing` asks for just those."""

    column: str
    low: float | None = None
    high: float | None = None
    is_missing: bool = False

    @model_validator(mode="after")
    def _asks_something(self) -> Range:
        if self.column not in COLUMNS:
            raise ValueError(f"no column {self.column!r}; columns: {', '.join(COLUMNS)}")
        if self.low is None and self.high is None and not self.is_missing:
            raise ValueError("needs low, high or is_missing")
        return self


class BandCondition(_Value):
    """The likeliest band of a reading: K5, K8, K12, OOS, unreadable or not_measured."""

    reading: Reading
    band: Literal["K5", "K8", "K12", "OOS", "unreadable", "not_measured"]


class Query(_Value):
    """The rows of a decision set for which every given condition holds; none given: all rows.

    `decided_by`, `excluded_by`: a reason of `curation.decide.REASONS`. `sole` with `excluded_by`: "certain" only where
    nothing else excludes and every stage was measured, "possible" where nothing else is known to exclude but a stage was
    not measured. `override`: rows with a ruling in force. `rule`: a notation rule's name in the profile's set. `term`: a
    word, lower case. `domain`: that host, with `has_subdomains` every host below it too. `shard`: its name. `url` and
    `doc_id`: exactly this one.
    """

    outcome: Outcome | None = None
    decided_by: str | None = None
    excluded_by: str | None = None
    sole: Literal["certain", "possible"] | None = None
    undecided_for: str | None = None
    override: Literal["keep", "exclude", "any"] | None = None
    has_source_rule: bool | None = None
    has_error: bool | None = None
    ranges: tuple[Range, ...] = ()
    rule: str | None = None
    term: str | None = None
    bands: tuple[BandCondition, ...] = ()
    domain: str | None = None
    has_subdomains: bool = False
    shard: str | None = None
    url: str | None = None
    doc_id: str | None = None

    @model_validator(mode="after")
    def _sole_cause_is_named(self) -> Query:
        if self.sole is not None and self.excluded_by is None:
            raise ValueError("sole needs excluded_by")
        return self


class Sort(_Value):
    """By a column of COLUMNS, or None for ledger order (source order). Rows without a value come last either way; equal
    values stand in ledger order, also when descending."""

    column: str | None = None
    is_descending: bool = False

    @model_validator(mode="after")
    def _column_exists(self) -> Sort:
        if self.column is not None and self.column not in COLUMNS:
            raise ValueError(f"no column {self.column!r}; columns: {', '.join(COLUMNS)}")
        return self


class PageKey(_Value):
    """Where a page ended: the last row's value (None: it has none, or ledger order) and position. The next page begins after it."""

    value: float | None
    position: int = Field(ge=0)
