"""The workbench in Debian's Chromium, over a service of its own. Skipped where there is no browser, unless one is required."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import workbench
from desk import Desk, sign_in
from pages import furnish
from workbench import Caller, Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if (obstacle := workbench.find_obstacle()) is not None:
        if os.environ.get("PRIMER_REQUIRE_SERVICES") == "1":
            pytest.fail(obstacle)
        pytest.skip(obstacle)
    with workbench.open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def service(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for all tests: each uses names of its own. The browser comes first, so that nothing starts without one."""
    with workbench.running_service(tmp_path_factory.mktemp("workbench")) as running:
        yield running


@pytest.fixture(scope="session")
def admin(service: Service) -> Caller:
    """The service has something on every page from here on."""
    return furnish(service)


@pytest.fixture
def door(browser: Browser, service: Service) -> Iterator[Desk]:
    """A browser that nobody is signed in with."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    yield Desk(context, service)
    context.close()


@pytest.fixture
def desk(door: Desk, admin: Caller) -> Desk:
    """The admin is signed in."""
    sign_in(door)
    return door


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder for a test's own documents."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder
