"""The jobs engine over databases of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs_engine import Engine

WINDOW = 3


@pytest.fixture
def engine(database_url: str, tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(database_url, tmp_path / "data", messages_per_job=WINDOW)
    yield engine
    engine.close()
