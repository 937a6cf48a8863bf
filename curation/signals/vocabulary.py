"""The beyond-K-5 vocabulary signal: the scored words of a text with their counts and first places.

Evidence under the recipe's table from a floor score on. Decisions under any vocabulary are answered from postings.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.lexicon.vocabulary import VocabularyTable
from curation.signals.tokens import TokenCounts

VOCABULARY_VERSION = "1"

# Below the published threshold of 4.0, so that a lowered one still finds its evidence.
FLOOR_SCORE = 3.0
EVIDENCE_TERMS = 16

_TOKEN = re.compile(r"(?<!\w)[a-z]{2,}+(?!\w)")
_REST_OF_WORD = re.compile(r"\w*+")

TERM_TYPE = pa.struct(
    [("term", pa.string()), ("score", pa.float64()), ("count", pa.int64()), ("start", pa.int64()), ("end", pa.int64())]
)
VOCABULARY_TYPE = pa.list_(TERM_TYPE)


class ScoreIndex:
    """Scores by word id: known words once a process, words met later by name."""

    def __init__(self, table: VocabularyTable, known_words: Sequence[str]) -> None:
        self._scores = table.scores
        self._known = np.array([table.scores.get(word, -np.inf) for word in known_words], np.float64)

    def score(self, tokens: TokenCounts) -> npt.NDArray[np.float64]:
        """The score of every (text, word) of `tokens`; minus infinity for words the table does not have."""
        known_count = len(self._known)
        scores = self._known[np.minimum(tokens.ids, known_count - 1)]
        for place in np.flatnonzero(tokens.ids >= known_count):
            scores[place] = self._scores.get(tokens.words[tokens.ids[place]], -np.inf)
        return scores


def measure_vocabulary(tokens: TokenCounts, index: ScoreIndex, texts: Sequence[str]) -> pa.ListArray:
    """One row a text, VOCABULARY_TYPE: the EVIDENCE_TERMS highest scores of FLOOR_SCORE or more, highest first, then by
    word; `start` and `end` are the first occurrence, in characters of `texts`."""
    scores = index.score(tokens)
    hits = np.flatnonzero(scores >= FLOOR_SCORE)
    rows: list[list[tuple[float, str, int]]] = [[] for _ in texts]
    for row, word, score, count in zip(
        tokens.texts[hits].tolist(),
        tokens.ids[hits].tolist(),
        scores[hits].tolist(),
        tokens.counts[hits].tolist(),
        strict=True,
    ):
        rows[row].append((-score, tokens.words[word], count))
    chosen: list[tuple[float, str, int]] = []
    places: list[tuple[int, int]] = []
    offsets = [0]
    for terms, text in zip(rows, texts, strict=True):
        if terms:
            terms = sorted(terms)[:EVIDENCE_TERMS]
            lowered = Lowered(text)
            chosen.extend(terms)
            places.extend(lowered.find_word(word) for _, word, _ in terms)
        offsets.append(len(chosen))
    values = pa.StructArray.from_arrays(
        [
            pa.array([word for _, word, _ in chosen], pa.string()),
            pa.array([-negated for negated, _, _ in chosen], pa.float64()),
            pa.array([count for _, _, count in chosen], pa.int64()),
            pa.array([start for start, _ in places], pa.int64()),
            pa.array([end for _, end in places], pa.int64()),
        ],
        fields=list(TERM_TYPE),
    )
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=VOCABULARY_TYPE)


class Lowered:
    """A text in lower case in which whole words are found; offsets are those of the text as written."""

    def __init__(self, text: str) -> None:
        self._text = text.lower()
        # The one letter that becomes two characters; the second ones are what offsets must be carried back over.
        self._added = array("q")
        if "\u0130" in text:
            self._added.extend(match.start() + i + 1 for i, match in enumerate(re.finditer("\u0130", text)))

    def find_word(self, word: str) -> tuple[int, int]:
        """The first place where `word` stands whole. Raises ValueError where there is none: ask only for tokens of the text."""
        start = self._text.index(word)
        while _in_word(self._text, start - 1) or _in_word(self._text, start + len(word)):
            # A word that holds `word` is passed over whole, or a long run of one letter would take quadratic time.
            start = self._text.index(word, _REST_OF_WORD.match(self._text, start).end())  # type: ignore[union-attr]
        return self._to_origin(start, start + len(word))

    def find_words(self, words: Collection[str]) -> Iterator[tuple[str, int, int]]:
        """Every place where one of `words` (tokens) stands whole, in order of the text: the word, start and end."""
        return (place for place in self.find_tokens() if place[0] in words)

    def find_tokens(self) -> Iterator[tuple[str, int, int]]:
        """Every token, in order of the text: the word, start and end."""
        for match in _TOKEN.finditer(self._text):
            yield match[0], *self._to_origin(*match.span())

    def _to_origin(self, start: int, end: int) -> tuple[int, int]:
        return start - bisect_left(self._added, start), end - bisect_left(self._added, end - 1)


def _in_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")
