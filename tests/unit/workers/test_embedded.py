"""What `primer up` says while it waits."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from primer.app.core.settings import Settings
from primer.workers import embedded


class _Answers(BaseHTTPRequestHandler):
    status, checks = 503, {"database": "ok", "schema": "ok", "broker": "cannot be reached", "data_folder": "ok"}

    def do_GET(self) -> None:
        is_known = self.path == "/readyz" and self.headers["Host"] == "primer.example.org"
        self.send_response(self.status if is_known else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"is_ready": self.status == 200, "checks": self.checks}).encode())

    def log_message(self, *_: object) -> None:
        pass


def test_it_says_once_what_is_missing_and_goes_on_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the service answers to another name than its address, and a proxy is set for everything."""
    monkeypatch.setattr(embedded, "_EXPLAIN_SECONDS", 0.0)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    said: list[str] = []
    with HTTPServer(("127.0.0.1", 0), _Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        readiness = embedded._Readiness(
            Settings(port=server.server_port, allowed_hosts=("*", "primer.example.org")), said.append
        )
        assert [readiness.is_reached(), readiness.is_reached()] == [False, False]
        monkeypatch.setattr(_Answers, "status", 200)
        assert readiness.is_reached()
        server.shutdown()
        thread.join()
    assert said == ["Still waiting: broker: cannot be reached."]
    assert not readiness.is_reached()


def test_an_api_that_does_not_answer_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_EXPLAIN_SECONDS", 0.0)
    said: list[str] = []
    assert not embedded._Readiness(Settings(port=9), said.append).is_reached()
    assert said == ["Still waiting for the API to answer; its log says more."]
