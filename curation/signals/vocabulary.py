"""The beyond-K-5 vocabulary signal: the scored words of a text with their counts and first places.

Evidence under the recipe's table from a floor score on. Decisions under any vocabulary are answered from postings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.lexicon.vocabulary import VocabularyTable
from curation.signals.tokens import TokenCounts

VOCABULARY_VERSION = "1"

# Below the published threshold of 4.0, so that a lowered one still finds its evidence.
FLOOR_SCORE = 3.0
EVIDENCE_TERMS = 16

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
    rows: list[list[dict[str, object]]] = [[] for _ in texts]
    hits = np.flatnonzero(scores >= FLOOR_SCORE)
    for place in hits.tolist():
        word = tokens.words[tokens.ids[place]]
        rows[tokens.texts[place]].append(
            {"term": word, "score": float(scores[place]), "count": int(tokens.counts[place])}
        )
    for terms, text in zip(rows, texts, strict=True):
        if not terms:
            continue
        terms.sort(key=lambda term: (-float(term["score"]), term["term"]))  # type: ignore[arg-type]
        del terms[EVIDENCE_TERMS:]
        lowered = Lowered(text)
        for term in terms:
            term["start"], term["end"] = lowered.find_word(str(term["term"]))
    return pa.array(rows, VOCABULARY_TYPE)


class Lowered:
    """A text in lower case in which whole words are found; offsets are those of the text as written."""

    def __init__(self, text: str) -> None:
        self._text = text.lower()
        # İ becomes two characters: then, and only then, offsets must be carried back.
        self._origins: list[int] | None = None
        if len(self._text) != len(text):
            self._origins = [i for i, character in enumerate(text) for _ in character.lower()] + [len(text)]

    def find_word(self, word: str) -> tuple[int, int]:
        """The first place where `word` stands whole. Raises StopIteration where there is none: ask only for tokens of the text."""
        found = next(self._find_whole(word))
        return self._to_origin(found, found + len(word))

    def find_all(self, word: str) -> Iterator[tuple[int, int]]:
        """Every place where `word` stands whole, in order."""
        for found in self._find_whole(word):
            yield self._to_origin(found, found + len(word))

    def _find_whole(self, word: str) -> Iterator[int]:
        found = self._text.find(word)
        while found >= 0:
            if not self._is_word_character(found - 1) and not self._is_word_character(found + len(word)):
                yield found
            found = self._text.find(word, found + 1)

    def _to_origin(self, start: int, end: int) -> tuple[int, int]:
        return (start, end) if self._origins is None else (self._origins[start], self._origins[end - 1] + 1)

    def _is_word_character(self, place: int) -> bool:
        if not 0 <= place < len(self._text):
            return False
        character = self._text[place]
        return character.isalnum() or character == "_"
