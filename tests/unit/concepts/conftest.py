"""One measured run for the tests that only read it, and one for each test that writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from concept_world import World, measure_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return measure_world(tmp_path_factory.mktemp("concepts"))


@pytest.fixture
def fresh(tmp_path: Path) -> World:
    return measure_world(tmp_path)
