"""Sums, products, integrals, derivatives, infinity, and the LaTeX that writes them. Not here: signs talked about as shapes."""

from __future__ import annotations

import re

from curation.notation import clues as clue
from curation.notation.recommended.context import ALONE, SPACE, is_expression, is_product_of_two
from curation.notation.rule import RecommendedRule, scan_accepted, scan_near, scan_pattern

_SUMMAND = rf"(?:[_₀-₉ᵢ]|{SPACE}(?:\d|[b-zB-HJ-Z]{ALONE}|a(?=[_₀-₉ᵢₙ^])|\((?P<inner>[^()\n]{{1,40}})\)))"
_CALLED_A_LETTER = re.compile(r"\b(?:letter|sigma|called|named)\W{1,3}$", re.IGNORECASE)


def _is_sum(match: re.Match[str]) -> bool:
    if match["inner"] is not None:
        return is_expression(match["inner"])
    return _CALLED_A_LETTER.search(match.string[max(0, match.start() - 12) : match.start()]) is None


SUMMATION_SIGN = RecommendedRule(
    name="summation_sign",
    claim="A sum is written with its sign.",
    hits=("∑ i", "Σ k"),
    passes=("The letter Σ is Greek", "Σ(ﾟДﾟ)", "ΣΑΒΒΑΤΟ"),
    judgement=(
        "∑ has no other use, so it hits unless it is called a letter or starts a word. The Greek capital needs something to "
        "sum: a number, a variable, an index or a bracket with an expression."
    ),
    clues=clue.SIGN,
    scan=scan_near(
        re.compile("[∑Σ]"),
        0,
        re.compile("[∑Σ]"),
        re.compile(rf"∑(?![^\W\d_]{{2}})(?:{SPACE}\((?P<kaomoji>[^()\w\s]))?|(?<![^\W\d_])Σ{_SUMMAND}"),
        lambda match: match["kaomoji"] is None and _is_sum(match),
    ),
)
PRODUCT_SIGN = RecommendedRule(
    name="product_sign",
    claim="A product is written with its sign.",
    hits=("∏", "∏ k"),
    passes=("the letter Π",),
    judgement="Judged as the summation sign is; the Greek capital needs an index or a bracket with an expression.",
    clues=clue.SIGN,
    scan=scan_near(
        re.compile("[∏Π]"),
        0,
        re.compile("[∏Π]"),
        re.compile(r"∏(?![^\W\d_]{2})|(?<![^\W\d_])Π(?:[_₀-₉ᵢ]|\((?P<inner>[^()\n]{1,40})\))"),
        lambda match: is_expression(match["inner"]) if match["inner"] is not None else True,
    ),
)
INTEGRAL_SIGN = RecommendedRule(
    name="integral_sign",
    claim="An integral is written with its sign.",
    hits=("∫ f dx", "∫₀¹ x dx"),
    passes=("the violin has ∫ shaped holes",),
    judgement="The sign needs limits, a bracket, a variable at its side, or a differential within forty characters.",
    clues=clue.SIGN,
    scan=scan_near(
        re.compile("[∫-∮]"),
        0,
        re.compile("[∫-∮]"),
        re.compile(
            rf"[∬∭∮]|∫(?:[_^₀-₉⁰-⁹²³¹∫]|{SPACE}\(|[A-Za-zα-ω]{ALONE}|{SPACE}[^∫\n]{{1,40}}?(?<![A-Za-z])d[a-zθ]{ALONE}|\d)"
        ),
    ),
)
PARTIAL_DERIVATIVE = RecommendedRule(
    name="partial_derivative",
    claim="A partial derivative is written with its sign.",
    hits=("∂f/∂x", "∂²u/∂t²"),
    passes=("∂ is a fancy d",),
    judgement="A variable, a power or a fraction bar must follow the sign.",
    clues=clue.SIGN,
    scan=scan_pattern(re.compile(rf"∂(?:[²³^]|[A-Za-zα-ω]{ALONE}|[ ]?[A-Za-z]?[ ]?/[ ]?∂)")),
)
DERIVATIVE_FRACTION = RecommendedRule(
    name="derivative_fraction",
    claim="A derivative is written as a fraction of differentials.",
    hits=("dy/dx = 2x",),
    passes=("and/day",),
    judgement="Only with d and one letter below the bar.",
    clues=clue.DIFFERENTIAL,
    scan=scan_pattern(re.compile(rf"(?<![\w/.])d[²2]?[A-Za-z]?/d[xt]{ALONE}")),
)
INFINITY_SIGN = RecommendedRule(
    name="infinity_sign",
    claim="The sign for infinity is used.",
    hits=("∞", "n → ∞"),
    passes=("infinity",),
    judgement="Always: K-5 has no use for the sign. The word passes here and is a matter of vocabulary.",
    clues=clue.SIGN,
    scan=scan_pattern(re.compile("∞")),
)
LATEX_CALCULUS = RecommendedRule(
    name="latex_calculus",
    claim="LaTeX writes a sum, product, limit, integral, derivative or infinity.",
    hits=(r"\sum k", r"\int_0^1"),
    passes=(r"saved in D:\int\photos", r"photos\int\2010"),
    judgement="A command that follows a word of two letters, or is followed by another backslash and a word, is part of a path.",
    clues=clue.BACKSLASH,
    scan=scan_pattern(
        re.compile(
            r"(?<![\w.]{2})\\(?:lim|i{0,2}int|oint|sum|prod|partial|infty|nabla)(?![A-Za-z])"
            r"(?!\\(?!frac|limits|sqrt|sin|cos|tan|ln|log|left|partial|int|sum|mathrm|,|!)\w)"
        )
    ),
)
LATEX_FUNCTION = RecommendedRule(
    name="latex_function",
    claim="LaTeX names a function, a Greek variable or a sign that is taught after grade 5.",
    hits=(r"\sin\theta", r"2\pi r"),
    passes=(r"90^\circ", r"5 \times 4", r"\log\2010"),
    judgement=r"\times, \div, \cdot, \circ, \angle and \text are K-5 notation. Paths are told apart as in latex_calculus.",
    clues=clue.BACKSLASH,
    scan=scan_pattern(
        re.compile(
            r"(?<![\w.]{2})\\(?:sin|cos|tan|sec|csc|cot|log|ln|arcsin|arccos|arctan|sinh|cosh|tanh|theta|alpha|beta|gamma|"
            r"lambda|sigma|omega|varphi|phi|rho|Delta|Sigma|Omega|pi|mu|pm|vec|binom|mathbb|forall|exists)(?![A-Za-z])"
            r"(?!\\[\dA-Z]|\\[a-z]{1,20}\\|[./]\w)"
        )
    ),
)

