"""The 28 published rules in rule order, mistakes included: corrections live in `recommended`.

White space, word characters and digits are Unicode's; a letter is ASCII, but "any case" folds as `re` does (K, ſ, İ, ı).
Each run that a pattern repeats is entered from a bounded number of starting points: every rule is linear on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from curation.notation import clues as clue
from curation.notation.rule import PublishedRule, Span, scan_pattern

_POWER = r"(?:\^|\*\*)"
_OPERAND = r"[A-Za-z0-9_)\]]"


def _scan_indexed_root(text: str) -> Iterator[Span]:
    r"""Spans of `\sqrt[`, at least one character that is not `]`, then `]`.

    A pattern would look for the closing bracket anew from every opening; here a search that fails ends the scan.
    """
    opening = r"\sqrt["
    start = text.find(opening)
    while start != -1:
        inside = start + len(opening)
        close = text.find("]", inside)
        if close == -1:
            return
        if close > inside:
            yield start, close + 1
            inside = close + 1
        start = text.find(opening, inside)


_BRACES = re.compile(r"[A-Za-z]\s*\^\s*\{")


def _scan_braced_exponent(text: str) -> Iterator[Span]:
    """Spans of a letter, a caret, an opening brace and all up to the first closing one; as `_scan_indexed_root`, one pass."""
    opening = _BRACES.search(text)
    while opening is not None:
        close = text.find("}", opening.end())
        if close == -1:
            return
        yield opening.start(), close + 1
        opening = _BRACES.search(text, close + 1)


def _rule(number: int, intent: str, clues: int, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> PublishedRule:
    return PublishedRule(str(number), intent, clues, scan_pattern(re.compile(pattern, flags)))


PUBLISHED_RULES: tuple[PublishedRule, ...] = (
    _rule(1, "letter or digit with a superscript 2-9", clue.SIGN, r"[A-Za-z\d][²³⁴-⁹]"),
    _rule(2, "programming power of a number", clue.STARS, _OPERAND + r"\*\*\d+"),
    _rule(3, "number caret number", clue.CARET, r"\b\d{1,4}\s*\^\s*\d{1,3}\b"),
    PublishedRule("4", "letter caret braces", clue.CARET, _scan_braced_exponent),
    _rule(5, "negative exponent", clue.CARET | clue.STARS, _OPERAND + rf"\s*{_POWER}\s*[-−]\s*\(?\w"),
    _rule(6, "exponent in parentheses", clue.CARET | clue.STARS, _OPERAND + rf"\s*{_POWER}\s*\("),
    _rule(7, "letter to a single letter", clue.CARET | clue.STARS, rf"[A-Za-z]\s*{_POWER}\s*[A-Za-z]\b"),
    _rule(8, "cube-root sign", clue.SIGN, "∛"),
    _rule(9, "cbrt(", clue.CALL, r"\bcbrt\s*\(", re.IGNORECASE),
    _rule(
        10,
        "power one third in parentheses",
        clue.CARET | clue.STARS,
        _OPERAND + rf"\s*{_POWER}\s*\(\s*1\s*/\s*3\s*\)",
    ),
    PublishedRule("11", "LaTeX n-th root", clue.BACKSLASH, _scan_indexed_root),
    _rule(12, "superscript before a root sign", clue.SIGN, r"[²³⁴-⁹]\s*√"),
    _rule(13, "exp(", clue.CALL, r"\bexp\s*\("),
    _rule(14, "log( or ln(", clue.CALL, r"\b(?:log|ln)\s*\("),
    _rule(
        15,
        "trigonometric, hyperbolic or arc function",
        clue.CALL,
        r"\b(?:arc)?(?:sin|cos|tan)h?\s*\(",
        re.IGNORECASE,
    ),
    _rule(16, "lone letter caret 2", clue.CARET, r"(?<![A-Za-z])[A-Za-z]\s*\^\s*2"),
    _rule(17, "root sign", clue.SIGN | clue.BACKSLASH, r"√|\\sqrt"),
    _rule(18, "two one-letter terms before =", clue.EQUATION, r"\b\d*[a-z]\s*[+-]\s*\d*[a-z]\s*=", re.IGNORECASE),
    _rule(19, "letter caret 3-9 or n", clue.CARET, r"[a-z]\s*\^\s*[3-9n]", re.IGNORECASE),
    _rule(20, "start of a quadratic", clue.CARET, r"[a-z]\s*\^\s*2\s*[+-]\s*\d*[a-z]", re.IGNORECASE),
    _rule(21, "summation sign", clue.SIGN, "[∑Σ]"),
    _rule(22, "integral sign", clue.SIGN, "∫"),
    _rule(23, "partial-derivative sign", clue.SIGN, "∂"),
    _rule(24, "advanced LaTeX word", clue.BACKSLASH, r"\\(?:frac|lim|int|sum|partial|infty|sqrt\[)\b"),
    _rule(
        25,
        "chained inequality around one letter",
        clue.ANGLE_PAIR,
        r"[a-z\d]\s*[<>≤≥]=?\s*[a-z]\s*[<>≤≥]=?\s*[a-z\d]",
        re.IGNORECASE,
    ),
    _rule(26, "f, g or h of x, y or z", clue.CALL, r"\b[fgh]\s*\(\s*[xyz]\s*\)"),
    _rule(27, "linear equation in x, y or z", clue.EQUATION, r"\b\d+\s*[xyz]\s*[-+*/]\s*\d+\s*=\s*\d+", re.IGNORECASE),
    _rule(28, "chemical formula", clue.DIGIT_CAPITAL, r"[A-Z][a-z]?\d+[A-Z)]"),
)
