"""Equations and inequalities with letters. Not here: arithmetic with boxes or blanks, phonics, labels and keys of games.

K-5 keeps the formulas for area, perimeter and volume (4.MD.A.3, 5.MD.C.5); any other letter in an equation is grade 6.
"""

from __future__ import annotations

import re

from curation.notation import clues as clue
from curation.notation.recommended.context import (
    ALONE,
    LONE,
    SPACE,
    get_word_after,
    is_label_before,
    is_sentence_after,
)
from curation.notation.rule import RecommendedRule, scan_near

_NUMBER = r"(?:\d{0,3}[¼-¾⅓⅔]|\d{1,6}(?:[.,]\d{1,4})?(?:[eE][-+]?\d{1,3}|/\d{1,4})?)"
_END = r"(?![^\W_²³]|['_])"
_PRODUCT = rf"(?:[a-dfkmnp][xyzt]|ab|bc|ac){_END}"
_LETTER = rf"[A-Za-z]{_END}"
_TIMES = r"[xX](?=[ \t]{0,2}[\dA-Za-z(])"
_OPERATOR = rf"(?:[-+−–×·*/÷∙]|{_TIMES})"
_ATOM = rf"(?:{_NUMBER}(?:{_PRODUCT}|{_LETTER}|[ ][xyz](?={SPACE}[-+−])|(?=[xX]\d)|{_END})|{_PRODUCT}(?:[²³]|\^2)?|{_LETTER}(?:[²³]|\^2)?)"
_GROUP = rf"(?:(?:{_NUMBER}|[A-Za-z])?{SPACE}\({SPACE}{_ATOM}(?:{SPACE}{_OPERATOR}{SPACE}{_ATOM}){{1,3}}{SPACE}\))"
_TERM = rf"(?:[-−–]?(?:{_GROUP}|{_ATOM}))"
_SIDE = rf"{_TERM}(?:{SPACE}{_OPERATOR}{SPACE}{_TERM}){{0,5}}"
_START = re.compile(r"(?<![\w'.,£€%?_□])(?<![-–+=*/×÷<>])[-−–\w(]")
_EQUALS = re.compile("=")
_EQUATION = re.compile(rf"(?P<left>{_SIDE}){SPACE}={SPACE}(?P<right>{_SIDE})(?![\w'])")

_BINARY = re.compile(rf"(?<=[\w)²³]){SPACE}{_OPERATOR}{SPACE}(?=[\w(−-])")
_TIMES_SIGN = re.compile(r"(?<=\d)[ \t]{0,2}[xX][ \t]{0,2}(?=[\d(])|(?<=[\w)])[ \t]{1,2}[xX][ \t]{1,2}(?=[\w(])")
_OPERATOR_LEFT_OF = re.compile(r"[-–+=*/×÷<>?_□][ \t]{0,3}(?:[xX][ \t]{0,3})?$|[?_□)][ \t]{0,3}$")
_SIZE_UNITS = frozenset("mglLpcshdkKvVwW")
_BASIC_FORMULA_LETTERS = {"A": "lwhbsLWHBS", "P": "lwhbsLWHBSacd", "V": "lwhbsLWHBS"}


def _is_basic_formula(name: str, formula: str) -> bool:
    """Whether a formula of K-5 measurement is written: A = l × w, P = 2l + 2w, V = l × w × h."""
    allowed = _BASIC_FORMULA_LETTERS.get(name.strip().upper())
    if allowed is None or re.search(r"[/÷^²³]", formula):
        return False
    return set(re.findall("[A-Za-z]", formula)) <= set(allowed)


def _is_equation(match: re.Match[str]) -> bool:
    """Whether the match uses a letter for a number beyond what K-5 does."""
    text, start, end = match.string, match.start(), match.end()
    if _OPERATOR_LEFT_OF.search(text[max(0, start - 6) : start]) or is_label_before(text, start):
        return False
    if text[start].isalpha() and re.search(r"\d $", text[max(0, start - 2) : start]):
        return False  # the letter is a unit or a times sign of what went before
    if text[max(0, start - 1) : start] == "$" and not re.compile(r"[ \t]{0,3}\$").match(text, end):
        return False  # money, not mathematics between dollar signs
    left, right = (_TIMES_SIGN.sub(" × ", match[side]) for side in ("left", "right"))
    letters = re.findall("[A-Za-z]", re.sub(r"(?<=\d)[eE](?=[-+]?\d)", "", left + right))
    terms = re.findall(r"[\w.,]+", left + " " + right)
    if not letters or _is_basic_formula(left, right) or _is_basic_formula(right, left):
        return False
    if all(re.fullmatch(r"[\d.,]+[A-Za-z]", term) for term in terms) and set(letters) <= _SIZE_UNITS:
        return False
    if re.compile(r"[ \t]{0,3}[-+×÷](?![ \t]{0,3}\w)").match(text, end):
        return False  # the equation goes on with something that is no number: = M+
    is_operated = _BINARY.search(left) is not None or _BINARY.search(right) is not None
    if not is_operated:
        return _is_multiple(left.strip(), right.strip()) and not is_sentence_after(text, end)
    if re.fullmatch(r"[a-z]{2}", right.strip()) and re.sub(r"\W", "", left) == right.strip():
        return False  # m + y = my spells a word
    if re.fullmatch(r"[aA]\s?[-–]\s?[zZ]", left.strip()) or re.fullmatch(r"[aA]\s?[-–]\s?[zZ]", right.strip()):
        return False
    last = re.findall(r"\w+", right)[-1]
    if last in ("a", "A", "I", "i") and get_word_after(text, end):
        return False
    if "".join(letters).isupper():
        return _is_capital_equation(left, right) and not is_sentence_after(text, end)
    return True


