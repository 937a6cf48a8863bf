"""The plain way of every rule signal: what a careful person would write first, with `re`, dicts and numpy.

Each signal finds its own tokens, as separate programs would. What the engine is compared with, and no part of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from curation.notation.recommended.markup import mask_markup
from curation.notation.recommended.rules import RECOMMENDED_RULES
from tests.oracle import PUBLISHED_RULES

_TOKEN = r"\b[a-z]{2,}\b"


def measure_lexical(texts: Sequence[str], ages: Mapping[str, float]) -> list[tuple[float | None, float | None]]:
    """The 95th percentile of the ages and the share of unknown tokens of each text."""
    rows: list[tuple[float | None, float | None]] = []
    for text in texts:
        tokens = re.findall(_TOKEN, text.lower())
        known = [ages[token] for token in tokens if token in ages]
        p95 = float(np.percentile(known, 95)) if known else None
        rows.append((p95, (len(tokens) - len(known)) / len(tokens) if tokens else None))
    return rows


def measure_vocabulary(
    texts: Sequence[str], scores: Mapping[str, float], floor: float
) -> list[dict[str, tuple[float, int]]]:
    """The words of each text that score `floor` or more, with score and count."""
    rows = []
    for text in texts:
        counts = Counter(re.findall(_TOKEN, text.lower()))
        rows.append({word: (scores[word], n) for word, n in counts.items() if word in scores and scores[word] >= floor})
    return rows


def count_postings(texts: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """For every word the rows it stands in, with its count."""
    postings: dict[str, list[tuple[int, int]]] = {}
    for row, text in enumerate(texts):
        for word, count in Counter(re.findall(_TOKEN, text.lower())).items():
            postings.setdefault(word, []).append((row, count))
    return postings


def find_published(texts: Sequence[str]) -> list[list[int]]:
    """The published rules that hit each text: 28 searches a text."""
    return [[number for number, pattern in PUBLISHED_RULES.items() if re.search(pattern, text)] for text in texts]


def find_recommended(texts: Sequence[str]) -> list[list[str]]:
    """The recommended rules that hit each text: every rule's scan, no clue looked for first."""
    rows = []
    for text in texts:
        masked = mask_markup(text)
        rows.append([rule.name for rule in RECOMMENDED_RULES if next(rule.scan(masked), None) is not None])
    return rows
