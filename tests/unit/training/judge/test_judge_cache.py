"""Answers that were paid for: kept at once, found again, torn lines cut off, one writer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from curation.training.judge.cache import AnswerCache, CachedAnswer, hash_question, open_cache
from curation.training.judge.problem import JudgeError

ANSWER = CachedAnswer(
    question="q1",
    text_sha256="t",
    prompt_sha256="p",
    variant="checklist",
    model="m",
    parameters={"temperature": 0},
    content='{"band": "K5"}\n',
    refusal="",
    finish_reason="stop",
    prompt_tokens=10,
    completion_tokens=2,
)


def test_kept_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "out" / "answers.jsonl"
    with open_cache(path) as cache:
        assert cache.get("q1") is None
        cache.add(ANSWER)
        cache.add(ANSWER.model_copy(update={"question": "q2", "prompt_tokens": None}))
        assert path.read_bytes().count(b"\n") == 2
    found = AnswerCache(path)
    assert found.get("q1") == ANSWER
    assert found.get("q3") is None
    spent = found.spent
    assert (spent.answers, spent.uncounted, spent.prompt_tokens, spent.completion_tokens) == (2, 1, 10, 4)


def test_later_answer_counts_and_both_are_paid(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    later = ANSWER.model_copy(update={"content": "later"})
    with open_cache(path) as cache:
        cache.add(ANSWER)
        cache.add(later)
    assert AnswerCache(path).get("q1") == later
    assert AnswerCache(path).spent.prompt_tokens == 20


def test_torn_last_line_is_cut_off_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with open_cache(path) as cache:
        cache.add(ANSWER)
    whole = path.read_bytes()
    for torn in (whole[:40], whole[:-1], b"{"):
        path.write_bytes(whole + torn)
        assert AnswerCache(path).spent.answers == 1
        assert path.read_bytes() == whole + torn, "reading changes nothing"
        with open_cache(path) as cache:
            cache.add(ANSWER.model_copy(update={"question": "q2"}))
        assert [AnswerCache(path).get(question) is not None for question in ("q1", "q2")] == [True, True]
        assert path.read_bytes().startswith(whole)
        assert path.read_bytes().count(b"\n") == 2


def test_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with open_cache(path) as cache:
        cache.add(ANSWER)
    path.write_bytes(path.read_bytes() + b'{"question": 1}\n')
    with pytest.raises(JudgeError, match="line 2: not an answer"):
        AnswerCache(path)


def test_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with open_cache(path), pytest.raises(JudgeError, match="Another process is labelling"), open_cache(path):
        pass
    with open_cache(path) as cache:
        cache.add(ANSWER)


def test_question_is_everything_it_depends_on() -> None:
    base = ("t", "p", "m", {"temperature": 0, "max_tokens": 9})
    same = hash_question("t", "p", "m", {"max_tokens": 9, "temperature": 0})
    others = [("u", *base[1:]), ("t", "q", *base[2:]), ("t", "p", "n", base[3]), ("t", "p", "m", {"temperature": 1})]
    assert hash_question(*base) == same
    assert len({same, *(hash_question(*other) for other in others)}) == 5


def test_raw_answer_comes_back_whole() -> None:
    assert dataclasses.asdict(ANSWER.raw()) == {
        "content": '{"band": "K5"}\n',
        "refusal": "",
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 2,
    }
