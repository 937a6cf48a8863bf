"""Roots: the signs, their LaTeX and program names, and the words. Not here: the √ that ticks an item of a list off."""

from __future__ import annotations

import re

from curation.notation import clues as clue
from curation.notation.recommended.context import (
    ALONE,
    SPACE,
    is_expression,
    is_product_of_two,
    is_sentence_after,
)
from curation.notation.rule import RecommendedRule, scan_accepted, scan_near, scan_pattern

_ROOTED = (
    rf"(?P<space>{SPACE})(?:(?P<number>[-−]?\d{{1,9}}(?:[.,]\d{{1,9}})?)|(?P<letters>[A-Za-zα-ω]{{1,3}})(?![^\W²³⁴-⁹₀-₉]|')|"
    r"\((?P<inner>[^()\n]{1,40})\))"
)

_TICKED = re.compile(r"[-/][^\W_]|\.\s{1,2}[A-Za-z]| ?√")


def _is_rooted(match: re.Match[str]) -> bool:
    """Whether what follows the sign is a number, a variable or an expression and not the text of a ticked item."""
    text, end = match.string, match.end()
    if match["inner"] is not None:
        return is_expression(match["inner"])
    if match["number"] is not None:
        if text.startswith("%", end):
            return False
        return match["space"] == "" or not (is_sentence_after(text, end) or _TICKED.match(text, end))
    letters = match["letters"]
    if len(letters) == 1:
        return (match["space"] == "" and letters not in "aAI") or not (
            is_sentence_after(text, end) or _TICKED.match(text, end)
        )
    return match["space"] == "" and (is_product_of_two(letters) or letters in ("kT", "LC", "gh"))


ROOT_SIGN = RecommendedRule(
    name="root_sign",
    claim="A square-root sign stands before a number, a variable or an expression.",
    hits=("√2", "√ 16 = 4", "√(a + b)"),
    passes=("√ Brush your teeth", "√ 3 eggs", "Type √ on a Mac"),
    judgement="√ before a word, or before a space, a number and a word, ticks an item off.",
    clues=clue.SIGN,
    scan=scan_accepted(re.compile(f"√{_ROOTED}"), _is_rooted),
)
CUBE_ROOT_SIGN = RecommendedRule(
    name="cube_root_sign",
    claim="A cube-root or fourth-root sign stands before a number, a variable or an expression.",
    hits=("∛27 = 3", "the side is ∛V"),
    passes=("Type ∛ with Alt+221B",),
    judgement="The sign by itself, talked about as a sign, is no use of it.",
    clues=clue.SIGN,
    scan=scan_accepted(re.compile(f"[∛∜]{_ROOTED}"), _is_rooted),
)
INDEXED_ROOT = RecommendedRule(
    name="indexed_root",
    claim="A root carries its index: a superscript before the sign, or brackets in LaTeX.",
    hits=(r"³√8", r"\sqrt[n]{x}"),
    passes=(r"room³ √ tidy", r"type \sqrt[ 3 ] in the box"),
    judgement="After a word the superscript is a footnote; LaTeX needs its braces, or it is talked about.",
    clues=clue.SIGN | clue.BACKSLASH,
    scan=scan_near(
        re.compile(r"[√\\]"),
        9,
        re.compile(r"[²³⁴-⁹ⁿ\\]"),
        re.compile(rf"(?<![A-Za-z])[²³⁴-⁹ⁿ]{SPACE}√{_ROOTED}|\\sqrt\[[^\]\n]{{1,20}}\][ ]?(?P<brace>\{{)"),
        lambda match: match["brace"] is not None or _is_rooted(match),
    ),
)
LATEX_ROOT = RecommendedRule(
    name="latex_root",
    claim=r"LaTeX writes a square root.",
    hits=(r"\sqrt{5}", r"\sqrt x"),
    passes=(r"the command \sqrt draws a root",),
    judgement="Braces, a digit or a single letter must follow.",
    clues=clue.BACKSLASH,
    scan=scan_pattern(re.compile(rf"\\sqrt(?:{SPACE}\{{|{SPACE}\d|[ ][A-Za-z]{ALONE})")),
)
ROOT_FUNCTION = RecommendedRule(
    name="root_function",
    claim="A program or calculator takes a root by name.",
    hits=("sqrt(16)", "y = cbrt (x)"),
    passes=("CBRT (Central Bank of Turkey)",),
    judgement="Any case; the bracket must open on an expression.",
    clues=clue.CALL,
    scan=scan_near(
        re.compile(r"\("),
        7,
        re.compile("[a-zA-Z]"),
        re.compile(r"(?<!\w)(?i:sqrt|cbrt)\s{0,3}\((?P<inner>[^()\n]{1,40})"),
        lambda match: is_expression(match["inner"]),
    ),
)
ROOT_IN_WORDS = RecommendedRule(
    name="root_in_words",
    claim="A square, cube or higher root of something is named in words.",
    hits=("the square root of 16",),
    passes=("square root vegetables", "root beer"),
    judgement="Roots are 8.EE.A.2. Without `of` or a number the words may mean plants, so they pass.",
    clues=clue.ROOT_WORD,
    scan=scan_near(
        re.compile("oot|OOT"),
        14,
        re.compile(r"(?<!\w)[SsCcFfNn]"),
        re.compile(
            r"(?:[Ss]quare|SQUARE|[Cc]ubed?|CUBE|[Ff]ourth|[Nn]th)[\s\-]{1,2}(?:[Rr]oots?|ROOTS?)\s{1,4}(?:of\b|OF\b|\d)"
        ),
    ),
)
