"""Shortcuts: the list, every place, and none while somebody writes or has switched them off."""

from __future__ import annotations

import pytest
from desk import Desk
from playwright.sync_api import expect

PLACES = {
    "o": "Overview", "j": "Jobs", "d": "Documents", "e": "Exports", "t": "Thresholds", "p": "Profiles",
    "v": "Vocabulary", "c": "Concepts", "x": "Try a text", "s": "Sources", "a": "Admin",
}  # fmt: skip


def test_g_and_a_letter_lead_to_every_place(desk: Desk) -> None:
    page = desk.open("/account")
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    for letter, heading in PLACES.items():
        page.keyboard.press("g")
        page.keyboard.press(letter)
        expect(page.get_by_role("heading", name=heading, exact=True, level=1)).to_be_visible()
        assert page.evaluate("document.activeElement.id") == "main"
    assert desk.complaints == []


def test_the_list_names_every_shortcut_and_switches_them_off(desk: Desk) -> None:
    page = desk.open("/jobs")
    expect(page.get_by_role("heading", name="All jobs")).to_be_visible()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Shortcuts")
    for heading in PLACES.values():
        expect(dialog.get_by_text(heading, exact=True)).to_be_visible()
    dialog.get_by_text("Single keys are shortcuts").click()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.keyboard.press("?")
    page.wait_for_timeout(300)
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()


@pytest.mark.parametrize("typed", ["gp", "?"])
def test_who_writes_is_left_alone(desk: Desk, typed: str) -> None:
    page = desk.open("/sources/new")
    page.get_by_label("Name").press_sequentially(typed)
    expect(page.get_by_label("Name")).to_have_value(typed)
    expect(page.get_by_role("heading", name="Register a source")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_parts_of_a_job_are_one_stop_and_arrows_go_between_them(desk: Desk) -> None:
    page = desk.open("/jobs/1")
    parts = page.get_by_role("listbox", name="Open a file, parts")
    parts.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    chosen = parts.get_by_role("option", selected=True)
    expect(chosen).to_have_count(1)
    expect(chosen).to_have_accessible_name("Open a file: sample-00001.parquet, Done")
    expect(page.get_by_role("status").filter(has_text="sample-00001.parquet")).to_be_visible()
