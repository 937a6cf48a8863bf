"""A Hub per test, and a policy that hardly waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.hub_server import CONTENT, TOKEN, HubServer

from curation.shards.retries import RetryPolicy


@pytest.fixture
def policy() -> RetryPolicy:
    return RetryPolicy(
        attempts=4,
        wait_initial_seconds=0.001,
        wait_max_seconds=0.002,
        wait_jitter_seconds=0.0,
        retry_after_max_seconds=0.02,
        connect_timeout_seconds=2.0,
        read_timeout_seconds=0.3,
    )


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    with HubServer({"data/a.parquet": CONTENT}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        yield server
