"""Clues: cheap tests on a text that tell which notation rules could hit it at all. Holds no rule.

The invariant, tested against every rule: a rule that hits a text names at least one clue that the text shows.
Clues are bits of a plain int, since enum arithmetic would cost more than most of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

CARET: Final = 1 << 0  # ^
STARS: Final = 1 << 1  # **
BACKSLASH: Final = 1 << 2
EQUALS: Final = 1 << 3
EQUATION: Final = 1 << 4  # an operator, a number or letter or both, an equals sign
COMPARISON: Final = 1 << 5  # one of < > ≤ ≥ ≠ before a number or a variable
ANGLE_PAIR: Final = 1 << 6  # two of < > ≤ ≥ with one letter between
BAR: Final = 1 << 7  # |
SIGN: Final = 1 << 8  # a superscript, subscript, Greek letter, arrow or mathematical sign
CALL: Final = 1 << 9  # the name of a function, white space or none, an opening parenthesis
FUNCTION_WORD: Final = 1 << 10  # sin, cos, tan, log or ln before a space and an argument; log with a base
DIGIT_CAPITAL: Final = 1 << 11  # a capital, a lower-case letter or none, digits, a capital or )
FORMULA: Final = 1 << 12  # symbols and counts as in a chemical formula
REACTION: Final = 1 << 13  # a count after a symbol, and water, carbon dioxide or an arrow
ION: Final = 1 << 14  # a count after a symbol, and 2+ or 3+
SALT: Final = 1 << 15  # two symbols without a count: NaCl, HCl
MULTIPLE: Final = 1 << 16  # a number and one letter, then another number within a few signs
NEGATIVE_IN_BRACKETS: Final = 1 << 17  # ( and a minus
NEGATIVE_AFTER_COMMA: Final = 1 << 18  # (, a number or letter, a comma, a minus
BANG: Final = 1 << 19  # ! after a lone letter, a digit or a closing parenthesis
ROOT_WORD: Final = 1 << 20  # root
DIFFERENTIAL: Final = 1 << 21  # /dx or /dt

_SIGN = re.compile("[²³¹½Α-ω⁰-ₜ←-⇿∀-⋿ʰ-ˣᵃ-ᶿ]")
_EQUATION = re.compile(r"[-+*/]\s*(?:\d+[^\W\d_]?|[^\W\d_])\s*=")
_COMPARISON = re.compile(r"[<>≤≥≠]=?[ ]?(?:[-−]?\d|[xyznt])")
_ANGLE_PAIR = re.compile(r"[<>≤≥]=?\s*[^\W\d_]\s*[<>≤≥]")
_NEGATIVE_IN_BRACKETS = re.compile(r"\([-−–]")
_NEGATIVE_AFTER_COMMA = re.compile(r"\((?:\d{1,4}(?:\.\d{1,4})?|[a-z]),[ ]?[-−–]")
_BANG = re.compile(r"!(?:(?<=[\d)]!)|(?<=\b[a-z]!))")
_DIFFERENTIAL = re.compile("/d[xt]")
_DIGIT_CAPITAL = re.compile(r"[A-Z][a-z]?\d+[A-Z)]")

_FUNCTIONS_BY_LENGTH = (
    r"(?<![^\W\d])[fghFGHP]",
    r"(?:\bln|\bLN|(?<![^\W\d])[fghFGH]['′])",
    r"(?:\b(?i:sin|cos|tan|sec|csc|cot|exp|log)|(?<![^\W\d])[fghFGH]['′]['′])",
    r"\b(?i:cbrt|sqrt|sinh|cosh|tanh|asin|acos|atan)",
    r"\b(?i:asinh|acosh|atanh)",
    r"\b(?i:arcsin|arccos|arctan)",
    r"\b(?i:arcsinh|arccosh|arctanh)",
)
# A look-behind needs a fixed width: none or one white space is looked through here, longer gaps in _find_call.
_NAMED = "|".join(rf"(?<={name}{gap}\()" for name in _FUNCTIONS_BY_LENGTH for gap in ("", r"\s"))
_CALL = re.compile(rf"\((?:{_NAMED})")
_GAP_BEFORE_BRACKET = re.compile(r"\((?<=\s\s\()")
_NAME_AT_END = re.compile(rf"(?:{'|'.join(_FUNCTIONS_BY_LENGTH)})$")
_LONGEST_GAP = 32  # a longer gap is taken for the clue, so that no run of spaces is read twice


_ONE_LETTER_ELEMENTS = "HBCNOFPSKVYIWU"


def _classify_byte(byte: int) -> str:
    """The class of one UTF-8 byte: 0 digit, A a capital that is an element, D another capital, a lower case, U the first
    byte of a script that has digits of its own."""
    char = chr(byte)
    if byte >= 0x80:
        return "U" if byte in (0xD9, 0xDB, 0xDF, 0xE0, 0xE1, 0xEA, 0xEF) or byte >= 0xF0 else " "
    if char.isalpha():
        return "a" if char.islower() else "A" if char in _ONE_LETTER_ELEMENTS else "D"
    return "0" if char.isdigit() else char if char in ")_" else " "


_BYTE_CLASSES = "".join(map(_classify_byte, range(256))).encode("ascii")
# Every pattern starts with a literal: those are searched for at the speed of memory.
_COUNT = re.compile(rb"0(?:(?<=[ADa)_]0)|(?<=_ 0))")
_MULTIPLE = re.compile(rb"0 ?a {1,24}0")
_SALT = (re.compile(rb"A(?<![ADa]A)(?:aA|Aa)[Aa]?(?![0ADa])"), re.compile(rb"D(?<![ADa]D)aA[Aa]?(?![0ADa])"))
_DIGIT_CAPITAL_CLASSES = (re.compile(rb"Aa?0+[AD)]"), re.compile(rb"Da?0+[AD)]"))
# The first count of a formula stands after a second symbol, after a first one that another follows, or after a group.
_FORMULA = (
    re.compile(rb"A(?:(?<=[Aa]A)a?[0_]|a?(?:0+|_ ?0+ ?)[AD(])"),
    re.compile(rb"D(?:(?<=[Aa]D)a[0_]|a(?:0+|_ ?0+ ?)[AD(])"),
    re.compile(rb"\)0(?<=[Aa0]\)0)"),
)
_GASES = ("O2", "N2", "H2", "O3")
_REACTING = ("H2O", "CO2", "->", "=>")
_CHARGES = ("2+", "3+")


def _find_class_clues(text: str) -> int:
    """The clues that are read off the classes of the UTF-8 bytes, which is ten times as fast as on the text."""
    classes = text.encode("utf-8", "surrogatepass").translate(_BYTE_CLASSES)
    clues = MULTIPLE if _MULTIPLE.search(classes) else 0
    if any(pattern.search(classes) for pattern in _SALT):
        clues |= SALT
    if b"U" in classes and _DIGIT_CAPITAL.search(text):
        clues |= DIGIT_CAPITAL
    if _COUNT.search(classes):
        if any(pattern.search(classes) for pattern in _DIGIT_CAPITAL_CLASSES):
            clues |= DIGIT_CAPITAL
        if any(pattern.search(classes) for pattern in _FORMULA) or any(gas in text for gas in _GASES):
            clues |= FORMULA
        if any(part in text for part in _REACTING):
            clues |= REACTION
        if any(charge in text for charge in _CHARGES):
            clues |= ION
    return clues


_ARGUMENT_AFTER = r"[ \xa0]{1,2}(?:[\dα-ωϕ]|[a-zA-C](?![^\W\d_]))"
_FUNCTION_WORDS = tuple(
    (name, re.compile(name + ending))
    for name, ending in (
        ("sin", _ARGUMENT_AFTER),
        ("cos", _ARGUMENT_AFTER),
        ("tan", _ARGUMENT_AFTER),
        ("log", rf"(?:_|10|2|{_ARGUMENT_AFTER})"),
        ("ln", _ARGUMENT_AFTER),
    )
)


def _find_function_word(text: str) -> int:
    for name, pattern in _FUNCTION_WORDS:
        if name in text and pattern.search(text):
            return FUNCTION_WORD
    return 0


def _find_equals(text: str) -> int:
    if "=" not in text:
        return 0
    return EQUALS | EQUATION if _EQUATION.search(text) else EQUALS


def _find_angle(text: str) -> int:
    if not ("<" in text or ">" in text or (not text.isascii() and ("≤" in text or "≥" in text or "≠" in text))):
        return 0
    compared = COMPARISON if _COMPARISON.search(text) else 0
    return compared | (ANGLE_PAIR if _ANGLE_PAIR.search(text) else 0)


def _find_call(text: str) -> int:
    if _CALL.search(text):
        return CALL
    for bracket in _GAP_BEFORE_BRACKET.finditer(text):
        before = text[max(0, bracket.start() - _LONGEST_GAP - 8) : bracket.start()].rstrip()
        if len(before) < 8 or _NAME_AT_END.search(before):
            return CALL
    return 0


def _find_literals(clue: int, *literals: str) -> Callable[[str], int]:
    def find(text: str) -> int:
        for literal in literals:
            if literal in text:
                return clue
        return 0

    return find


def _find_pattern(clue: int, pattern: re.Pattern[str]) -> Callable[[str], int]:
    return lambda text: clue if pattern.search(text) else 0


_TESTS: tuple[tuple[int, Callable[[str], int]], ...] = (
    (CARET, _find_literals(CARET, "^")),
    (STARS, lambda text: STARS if "*" in text and "**" in text else 0),
    (BACKSLASH, _find_literals(BACKSLASH, "\\")),
    (EQUALS | EQUATION, _find_equals),
    (COMPARISON | ANGLE_PAIR, _find_angle),
    (BAR, _find_literals(BAR, "|")),
    (SIGN, lambda text: SIGN if not text.isascii() and _SIGN.search(text) else 0),
    (CALL, _find_call),
    (DIGIT_CAPITAL | FORMULA | REACTION | ION | SALT | MULTIPLE, _find_class_clues),
    (FUNCTION_WORD, _find_function_word),
    (NEGATIVE_IN_BRACKETS, _find_pattern(NEGATIVE_IN_BRACKETS, _NEGATIVE_IN_BRACKETS)),
    (
        NEGATIVE_AFTER_COMMA,
        lambda text: NEGATIVE_AFTER_COMMA if "(" in text and _NEGATIVE_AFTER_COMMA.search(text) else 0,
    ),
    (BANG, _find_pattern(BANG, _BANG)),
    (ROOT_WORD, _find_literals(ROOT_WORD, "root", "Root", "ROOT")),
    (DIFFERENTIAL, _find_pattern(DIFFERENTIAL, _DIFFERENTIAL)),
)


def find_clues(text: str, wanted: int = -1) -> int:
    """The bits of `wanted` that `text` shows (others may be set too); by default every clue is looked for."""
    clues = 0
    for bits, find in _TESTS:
        if bits & wanted:
            clues |= find(text)
    return clues
