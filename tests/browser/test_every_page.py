"""Every page in both themes: nothing that axe finds, nothing on the console, no internal name, one heading of its own."""

from __future__ import annotations

import re
from typing import Any

import pytest
from desk import Desk, sign_in
from pages import INTERNAL_NAMES, PAGES, Page, find_path
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect
from workbench import REPO, Caller

AXE = REPO / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
# Measured in one go, without what is read out only on demand.
_RUN_AXE = (
    "(only) => axe.run(document, {resultTypes: ['violations'], ...(only.length > 0 && {runOnly: only})})"
    ".then(({violations}) => violations)"
)
_READ_COLOR = "getComputedStyle(document.body).color"


def find_violations(page: BrowserPage, *rules: str) -> list[str]:
    """By every rule of axe, or by these."""
    page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate(_RUN_AXE, list(rules))
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def find_violations_in_both_themes(page: BrowserPage) -> list[str]:
    """The page changes from light to dark while it is open, as the system does at dusk. Only contrast depends on that."""
    found, light = find_violations(page), page.evaluate(_READ_COLOR)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(light) => {_READ_COLOR} !== light", arg=light)
    return found + find_violations(page, "color-contrast")


@pytest.mark.parametrize("place", PAGES, ids=lambda place: place.name)
def test_every_page(door: Desk, admin: Caller, place: Page) -> None:
    if not place.is_open:
        sign_in(door)
    page = door.new_page()
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(door.service.address + find_path(place, admin))
    # The first look at a document loads what explains it.
    expect(page.get_by_role("heading", name=place.heading, exact=True)).to_be_visible(timeout=30_000)
    page.wait_for_timeout(400)
    assert find_violations_in_both_themes(page) == []
    assert page.get_by_role("heading", level=1).count() == 1
    assert re.fullmatch(r".+ · Primer", page.title())
    assert [text for text in door.complaints if not (place.is_open and "401" in text)] == []
    shown = page.evaluate(
        "() => { const copy = document.body.cloneNode(true);"
        " copy.querySelectorAll('pre, code, textarea, [dir=auto]').forEach((one) => one.remove());"
        " return copy.textContent; }"
    )
    assert [name for name in INTERNAL_NAMES if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", shown)] == []
    overhang = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overhang == 0


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("/profiles", "New profile"),
        ("/admin/users", "Add a person"),
        ("/admin/places", "Allow a place"),
        ("/admin/rules", "Add a rule"),
        ("/account", "Make a token"),
        ("/sources/2", "Remove"),
        ("/", "Shortcuts"),
    ],
)
def test_every_dialog(desk: Desk, path: str, button: str) -> None:
    page = desk.new_page()
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(desk.service.address + path)
    opener = page.get_by_role("button", name=button, exact=True)
    opener.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert find_violations_in_both_themes(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    assert desk.complaints == []


def test_the_first_page_loads_less_than_300_kilobytes_of_script(desk: Desk) -> None:
    page = desk.new_page()
    # What is loaded ahead, while the browser has nothing else to do, is not needed for it.
    page.add_init_script("window.requestIdleCallback = () => 0")
    sizes: dict[str, int] = {}
    page.on(
        "response",
        lambda answer: (
            sizes.update({answer.url: int(answer.request.sizes()["responseBodySize"])})
            if answer.url.endswith(".js")
            else None
        ),
    )
    page.goto(desk.service.address)
    expect(page.get_by_role("heading", name="What the latest job kept")).to_be_visible()
    page.wait_for_timeout(500)
    assert len(sizes) > 3
    assert sum(sizes.values()) < 300_000, sizes
    assert desk.complaints == []
