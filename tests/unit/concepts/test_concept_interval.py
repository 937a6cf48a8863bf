"""Exact intervals of shares against values of R's binom.test and closed forms."""

from __future__ import annotations

import pytest

from curation.concepts.interval import find_interval, integrate_beta


@pytest.mark.parametrize(
    ("hits", "total", "confidence", "lower", "upper"),
    [
        (5, 10, 0.95, 0.1870860, 0.8129140),
        (1, 10, 0.95, 0.002528579, 0.4450161),
        (3, 20, 0.95, 0.03207094, 0.3789268),
        (20, 100, 0.95, 0.1266556, 0.2918427),
        (0, 10, 0.95, 0.0, 0.3084971),
        (10, 10, 0.95, 0.6915029, 1.0),
        (0, 0, 0.95, 0.0, 1.0),
    ],
)
def test_known_intervals(hits: int, total: int, confidence: float, lower: float, upper: float) -> None:
    found = find_interval(hits, total, confidence)
    assert found == pytest.approx((lower, upper), rel=1e-6)


@pytest.mark.parametrize("total", [1, 7, 460, 7_400, 1_000_000])
def test_bounds_of_none_and_of_all_have_closed_forms(total: int) -> None:
    assert find_interval(0, total)[1] == pytest.approx(1 - 0.025 ** (1 / total), rel=1e-9)
    assert find_interval(total, total)[0] == pytest.approx(0.025 ** (1 / total), rel=1e-9)


@pytest.mark.parametrize(("hits", "total"), [(3, 40), (12, 400), (126, 140_000)])
def test_the_tails_of_the_binomial_are_what_they_should_be(hits: int, total: int) -> None:
    """At the lower bound `hits` or more have a chance of 2.5 %, at the upper bound `hits` or fewer: summed term by term."""
    from math import exp, lgamma, log, log1p

    def chance(share: float, count: int) -> float:
        ways = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
        return exp(ways + count * log(share) + (total - count) * log1p(-share))

    lower, upper = find_interval(hits, total)
    assert 1 - sum(chance(lower, count) for count in range(hits)) == pytest.approx(0.025, rel=1e-6)
    assert sum(chance(upper, count) for count in range(hits + 1)) == pytest.approx(0.025, rel=1e-6)


def test_the_beta_integral_and_its_mirror_add_up() -> None:
    assert integrate_beta(0.3, 2, 5) + integrate_beta(0.7, 5, 2) == pytest.approx(1, abs=1e-14)
    assert integrate_beta(0.5, 4, 4) == pytest.approx(0.5, abs=1e-14)
    assert integrate_beta(0.25, 1, 1) == pytest.approx(0.25, abs=1e-15)


@pytest.mark.parametrize(("hits", "total", "confidence"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0), (1, 5, 0.0)])
def test_what_is_no_share_is_refused(hits: int, total: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"no share|is none"):
        find_interval(hits, total, confidence)