def _is_multiple(left: str, right: str) -> bool:
    """Whether one side is a number or letter and the other a multiple of a variable: 4n = 20, y = 3x."""
    if re.fullmatch(r"[\d.,/]+", right):
        return re.fullmatch(r"[-−]?[\d.,/]+[xyzn]|\d*\.\d+[a-fh-jnpq-z]", left) is not None
    if re.fullmatch(r"[\d.,/]+", left):
        return re.fullmatch(r"[-−]?[\d.,/]+[xyzn]", right) is not None
    if re.fullmatch("[a-z]", left) is None:
        return False
    return re.fullmatch(r"[-−]?[\d.,/]+[a-z]|[kmac]x", right) is not None and right[-1] not in _SIZE_UNITS


def _is_capital_equation(left: str, right: str) -> bool:
    """Whether capitals stand for quantities: a number takes part (not only to name a sum), or one letter is a product or quotient."""
    if re.search(r"\d", left + right):
        return not any(
            re.fullmatch(r"\s*[A-Z]\s*", name) and not re.search("[A-Z]", sum_)
            for name, sum_ in ((left, right), (right, left))
        )
    sides = sorted((left.strip(), right.strip()), key=len)
    return len(sides[0]) == 1 and re.search("[×·*/÷]", sides[1]) is not None and re.search("[-+−–]", sides[1]) is None


LINEAR_EQUATION = RecommendedRule(
    name="linear_equation",
    claim="An equation is written with letters for numbers.",
    hits=("x + 3 = 7", "y = mx + b", "2x + 3y = 12", "4n = 20"),
    passes=("c-a-t = cat", "3 + ? = 7", "3 x 4 = 12", "A = l × w", "2m + 3m = 5m", "J + M = best friends"),
    judgement=(
        "A letter for an unknown hits even in easy sums (6.EE.B.7), boxes, blanks and question marks pass. x between numbers "
        "multiplies. Area, perimeter and volume in l, w, h, b, s are 4.MD.A.3 and 5.MD.C.5. x = 5 alone is a legend or an answer. "
        "Capitals need a number, or a product or quotient (I = V/R), and no sentence after them."
    ),
    clues=clue.EQUALS,
    scan=scan_near(_EQUALS, 200, _START, _EQUATION, _is_equation),
)
CAPITAL_LINE = RecommendedRule(
    name="slope_intercept_in_capitals",
    claim="The equation of a line is written in capitals.",
    hits=("Y = MX + B",),
    passes=("Y = MIX + BAKE",),
    judgement="Only this equation: other pairs of capitals are abbreviations.",
    clues=clue.EQUALS,
    scan=scan_near(
        _EQUALS, 10, re.compile(r"(?<!\w)Y"), re.compile(rf"Y{SPACE}={SPACE}MX{SPACE}[+−-]{SPACE}[BC](?!\w)")
    ),
)
PRODUCT_FORMULA = RecommendedRule(
    name="product_formula",
    claim="A well-known law is written as a product of two letters.",
    hits=("F = ma", "d = rt", "V = IR"),
    passes=("h = hr", "A = lw"),
    judgement="Only the laws of school science and algebra: any two letters would take every list of abbreviations.",
    clues=clue.EQUALS,
    scan=scan_near(
        _EQUALS,
        10,
        re.compile(r"(?<!\w)[A-Zdpy]"),
        re.compile(
            rf"(?:F{SPACE}={SPACE}ma|[dD]{SPACE}={SPACE}rt|V{SPACE}={SPACE}IR|P{SPACE}={SPACE}IV|W{SPACE}={SPACE}mg|"
            rf"p{SPACE}={SPACE}mv|E{SPACE}={SPACE}hf|[yF]{SPACE}={SPACE}-?kx|PV{SPACE}={SPACE}nRT|W{SPACE}={SPACE}Fd|"
            rf"A{SPACE}={SPACE}(?:½|1/2){SPACE}bh)(?![\w'])"
        ),
    ),
)


_RELATION = re.compile("[<>≤≥≠]")


