"""A judge behind a local port that speaks the chat-completions API, with faults that can be queued.

It reads which prompt asks and which document stands in the fence, and votes as the document says: a document that holds
`long_rubric=K8` gets K8 from that prompt, one that says nothing gets K5. Every request is recorded.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from curation.training.judge.prompts import VARIANTS, load_prompt

KEY = "sk-secretsecretsecret"
MODEL = "judge-1"
_FENCE = re.compile(r"<<<([0-9a-f]{24})>>>\n(.*)\n<<<\1>>>", re.DOTALL)


def make_judgement(band: str = "K5", **changes: Any) -> dict[str, Any]:
    """The object that a prompt asks for."""
    judgement = {
        "band": band,
        "confidence": 3,
        "why": f"needs {band}",
        "subject": "life science",
        "decisive_terms": ["cell"],
    }
    return {**judgement, **changes}


@dataclass(frozen=True)
class Fault:
    """What one request meets instead of a plain answer. `content` stands in an answer that is otherwise whole."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    content: str | None = None
    refusal: str | None = None
    finish_reason: str = "stop"
    body: bytes | None = None
    cut_after_bytes: int | None = None
    is_stalled: bool = False
    is_closed: bool = False


@dataclass(frozen=True)
class Recorded:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    variant: str
    document: str


class LlmServer:
    """`faults` are met in order, one a request; `before_answer` runs before each plain answer, in its thread."""

    def __init__(self, *, key: str | None = KEY) -> None:
        self.key = key
        self.faults: deque[Fault] = deque()
        self.requests: list[Recorded] = []
        self.before_answer: Callable[[Recorded], None] = lambda _: None
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._variants = {load_prompt(variant).system: variant for variant in VARIANTS}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> LlmServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def asked(self) -> list[tuple[str, str]]:
        """Variant and document of every request, in order."""
        return [(request.variant, request.document) for request in self.requests]

    def _make_handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(_Handler):
            def do_POST(self) -> None:
                server._answer(self)

        return Handler

    def _answer(self, handler: _Handler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        system, user = (message["content"] for message in body["messages"])
        fenced = _FENCE.search(user)
        assert fenced is not None
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Recorded(handler.path, headers, body, self._variants[system], fenced[2])
        with self._lock:
            self.requests.append(request)
            fault = self.faults.popleft() if self.faults else Fault()
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            fault = Fault(401, error={"message": f"Incorrect API key: {headers.get('authorization')}"})
        if fault == Fault():
            self.before_answer(request)
        self._send(handler, request, fault)

    def _send(self, handler: _Handler, request: Recorded, fault: Fault) -> None:
        if fault.is_stalled:
            self.released.wait()
        if fault.is_stalled or fault.is_closed:
            handler.close_connection = True
            return
        if fault.body is not None:
            content = fault.body
        elif fault.error is not None or fault.status != 200:
            content = json.dumps({"error": fault.error or {}}).encode()
        else:
            content = json.dumps(self._complete(request, fault)).encode()
        handler.send_head(fault.status, len(content), fault.headers)
        if fault.cut_after_bytes is not None:
            content = content[: fault.cut_after_bytes]
            handler.close_connection = True
        handler.wfile.write(content)

    def _complete(self, request: Recorded, fault: Fault) -> dict[str, Any]:
        vote = re.search(rf"{request.variant}=(\w+)", request.document)
        content: str | None = json.dumps(make_judgement(vote[1] if vote else "K5"))
        if fault.content is not None or fault.refusal is not None:
            content = fault.content
        message = {"role": "assistant", "content": content, "refusal": fault.refusal}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": request.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": fault.finish_reason}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send_head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent: tests read `requests`."""
