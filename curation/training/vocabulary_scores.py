"""Scores word tables on documents that a fold held out, and compares the rules that could exclude by them.

Measures rules; which one a profile uses is the profile's matter. Invariant: a held-out document is scored by a table
that has seen no document of its group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.normalize import normalize
from curation.training.data import TrainingRow, hash_text
from curation.training.vocabulary import VocabularySettings, find_tokens, train_vocabulary

SCORE_LEVELS: Final = (3, 4, 5)

Mask = npt.NDArray[np.bool_]


def score_rows(scores: Mapping[str, float], rows: Sequence[TrainingRow]) -> pa.Table:
    """Columns text_hash, source, group, band, token_count, and for each level L of SCORE_LEVELS distinct_L (distinct
    words that score at least L) and hits_L (their occurrences); int64."""
    columns: dict[str, list[object]] = {name: [] for name in ("text_hash", "source", "group", "band", "token_count")}
    columns.update({f"{kind}_{level}": [] for level in SCORE_LEVELS for kind in ("distinct", "hits")})
    for row in rows:
        tokens = find_tokens(normalize(row.text).text)
        words = Counter(tokens)
        found = [(scores[word], count) for word, count in words.items() if word in scores]
        values = (hash_text(row.text), row.source, row.group, row.band, len(tokens))
        for name, value in zip(columns, values, strict=False):
            columns[name].append(value)
        for level in SCORE_LEVELS:
            counts = [count for score, count in found if score >= level]
            columns[f"distinct_{level}"].append(len(counts))
            columns[f"hits_{level}"].append(sum(counts))
    return pa.table(columns)


def score_out_of_fold(
    rows: Sequence[TrainingRow], folds: npt.NDArray[np.int64], *, settings: VocabularySettings | None = None
) -> pa.Table:
    """`score_rows` for every row, in order, by the table of the other folds; and `fold`, int64."""
    parts, order = [], []
    for fold in np.unique(folds).tolist():
        table = train_vocabulary([r for r, f in zip(rows, folds, strict=True) if f != fold], settings=settings)
        scores = dict(zip(table["word"].to_pylist(), table["score"].to_pylist(), strict=True))
        held_out = np.flatnonzero(folds == fold)
        part = score_rows(scores, [rows[i] for i in held_out.tolist()])
        parts.append(part.append_column("fold", pa.array([fold] * len(held_out), pa.int64())))
        order.append(held_out)
    return pa.concat_tables(parts).take(pa.array(np.argsort(np.concatenate(order))))


def list_rules() -> dict[str, Callable[[pa.Table], Mask]]:
    """Each candidate rule by its name: from a table of `score_rows` to which documents it keeps."""
    rules: dict[str, Callable[[pa.Table], Mask]] = {}
    for level in SCORE_LEVELS:
        for least in (1, 2, 3, 5):
            rules[f"{least} or more distinct words of score >= {level}"] = _keep_below_distinct(level, least)
        for per_thousand in (5, 10, 20):
            rules[f"{per_thousand} or more words in 1,000 of score >= {level}"] = _keep_below_rate(level, per_thousand)
    return rules


def _keep_below_distinct(level: int, least: int) -> Callable[[pa.Table], Mask]:
    return lambda table: table[f"distinct_{level}"].to_numpy() < least


def _keep_below_rate(level: int, per_thousand: int) -> Callable[[pa.Table], Mask]:
    return lambda table: table[f"hits_{level}"].to_numpy() * 1000 < per_thousand * table["token_count"].to_numpy()
