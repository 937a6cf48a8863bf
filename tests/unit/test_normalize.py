"""Normalisation: every case of tests/cases/normalize.yaml, what holds of any text, and hostile runs of marks."""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from fuzz import fuzz_texts, hostile_text
from hypothesis import given, settings

from curation.normalize import CHANGES, END_OF_TEXT_TAG, Normalized, normalize

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "normalize.yaml").read_text(encoding="utf-8")
)
SPECIAL = "\u00ad\u200b\u200e\u2060\ufeff\u202e\u2066ﬀﬁﬂﬃﬄﬅﬆ‘’‚‛ʼ“”„‟ＡＺａ＇𝐱𝟚"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    found = normalize(case["text"])
    assert found.text == case.get("normalized", case["text"])
    assert {kind: count for kind, count in zip(CHANGES, found.counts, strict=True) if count} == case.get("changes", {})
    assert found.is_changed is ("changes" in case)


def assert_is_normal(text: str) -> None:
    found = normalize(text)
    assert found.is_changed or found.text == text
    assert not set(found.text) & set(SPECIAL)
    assert END_OF_TEXT_TAG not in found.text
    assert unicodedata.is_normalized("NFC", found.text)
    assert normalize(found.text) == Normalized(found.text, (0,) * len(CHANGES))


def test_normal_forms_are_normal() -> None:
    for text in fuzz_texts(seed=11, count=3000):
        assert_is_normal(text)


@settings(max_examples=200)
@given(hostile_text())
def test_any_text_gets_a_normal_form(text: str) -> None:
    assert_is_normal(text)


def test_a_lone_surrogate_passes_through() -> None:
    assert normalize("a\ud800’").text == "a\ud800'"


@pytest.mark.parametrize("count", [1, 2, 29, 30])
def test_as_many_marks_as_writing_stacks_are_composed_as_unicode_says(count: int) -> None:
    text = "be" + "\u0301\u0323\u0345"[:3] * (count // 3) + "\u0323" * (count % 3) + "tter"
    assert normalize(text).text == unicodedata.normalize("NFC", text)


def count_parts(text: str) -> Counter[str]:
    return Counter("".join(unicodedata.normalize("NFD", character) for character in text))


@pytest.mark.parametrize("pair", ["\u0301\u0323", "\u0f73", "\u0344\u0323", "\u0345\u0327"])
def test_a_hostile_run_of_marks_takes_linear_time(pair: str) -> None:
    text = "cafe\u0301 e" + pair * 500_000 + " end"
    started = time.process_time()
    found = normalize(text)
    assert time.process_time() - started < 20
    assert found.text.startswith("café ")
    assert found.text.endswith(" end")
    assert count_parts(found.text) == count_parts(text)
    counts = dict(zip(CHANGES, found.counts, strict=True))
    assert [kind for kind, count in counts.items() if count] == ["composed"]
