"""Trains the beyond-K-5 word table: how much more often a word stands in documents beyond K-5 than in K5 ones.

Blocks nothing; rules over the scores are compared in `vocabulary_scores`. Invariant: every word that occurs is in the table with
its plain counts, and no source weighs more on one side of grade 5 than on the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curation.normalize import normalize
from curation.training.data import TrainingRow, require_rows

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[a-z]{2,}")

SCHEMA = pa.schema(
    [
        ("word", pa.string()),
        ("score", pa.float32()),
        ("count_k5", pa.int64()),
        ("count_beyond", pa.int64()),
        ("docs_k5", pa.int64()),
        ("docs_beyond", pa.int64()),
    ]
)


@dataclass(frozen=True)
class VocabularySettings:
    """`smoothing_count`: added to the weighted count of a word on each side. `min_count`, `min_documents`: a word met
    less often, both sides together, scores 0: too little was seen to say. `max_weight`: no token counts for more than
    this many, so that a source with little text on one side cannot set scores alone. `max_tokens_per_source`: what the
    largest source may weigh on each side, so that its topics do not become the vocabulary."""

    smoothing_count: float = 1.0
    min_count: int = 8
    min_documents: int = 5
    max_weight: float = 4.0
    max_tokens_per_source: float = 100_000.0


def find_tokens(text: str) -> list[str]:
    """Maximal runs of word characters that, in lower case, are wholly two or more letters a-z; in order."""
    return [word for word in _WORD.findall(text.lower()) if _TOKEN.fullmatch(word)]


def train_vocabulary(rows: Sequence[TrainingRow], *, settings: VocabularySettings | None = None) -> pa.Table:
    """The whole word table in alphabetical order, columns as SCHEMA.

    `score` is log2 of the rate per token beyond K-5 over the rate in K5, both smoothed and with the tokens of each
    source weighted to the same total on both sides; 0 below the minimum counts. Only sources with both sides weigh on
    scores; all counts are plain counts over all rows. Raises TrainingError when a band has no row.
    """
    settings = settings or VocabularySettings()
    require_rows(rows, 1)
    counts: dict[tuple[str, bool], Counter[str]] = {}
    documents: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for row in rows:
        tokens = find_tokens(normalize(row.text).text)
        is_k5 = row.band == "K5"
        counts.setdefault((row.source, is_k5), Counter()).update(tokens)
        documents[is_k5].update(set(tokens))
    words = sorted(documents[True].keys() | documents[False].keys())
    weighted = {is_k5: _weigh(words, counts, is_k5, settings) for is_k5 in (True, False)}
    smoothing = settings.smoothing_count
    rates = {side: (values + smoothing) / (values.sum() + smoothing * len(words)) for side, values in weighted.items()}
    plain = {side: _sum_counters(c for (_, s), c in counts.items() if s == side) for side in (True, False)}
    columns = {
        "count_k5": np.array([plain[True][word] for word in words], dtype=np.int64),
        "count_beyond": np.array([plain[False][word] for word in words], dtype=np.int64),
        "docs_k5": np.array([documents[True][word] for word in words], dtype=np.int64),
        "docs_beyond": np.array([documents[False][word] for word in words], dtype=np.int64),
    }
    is_common = (columns["count_k5"] + columns["count_beyond"] >= settings.min_count) & (
        columns["docs_k5"] + columns["docs_beyond"] >= settings.min_documents
    )
    score = np.where(is_common, np.log2(rates[False] / rates[True]), 0.0).astype(np.float32)
    return pa.table({"word": words, "score": score, **columns}, schema=SCHEMA)


def write_vocabulary(table: pa.Table, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, out, compression="zstd", compression_level=19)


def _sum_counters(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _weigh(
    words: list[str], counts: dict[tuple[str, bool], Counter[str]], is_k5: bool, settings: VocabularySettings
) -> npt.NDArray[np.float64]:
    """Weighted count of each word on one side: both sides of a source are brought to one size, that of the larger
    where max_weight and max_tokens_per_source allow it."""
    total = np.zeros(len(words))
    for source in sorted({source for source, _ in counts}):
        mine, other = counts.get((source, is_k5)), counts.get((source, not is_k5))
        if not mine or not other:
            continue
        sizes = mine.total(), other.total()
        target = min(max(sizes), settings.max_weight * min(sizes), settings.max_tokens_per_source)
        weight = target / sizes[0]
        total += weight * np.array([mine[word] for word in words], dtype=np.float64)
    return total
