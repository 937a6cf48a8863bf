"""Edges of recommended rules that a small fault in them would move: the exact rules that hit each text."""

from __future__ import annotations

import time

import pytest

from curation.signals.notation import find_published, find_recommended


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        pytest.param("the value is Π_k here", ["product_sign"], id="a space may stand before the product sign"),
        pytest.param("so xΠ_k", [], id="a letter may not"),
        pytest.param("the Na⁺ ion", ["ion_charge"], id="an ion"),
        pytest.param("Na⁺x", [], id="a charge that a letter follows"),
        pytest.param("it says $x + 3 = 9$ here", ["linear_equation"], id="between dollar signs"),
        pytest.param("it costs $x + 3 = 9 today", [], id="one dollar sign is money"),
        pytest.param("$x + 3 = 9", [], id="money at the start of a text"),
        pytest.param("x + 3 = 9. It costs 5$", ["linear_equation"], id="money at the end, an equation at the start"),
        pytest.param("Q = 2B + 1", ["linear_equation"], id="capitals on both sides with a number"),
        pytest.param("I = V/R", ["linear_equation"], id="a letter is a quotient of two"),
        pytest.param("45 f (x)", [], id="a factor or footnote before a spaced function"),
        pytest.param("so f (x)", ["function_of_variable"], id="a spaced function of x"),
        pytest.param("x > 5.5", ["variable_in_inequality"], id="a bound with decimals"),
        pytest.param("2x > 5", ["variable_in_inequality"], id="a multiple without a sum"),
        pytest.param("3 < x < 7", ["chained_inequality"], id="two bounds"),
        pytest.param("k3 < x < 7", [], id="a bound inside a word"),
        pytest.param("I = V + R", [], id="a sum of abbreviations"),
        pytest.param(r"saved on \\server\int\photos", [], id="a path on a server is no LaTeX"),
        pytest.param("x > 5.a", [], id="a stop and a letter are no decimals"),
        pytest.param("10x - 20x", [], id="a range of magnifications"),
        pytest.param("10x-20x", [], id="a range without spaces"),
    ],
)
def test_edge(text: str, rules: list[str]) -> None:
    assert [hit.rule for hit in find_recommended(text)] == rules


def test_unclosed_roots_by_the_hundred_thousand_take_linear_time() -> None:
    text = "\\sqrt[" * 400_000
    began = time.process_time()
    assert [hit.rule for hit in find_published(text)] == ["17"]
    # 0.1 s where the search for a closing bracket ends once, several seconds where every opening searches anew.
    assert time.process_time() - began < 2
