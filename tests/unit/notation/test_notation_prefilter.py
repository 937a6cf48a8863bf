"""The clues are a superset: what the rules find behind them is what each rule finds when it is simply run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.notation.hit import Hit
from curation.notation.published.rules import PUBLISHED_RULES
from curation.notation.recommended.markup import mask_markup
from curation.notation.recommended.rules import RECOMMENDED_RULES
from curation.signals.notation import (
    find_all_published,
    find_all_recommended,
    find_clues,
    find_published,
    find_recommended,
)

CASE_TEXTS: list[str] = [
    case["text"]
    for case in yaml.safe_load((Path(__file__).parents[2] / "cases" / "notation.yaml").read_text(encoding="utf-8"))
]

# Letters that fold to ASCII ones (K, İ, ı, ſ), marks that combine, digits and minus signs of other kinds, and all that
# counts as white space: each has broken a prefilter that was written for ASCII.
CHARACTERS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_éñßKİıſ\u0301\u0307٣५３"
    "^*{}()[]\\/|<>=+-−–×÷·!?.,:;'′’\"$%&#@~ \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000"
    "²³¹⁴⁹⁰ⁿ⁻⁺₂₀ᵢ∛√∜∑ΣΠ∏∫∬∂∞πθαΩ≤≥→°½\x00\u200b\ud7ff\U0001d7d8"
)
FRAGMENT_LINES = r"""
sin cos tan log ln exp cbrt sqrt arcsin tanh LOG SIN ſin sİn cosh arctan sec f( g( h(x) P(A) f'( \sqrt[ \sqrt \frac{ \int
\sum \infty \lim }{ ** ^ ^{ ^( )^ **2 <sup> </sup> <b> <i> </b> http:// www. C:\ H2O CO2 O2 NaCl HCl Ca(OH)2 H₂O C6H12O6
Ca2+ Na⁺ molecule atoms R2D2 B12) 2X mx ax by = == x+ 3x 2(n 5! n! factorial |x| |-5| (-3 ,-2) (−4) dx/dt dy/dx square root
of cube roots 2π πr x² m² cm^3 10^3 10⁻³ 1/3) < x < ≤ score
"""
FRAGMENTS = FRAGMENT_LINES.split()

texts = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS), st.sampled_from(CHARACTERS), st.sampled_from((" ", "  ", "(", ")", "", "=")))
    | st.sampled_from(CASE_TEXTS),
    max_size=14,
).map("".join)


def find_all_plainly(text: str) -> tuple[list[Hit], list[Hit]]:
    masked = mask_markup(text)
    assert len(masked) == len(text)
    return (
        [Hit(rule.name, *span) for rule in PUBLISHED_RULES for span in rule.scan(text)],
        [Hit(rule.name, *span) for rule in RECOMMENDED_RULES for span in rule.scan(masked)],
    )


def keep_first(hits: list[Hit]) -> list[Hit]:
    return list({hit.rule: hit for hit in reversed(hits)}.values())[::-1]


def assert_same(text: str) -> None:
    published, recommended = find_all_plainly(text)
    assert find_all_published(text) == published
    assert find_all_recommended(text) == recommended
    assert find_published(text) == keep_first(published)
    assert find_recommended(text) == keep_first(recommended)
    clues = find_clues(text)
    assert find_published(text, clues) == keep_first(published)
    assert find_recommended(text, clues) == keep_first(recommended)


@settings(max_examples=3000)
@given(texts)
def test_clues_lose_nothing_on_fuzzed_text(text: str) -> None:
    assert_same(text)


@settings(max_examples=500)
@given(st.sampled_from(CASE_TEXTS), st.sampled_from(CHARACTERS), st.integers(0, 60))
def test_clues_lose_nothing_on_cases_with_a_character_put_in(text: str, character: str, place: int) -> None:
    assert_same(text[:place] + character + text[place:])


MARKUP = (
    "<b>",
    "</b>",
    "<sup>",
    "</sup>",
    "<br/>",
    "**",
    "*x*",
    "_n_",
    "<i>x</i>",
    "  ",
    " (",
    "=",
    "*3*",
    "\xa0",
    "\x1f",
)


@settings(max_examples=2000)
@given(st.sampled_from(CASE_TEXTS), st.lists(st.tuples(st.integers(0, 30), st.sampled_from(MARKUP)), max_size=3))
def test_clues_lose_nothing_on_cases_with_markup_put_in(text: str, insertions: list[tuple[int, str]]) -> None:
    for place, markup in insertions:
        text = text[:place] + markup + text[place:]
    assert_same(text)


@pytest.mark.parametrize(
    "text",
    [
        "sin *x*",
        "exp<b>(x)</b>",
        "2n<b> + 6</b>",
        "f   (x)",
        "log" + " " * 40 + "(x)",
        "",
        "\ud800",
        "a\ud800^2",
        "٣A",
        "Fe٣)",
        "ſin(x)",
        "sİn (x)",
        "COS\u2003\u2003(x)",
    ],
)
def test_clues_lose_nothing_on_odd_text(text: str) -> None:
    assert_same(text)


def test_plain_prose_shows_no_clue() -> None:
    assert find_clues("The cat sat on the mat. It was a good cat, and it had 3 kittens.") == 0
