"""The published rules against the oracle on hostile text: the same rules hit, and each first hit is a hit by itself."""

from __future__ import annotations

import oracle
import pytest
from fuzz import fuzz_texts, hostile_text
from hypothesis import given, settings

from curation.signals.notation import find_published


def assert_equals_oracle(text: str) -> None:
    hits = find_published(text)
    assert [int(hit.rule) for hit in hits] == oracle.published_rules(text)
    for hit in hits:
        assert (hit.start, hit.end) == oracle.PUBLISHED_RULES[int(hit.rule)].search(text).span()  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", [61, 62, 63])
def test_equals_the_oracle_on_fuzz(seed: int) -> None:
    for text in fuzz_texts(seed=seed, count=2000):
        assert_equals_oracle(text)


@settings(max_examples=300)
@given(hostile_text())
def test_equals_the_oracle_on_any_text(text: str) -> None:
    assert_equals_oracle(text)


@pytest.mark.parametrize(
    "text", ["x^{n", "x^{}", "x^{{}", "a^{b^{c}", "x ^\n{ y\n} z^{", "}x^{", "e^{ } {", "x^{" * 5 + "}"]
)
def test_braces(text: str) -> None:
    assert_equals_oracle(text)
