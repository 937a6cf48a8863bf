"""One question to a chat-completions endpoint, by the wire format that hosted and local servers share.

Knows no prompt and no band. Invariant: the key goes into one header of one origin and nowhere else: not into a message,
a file or a repr, and it is struck from whatever a server sends back.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
from pydantic import BaseModel, ValidationError

from curation.errors import SourceError
from curation.shards.http_file import translate_http_errors
from curation.shards.remote_shard import mask_url
from curation.shards.retries import TRANSIENT_STATUSES, Interruption, RetryPolicy, read_retry_after
from curation.training.judge.answers import Fault, NoJudgement, RawAnswer
from curation.training.judge.api_key import KEY_VARIABLES, ApiKey
from curation.training.judge.pace import Pace, Stopped
from curation.training.judge.problem import JudgeError
from curation.training.judge.prompts import Message

_MAX_BODY_BYTES = 4 << 20  # an answer has a few kilobytes
_MESSAGE_CHARS = 200
# Statuses that every further question would meet too: no key, no money, no such model or address.
_HOPELESS_STATUSES = {
    401: f"Set {KEY_VARIABLES[0]} (or {KEY_VARIABLES[1]}) to a key of this endpoint.",
    402: "The account has no credit: add some, then run the same command again; it carries on.",
    404: "Check --endpoint (it usually ends in /v1) and --model.",
    405: "Check --endpoint (it usually ends in /v1).",
}
# Named by OpenAI and those who copy its errors: a 429 that no waiting changes.
_SPENT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


class ChatClient:
    """Shared by all threads of a run. `requests` counts what was sent, repeats included. A context manager."""

    def __init__(
        self,
        endpoint: str,
        model: str,
        parameters: Mapping[str, Any],
        *,
        key: ApiKey,
        pace: Pace,
        policy: RetryPolicy,
        concurrency: int,
    ) -> None:
        self.label = mask_url(endpoint)
        self.requests = 0
        self._url = _join_url(endpoint)
        self._body = {**parameters, "model": model}
        self._key = key
        self._pace = pace
        self._policy = policy
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        headers = {"Content-Type": "application/json", "User-Agent": "primer", "Accept-Encoding": "identity"}
        if key.value:
            headers["Authorization"] = f"Bearer {key.value}"
        # No redirects: a key and a document go where they were sent.
        self._http = httpx.Client(
            headers=headers,
            follow_redirects=False,
            timeout=httpx.Timeout(policy.read_timeout_seconds, connect=policy.connect_timeout_seconds),
            limits=httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        )

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def ask(self, messages: Sequence[Message], tokens: int) -> RawAnswer | NoJudgement:
        """The answer, or why this question has none. `tokens`: about how many, in and out, for the limit a minute.

        Waits and repeats as the policy and the server say. Raises JudgeError for what every question would meet,
        SourceError for an address that cannot be requested, Stopped when the run is being stopped.
        """
        body = json.dumps({**self._body, "messages": list(messages)}).encode()
        failures = 0
        while True:
            self._pace.wait_turn(tokens)
            if self._stopping.is_set():
                raise Stopped
            try:
                return self._post(body)
            except (JudgeError, SourceError):
                self.stop()  # at once: the questions in the queue would meet the same
                raise
            except Interruption as error:
                failures += 1
                if failures >= self._policy.attempts:
                    return NoJudgement(Fault.UNANSWERED, f"{self._redact(error.reason)} ({failures} attempts)")
                wait = self._policy.choose_wait(failures, error.retry_after_seconds)
                if error.retry_after_seconds is not None:
                    self._pace.hold(wait)
                self._pace.clock.sleep(wait)

    def stop(self) -> None:
        """Send nothing more: waits and new questions end with Stopped, requests under way go on."""
        self._stopping.set()
        self._pace.clock.stop()

    def _post(self, body: bytes) -> RawAnswer | NoJudgement:
        with self._lock:
            self.requests += 1
        with translate_http_errors(self.label), self._http.stream("POST", self._url, content=body) as response:
            content = self._redact(self._read_body(response).decode("utf-8", "replace"))
        if response.is_success:
            return _read_completion(content)
        return self._explain_refusal(response, content)

    def _read_body(self, response: httpx.Response) -> bytes:
        """The whole body. Bounded in bytes and time: a read time-out alone lets a server send a byte a minute."""
        deadline = self._pace.clock.now() + self._policy.read_timeout_seconds
        chunks = bytearray()
        for chunk in response.iter_bytes():
            chunks += chunk
            if len(chunks) > _MAX_BODY_BYTES:
                raise Interruption(f"the server sends more than {_MAX_BODY_BYTES >> 20} MB")
            if self._pace.clock.now() > deadline:
                raise Interruption("the server sends its answer too slowly")
        return bytes(chunks)

    def _explain_refusal(self, response: httpx.Response, content: str) -> NoJudgement:
        status = response.status_code
        code, message = _read_error(content)
        if status == 429 and code in _SPENT_CODES:
            raise JudgeError(f"{self.label}: the account's quota is spent (HTTP 429).", hint=_HOPELESS_STATUSES[402])
        if status in TRANSIENT_STATUSES or status >= 500:
            wish = read_retry_after(response.headers.get("Retry-After"))
            raise Interruption(f"the server answers HTTP {status}", retry_after_seconds=wish)
        if status in _HOPELESS_STATUSES:
            said = f": {message}" if message and status != 401 else ""  # a 401 likes to quote part of the key
            raise JudgeError(f"{self.label}: the server answers HTTP {status}{said}.", hint=_HOPELESS_STATUSES[status])
        if status < 400:
            raise JudgeError(
                f"{self.label}: the server points elsewhere (HTTP {status}).", hint="Give --endpoint its final address."
            )
        if code == "content_filter":
            return NoJudgement(Fault.REFUSED, "a content filter stopped the question")
        return NoJudgement(Fault.REJECTED, f"HTTP {status}" + (f": {message}" if message else ""))

    def _redact(self, text: str) -> str:
        return text.replace(self._key.value, "[key]") if self._key.value else text


def _join_url(endpoint: str) -> str:
    """The address to post to; a query of the base URL stays behind the path."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        raise JudgeError(
            f"{mask_url(endpoint)} is no address.", hint="Give --endpoint as http://localhost:8000/v1."
        ) from None
    return parts._replace(path=f"{parts.path.rstrip('/')}/chat/completions").geturl()


def _read_completion(content: str) -> RawAnswer:
    try:
        completion = _Completion.model_validate_json(content)
        choice = completion.choices[0]
    except (ValidationError, IndexError):
        raise Interruption("the server sends something else than a chat completion") from None
    usage = completion.usage or _Usage()
    return RawAnswer(
        choice.message.content or "",
        choice.message.refusal or "",
        choice.finish_reason or "",
        usage.prompt_tokens,
        usage.completion_tokens,
    )


def _read_error(content: str) -> tuple[str, str]:
    """Code and first line of the message of an error in OpenAI's form, fit for a terminal; "" for what is missing."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return "", ""
    error = found.get("error") if isinstance(found, dict) else None
    if isinstance(error, str):
        error = {"message": error}
    if not isinstance(error, dict):
        return "", ""
    code, message = error.get("code"), error.get("message")
    first_line = message.strip().partition("\n")[0] if isinstance(message, str) else ""
    shown = "".join(character if character.isprintable() else " " for character in first_line[:_MESSAGE_CHARS])
    return code if isinstance(code, str) else "", shown.rstrip(" .")
