"""Making sources and requests for the judge's tests, and a clock that is turned by whoever sleeps on it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fakes.llm_server import KEY, MODEL, LlmServer

from curation.shards.retries import RetryPolicy
from curation.training.judge.api_key import ApiKey
from curation.training.judge.cache import open_cache
from curation.training.judge.estimate import Limits
from curation.training.judge.label import run_labels
from curation.training.judge.pace import Clock, Stopped
from curation.training.judge.plan import ANSWERS, LABELS, STAGED, LabelRequest, plan_labels

LONG, SHORT, LIST = "long_rubric", "short_rules", "checklist"


class HandClock:
    """Time stands still but for sleeping, which takes none. `slept` holds every wait."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 1000.0
        self._lock = threading.Lock()
        self._is_stopped = False

    def now(self) -> float:
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            if self._is_stopped:
                raise Stopped
            self.slept.append(seconds)
            self._now += seconds

    def stop(self) -> None:
        self._is_stopped = True


def write_source(path: Path, texts: Sequence[str | None]) -> Path:
    """One shard with ids d0, d1 and so on."""
    ids = [f"d{number}" for number in range(len(texts))]
    pq.write_table(pa.table({"id": ids, "text": pa.array(texts, pa.string())}), path)
    return path


def make_request(source: Path, judge: LlmServer, **changes: Any) -> LabelRequest:
    """One question at a time, so that faults meet questions in order."""
    chosen = {"endpoint": judge.url, "model": MODEL, "limits": Limits(concurrency=1), **changes}
    return LabelRequest(sources=(str(source),), **chosen)


def run(
    request: LabelRequest,
    out: Path,
    policy: RetryPolicy,
    *,
    clock: Clock | None = None,
    key: str = KEY,
) -> dict[str, Any]:
    """The whole of a labelling; the content of label.json."""
    with open_cache(out / ANSWERS) as cache:
        job = plan_labels(request, cache, staging=out / STAGED)
        return run_labels(job, cache, out, key=ApiKey(key), policy=policy, clock=clock)


def read_labels(out: Path) -> list[dict[str, Any]]:
    return pq.read_table(out / LABELS).to_pylist()
