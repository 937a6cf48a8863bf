"""The explicit list of the recommended rules, in the order in which hits are reported."""

from __future__ import annotations

from curation.notation.recommended.calculus import (
    DERIVATIVE_FRACTION,
    INFINITY_SIGN,
    INTEGRAL_SIGN,
    LATEX_CALCULUS,
    LATEX_FRACTION,
    LATEX_FUNCTION,
    PARTIAL_DERIVATIVE,
    PRODUCT_SIGN,
    SUMMATION_SIGN,
)
from curation.notation.recommended.chemistry import CHEMICAL_FORMULA, CHEMICAL_REACTION, ION_CHARGE, SALT_FORMULA
from curation.notation.recommended.equations import (
    CAPITAL_LINE,
    CHAINED_INEQUALITY,
    LINEAR_EQUATION,
    PRODUCT_FORMULA,
    VARIABLE_IN_INEQUALITY,
)
from curation.notation.recommended.functions import (
    EXPONENTIAL_FUNCTION,
    FUNCTION_OF_VARIABLE,
    LOGARITHM,
    TRIGONOMETRIC_FUNCTION,
)
from curation.notation.recommended.powers import (
    GROUP_WITH_EXPONENT,
    NEGATIVE_EXPONENT,
    NUMBER_WITH_EXPONENT,
    PRODUCT_WITH_EXPONENT,
    PROGRAMMING_POWER,
    VARIABLE_WITH_EXPONENT,
)
from curation.notation.recommended.quantities import ABSOLUTE_VALUE, FACTORIAL, PI_IN_EXPRESSION
from curation.notation.recommended.roots import (
    CUBE_ROOT_SIGN,
    INDEXED_ROOT,
    LATEX_ROOT,
    ROOT_FUNCTION,
    ROOT_IN_WORDS,
    ROOT_SIGN,
)
from curation.notation.rule import RecommendedRule

RECOMMENDED_RULES: tuple[RecommendedRule, ...] = (
    VARIABLE_WITH_EXPONENT,
    PRODUCT_WITH_EXPONENT,
    NUMBER_WITH_EXPONENT,
    GROUP_WITH_EXPONENT,
    NEGATIVE_EXPONENT,
    PROGRAMMING_POWER,
    ROOT_SIGN,
    CUBE_ROOT_SIGN,
    INDEXED_ROOT,
    LATEX_ROOT,
    ROOT_FUNCTION,
    ROOT_IN_WORDS,
    EXPONENTIAL_FUNCTION,
    LOGARITHM,
    TRIGONOMETRIC_FUNCTION,
    FUNCTION_OF_VARIABLE,
    LINEAR_EQUATION,
    CAPITAL_LINE,
    PRODUCT_FORMULA,
    VARIABLE_IN_INEQUALITY,
    CHAINED_INEQUALITY,
    ABSOLUTE_VALUE,
    FACTORIAL,
    PI_IN_EXPRESSION,
    SUMMATION_SIGN,
    PRODUCT_SIGN,
    INTEGRAL_SIGN,
    PARTIAL_DERIVATIVE,
    DERIVATIVE_FRACTION,
    INFINITY_SIGN,
    LATEX_CALCULUS,
    LATEX_FUNCTION,
    LATEX_FRACTION,
    CHEMICAL_FORMULA,
    SALT_FORMULA,
    CHEMICAL_REACTION,
    ION_CHARGE,
)
