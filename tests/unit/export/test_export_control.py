"""The control has the curriculum's tokens, drawn by key from everything that can be read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.export.control import draw_control, find_host, name_strata


def draw(tokens: list[int], curriculum: list[int], keys: list[int] | None = None, **options: object):  # type: ignore[no-untyped-def]
    n = len(tokens)
    is_curriculum = np.zeros(n, bool)
    is_curriculum[curriculum] = True
    counts = np.array(tokens, np.int64)
    order = np.array(keys if keys is not None else range(n), np.uint64)
    readable = options.get("is_readable", np.ones(n, bool))
    return draw_control(order, counts, readable, is_curriculum, options.get("strata"))  # type: ignore[arg-type]


def taken(sample) -> list[int]:  # type: ignore[no-untyped-def]
    return np.flatnonzero(sample.is_taken).tolist()


@pytest.mark.parametrize(
    ("tokens", "curriculum", "expected"),
    [
        ([10, 10, 10, 10], [2, 3], [0, 1]),  # exactly
        ([10, 10, 14, 15], [2, 0], [0, 1]),  # 24: 20 is nearer than 34
        ([10, 10, 14, 15], [2, 3], [0, 1, 2]),  # 29: 34 is nearer than 20
        ([10, 20, 10, 5], [0, 2], [0]),  # 20: 10 and 30 are as near; the next must leave the smaller difference
        ([100, 1, 1, 1], [1, 2], []),  # the first of all is too long by far
        ([7, 7], [], []),
        ([0, 0], [0], [0, 1]),  # tokens alone are matched
    ],
)
def test_rows_are_taken_in_key_order_to_the_nearest_total(
    tokens: list[int], curriculum: list[int], expected: list[int]
) -> None:
    assert taken(draw(tokens, curriculum)) == expected


def test_unreadable_rows_are_never_taken() -> None:
    readable = np.array([False, True, True])
    assert taken(draw([0, 5, 5], [1, 2], is_readable=readable)) == [1, 2]


def test_keys_decide_not_positions() -> None:
    assert taken(draw([10, 10, 10, 10], [0], keys=[4, 3, 2, 1])) == [3]


@settings(max_examples=200)
@given(st.data())
def test_tokens_agree_within_one_document(data: st.DataObject) -> None:
    tokens = data.draw(st.lists(st.integers(0, 5000), min_size=1, max_size=60))
    curriculum = data.draw(st.lists(st.integers(0, len(tokens) - 1), unique=True, max_size=len(tokens)))
    keys = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=len(tokens), max_size=len(tokens)))
    match = data.draw(st.sampled_from(["tokens", "length", "domain"]))
    counts = np.array(tokens, np.int64)
    urls = [f"http://host{i % 4}.example/" for i in range(len(tokens))]
    strata = {"tokens": None, "length": name_strata(counts, None), "domain": name_strata(counts, urls)}[match]
    sample = draw(tokens, curriculum, keys, strata=strata)
    wanted = sum(tokens[i] for i in curriculum)
    assert abs(int(counts[sample.is_taken].sum()) - wanted) <= max(tokens)
    assert sum(sample.matched_tokens.values()) == int(counts[sample.is_taken].sum())
    if not curriculum:
        assert not sample.is_taken.any()


def test_lengths_are_matched_octave_by_octave() -> None:
    generator = np.random.default_rng(3)
    tokens = np.concatenate([generator.integers(64, 128, 400), generator.integers(1024, 2048, 400)])
    curriculum = list(range(100, 300))  # short ones alone
    strata = name_strata(tokens, None)
    keys = generator.integers(0, 1 << 64, 800, np.uint64).tolist()
    sample = draw(tokens.tolist(), curriculum, keys, strata=strata)
    long_tokens = tokens[400:][sample.is_taken[400:]].sum()
    assert long_tokens <= 2047  # one document at most, to make up the last of the total
    # Without strata about 94 % of the tokens would be long.
    plain = draw(tokens.tolist(), curriculum, keys)
    assert tokens[400:][plain.is_taken[400:]].sum() > 10_000


def test_hosts_are_matched_and_the_unknown_is_a_host_of_its_own() -> None:
    tokens = [100] * 40
    urls = ["https://www.a.example/x"] * 20 + [None] * 20
    strata = name_strata(np.array(tokens), urls)
    assert len(set(strata.tolist())) == 2
    sample = draw(tokens, list(range(10)), list(range(40))[::-1], strata=strata)
    assert taken(sample) == list(range(10, 20))
    assert sample.matched_tokens == {"stratum": 1000, "octave": 0, "any": 0}


def test_what_a_stratum_cannot_place_comes_from_its_octave() -> None:
    tokens = [100, 120, 110, 125]
    strata = name_strata(np.array(tokens), ["http://a/", "http://a/", "http://b/", "http://b/"])
    # In both hosts the first by key (120, 125) exceeds what the curriculum has there (100, 110); of the octave's 210
    # tokens 120 fit and 125 more do not, and at last 245 in all are nearer to 210 than 120.
    sample = draw(tokens, [0, 2], [3, 1, 4, 2], strata=strata)
    assert sample.matched_tokens == {"stratum": 0, "octave": 120, "any": 125}
    assert taken(sample) == [1, 3]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.Example.org:8080/a?b=c", "example.org"),
        ("http://user@sub.example.org/", "sub.example.org"),
        ("no url at all", ""),
        ("http://[broken", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_host_of_a_url(url: str | None, host: str) -> None:
    assert find_host(url) == host


def test_octaves_begin_at_powers_of_two() -> None:
    octaves = name_strata(np.array([0, 1, 2, 3, 4, 1023, 1024, 1 << 61]), None)
    assert octaves.tolist() == [1, 1, 2, 2, 3, 10, 11, 62]
