"""Clues: cheap tests on a text that tell which notation rules could hit it at all. Holds no rule.

The invariant, tested against every rule: a rule that hits a text names at least one clue that the text shows.
Clues are bits of a plain int, since enum arithmetic would cost more than most of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

CARET: Final = 1 << 0  # ^, or <sup>, which the masking of markup turns into one
STARS: Final = 1 << 1  # **
BACKSLASH: Final = 1 << 2
EQUALS: Final = 1 << 3
ANGLE: Final = 1 << 4  # < > ≤ ≥
BAR: Final = 1 << 5  # |
SIGN: Final = 1 << 6  # a superscript, subscript, Greek letter, arrow or mathematical sign
CALL: Final = 1 << 7  # the name of a function, white space or none, an opening parenthesis
DIGIT_CAPITAL: Final = 1 << 8  # a digit before a capital or a closing parenthesis
FORMULA: Final = 1 << 9  # a digit or underscore after a capital (and lower-case letter), or a digit after )
SALT: Final = 1 << 10  # two capitals in one word with a lower-case letter between or behind: NaCl, HCl
FUNCTION_WORD: Final = 1 << 11  # the name of a function and a space, underscore or digit
BANG: Final = 1 << 12  # ! after a lone letter, a digit or a closing parenthesis
ROOT_WORD: Final = 1 << 13  # root
DIFFERENTIAL: Final = 1 << 14  # /dx or /dt

_SIGN = re.compile("[²³¹½Α-ω⁰-ₜ←-⇿∀-⋿ʰ-ˣᵃ-ᶿ−≤≥]")
_BANG = re.compile(r"!(?:(?<=[\d)]!)|(?<=\b[a-z]!))")
_DIFFERENTIAL = re.compile("/d[xt]")
_DIGIT_CAPITAL = re.compile(r"\d[A-Z)]")

_FUNCTIONS_BY_LENGTH = (
    r"(?<![^\W\d])[fghFGHP]",
    r"(?:\bln|\bLN|(?<![^\W\d])[fghFGH]['′])",
    r"(?:\b(?i:sin|cos|tan|sec|csc|cot|exp|log)|(?<![^\W\d])[fghFGH]['′]['′])",
    r"\b(?i:cbrt|sqrt|sinh|cosh|tanh|asin|acos|atan)",
    r"\b(?i:asinh|acosh|atanh)",
    r"\b(?i:arcsin|arccos|arctan)",
    r"\b(?i:arcsinh|arccosh|arctanh)",
)
# A look-behind needs a fixed width: none or one white space is looked through, two or more are a clue by themselves.
_NAMED = "|".join(rf"(?<={name}{gap}\()" for name in _FUNCTIONS_BY_LENGTH for gap in ("", r"\s"))
_CALL = re.compile(rf"\((?:(?<=\s\s\()|{_NAMED})")


def _classify_byte(byte: int) -> str:
    """The class of one UTF-8 byte: 0 digit, A capital, a lower case, U the first byte of a script that has digits."""
    char = chr(byte)
    if byte >= 0x80:
        return "U" if byte in (0xD9, 0xDB, 0xDF, 0xE0, 0xE1, 0xEA, 0xEF) or byte >= 0xF0 else " "
    if char.isalnum():
        return "0" if char.isdigit() else "A" if char.isupper() else "a"
    return char if char in ")_" else " "


_BYTE_CLASSES = "".join(map(_classify_byte, range(256))).encode("ascii")


_DIGIT_CAPITAL_CLASSES = re.compile(rb"0[A)]")
_FORMULA_CLASSES = re.compile(rb"0(?:(?<=[A)]0)|(?<=Aa0))")
_SUBSCRIPT_CLASSES = re.compile(rb"_(?:(?<=A_)|(?<=Aa_))")
_SALT_CLASSES = re.compile(rb"A(?<![0Aa]A)(?:aA|Aa)[Aa]?(?![0Aa])")


def _find_class_clues(text: str) -> int:
    """DIGIT_CAPITAL, FORMULA and SALT, read off the classes of the UTF-8 bytes: ten times as fast as on the text."""
    classes = text.encode("utf-8", "surrogatepass").translate(_BYTE_CLASSES)
    clues = SALT if _SALT_CLASSES.search(classes) else 0
    if _DIGIT_CAPITAL_CLASSES.search(classes) or (b"U" in classes and _DIGIT_CAPITAL.search(text)):
        clues |= DIGIT_CAPITAL
    if _FORMULA_CLASSES.search(classes) or _SUBSCRIPT_CLASSES.search(classes):
        clues |= FORMULA
    return clues


_ARGUMENT_AFTER = r"[ \xa0]{1,2}(?:[\dα-ωϕ]|[a-zA-C](?![^\W\d_]))"
_FUNCTION_WORD = re.compile(rf"(?:sin|cos|tan|log|ln){_ARGUMENT_AFTER}|log(?:_|10|2)")


def _find_function_word(text: str) -> int:
    gaps = " \xa0" if "\xa0" in text else " "
    for name in ("sin", "cos", "tan", "log", "ln"):
        for gap in gaps:
            if name + gap in text:
                return FUNCTION_WORD if _FUNCTION_WORD.search(text) else 0
    return FUNCTION_WORD if "log_" in text or "log1" in text or "log2" in text else 0


def _find_angle(text: str) -> int:
    shown = "<" in text or ">" in text or (not text.isascii() and ("≤" in text or "≥" in text))
    return ANGLE if shown else 0


def _find_literals(clue: int, *literals: str) -> Callable[[str], int]:
    def find(text: str) -> int:
        for literal in literals:
            if literal in text:
                return clue
        return 0

    return find


_TESTS: tuple[tuple[int, Callable[[str], int]], ...] = (
    (CARET, lambda text: CARET if "^" in text or ("<" in text and "<sup>" in text) else 0),
    (STARS, lambda text: STARS if "*" in text and "**" in text else 0),
    (BACKSLASH, _find_literals(BACKSLASH, "\\")),
    (EQUALS, _find_literals(EQUALS, "=")),
    (ANGLE, _find_angle),
    (BAR, _find_literals(BAR, "|")),
    (SIGN, lambda text: SIGN if not text.isascii() and _SIGN.search(text) else 0),
    (CALL, lambda text: CALL if _CALL.search(text) else 0),
    (DIGIT_CAPITAL | FORMULA | SALT, _find_class_clues),
    (FUNCTION_WORD, _find_function_word),
    (BANG, lambda text: BANG if _BANG.search(text) else 0),
    (ROOT_WORD, _find_literals(ROOT_WORD, "root", "Root", "ROOT")),
    (DIFFERENTIAL, lambda text: DIFFERENTIAL if _DIFFERENTIAL.search(text) else 0),
)


def find_clues(text: str, wanted: int) -> int:
    """The bits of `wanted` that `text` shows (others may be set too)."""
    clues = 0
    for bits, find in _TESTS:
        if bits & wanted:
            clues |= find(text)
    return clues
