"""The lexical signal: how old a reader must be to know the words of a text, and how many words nobody knows.

Measures the 95th percentile of the tokens' ages of acquisition, the share of tokens without an age (out of vocabulary),
and the words that push either. Equal to the published stage 1 on any text.
"""

from __future__ import annotations

from heapq import nsmallest

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.signals.tokens import TokenCounts

LEXICAL_VERSION = "1"

PERCENTILE = 95
EVIDENCE_WORDS = 8  # hardest and unknown words stored per text: what a reading pane shows at a glance

LEXICAL_TYPE = pa.struct(
    [
        ("p95_aoa", pa.float64()),
        ("oov_ratio", pa.float64()),
        ("token_count", pa.int64()),
        ("hard_words", pa.list_(pa.string())),
        ("unknown_words", pa.list_(pa.string())),
    ]
)


def measure_lexical(tokens: TokenCounts, ages: npt.NDArray[np.float64]) -> pa.StructArray:
    """One row a text, LEXICAL_TYPE: `p95_aoa` in years (null when no token has an age), `oov_ratio` 0..1 (null when there is
    no token), `token_count`, the hardest words by age (hardest first) and the most frequent unknown words (equals by name)."""
    n_texts = len(tokens.starts) - 1
    is_known = tokens.ids < tokens.known_count
    known_texts, known_counts = tokens.texts[is_known], tokens.counts[is_known]
    known_totals = np.bincount(known_texts, weights=known_counts, minlength=n_texts).astype(np.int64)
    has_tokens, has_ages = tokens.token_counts > 0, known_totals > 0
    oov_counts = tokens.token_counts - known_totals
    oov_ratio = np.divide(oov_counts, tokens.token_counts, out=np.zeros(n_texts), where=has_tokens)

    known_starts = np.searchsorted(known_texts, np.arange(n_texts + 1))
    p95 = _weighted_percentile(ages[tokens.ids[is_known]], known_counts, known_starts, known_totals)
    # Within a text unknown words follow the known ones.
    unknown_starts = tokens.starts[:-1] + np.diff(known_starts)
    return pa.StructArray.from_arrays(
        [
            pa.array(p95, mask=~has_ages),
            pa.array(oov_ratio, mask=~has_tokens),
            pa.array(tokens.token_counts),
            _name_hardest(tokens, unknown_starts),
            _name_unknown(tokens, unknown_starts),
        ],
        fields=list(LEXICAL_TYPE),
    )


def _weighted_percentile(
    ages: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    totals: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """numpy's linear 95th percentile over occurrences, bit for bit; ages ascend within each text. 0 where a text has none."""
    result = np.zeros(len(totals))
    filled = np.flatnonzero(totals > 0)
    virtual = (totals[filled] - 1) * (PERCENTILE / 100)
    below = np.floor(virtual).astype(np.int64)
    above = np.minimum(below + 1, totals[filled] - 1)
    # An occurrence's place in the whole batch; the first cumulated count beyond it is the word's.
    before = np.concatenate([[0], np.cumsum(totals)])[filled]
    cumulated = np.cumsum(counts)
    low = ages[np.searchsorted(cumulated, before + below, side="right")]
    high = ages[np.searchsorted(cumulated, before + above, side="right")]
    weight = virtual - below
    # numpy interpolates from the nearer end; the other formula differs in the last digit.
    result[filled] = np.where(weight >= 0.5, high - (high - low) * (1 - weight), low + (high - low) * weight)
    return result


def _name_hardest(tokens: TokenCounts, unknown_starts: npt.NDArray[np.int64]) -> pa.ListArray:
    """The last known words of each text, backwards."""
    sizes = np.minimum(unknown_starts - tokens.starts[:-1], EVIDENCE_WORDS)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    ids = tokens.ids[np.repeat(unknown_starts - 1, sizes) - within]
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array([tokens.words[i] for i in ids.tolist()], pa.string())
    )


def _name_unknown(tokens: TokenCounts, unknown_starts: npt.NDArray[np.int64]) -> pa.ListArray:
    """By count and word, never by id: ids of unknown words depend on the texts before."""
    rows = []
    for start, end in zip(unknown_starts.tolist(), tokens.starts[1:].tolist(), strict=True):
        words = [tokens.words[i] for i in tokens.ids[start:end].tolist()]
        by_count = zip((-tokens.counts[start:end]).tolist(), words, strict=True)
        rows.append([word for _, word in nsmallest(EVIDENCE_WORDS, by_count)])
    return pa.array(rows, pa.list_(pa.string()))
