"""Absolute value, factorial and pi as they stand in expressions. Not here: bars of tables and cries of joy."""

from __future__ import annotations

import re

from curation.notation import clues as clue
from curation.notation.recommended.context import SPACE, get_word_after, get_word_before, is_expression
from curation.notation.rule import RecommendedRule, scan_accepted, scan_near, scan_pattern

_RELATION_AFTER = re.compile(r"[ \t]{0,3}[=<>≤≥≠]")


def _is_absolute_value(match: re.Match[str]) -> bool:
    text, inner, start, end = match.string, match["inner"], match.start(), match.end()
    before, after = text[max(0, start - 8) : start], text[end : end + 8]
    if inner != inner.strip() or re.search(r"(?:[^\W\d]|\|)$|\|\s*$", before) or re.match(r"[\w|]|\s*\|", after):
        return False
    is_related = _RELATION_AFTER.match(text, end) is not None
    if re.fullmatch(r"[b-hj-z]|[-−–]\d{1,6}(?:\.\d{1,4})?", inner):
        return True
    if re.fullmatch(r"[A-Za]|\d{1,6}(?:\.\d{1,4})?|\d{1,4}\s?[-−–]\s?\d{1,4}", inner):
        return is_related
    return is_expression(inner) and re.search("[A-Za-z]", inner) is not None and re.search("[-+−×/]", inner) is not None


ABSOLUTE_VALUE = RecommendedRule(
    name="absolute_value",
    claim="Bars stand for an absolute value.",
    hits=("|x|", "|-5| = 5", "|x - 3|"),
    passes=("| x | y |", "|x|o|x|", "Home | About", "|5|"),
    judgement=(
        "The bars touch what they hold, and no further bar or letter touches them: those are tables and menus. A number "
        "without its sign, or a capital, needs a relation after it."
    ),
    clues=clue.BAR,
    scan=scan_accepted(re.compile(r"\|(?P<inner>[^|\n]{1,24})\|"), _is_absolute_value),
)

_ASKS = frozenset(["find", "compute", "calculate", "evaluate", "simplify", "expand", "called", "factorial", "is"])
_COUNTED = frozenset(["ways", "permutations", "arrangements", "orders", "orderings", "equals"])
_OPERATION_AFTER = re.compile(
    r"[ \t]{0,3}(?:[=≈][ \t]{0,3}[\dnkr(]|[×·÷][ \t]{0,3}[\dnkr(]|[/*+−-][ \t]{0,3}(?:\(|(?:\d{1,3}|[nkr])!)| is \d)"
)
_SIGN_BEFORE = re.compile(r"[=×·÷/(][ \t]{0,3}$")
_FACTORIAL_NEAR = re.compile(r"factorial|permutation", re.IGNORECASE)


def _is_factorial(match: re.Match[str]) -> bool:
    text, base, start, end = match.string, match["base"], match.start(), match.end()
    if text.strip() == match[0] or _OPERATION_AFTER.match(text, end) or get_word_after(text, end) in _COUNTED:
        return True
    if _FACTORIAL_NEAR.search(text, max(0, start - 60), end + 60):
        return True
    if base.startswith("("):
        return is_expression(base[1:-1]) and re.search("[a-z]", base) is not None
    before = get_word_before(text, start)
    if before == "is" and base.isdigit():
        return re.search(r"\b[Ww]hat is $", text[max(0, start - 8) : start]) is not None
    if before == "of":
        return text.endswith("value of ", 0, start)
    return before in _ASKS or (base == "n" and _SIGN_BEFORE.search(text[max(0, start - 4) : start]) is not None)


FACTORIAL = RecommendedRule(
    name="factorial",
    claim="A factorial is written.",
    hits=("5! = 120", "find 5!", "n!", "5!"),
    passes=("He was 5!", "2 + 3 = 5!", "3! 2! 1! Go!"),
    judgement=(
        "A number and a cry look the same, so one of these must help: it is the whole text; =, ×, ÷ or / follows; find, "
        "calculate, evaluate or the like stands before; ways or permutations follow; the word factorial is within 60 "
        "characters. An equals sign before it proves nothing."
    ),
    clues=clue.BANG,
    scan=scan_accepted(
        re.compile(r"(?<![\w.,:$#£€'\-])(?P<base>\d{1,3}|[nkrm]|\([nkr][ ]?[-+−][ ]?[\dnkr]\))!(?![!?\w])"),
        _is_factorial,
    ),
)
PI_IN_EXPRESSION = RecommendedRule(
    name="pi_in_expression",
    claim="Pi takes part in an expression.",
    hits=("C = 2πr", "π × 3"),
    passes=("π day", "Pi (π) Day"),
    judgement="7.G.B.4. A number, a variable or an operator must touch it; named alone it may be the letter or the feast.",
    clues=clue.SIGN,
    scan=scan_near(
        re.compile("π"),
        18,
        re.compile(r"[\dπ]"),
        re.compile(
            rf"(?<![^\W_])\d{{1,4}}(?:\.\d{{1,4}})?(?:π(?![^\W\d_]{{2}})|{SPACE}π{SPACE}(?:[×·*/=≈+−]|[a-z](?![^\W\d_])))|"
            rf"(?<![^\W_])π(?:[a-z](?![^\W\d_])|[²]|{SPACE}[×·*/=≈+]{SPACE}[\dA-Za-z(])"
        ),
    ),
)


_NEGATIVE = r"\([-−–]\d{1,6}(?:[.,/]\d{1,4})?\)"
SIGNED_NUMBER = RecommendedRule(
    name="signed_number_in_expression",
    claim="A negative number in brackets takes part in a calculation.",
    hits=("(−4) × (−2) = 8", "0 − (−5) = 5"),
    passes=("it was cold (-5)", "(-_-)"),
    judgement="7.NS.A. An operator must join the bracket to another number; a negative number by itself is a temperature.",
    clues=clue.NEGATIVE_IN_BRACKETS,
    scan=scan_near(
        re.compile(r"\("),
        18,
        re.compile(r"[\d()]"),
        re.compile(
            rf"(?<![\w.])\d{{1,6}}{SPACE}[-+−–×·*/÷]{SPACE}{_NEGATIVE}|{_NEGATIVE}{SPACE}(?:[+×·*/÷=]|[-−–](?={SPACE}[\d(]))"
        ),
    ),
)
NEGATIVE_COORDINATES = RecommendedRule(
    name="negative_coordinates",
    claim="A point has a negative coordinate, or variables for coordinates with a sign.",
    hits=("(-3, 2)", "(x, y) → (−x, y)"),
    passes=("(3, 2)", "(x, y)"),
    judgement="K-5 stays in the first quadrant (5.G.A.1); the other three are 6.NS.C.6.",
    clues=clue.NEGATIVE_IN_BRACKETS | clue.NEGATIVE_AFTER_COMMA,
    scan=scan_pattern(
        re.compile(
            r"\((?:[-−–]\d{1,4}(?:\.\d{1,4})?,[ ]?[-−–]?\d{1,4}(?:\.\d{1,4})?|\d{1,4}(?:\.\d{1,4})?,[ ]?[-−–]\d{1,4}(?:\.\d{1,4})?|"
            r"[-−–][a-z],[ ]?[-−–]?[a-z]|[a-z],[ ]?[-−–][a-z])\)"
        )
    ),
)
