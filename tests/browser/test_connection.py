"""The service goes away and comes back while the workbench is open."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from desk import Desk
from playwright.sync_api import expect
from workbench import Service


def find_api_process(service: Service) -> int:
    """The process of the API below `primer up`, which starts another when it dies."""
    children = Path(f"/proc/{service.process_id}/task/{service.process_id}/children").read_text().split()
    [found] = [int(child) for child in children if b"\0api\0" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return found


def test_what_is_asked_while_the_api_is_down_comes_when_it_is_back(desk: Desk) -> None:
    page = desk.open("/jobs")
    expect(page.get_by_role("heading", name="All jobs")).to_be_visible()
    os.kill(find_api_process(desk.service), signal.SIGKILL)
    page.get_by_role("link", name="Profiles", exact=True).click()
    banner = page.get_by_role("alert").filter(has_text="The service does not answer.")
    expect(banner).to_be_visible()
    expect(banner).to_be_hidden(timeout=120_000)
    expect(page.get_by_role("heading", name="All profiles")).to_be_visible()
    assert desk.new_page().goto(f"{desk.service.address}/readyz").status == 200  # type: ignore[union-attr]
