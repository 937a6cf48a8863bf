"""Every case of tests/cases/notation.yaml: the exact published and recommended rules that hit a short text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from curation.normalize import normalize
from curation.notation.published.rules import PUBLISHED_RULES
from curation.notation.recommended.rules import RECOMMENDED_RULES
from curation.notation.rule import RecommendedRule
from curation.signals.notation import find_all_published, find_all_recommended, find_published, find_recommended

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "notation.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["text"])[:60])
def test_rules_that_hit(case: dict[str, Any]) -> None:
    text = case["text"]
    normalized = normalize(text).text
    published = find_published(text)
    recommended = find_recommended(normalized)
    assert [int(hit.rule) for hit in published] == case["published"]
    assert [hit.rule for hit in recommended] == case["recommended"]
    # The first hit of each rule is the first of all its hits, and every hit lies in the text.
    for first, every, scanned in (
        (published, find_all_published(text), text),
        (recommended, find_all_recommended(normalized), normalized),
    ):
        firsts = {hit.rule: hit for hit in reversed(every)}
        assert list(firsts.values())[::-1] == first
        assert all(0 <= hit.start < hit.end <= len(scanned) for hit in every)


def test_no_text_stands_twice() -> None:
    texts = [case["text"] for case in CASES]
    assert len(set(texts)) == len(texts) > 600


def test_rule_names() -> None:
    assert [rule.name for rule in PUBLISHED_RULES] == [str(number) for number in range(1, 29)]
    names = [rule.name for rule in RECOMMENDED_RULES]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name.islower() for name in names)


@pytest.mark.parametrize("rule", RECOMMENDED_RULES, ids=lambda rule: rule.name)
def test_documented_examples(rule: RecommendedRule) -> None:
    """What a rule's documentation says it hits and passes is what it does."""
    assert rule.hits
    assert rule.passes
    assert rule.judgement
    for example in rule.hits:
        assert rule.name in [hit.rule for hit in find_recommended(example)], example
    for example in rule.passes:
        assert find_recommended(example) == [], example


def test_offsets_are_those_of_the_scanned_text() -> None:
    text = "We saw that <b>7</b> = x^2 there; then x^3."
    hits = {hit.rule: text[hit.start : hit.end] for hit in find_recommended(text)}
    assert hits["variable_with_exponent"] == "x^2"
    assert [
        text[hit.start : hit.end] for hit in find_all_recommended(text) if hit.rule == "variable_with_exponent"
    ] == [
        "x^2",
        "x^3",
    ]
    assert [(hit.rule, text[hit.start : hit.end]) for hit in find_published(text)] == [
        ("16", "x^2"),
        ("19", "x^3"),
        ("25", "t <b>7"),
    ]
