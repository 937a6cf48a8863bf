"""What stands around a piece of notation, and what a piece of notation may hold. Shared by the recommended rules.

Every look around a match reads at most a fixed number of characters, so that the rules stay linear.
"""

from __future__ import annotations

import re

SPACE = r"[ \t\xa0]{0,8}"
MINUS = "[-−–]"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

# Python counts raised and lowered digits as letters.
_WORD_LETTER = r"[^\W\d_²³¹¼-¾⁰-ₜΑ-ω]"
LONE = rf"(?<!{_WORD_LETTER})(?<!{_WORD_LETTER}['.&])(?<!{_WORD_LETTER}{{2}}-)"
"""Before a letter: it does not end a word (`don't`, `U.S`, `AT&T`, `vitamin-c`). Greek before it is a factor (`πr`)."""
ALONE = r"(?![^\W\d_²³¹¼-¾⁰-ₜΑ-ω])"
"""After a letter: no letter follows."""

LENGTH_UNITS = frozenset(
    {"m", "cm", "mm", "km", "dm", "nm", "hm", "ft", "in", "yd", "mi", "inch", "feet", "foot", "yard"}
)
_SHORT_WORDS_LISTED = (
    "ad ah am an as at aw be by do eh em en ex go ha he hi ho id if in is it la lo ma me mm my no of oh ok on or "
    "ow ox pa pi re sh so st th nd rd to uh um up us we ya ye yo vs mr ms dr tv pm"
)
SHORT_WORDS = frozenset(_SHORT_WORDS_LISTED.split())
_UNITS_OF_TWO = frozenset(
    {"cm", "mm", "km", "dm", "ft", "yd", "kg", "mg", "lb", "oz", "ml", "px", "yr", "hr", "pt", "qt"}
)

_LABEL = re.compile(
    r"\b(?:vitamin|plan|type|hepatitis|class|grade|group|team|section|appendix|fig(?:ure|\.)?|table|part|option|exhibit|"
    r"chapter|room|size|model|version|level|column|row|block|zone|gate|platform|terminal|flat|unit|building|highway|route|"
    r"series|category|schedule|division|step|day|tip|item|note|question|answer|lesson|week|page|war|aged?|no\.|number|"
    r"january|february|march|april|may|june|july|august|september|october|november|december)[ \-]$",
    re.IGNORECASE,
)
_OPERATOR_BEFORE = re.compile(r"[=+×·*/÷^(<>≤≥≈][ \t]{0,3}$")
_OPERATOR_AFTER = re.compile(r"[ \t]{0,3}[=+×·*/÷^<>≤≥≈]|[ \t]{0,3}[-−][ \t]{0,3}[\dA-Za-z(](?![A-Za-z])")
_WORD_AFTER = re.compile(r"[ \t]{1,3}([^\W\d_]{2,20})")
_VERBS = frozenset(
    {"is", "equals", "equal", "are", "and", "or", "degrees", "so", "for", "when", "where", "if", "means", "has"}
)

_FUNCTION_NAMES = (
    "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|sec|csc|cot|log|ln|exp|sqrt|cbrt|abs|pi|theta|alpha|beta|omega|mu|"
    "dx|dy|dt"
)
_EXPRESSION = re.compile(
    rf"(?:\d|(?<![A-Za-z])(?:{_FUNCTION_NAMES})(?![a-z])|(?<![A-Za-z])(?P<pair>[b-df-hj-np-tv-z]{{2}})(?![A-Za-z])|"
    rf"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|[Α-ωϕ∞√°′'!.,:|_{SUPERSCRIPTS}₀-₉ₐ-ₜⁿˣᵢ]|[-+−–×·*/÷^=<>≤≥±(){{}}\[\]\s]|"
    r"\\[a-zA-Z]{1,8})+"
)


def is_label_before(text: str, start: int) -> bool:
    """Whether a word that takes a letter or number as its name stands just before `start`: vitamin, plan, page, May."""
    return _LABEL.search(text[max(0, start - 20) : start]) is not None


def has_operator_beside(text: str, start: int, end: int) -> bool:
    """Whether an operator of arithmetic or a relation stands before `start` or after `end`."""
    return _OPERATOR_BEFORE.search(text[max(0, start - 6) : start]) is not None or has_operator_after(text, end)


def has_operator_after(text: str, end: int) -> bool:
    return _OPERATOR_AFTER.match(text, end) is not None


def get_word_after(text: str, end: int) -> str:
    """The word of two or more letters that follows `end` after a space, in lower case; empty when none does."""
    match = _WORD_AFTER.match(text, end)
    return match[1].lower() if match else ""


def is_sentence_after(text: str, end: int) -> bool:
    """Whether a word follows that does not speak about the notation (`√ 3 eggs`, but `sin 30 is one half`)."""
    word = get_word_after(text, end)
    return word != "" and word not in _VERBS


def get_word_before(text: str, start: int) -> str:
    """The word that ends just before `start` (a space between), in lower case; empty when none does."""
    match = re.search(r"([A-Za-z']{1,20})[ \t]{1,3}$", text[max(0, start - 24) : start])
    return match[1].lower() if match else ""


def is_expression(content: str) -> bool:
    """Whether `content` is made of numbers, single letters, names of functions and operators, with no other word in it."""
    match = _EXPRESSION.fullmatch(content)
    if match is None or not re.search(r"[0-9A-Za-zΑ-ω∞]", content):
        return False
    pairs = re.findall(r"(?<![A-Za-z])[a-z]{2}(?![A-Za-z])", content)
    return not any(pair in _UNITS_OF_TWO or (pair in SHORT_WORDS and pair != "pi") for pair in pairs)


def is_product_of_two(letters: str) -> bool:
    """Whether two letters read as a product (`mc`, `xy`), not as a word, an abbreviation or a unit."""
    return (
        re.fullmatch(r"[b-df-hj-np-tv-z]{2}", letters) is not None
        and letters not in _UNITS_OF_TWO
        and letters not in SHORT_WORDS
    )
