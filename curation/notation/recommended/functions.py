"""Named functions and functions of a variable. Not here: roots, and the wooden log, the brown tan, the deadly sin."""

from __future__ import annotations

import re

from curation.notation import clues as clue
from curation.notation.recommended.context import (
    ALONE,
    get_word_before,
    has_operator_after,
    has_operator_beside,
    is_expression,
    is_label_before,
    is_sentence_after,
)
from curation.notation.rule import RecommendedRule, scan_near

_ARGUMENT = r"(?P<gap>\s{0,3})\((?P<argument>[^()\n]{0,60})"
_ENGLISH_WORDS = frozenset({"log", "exp", "sin", "tan", "sec", "cot"})
_LABEL_IN_BRACKETS = re.compile(r"\s*(?:\d{1,4}|[a-mo-s]|[A-Z])\s*")
_OWNERS = frozenset(
    [
        "a",
        "an",
        "the",
        "his",
        "her",
        "my",
        "our",
        "your",
        "this",
        "that",
        "its",
        "no",
        "original",
        "mortal",
        "commit",
        "sun",
        "spray",
        "ship",
    ]
)
_SPEAKERS = frozenset(
    [
        "is",
        "of",
        "find",
        "evaluate",
        "calculate",
        "that",
        "and",
        "so",
        "then",
        "where",
        "let",
        "compute",
        "if",
        "value",
        "gives",
    ]
)


def _is_called(match: re.Match[str]) -> bool:
    """Whether the bracket holds an argument; after an English word and a space, `(3)` and `(a)` are labels of a figure."""
    text, name, argument = match.string, match["name"].lower(), match["argument"]
    if argument == "":
        return match["gap"] == "" and text.startswith("(", match.end())
    if not is_expression(argument):
        return False
    if name in _ENGLISH_WORDS and argument.strip() == "s":
        return False  # one log, two log(s)
    if match["gap"] and name in _ENGLISH_WORDS and _LABEL_IN_BRACKETS.fullmatch(argument):
        return has_operator_beside(text, match.start(), match.end() + 1)
    return True


def _is_plain_logarithm(match: re.Match[str]) -> bool:
    text, before = match.string, get_word_before(match.string, match.start())
    if match["letter"] is None and match["number"] is None:
        return False
    if match["plain"] == "log" and (before in _OWNERS or before not in _SPEAKERS | {""}):
        return has_operator_after(text, match.end()) and not before.endswith("'s")
    return not is_sentence_after(text, match.end())


def _is_applied_plainly(match: re.Match[str]) -> bool:
    text, name = match.string, match["plain"]
    if match["greek"] or match["degrees"] or match["multiple"]:
        return True
    before = get_word_before(text, match.start())
    if before in _OWNERS or before.endswith("'s"):
        return False
    if name == "tan" and before not in _SPEAKERS | {""}:
        return has_operator_after(text, match.end())
    return not is_sentence_after(text, match.end()) and not text.startswith("'", match.end())


