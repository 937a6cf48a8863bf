"""Fixtures that every test may use: where the shared data lies, and the service over databases of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["service_fixtures"]

REPO = Path(__file__).resolve().parent.parent

# What a test finds does not hang on how busy the machine is.
settings.register_profile("primer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("primer")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what is dear to set up run in one process: all of the browser's, and those of each file with services."""
    for item in items:
        part = item.path.relative_to(REPO / "tests").parts
        if part[0] == "browser":
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif part[0] in {"functional", "faults"}:
            item.add_marker(pytest.mark.xdist_group("/".join(part)))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data (PRIMER_SHARED, default ../shared); the test is skipped where it is absent."""
    folder = Path(os.environ.get("PRIMER_SHARED", REPO / ".." / "shared")).resolve()
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared data: set PRIMER_SHARED (looked in {folder})")
    return folder
