"""The exact interval of a share (Clopper and Pearson 1934): what shares could have given so many of so many.

Bounds are quantiles of the beta distribution, found by safeguarded Newton steps on its regularised incomplete integral.
"""

from __future__ import annotations

import math

_STEPS = 200  # halvings alone would come below the spacing of floats
_PRECISION = 1e-14
_TERMS = 100_000  # of the continued fraction: it needs about the square root of the counts
_TINY = 1e-300


def find_interval(hits: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """The lower and upper bound of the share of which `hits` of `total` is a sample; (0, 1) of nothing."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no share")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is none")
    tail = (1 - confidence) / 2
    lower = 0.0 if hits == 0 else _find_quantile(tail, hits, total - hits + 1)
    upper = 1.0 if hits == total else _find_quantile(1 - tail, hits + 1, total - hits)
    return lower, upper


def _find_quantile(probability: float, a: float, b: float) -> float:
    """Newton's steps, and a halving where one would leave what is known to hold the quantile."""
    low, high = 0.0, 1.0
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    x = a / (a + b)
    for _ in range(_STEPS):
        difference = integrate_beta(x, a, b) - probability
        low, high = (x, high) if difference < 0 else (low, x)
        density = math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta)
        step = x - difference / density if density > _TINY else low
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= _PRECISION * x:
            return following
        x = following
    return x


def integrate_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for positive a and b."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    # The fraction converges quickly on this side of the mean only; the other is its mirror image.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - integrate_beta(1.0 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    return front * _continue_fraction(x, a, b)


def _continue_fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the continued fraction of the incomplete beta function."""
    value = 1.0
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for numerator in (even, odd):
            d = 1.0 + numerator * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            return value
    return value