EXPONENTIAL_FUNCTION = RecommendedRule(
    name="exponential_function",
    claim="The exponential function is applied.",
    hits=("exp(-x)", "exp (2t)"),
    passes=("You win 50 exp (experience) points",),
    judgement="In a game exp means experience: a bracket with words, or with one number after a space, passes.",
    clues=clue.CALL,
    scan=scan_near(re.compile(r"\("), 6, re.compile("e"), re.compile(rf"(?<!\w)(?P<name>exp){_ARGUMENT}"), _is_called),
)
LOGARITHM = RecommendedRule(
    name="logarithm",
    claim="A logarithm is taken, with or without brackets or base.",
    hits=("log(100)", "ln x", "log₂ 8"),
    passes=("a rotting log (full of beetles)", "the log (3) floats", "log 30 minutes"),
    judgement=(
        "log is also wood and a diary: after a space a number or letter in brackets needs an operator beside it, and without "
        "brackets the argument may not go on as a sentence or follow an owner (the log 5)."
    ),
    clues=clue.CALL | clue.FUNCTION_WORD | clue.SIGN,
    scan=scan_near(
        re.compile("ln|log|LN|LOG|Log"),
        0,
        re.compile("[lL]"),
        re.compile(
            rf"(?<![\w'.\-])(?:(?P<name>log|ln|Log(?=\()|LOG(?=\()|LN(?=\()){_ARGUMENT}|"
            rf"log(?P<base>_(?:\{{\w{{1,4}}\}}|[\da-z]{{1,2}}(?!\w))|[₀-₉ₐ-ₜ]{{1,3}}|10|2)[ \xa0]{{0,2}}(?:\(|\d|[a-z]{ALONE})|"
            rf"(?P<plain>log|ln)[ \xa0]{{1,2}}(?P<number>\d{{1,6}})?(?P<letter>[xyzntkpbuv]{ALONE})?(?<![ \xa0])(?!\d|\.\d))"
        ),
        lambda match: match["base"] is not None or (_is_called(match) if match["name"] else _is_plain_logarithm(match)),
    ),
)
TRIGONOMETRIC_FUNCTION = RecommendedRule(
    name="trigonometric_function",
    claim="A trigonometric or hyperbolic function or its inverse is applied, with or without brackets.",
    hits=("sin(30)", "sin 30", "cos θ"),
    passes=("its coat is tan (light brown)", "the sin 3 times", "cos lettuce"),
    judgement=(
        "Any case with brackets; lower case without. tan, sin, sec and cot are words: after a space a number or letter in "
        "brackets needs an operator beside it, and without brackets no sentence may go on."
    ),
    clues=clue.CALL | clue.FUNCTION_WORD | clue.SIGN | clue.CARET,
    scan=scan_near(
        re.compile("sin|cos|tan|sec|csc|cot|SIN|COS|TAN|Sin|Cos|Tan"),
        3,
        re.compile("[a-zA-Z]"),
        re.compile(
            rf"(?<![\w'.\-])(?:(?P<called>(?i:(?P<name>(?:arc|a)?(?:sin|cos|tan)h?|sec|csc|cot))){_ARGUMENT}|"
            r"(?P<plain>sin|cos|tan)(?:\^-?[12]|[²³]|⁻¹)?[ \xa0]{0,2}"
            rf"(?:(?P<greek>[α-ωϕ])|(?<=[ \xa0²³¹])(?:\d{{1,3}}(?:\.\d{{1,4}})?(?P<degrees>°|º)|"
            rf"(?P<multiple>\d{{1,3}}[xtα-ω]){ALONE}|\d{{1,3}}(?:\.\d{{1,4}})?(?![\w.,/:]\w|\w)|[xyztnA-C]{ALONE})))"
        ),
        lambda match: _is_called(match) if match["called"] else _is_applied_plainly(match),
    ),
)


def _is_function_of_variable(match: re.Match[str]) -> bool:
    text, name, argument, end = match.string, match["name"], match["argument"], match.end()
    equals = re.compile(r"\s{0,3}[=<>≤≥]").match(text, end) is not None
    if match["gap"] and (
        argument not in ("x", "y", "z") or re.search(r"\d ?$", text[max(0, match.start() - 2) : match.start()])
    ):
        return False
    if (match["gap"] or name.isupper()) and is_label_before(text, match.start()):
        return False
    if name == "P":
        return (
            equals
            and re.fullmatch(r"[A-Z](?:\s?[∩∪|]\s?[A-Z]| and [A-Z]| or [A-Z])?|[xXk] ?[=<>≤≥] ?\w", argument)
            is not None
        )
    if argument in tuple("xyzt") or (name in "fgh" and argument in tuple("nuw")):
        return True
    if re.fullmatch(r"[-−]?\d{1,3}|[abck]", argument):
        return equals
    return re.search(r"[xyzt]", argument) is not None and is_expression(argument)


FUNCTION_OF_VARIABLE = RecommendedRule(
    name="function_of_variable",
    claim="A function with a one-letter name is applied to a variable or value.",
    hits=("f(x) = 2", "g (y)"),
    passes=("http://a.org/f(x)/song", "part f (x-ray)", "10 g (x)"),
    judgement=(
        "f(2) needs an equals sign, or it is a label. Probabilities of events, P(A) = 1/2, count. Addresses are masked before; "
        "after a number g and h are grams and hours."
    ),
    clues=clue.CALL,
    scan=scan_near(
        re.compile(r"\("),
        5,
        re.compile("[fghFGHP]"),
        re.compile(
            r"(?<![^\W\d])(?<![/.@'\-]|\\)(?P<name>[fghFGHP])['′]{0,2}(?P<gap>\s{0,2})\(\s{0,3}(?P<argument>[^()\n]{1,20}?)\s{0,3}\)(?!/)"
        ),
        _is_function_of_variable,
    ),
)