def _is_variable_compared(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    if re.search(r"[<>≤≥»|→][ \t]{0,3}$", text[max(0, start - 4) : start]) or re.compile(r"[ \t]{0,3}[<>≤≥»|→]").match(
        text, end
    ):
        return False
    return not is_label_before(text, start) and (match["space"], match["space2"]) == (match["gap"], match["gap2"])


VARIABLE_IN_INEQUALITY = RecommendedRule(
    name="variable_in_inequality",
    claim="A variable is compared with a number.",
    hits=("x > 5", "x ≥ 3", "2x + 1 > 5"),
    passes=("I <3 you", "Home > a > 5", "3 < 5"),
    judgement=(
        "6.EE.B.8. A lower-case letter, with the same space on both sides of the sign, and no further arrow around: menus "
        "are written with arrows too."
    ),
    clues=clue.COMPARISON,
    scan=scan_near(
        _RELATION,
        12,
        re.compile(r"[-−\da-z]"),
        re.compile(
            rf"(?<![-–+*/=<>&:;'.\w])(?:{LONE}[b-hj-z](?:[ ]?[-+−][ ]?\d{{1,4}})?|\d{{1,3}}[a-z](?:[ ]?[-+−][ ]?\d{{1,4}})?)"
            rf"(?P<space>[ ]?)(?:[<>]=?|[≤≥≠])(?P<gap>[ ]?)[-−]?\d{{1,6}}(?:\.\d{{1,4}})?(?![\w.]\w|\w)|"
            rf"(?<![\w.,:/;])[-−]?\d{{1,6}}(?:\.\d{{1,4}})?(?P<space2>[ ]?)(?:[<>]=?|[≤≥≠])(?P<gap2>[ ]?)[xyznt]{ALONE}"
        ),
        _is_variable_compared,
    ),
)
_BOUND = rf"(?:[-−]?\d{{1,6}}(?:[.,]\d{{1,4}})?|{LONE}[a-z]|{LONE}[A-Z])"
_LESS = "(?:<=?|≤)"
_MORE = "(?:>=?|≥)"
CHAINED_INEQUALITY = RecommendedRule(
    name="chained_inequality",
    claim="A variable is held between two bounds.",
    hits=("3 < x < 7", "0 ≤ t ≤ 1"),
    passes=("the<b>cat</b> naps", "3 < 5 < 7", "A > B > C"),
    judgement=(
        "Both signs point the same way and a letter stands between them. Tags are masked before. Capitals on all three places "
        "are an order of things and not of numbers, as letters with > are the steps of a menu."
    ),
    clues=clue.ANGLE_PAIR,
    scan=scan_near(
        _RELATION,
        20,
        re.compile(r"[-−\dA-Za-z]"),
        re.compile(
            rf"(?<![\w<>.])(?P<low>{_BOUND}){SPACE}(?:{_LESS}{SPACE}(?P<middle>[A-Za-zα-ω]){ALONE}{SPACE}{_LESS}|"
            rf"{_MORE}{SPACE}(?P<middle2>[A-Za-zα-ω]){ALONE}{SPACE}{_MORE}){SPACE}(?P<high>{_BOUND})(?![\w<>])"
        ),
        lambda match: (
            any(character.isdigit() for character in match["low"] + match["high"])
            or (match["middle"] is not None and not (match["low"] + match["middle"] + match["high"]).isupper())
        ),
    ),
)


def _is_algebraic_expression(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    if is_label_before(text, start) or is_sentence_after(text, end) or re.compile(r" ?[\d×xX]").match(text, end):
        return False  # a label, a sentence, a row of a table or a measure in three directions
    return re.fullmatch(r"\d+x\s*[-–]\s*\d+x", match[0]) is None


ALGEBRAIC_EXPRESSION = RecommendedRule(
    name="algebraic_expression",
    claim="A multiple of a variable is added to or taken from a number or another multiple.",
    hits=("2n + 6", "2(n + 5) − 4", "the expression 3x + 5"),
    passes=("10x - 20x zoom", "2x + 1 bonus item", "5a - 7p"),
    judgement="6.EE.A.2. x, y, z and n only, because other letters after a number are units; no sentence may go on.",
    clues=clue.MULTIPLE,
    scan=scan_near(
        re.compile(r"[a-z](?<=[\d(].)"),
        10,
        re.compile(r"(?<![\w.,$£€/:\-])[0-9]"),
        re.compile(
            rf"[0-9]{{1,4}}(?:\.[0-9]{{1,3}})?(?:[xyzn]{SPACE}[-+−–]{SPACE}[0-9]{{1,4}}[a-z]?|"
            rf"\([a-z]{SPACE}[-+−–]{SPACE}[0-9]{{1,4}}[a-z]?\))(?![\w%°]|[.:/]\d)"
        ),
        _is_algebraic_expression,
    ),
)
