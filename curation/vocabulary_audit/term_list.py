"""Rows of a term table for reading: found, filtered, sorted and cut; with what the training texts counted of each word."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field

from curation.vocabulary_audit.term_table import TermTable

Ruling = Literal["none", "allow", "block", "sense"]
TermSort = Literal[
    "word",
    "score",
    "documents",
    "hit_documents",
    "sole_documents",
    "sole_tokens",
    "several_documents",
    "kept_documents",
    "harmless",
]

COUNT_COLUMNS = ("count_k5", "count_beyond", "docs_k5", "docs_beyond")


@dataclass(frozen=True)
class WordCounts:
    """How often a word stands in the texts that the table was trained with: occurrences and documents, in K5 and beyond."""

    count_k5: int
    count_beyond: int
    docs_k5: int
    docs_beyond: int


@dataclass(frozen=True)
class TermRow:
    """One word. `score` is None for a word that the table does not have; `counts` where the table tells none. Shares are of kept
    documents and of kept tokens, 0 where nothing is kept."""

    word: str
    score: float | None
    ruling: str
    counts: WordCounts | None
    documents: int
    hit_documents: int
    sole_documents: int
    sole_tokens: int
    maybe_sole_documents: int
    several_documents: int
    several_tokens: int
    kept_documents: int
    kept_tokens: int
    kept_share: float
    kept_token_share: float
    looks_harmless: bool


class TermQuery(BaseModel):
    """Which words, in which order. `search`: letters that the word holds. Words that no document holds are left out unless
    `has_absent`. `harmless` sorts by documents that a word loses alone, halved for every point above the threshold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search: str = ""
    ruling: Ruling | None = None
    min_score: float | None = None
    max_score: float | None = None
    looks_harmless: bool = False
    has_sole: bool = False
    has_absent: bool = False
    sort: TermSort = "sole_documents"
    is_descending: bool = True
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1, le=1000)


@dataclass(frozen=True)
class TermKey:
    """Where a page ended: the last row's word, and the number that it stood there by, which grows from row to row (0 where words
    themselves are sorted)."""

    place: float
    word: str


@dataclass(frozen=True)
class TermPage:
    """`total`: words that the query names; `rows`: the page's; `next_key`: the next one begins after it, None on the last."""

    total: int
    rows: list[TermRow]
    next_key: TermKey | None


def read_word_counts(path: Path) -> dict[str, WordCounts]:
    """By word, of a table that has them (`primer train vocabulary` writes them); empty for one that has scores alone."""
    names = pq.read_schema(path).names
    if any(name not in names for name in COUNT_COLUMNS):
        return {}
    table = pq.read_table(path, columns=["word", *COUNT_COLUMNS])
    columns = [table[name].to_pylist() for name in COUNT_COLUMNS]
    return {word: WordCounts(*counts) for word, *counts in zip(table["word"].to_pylist(), *columns, strict=True)}


def list_terms(
    table: TermTable,
    query: TermQuery,
    counts: Mapping[str, WordCounts],
    *,
    among: Collection[str] | None = None,
    after: TermKey | None = None,
) -> TermPage:
    """Equal values stand in alphabetical order, also when descending; words without a score come last. `among`: none but these
    words; `after`: where the page before ended."""
    flags = _select(table, query)
    if among is not None:
        flags &= np.array([word in among for word in table.words], bool)
    places = np.flatnonzero(flags)
    words = np.array([table.words[place] for place in places.tolist()], object)
    order = np.argsort(words, kind="stable") if len(words) else np.zeros(0, np.int64)
    keys = np.zeros(len(places))
    is_backward = query.sort == "word" and query.is_descending
    if query.sort == "word":
        order = order[::-1] if is_backward else order
    else:
        sign = -1.0 if query.is_descending else 1.0
        values = _read_keys(table, query.sort)[places] * sign
        keys = np.where(np.isnan(values), math.inf, values)
        order = order[np.argsort(keys[order], kind="stable")]
    if after is not None:
        is_later = words < after.word if is_backward else words > after.word
        is_rest = (keys > after.place) | ((keys == after.place) & is_later.astype(bool))
        order = order[is_rest[order]]
    chosen = order[query.offset : query.offset + query.limit]
    harmless = table.find_harmless()
    rows = [describe_term(table, place, counts, bool(harmless[place])) for place in places[chosen].tolist()]
    has_more = query.offset + query.limit < len(order)
    return TermPage(len(places), rows, TermKey(float(keys[chosen[-1]]), rows[-1].word) if has_more else None)


def _select(table: TermTable, query: TermQuery) -> npt.NDArray[np.bool_]:
    flags = np.ones(len(table.words), bool)
    if not query.has_absent:
        flags &= table.columns.documents > 0
    if query.search:
        wanted = query.search.strip().lower()
        flags &= np.array([wanted in word for word in table.words], bool)
    if query.ruling is not None:
        ruling = "" if query.ruling == "none" else query.ruling
        flags &= np.array([found == ruling for found in table.rulings], bool)
    if query.min_score is not None:
        flags &= table.scores >= query.min_score
    if query.max_score is not None:
        flags &= table.scores <= query.max_score
    if query.has_sole:
        flags &= table.columns.sole_documents > 0
    if query.looks_harmless:
        flags &= table.find_harmless()
    return flags


def _read_keys(table: TermTable, sort: str) -> npt.NDArray[np.float64]:
    if sort == "score":
        return table.scores
    if sort == "harmless":
        excess = np.maximum(np.nan_to_num(table.scores, nan=math.inf) - table.min_score, 0.0)
        return np.asarray(table.columns.sole_documents * 0.5**excess, np.float64)
    return np.asarray(getattr(table.columns, sort), np.float64)


def describe_term(table: TermTable, place: int, counts: Mapping[str, WordCounts], looks_harmless: bool) -> TermRow:
    word, score, columns = table.words[place], float(table.scores[place]), table.columns
    numbers = {name: int(getattr(columns, name)[place]) for name in columns.__dataclass_fields__}
    return TermRow(
        word=word,
        score=None if math.isnan(score) else score,
        ruling=table.rulings[place],
        counts=counts.get(word),
        **numbers,
        kept_share=numbers["kept_documents"] / table.kept_documents if table.kept_documents else 0.0,
        kept_token_share=numbers["kept_tokens"] / table.kept_tokens if table.kept_tokens else 0.0,
        looks_harmless=looks_harmless,
    )
