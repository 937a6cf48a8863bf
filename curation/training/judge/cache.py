"""Answers already paid for: one JSON line each, appended as they come, found by the hash of the whole question.

What an answer means is read anew each time, so better reading costs no question. Invariant: one process writes, a
line is complete or it is the last; a torn last line is cut off before the next is written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from curation.errors import QuotaError
from curation.recipe import hash_json
from curation.training.judge.answers import RawAnswer
from curation.training.judge.problem import JudgeError


def hash_question(text_sha256: str, prompt_sha256: str, model: str, parameters: Mapping[str, Any]) -> str:
    """What makes two questions the same, in hex. `text_sha256`: of the text as it is sent."""
    return hash_json({"text": text_sha256, "prompt": prompt_sha256, "model": model, "parameters": dict(parameters)})


class CachedAnswer(BaseModel):
    """One line. `question` is `hash_question` of the fields below it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    text_sha256: str
    prompt_sha256: str
    variant: str
    model: str
    parameters: dict[str, Any]
    content: str
    refusal: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None

    def raw(self) -> RawAnswer:
        return RawAnswer(self.content, self.refusal, self.finish_reason, self.prompt_tokens, self.completion_tokens)


class Spent:
    """Tokens of all answers in a cache, as the endpoint counted them; answers without counts are only numbered."""

    def __init__(self) -> None:
        self.answers = self.uncounted = self.prompt_tokens = self.completion_tokens = 0

    def add(self, answer: CachedAnswer) -> None:
        self.answers += 1
        if answer.prompt_tokens is None or answer.completion_tokens is None:
            self.uncounted += 1
        self.prompt_tokens += answer.prompt_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0


class AnswerCache:
    """The answers of a file; where a question stands twice the later answer counts, both were paid."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spent = Spent()
        self._answers: dict[str, CachedAnswer] = {}
        for answer in _read_lines(path):
            self._take(answer)

    def get(self, question: str) -> CachedAnswer | None:
        return self._answers.get(question)

    def _take(self, answer: CachedAnswer) -> None:
        self._answers[answer.question] = answer
        self.spent.add(answer)


class WritableCache(AnswerCache):
    """A cache that this process alone appends to, from any of its threads. Made by `open_cache`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        super().__init__(path)
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def add(self, answer: CachedAnswer) -> None:
        """Keep an answer; on disk when this returns. Raises QuotaError when the disk is full."""
        line = orjson.dumps(answer.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE)
        with self._lock:
            size_bytes = os.fstat(self._descriptor).st_size
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
                os.fsync(self._descriptor)
            except OSError as error:
                os.ftruncate(self._descriptor, size_bytes)
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise QuotaError(
                        "The disk is full: an answer could not be kept.",
                        hint="Free space, then run the same command again; it carries on.",
                    ) from error
                raise
            self._take(answer)


@contextmanager
def open_cache(path: Path) -> Iterator[WritableCache]:
    """The cache of a file, made where there is none. Raises JudgeError when another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JudgeError(
                f"Another process is labelling into {path.parent}.", hint="Wait for it or choose another --out."
            ) from None
        cache = WritableCache(path, descriptor)
        os.ftruncate(descriptor, _measure_whole_lines(path))
        yield cache
    finally:
        os.close(descriptor)


def _measure_whole_lines(path: Path) -> int:
    return path.read_bytes().rfind(b"\n") + 1


def _read_lines(path: Path) -> Iterator[CachedAnswer]:
    """Every complete line. Raises JudgeError that names a damaged one."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, 1):
        try:
            yield CachedAnswer.model_validate_json(line)
        except ValidationError as error:
            raise JudgeError(
                f"{path}, line {number}: not an answer ({error.errors()[0]['msg']}).",
                hint="Remove that line: its question is asked again.",
            ) from None
