"""How much evidence a row of the ledger holds, as plain numbers: readers lay out their pages by them."""

from __future__ import annotations

import numpy as np

from curation.lexicon.ages import AgeTable
from curation.lexicon.vocabulary import VocabularyTable
from curation.signals.lexical import measure_lexical
from curation.signals.tokens import KnownWords, TokenCounter, to_token_stream
from curation.signals.vocabulary import ScoreIndex, measure_vocabulary

KNOWN = tuple(f"k{letter}" for letter in "abcdefghijklmnopqrst")
UNKNOWN = tuple(f"u{letter}" for letter in "abcdefghijklmnopqrst")
WORDS = KnownWords(AgeTable(KNOWN, np.arange(1.0, 21.0)))


def test_the_eight_hardest_and_the_first_eight_unknown_words_are_kept() -> None:
    tokens = TokenCounter(WORDS).count([to_token_stream(" ".join(KNOWN + UNKNOWN))])
    row = measure_lexical(tokens, WORDS.table.ages).to_pylist()[0]
    assert row["hard_words"] == ["kt", "ks", "kr", "kq", "kp", "ko", "kn", "km"]
    assert row["unknown_words"] == ["ua", "ub", "uc", "ud", "ue", "uf", "ug", "uh"]


def test_sixteen_terms_from_a_score_of_three_on_are_kept() -> None:
    table = VocabularyTable({**dict.fromkeys(KNOWN, 3.0), **dict.fromkeys(UNKNOWN, 2.99)}, "")
    text = " ".join(KNOWN + UNKNOWN)
    tokens = TokenCounter(WORDS).count([to_token_stream(text)])
    row = measure_vocabulary(tokens, ScoreIndex(table, KNOWN), [text]).to_pylist()[0]
    assert [term["term"] for term in row] == list(KNOWN[:16])
    assert row[15] == {"term": "kp", "score": 3.0, "count": 1, "start": 45, "end": 47}
