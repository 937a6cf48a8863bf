"""A judge per test, sources made on the spot, and a policy that hardly waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.llm_server import LlmServer

from curation.shards.retries import RetryPolicy


@pytest.fixture
def policy() -> RetryPolicy:
    return RetryPolicy(
        attempts=3,
        wait_initial_seconds=0.001,
        wait_max_seconds=0.002,
        wait_jitter_seconds=0.0,
        retry_after_max_seconds=300.0,
        connect_timeout_seconds=2.0,
        read_timeout_seconds=2.0,
    )


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LlmServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    for name in ("PRIMER_LABEL_API_KEY", "OPENAI_API_KEY", "PRIMER_LABEL_ENDPOINT", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with LlmServer() as server:
        yield server
