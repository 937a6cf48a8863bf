"""Exponents: on a variable, a number or a bracket, written as a superscript, with a caret or with two stars.

Not here: units of area and volume and powers of ten, which K-5 teaches, and raised marks that are footnotes or ordinals.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from curation.notation import clues as clue
from curation.notation.recommended.context import (
    ALONE,
    LENGTH_UNITS,
    LONE,
    MINUS,
    SHORT_WORDS,
    SPACE,
    SUPERSCRIPTS,
    has_operator_after,
    has_operator_beside,
    is_expression,
    is_label_before,
    is_product_of_two,
)
from curation.notation.rule import RecommendedRule, Scan, scan_near

_RAISED = rf"(?P<raised>[{SUPERSCRIPTS}]{{1,3}}|[ⁿˣᵏ](?!ᵈ))"
_EXPONENT = (
    rf"(?:(?P<number>\+?\d{{1,3}})(?!\d|st\b|nd\b|rd\b|th\b)|(?P<letter>[A-Za-z]){ALONE}|"
    r"(?P<open>[{(])(?P<inner>[^{}()\n]{1,40}))"
)
_POWER = rf"(?:{_RAISED}|(?P<caret>{SPACE}\^{SPACE}){_EXPONENT}|(?P<stars>(?P<gap> ?)\*\*(?P=gap))"
_POWER += (
    _EXPONENT.replace("?P<number>", "?P<number2>")
    .replace("?P<letter>", "?P<letter2>")
    .replace("?P<open>", "?P<open2>")
    .replace("?P<inner>", "?P<inner2>")
    + ")"
)

_INDEX = r"(?:[₀-₉ₐ-ₜᵢ-ᵪ]{1,2}|_\w|_\{\w{1,3}\})?"

_ORDINAL = re.compile(r"\s*(?:st|nd|rd|th|er|e)\s*", re.IGNORECASE)
_DIGITS_OF_SUPERSCRIPTS = str.maketrans(SUPERSCRIPTS, "0123456789")
_NUMBER_AFTER_CAPITAL_WORD = re.compile(r" [A-Z][a-z]")
_SCORE = re.compile(
    r"\b(?:scor\w*|won|wins?|beat\w*|lost|loses?|draw|drew|match|games?|goals?|final|victory|defeat\w*|sets?|tied?)\b",
    re.IGNORECASE,
)


def _read_exponent(match: re.Match[str]) -> str:
    """The exponent as it would be typed in a line: `2` for `²`, `^2`, `**2`, `^{2}` and `^(2)`."""
    groups = match.groupdict()
    written = groups["number"] or groups["number2"] or groups["letter"] or groups["letter2"]
    written = written or groups["inner"] or groups["inner2"] or groups["raised"] or ""
    return written.translate(_DIGITS_OF_SUPERSCRIPTS).strip().removeprefix("+")


def _is_exponent(match: re.Match[str]) -> bool:
    """Whether what is raised can be an exponent: no ordinal ending, no word, no list of footnotes."""
    text, groups = match.string, match.groupdict()
    inner = groups["inner"] or groups["inner2"]
    if inner is not None:
        return _ORDINAL.fullmatch(inner) is None and re.search(r"\\circ|\\text", inner) is None and is_expression(inner)
    if groups["raised"] == "¹":
        return False
    if groups["caret"] and groups["number"] and groups["caret"].startswith(" ") and groups["caret"].endswith(" "):
        return _NUMBER_AFTER_CAPITAL_WORD.match(text, match.end()) is None
    return groups["number2"] is None or not text.startswith("*", match.end())


def _is_power_of_variable(match: re.Match[str]) -> bool:
    text, base, exponent = match.string, match["base"], _read_exponent(match)
    if not _is_exponent(match) or (base == "m" and exponent in ("2", "3")):
        return False
    if base == "M" and exponent in ("2", "3") and re.search(r"\d ?$", text[max(0, match.start() - 2) : match.start()]):
        return False
    if base.isupper():
        if is_label_before(text, match.start()):
            return False
        if base == "I" or re.search(r"[A-Z][a-z]{2,} $", text[max(0, match.start() - 20) : match.start()]):
            return has_operator_after(text, match.end())
    if match["stars"] and match["gap"] == "" and match["letter2"]:
        return base in "xyzabnkrpqe" and exponent in "xyzabnkmpqij"
    return not (base == exponent and base in "TOouUQ")


def _is_power_of_product(match: re.Match[str]) -> bool:
    text, base = match.string, match["base"]
    if base.lower() in LENGTH_UNITS or not _is_exponent(match):
        return False
    if text.startswith("½", match.start() - 1):
        return True
    if base.lower() in SHORT_WORDS or not _is_exponent(match):
        return False
    if is_product_of_two(base):
        return True
    return (
        re.compile(
            rf"{SPACE}(?:[+=]|{MINUS}){SPACE}\d{{0,3}}(?:[b-zB-HJ-Z]{ALONE}|[a-dkmnp][xyzt]{ALONE}|[A-Za-z]{{1,2}}[²³^])"
        ).match(text, match.end())
        is not None
    )


def _is_power_of_number(match: re.Match[str]) -> bool:
    text, base, exponent = match.string, match["base"], _read_exponent(match)
    if not _is_exponent(match) or (base == "10" and exponent.isdecimal()):
        return False
    if exponent in tuple("abcd") and not has_operator_beside(text, match.start(), match.end()):
        return False
    is_year = re.fullmatch(r"1\d{3}|20\d{2}", base) is not None
    if match["raised"]:
        if has_operator_beside(text, match.start(), match.end()):
            return True
        return len(base) <= 2 and not is_label_before(text, match.start())
    if match["number"]:
        before = text[max(0, match.start() - 60) : match.start()]
        line = before.rpartition("\n")[2]
        return not is_year and (has_operator_after(text, match.end()) or _SCORE.search(line) is None)
    return not is_year


def _is_power_of_group(match: re.Match[str]) -> bool:
    group = match["base"][1:-1].strip()
    if not is_expression(group) or not _is_exponent(match) or re.fullmatch(r"[\d.,\s]*m?|[a-eivx]{1,3}(?<!x)", group):
        return False
    return re.search(r"[A-Za-zΑ-ω]|^[-−–]|\d\s*[-+−–×·*/÷]\s*\d", group) is not None


_RAISING = re.compile(rf"[\^*{SUPERSCRIPTS}ⁿˣᵏ]")


def _scan_powers(reach: int, start: str, pattern: str, is_accepted: Callable[[re.Match[str]], bool]) -> Scan:
    return scan_near(_RAISING, reach, re.compile(start), re.compile(pattern), is_accepted)


_NOT_IN_NUMBER = r"(?<![\w.,/:$€£#%'])(?<!\d[-–])"

VARIABLE_WITH_EXPONENT = RecommendedRule(
    name="variable_with_exponent",
    claim="A single letter is raised to a power.",
    hits=("y = x²",),
    passes=("12 m² of grass", "Lincoln³", "n^{th}", "Plan B^2"),
    judgement=(
        "A letter that ends a word carries a footnote. m with 2 or 3 is a unit, whatever it means elsewhere. A capital after "
        "a label or a name carries a footnote unless an operator follows. Faces such as T^T pass, and so do "
        "words with two letters starred out (f**k). x¹ is a footnote mark."
    ),
    clues=clue.SIGN | clue.CARET | clue.STARS,
    scan=_scan_powers(16, "[A-Za-zα-ω]", rf"{LONE}(?P<base>[A-Za-zα-ω]){_INDEX}{_POWER}", _is_power_of_variable),
)
PRODUCT_WITH_EXPONENT = RecommendedRule(
    name="product_with_exponent",
    claim="The last of two letters written as a product is raised to a power.",
    hits=("E = mc²", "ab^2 - c"),
    passes=("8 cm²", "it³", "the TV² show"),
    judgement=(
        "Two lower-case consonants that are no unit or abbreviation are a product. Other pairs must go on as a formula: an "
        "operator and a further term."
    ),
    clues=clue.SIGN | clue.CARET | clue.STARS,
    scan=_scan_powers(11, "[A-Za-z]", rf"{LONE}(?P<base>[A-Za-z]{{2}}){_POWER}", _is_power_of_product),
)
NUMBER_WITH_EXPONENT = RecommendedRule(
    name="number_with_exponent",
    claim="A number other than ten is raised to a power, or any number to a letter or expression.",
    hits=("2^5 = 32", "2ⁿ"),
    passes=("10^3", "5^th", "The final score was 3^2.", "in 1912³"),
    judgement=(
        "Powers of ten with a whole exponent are 5.NBT.A.2. Years, numbers after a label (page 5²) and caret scores in a line "
        "about a match pass; a superscript on a number of three digits or more needs an operator beside it."
    ),
    clues=clue.SIGN | clue.CARET | clue.STARS,
    scan=_scan_powers(18, r"\d", rf"{_NOT_IN_NUMBER}(?P<base>\d{{1,4}}(?:\.\d{{1,4}})?){_POWER}", _is_power_of_number),
)
GROUP_WITH_EXPONENT = RecommendedRule(
    name="group_with_exponent",
    claim="A bracket that holds an expression is raised to a power.",
    hits=("(x + 1)² = 9",),
    passes=("(see below)²", "(2)^3", "(a)²"),
    judgement="A bracket with words, with one number or with the letter of a list carries a footnote.",
    clues=clue.SIGN | clue.CARET | clue.STARS,
    scan=_scan_powers(50, r"\(", rf"(?P<base>\([^()\n]{{1,40}}\)){_POWER}", _is_power_of_group),
)
NEGATIVE_EXPONENT = RecommendedRule(
    name="negative_exponent",
    claim="An exponent is negative.",
    hits=("10^-3 metres", "10⁻³"),
    passes=("**Day 2** - water the beans", "^-^"),
    judgement="Powers of ten too: 5.NBT.A.2 has whole exponents only. So do units (s⁻¹). Bold type is masked before.",
    clues=clue.SIGN | clue.CARET | clue.STARS,
    scan=scan_near(
        re.compile(r"[\^*⁻]"),
        10,
        re.compile(r"[\w)\]]"),
        re.compile(
            rf"[\w)\]]⁻[{SUPERSCRIPTS}ⁿˣ]|(?:{LONE}[A-Za-zα-ω]|{LONE}[A-Za-z]{{2}}|(?<!\d)\d{{1,6}}|[)\]])"
            rf"(?:{SPACE}\^{SPACE}|(?P<gap> ?)\*\*(?P=gap))[{{(]?{SPACE}{MINUS}{SPACE}(?:\d|[A-Za-z]{ALONE})"
        ),
    ),
)
PROGRAMMING_POWER = RecommendedRule(
    name="programming_power",
    claim="A named variable of a program is raised to a power with two stars.",
    hits=("side**2",),
    passes=("in**1912** by two sisters", "cm**2"),
    judgement="Stars, word and number stand without spaces, the number has at most three digits, and the stars are no bold type.",
    clues=clue.STARS,
    scan=scan_near(
        re.compile(r"\*"),
        31,
        re.compile(r"(?<![\w*.])[A-Za-z_]"),
        re.compile(r"(?P<base>[A-Za-z_]\w{1,30})\*\*\d{1,3}(?![\w*])"),
        lambda match: match["base"].lower() not in LENGTH_UNITS,
    ),
)
