"""Every rule is linear: eight times the text may not cost three times eight times the work, whatever the text repeats."""

from __future__ import annotations

import time

import pytest

from curation.signals.notation import find_all_published, find_all_recommended, find_published, find_recommended

SMALL_CHARS = 8_000
GROWTH = 8
# A quadratic rule would take GROWTH times as long again: 64 times the small text's time.
MOST_TIMES_SLOWER = 3 * GROWTH
# Below this a time is noise. A quadratic rule on the large text takes seconds.
LEAST_SECONDS = 0.005

REPEATED = (
    r"\sqrt[",
    r"\sqrt[ ",
    r"\sqrt[]",
    r"\frac{",
    r"\frac{1}{",
    r"\int ",
    "\\",
    "x^{",
    "x^",
    "x ^ 2 ",
    "3^2 ",
    "(a+b)^",
    "x**2 ",
    "a**",
    "**",
    "**x",
    "*x*",
    "a ",
    "a\n",
    "1",
    "1 ",
    "w",
    "w1",
    "é",
    "a<",
    "a<b>",
    "<b ",
    "1 < x ",
    "=",
    "a=",
    "1x=",
    "a+a=",
    "1+",
    "(a+",
    "2x + 3y ",
    "(",
    "f(",
    "f(x",
    "sin(",
    "sin ",
    "log ",
    "cbrt \n",
    "|",
    "|x",
    "!",
    "n! ",
    "factorial ",
    "a²",
    "² ",
    "³√ ",
    "√",
    "∛1",
    "∑(",
    "∫ d",
    "∂",
    "2π",
    "H2O ",
    "CaCO",
    "(OH)2",
    "Na2",
    "A1",
    "(1,-",
    "(-1)",
    "square root ",
    "http://",
    "C:\\",
    "\\\\a\\",
)
SURROUNDED = (
    ("\\sqrt[", " ", ""),
    ("\\sqrt[", "x", ""),
    ("a", " ", "^"),
    ("x ^", " ", ""),
    ("x ^ -", "\t", ""),
    ("x", " ", "<"),
    ("x <", " ", ""),
    ("sin", " ", "("),
    ("f(", " ", "x"),
    ("", "1", "^"),
    ("x + ", "1", "="),
    ("A", "1", ""),
    ("", "w", "^2"),
    ("|", "x", "|"),
    ("√", "1", ""),
    ("\\frac{", "1", "}"),
    ("**", "x", "**"),
    ("²", " ", "√"),
)


def measure_seconds(text: str) -> float:
    started = time.process_time()
    find_all_published(text)
    find_all_recommended(text)
    return time.process_time() - started


def assert_linear(small: str, large: str) -> None:
    for _ in range(3):
        small_seconds = max(measure_seconds(small), LEAST_SECONDS)
        large_seconds = measure_seconds(large)
        if large_seconds <= MOST_TIMES_SLOWER * small_seconds:
            return
    pytest.fail(f"{len(large)} characters took {large_seconds:.2f} s, {len(small)} took {small_seconds:.3f} s")


@pytest.mark.parametrize("unit", REPEATED)
def test_repeated_unit(unit: str) -> None:
    small = unit * (SMALL_CHARS // len(unit))
    assert_linear(small, small * GROWTH)


@pytest.mark.parametrize(("before", "unit", "after"), SURROUNDED)
def test_long_run(before: str, unit: str, after: str) -> None:
    assert_linear(before + unit * SMALL_CHARS + after, before + unit * SMALL_CHARS * GROWTH + after)


def test_many_indexed_roots_before_one_long_run() -> None:
    """Cubic as published: a thousandth of this text would stop a worker for a minute."""
    text = "\\sqrt[" * 100_000 + " " * 400_000
    started = time.process_time()
    hits = find_published(text)
    assert time.process_time() - started < 20
    assert [hit.rule for hit in hits] == ["17"]
    assert find_recommended(text) == []


def test_indexed_root_closed_far_away() -> None:
    text = "\\sqrt[" + " " * 10_000 + "]"
    assert [(hit.rule, hit.start, hit.end) for hit in find_published(text)] == [("11", 0, 10_007), ("17", 0, 5)]
    assert [hit.rule for hit in find_published("\\sqrt[]" * 3)] == ["17"]
    assert [(hit.rule, hit.start, hit.end) for hit in find_published("\\sqrt[]\\sqrt[3]")] == [
        ("11", 7, 15),
        ("17", 0, 5),
        ("24", 7, 13),
    ]