_SAYS_NOTHING = re.compile(r"\\(?:text|textrm|mathrm|mbox|textbf)\s?|\\(?:times|div|cdot|square|Box|quad|,|;|!| )")
_BEYOND = re.compile(r"\\(?:partial|pi|theta|Delta|sqrt|alpha|sin|cos|tan|ln|log)|\^")


def _is_fraction_with_variable(match: re.Match[str]) -> bool:
    if match["nested"] is not None:
        return True
    parts = _SAYS_NOTHING.sub(" ", f"{match['top']} / {match['bottom']}")
    if _BEYOND.search(parts):
        return True
    runs = re.findall(r"[A-Za-z]+", parts)
    return any(len(run) == 1 or re.fullmatch("d[a-z]", run) or is_product_of_two(run) for run in runs)


LATEX_FRACTION = RecommendedRule(
    name="latex_fraction",
    claim="A LaTeX fraction holds a variable, a root, a power or a differential.",
    hits=(r"\frac{dy}{dx}", r"\frac{x}{2}"),
    passes=(r"\frac{1}{2} of the pizza", r"\frac{part}{whole}"),
    judgement="Fractions of numbers, of words and of blanks are K-5.",
    clues=clue.BACKSLASH,
    scan=scan_accepted(
        re.compile(
            rf"\\[dtc]?frac{SPACE}\{{(?:(?P<top>[^{{}}\n]{{0,40}})\}}{SPACE}\{{(?P<bottom>[^{{}}\n]{{0,40}})\}}|"
            rf"[^{{}}\n]{{0,20}}(?P<nested>\^|\\sqrt|\\partial))"
        ),
        _is_fraction_with_variable,
    ),
)

LIMIT = RecommendedRule(
    name="limit",
    claim="A limit is written.",
    hits=("lim x→0",),
    passes=("lim → 0",),
    judgement="Only with a variable and an arrow.",
    clues=clue.SIGN,
    scan=scan_near(re.compile("→"), 12, re.compile("l"), re.compile(rf"(?<!\w)lim[_ (]{{0,2}}[a-z]{SPACE}→")),
)
SET_SIGN = RecommendedRule(
    name="set_or_logic_sign",
    claim="A sign of set theory or logic stands beside a letter.",
    hits=("x ∈ ℝ", "∀x"),
    passes=("(´∀`)",),
    judgement="The signs also make faces, so a single letter must stand beside them.",
    clues=clue.SIGN,
    scan=scan_near(
        re.compile("[∀∃∈∉⊂⊆∪]"),
        2,
        re.compile("[A-Za-z∀∃]"),
        re.compile(rf"(?<![^\W_])[A-Za-z] ?[∈∉⊂⊆∪] ?[^\W_]|[∀∃] ?[a-z]{ALONE}"),
    ),
)
GREEK_VARIABLE = RecommendedRule(
    name="greek_variable",
    claim="A Greek letter stands for a quantity.",
    hits=("θ = 45°", "Δt"),
    passes=("Δ Airlines", "αβγ", "β-carotene"),
    judgement="Δ with one letter is a change; other letters need a relation or an operator and a number or letter after it.",
    clues=clue.SIGN,
    scan=scan_pattern(
        re.compile(
            rf"[Δ∆](?<![^\W_].)[A-Za-z](?![\w'])|"
            rf"[θλωφσμρα-γ](?<![^\W\d_].){SPACE}[=<>≤≥+×·*/]{SPACE}[-−]?(?:\d|[A-Za-zα-ω]{ALONE})"
        )
    ),
)
