"""The published stages 1, 4 and 5 once more, slow and obvious: what the library's fast code is compared with.

Written from the description of the stages alone; imports nothing of the library and must never do so. Rules 4 and 11
take quadratic and cubic time on unclosed braces and roots: give this file short texts or genuine ones, never hostile
ones of any length. A comment marked "Reading" says where the description leaves a choice, and what decided it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy
import pyarrow.parquet
import wordfreq

MAX_OOV_RATIO = 0.05
MAX_P95_AOA_YEARS = 12.0
BLOCKING_SCORE = 4.0


# ---------------------------------------------------------------- tables


def load_norms(aoa_parquet: Path) -> dict[str, float]:
    """Word -> age of acquisition in years: the stored float32 widened to float64, not rounded back to two decimals."""
    table = pyarrow.parquet.read_table(aoa_parquet, columns=["word", "aoa"])
    return dict(zip(table["word"].to_pylist(), table["aoa"].to_pylist(), strict=True))


def load_zipf() -> dict[str, float]:
    """Word -> Zipf frequency (log10 of occurrences per billion words, two decimals), wordfreq's largest English list.

    Reading: a word that is not in the list has no Zipf frequency. The rarest listed word has 1.01, so "z > 0" and
    "is in the list" say the same.
    """
    frequencies = wordfreq.get_frequency_dict("en", "best")
    return {word: round(math.log10(frequency) + 9, 2) for word, frequency in frequencies.items()}


# ---------------------------------------------------------------- stage 1


def tokens(text: str) -> list[str]:
    """Every occurrence of a token, in order.

    Reading: lower-casing comes first and is Unicode's, so a Kelvin sign gives `k`, and a dotted capital I gives `i`
    and a combining dot. "Word character" is Python's: letters, every numeric character (also `²` and `½`) and `_`;
    combining marks, soft hyphens and zero-width characters are none, so they part tokens as a space does.
    """
    return re.findall(r"\b[a-z]{2,}\b", text.lower())


def age(word: str, norms: Mapping[str, float], zipf: Mapping[str, float]) -> float | None:
    """The age of one token in years; None when it is out of vocabulary."""
    if word in norms:
        return norms[word]
    z = zipf.get(word, 0.0)
    if z > 0:
        return 14.602716 - 1.504689 * z
    return None


def p95_and_oov(text: str, norms: Mapping[str, float], zipf: Mapping[str, float]) -> tuple[float | None, float | None]:
    """The 95th percentile of the known ages (None: no known age) and the OOV ratio (None: no token)."""
    ages = [age(word, norms, zipf) for word in tokens(text)]
    if not ages:
        return None, None
    known_ages = [a for a in ages if a is not None]
    oov_ratio = (len(ages) - len(known_ages)) / len(ages)
    if not known_ages:
        return None, oov_ratio
    return float(numpy.percentile(numpy.array(known_ages, dtype=numpy.float64), 95)), oov_ratio


def lexical_keeps(
    p95: float | None,
    oov_ratio: float | None,
    max_p95_years: float = MAX_P95_AOA_YEARS,
    max_oov_ratio: float = MAX_OOV_RATIO,
) -> bool:
    """Whether stage 1 keeps the document; both limits are themselves still kept.

    Reading: tokens without any known age are excluded. With the published OOV limit that follows from the OOV ratio
    of 1; only a limit of 1 or more would have to choose.
    """
    if oov_ratio is None or p95 is None:
        return False
    return oov_ratio <= max_oov_ratio and p95 <= max_p95_years


# ---------------------------------------------------------------- stage 4

# Reading: "letter" is A-Z a-z in every rule. Truth, rule 1: `Ð³` (Cyrillic text decoded as Latin-1) is not hit, which
# a Unicode letter would be. For the other rules no document tells the two apart.
# Reading: "digit" is Unicode's decimal digit (\d) in every rule, also inside "letter or digit" of rules 1 and 25;
# only L, which is spelt out, is ASCII. No document tells it from 0-9.
# Reading: "any case" is Python's IGNORECASE over Unicode text, so `[a-z]` there also takes the Kelvin sign, long s,
# dotted capital I and dotless i. No document tells it from ASCII case.
# Reading: ws is Python's \s: also U+001C to U+001F, U+0085, U+00A0, U+2028 and U+3000, not U+200B or U+FEFF.
# Reading: "+ or -" is ASCII; only rule 5 also takes U+2212.
# Reading: "digits" is one or more, "digits*" none or more; after "at once" no space is allowed before them either.
PUBLISHED_RULES: dict[int, re.Pattern[str]] = {
    1: re.compile(r"[A-Za-z\d][²³⁴⁵⁶⁷⁸⁹]"),
    2: re.compile(r"[A-Za-z0-9_)\]]\*\*\d+"),
    3: re.compile(r"\b\d{1,4}\s*\^\s*\d{1,3}\b"),
    # Reading: the braces may be empty ("no closing brace" names a run without saying one or more, as rule 11 does);
    # no document tells.
    4: re.compile(r"[A-Za-z]\s*\^\s*\{[^}]*\}"),
    5: re.compile(r"[A-Za-z0-9_)\]]\s*(?:\^|\*\*)\s*[-\u2212]\s*\(?\w"),
    6: re.compile(r"[A-Za-z0-9_)\]]\s*(?:\^|\*\*)\s*\("),
    # Reading: no boundary before the first letter (`**Vitamin** C` is an innocent hit), one after the second.
    7: re.compile(r"[A-Za-z]\s*(?:\^|\*\*)\s*[A-Za-z]\b"),
    8: re.compile(r"∛"),
    9: re.compile(r"\bcbrt\s*\(", re.IGNORECASE),
    10: re.compile(r"[A-Za-z0-9_)\]]\s*(?:\^|\*\*)\s*\(\s*1\s*/\s*3\s*\)"),
    # Reading: white space is itself "not ]", so an index of white space alone counts as soon as there is one.
    11: re.compile(r"\\sqrt\[\s*[^\]]+\s*\]"),
    12: re.compile(r"[²³⁴⁵⁶⁷⁸⁹]\s*√"),
    13: re.compile(r"\bexp\s*\("),
    14: re.compile(r"\b(?:log|ln)\s*\("),
    15: re.compile(r"\b(?:arc)?(?:sin|cos|tan)h?\s*\(", re.IGNORECASE),
    # Reading: nothing is asked of what follows the 2. Truth: a boundary there would miss a document.
    16: re.compile(r"(?<![A-Za-z])[A-Za-z]\s*\^\s*2"),
    17: re.compile(r"√|\\sqrt"),
    18: re.compile(r"\b\d*[a-z]\s*[+-]\s*\d*[a-z]\s*=", re.IGNORECASE),
    # Reading: nothing is asked of what follows. Truth: a boundary after n (or after the digit) would miss a document,
    # and so would n in lower case alone.
    19: re.compile(r"[a-z]\s*\^\s*[3-9n]", re.IGNORECASE),
    20: re.compile(r"[a-z]\s*\^\s*2\s*[+-]\s*\d*[a-z]", re.IGNORECASE),
    21: re.compile(r"[∑Σ]"),
    22: re.compile(r"∫"),
    23: re.compile(r"∂"),
    # Reading: the boundary follows every alternative, so `\sqrt[` needs a word character next; no document tells.
    24: re.compile(r"\\(?:frac|lim|int|sum|partial|infty|sqrt\[)\b"),
    # Reading: "the same" is the same choice of signs, not the sign that was met. Truth: ten of eleven documents, and
    # the innocent `the<b>cat</b>`, would be missed by a back-reference.
    25: re.compile(r"[a-z\d]\s*[<>≤≥]=?\s*[a-z]\s*[<>≤≥]=?\s*[a-z\d]", re.IGNORECASE),
    26: re.compile(r"\b[fgh]\s*\(\s*[xyz]\s*\)"),
    27: re.compile(r"\b\d+\s*[xyz]\s*[+\-*/]\s*\d+\s*=\s*\d+", re.IGNORECASE),
    # Reading: no boundary before the capital (truth: 240 of 549 documents need that) and none of white space inside.
    28: re.compile(r"[A-Z][a-z]?\d+[A-Z)]"),
}


def published_rules(text: str) -> list[int]:
    """The numbers of the published notation rules that hit, ascending; any one of them excludes.

    Slow on hostile text: quadratic in the number of `x^{` without a closing brace, cubic in the spaces after an
    unclosed `\\sqrt[`.
    """
    return [number for number, pattern in PUBLISHED_RULES.items() if pattern.search(text)]


# ---------------------------------------------------------------- stage 5


def blocked_words(text: str, scores: Mapping[str, float], threshold: float = BLOCKING_SCORE) -> list[str]:
    """The distinct tokens whose beyond score reaches the threshold, sorted; a word without a score never does."""
    return sorted({word for word in tokens(text) if word in scores and scores[word] >= threshold})


# ---------------------------------------------------------------- together


@dataclass(frozen=True)
class PublishedDecision:
    """What the stages 1, 4 and 5 say of one document; `failed_stages` is in published order, empty when kept."""

    p95_aoa_years: float | None
    oov_ratio: float | None
    rules: list[int]
    words: list[str]
    failed_stages: list[int]

    @property
    def is_kept(self) -> bool:
        return not self.failed_stages

    @property
    def first_failed_stage(self) -> int | None:
        """The stage that the published funnel counts the document under; None when it is kept."""
        return self.failed_stages[0] if self.failed_stages else None


def published_decision(
    text: str,
    norms: Mapping[str, float],
    zipf: Mapping[str, float],
    scores: Mapping[str, float],
    threshold: float = BLOCKING_SCORE,
) -> PublishedDecision:
    """Every stage is measured even where an earlier one excludes: they are ANDed, order decides nothing."""
    p95, oov_ratio = p95_and_oov(text, norms, zipf)
    rules = published_rules(text)
    words = blocked_words(text, scores, threshold)
    failed_stages = []
    if not lexical_keeps(p95, oov_ratio):
        failed_stages.append(1)
    if rules:
        failed_stages.append(4)
    if words:
        failed_stages.append(5)
    return PublishedDecision(p95, oov_ratio, rules, words, failed_stages)
