"""Exports: from the first sign-in to a downloaded file by clicking only; checked, compared, published, deleted."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from desk import Desk, sign_in
from pages import PASSWORD, find_kept
from playwright.sync_api import Page, expect
from test_every_page import find_violations
from workbench import Caller

HOSTILE_CARD = (
    "---\nlicense: other\n---\n# <script>window.wasRun = true</script>\n\n<img src=x onerror='window.wasRun = true'> "
    "[press me](javascript:window.wasRun=true) ![seen](https://example.org/seen.png) https://example.org/bare\n\n"
    "<iframe src='https://example.org'></iframe>\n\n| a | b |\n|---|---|\n| <b>bold</b> | \u202eturned |\n"
)


def make_export(admin: Caller, **asked: Any) -> int:
    export = admin.call("POST", "/exports", {"base_job_id": 1, **asked})
    admin.wait_for(f"/exports/{export['id']}", "succeeded")
    return int(export["id"])


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("button", name=re.compile(rf" {re.escape(label)}$")).click()
    page.get_by_role("option", name=option).first.click()


def test_from_the_first_sign_in_to_an_exported_file_by_clicking(door: Desk, admin: Caller, tmp_path: Path) -> None:
    page = door.open()
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(door.service.password)
    page.get_by_role("button", name="Sign in").click()

    page.get_by_role("link", name="New job").click()
    choose(page, "Source", "sample")
    page.get_by_text("Use the careful grader").click()
    page.get_by_role("button", name="Start the job").click()
    heading = page.get_by_role("heading", name=re.compile(r"^Job \d+: sample$"))
    expect(heading).to_be_visible()
    expect(page.get_by_role("heading", name="Report")).to_be_visible(timeout=180_000)
    job_id = int(re.findall(r"\d+", heading.inner_text())[0])

    page.get_by_role("link", name="Exports", exact=True).click()
    page.get_by_role("link", name="New export").click()
    choose(page, "Job", f"Job {job_id}: sample")
    expected = page.get_by_role("region", name="What to expect")
    expect(expected).to_contain_text("Documents kept", timeout=60_000)
    page.get_by_role("button", name="Make the export").click()
    title = page.get_by_role("heading", name=re.compile(r"^Export \d+: sample$"))
    expect(title).to_be_visible()
    files = page.get_by_role("region", name="Files")
    expect(files).to_be_visible(timeout=180_000)

    export = admin.call("GET", f"/exports/{re.findall(r'[0-9]+', title.inner_text())[0]}")
    assert (export["base_job_id"], export["kind"], export["state"]) == (job_id, "made", "succeeded")
    listed = {file["path"]: file for file in export["files"]}
    for path in ("data/curriculum/train-00000-of-00001.parquet", "README.md"):
        row = files.get_by_role("row").filter(has=page.get_by_role("link", name=path.removeprefix("data/"), exact=True))
        with page.expect_download() as download:
            row.get_by_role("link").click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        shown = row.locator("code").get_attribute("title")
        assert hashlib.sha256(saved.read_bytes()).hexdigest() == shown == listed[path]["sha256"]
        assert saved.stat().st_size == listed[path]["size_bytes"]
    kept = pq.read_metadata(tmp_path / "train-00000-of-00001.parquet").num_rows
    assert kept == listed["data/curriculum/train-00000-of-00001.parquet"]["rows"]
    expect(page.get_by_role("region", name="What it holds")).to_contain_text(str(kept))
    expect(expected).to_be_hidden()
    assert [text for text in door.complaints if "401" not in text] == []


def test_what_was_chosen_is_what_is_made(desk: Desk, admin: Caller) -> None:
    page = desk.open("/exports/new?job=1")
    page.get_by_label("Most tokens").fill("2000")
    page.get_by_label("Held back for validation (%)").fill("20")
    page.get_by_label("Most documents that mention a concept beyond grade 5 (%)").fill("50")
    choose(page, "Rulings of people", "None")
    page.get_by_text("Files and order").click()
    page.get_by_label("Size of a file (MiB)").fill("0")
    expect(page.get_by_text("Give a number from 0.0625 to 5120.")).to_be_visible()
    expect(page.get_by_role("button", name="Make the export")).to_be_disabled()
    page.get_by_label("Size of a file (MiB)").fill("1")
    choose(page, "Order of the documents", "Mixed")
    page.get_by_label("Number that mixes").fill("7")
    expect(page.get_by_role("region", name="What to expect")).to_contain_text("2,000", timeout=60_000)
    page.get_by_role("button", name="Make the export").click()
    asked = page.get_by_role("region", name="What was asked")
    expect(asked).to_contain_text("mixed by the number 7", timeout=60_000)
    expect(asked).to_contain_text("none: the profile alone decides")
    expect(asked).to_contain_text("20 %")
    expect(asked).to_contain_text("50 % of documents")
    expect(page.get_by_role("region", name="Files")).to_contain_text("Curriculum, validation", timeout=120_000)
    export = admin.call("GET", f"/exports/{page.url.rpartition('/')[2]}")
    assert export["overrides_revision"] == 0
    chosen = {
        "vocabulary": "own", "shard_bytes": 1 << 20, "token_budget": 2_000, "validation_share": 0.2,
        "shuffle_seed": 7, "control_match": "tokens", "control_seed": 0, "has_curriculum": True,
        "max_leak_share": 0.5,
    }  # fmt: skip
    assert {name: export["options"][name] for name in chosen} == chosen
    assert desk.complaints == []


def test_a_check_says_in_words_what_it_finds(desk: Desk, admin: Caller) -> None:
    export_id = make_export(admin, validation_share=0.1)
    page = desk.open(f"/exports/{export_id}")
    checks = page.get_by_role("list", name="Checks")
    expect(checks.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Verify").click()
    expect(checks.get_by_text("Sound", exact=True)).to_have_count(2, timeout=120_000)
    expect(checks.get_by_role("listitem").first).to_contain_text("measured and decided once more came out the same")
    folder = desk.service.folder / "data" / "exports" / f"export-{export_id:06d}"
    damaged = folder / "data" / "control" / "train-00000-of-00001.parquet"
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    page.get_by_role("button", name="Verify").click()
    expect(checks.get_by_text("Not sound", exact=True)).to_be_visible(timeout=120_000)
    expect(checks.locator(":scope > li").first).to_contain_text("data/control/train-00000-of-00001.parquet")
    assert find_violations(page) == []
    assert desk.complaints == []


def test_two_exports_are_compared_by_choosing_them(desk: Desk) -> None:
    page = desk.open("/exports")
    page.get_by_role("link", name="Compare two").click()
    choose(page, "Before", "Export 1: sample")
    choose(page, "After", "Export 3: sample")
    documents = page.get_by_role("region", name="Documents")
    expect(documents.get_by_role("definition")).to_have_text(["151", "0", "0", "1", "341"])
    expect(page.get_by_role("list", name="Words that went out").get_by_role("listitem")).to_have_count(50)
    expect(page.get_by_role("region", name="Words that came in")).to_be_hidden()
    assert page.url.endswith("/exports/compare?before=1&after=3")
    assert desk.complaints == []


def test_the_loading_lines_and_hashes_can_be_copied(desk: Desk, admin: Caller) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = desk.open("/exports/3")
    page.get_by_role("button", name="Copy the lines").click()
    expect(page.get_by_role("button", name="Copy the lines")).to_have_text("Copied")
    export = admin.call("GET", "/exports/3")
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(export["load"]) + "\n"
    page.get_by_role("button", name="Copy the SHA-256 of README.md").click()
    expect(page.get_by_text("Copied the SHA-256 of README.md.")).to_be_visible()
    card = next(file for file in export["files"] if file["path"] == "README.md")
    assert page.evaluate("navigator.clipboard.readText()") == card["sha256"]
    assert desk.complaints == []


def test_what_publishing_refuses_is_said_on_the_page(desk: Desk, admin: Caller) -> None:
    export_id = make_export(admin, shuffle_seed=1)
    page = desk.open(f"/exports/{export_id}")
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name=f"Publish export {export_id}")
    dialog.get_by_role("textbox", name="Repository").fill("nowhere")
    expect(dialog.get_by_role("button", name="Publish it")).to_be_disabled()
    dialog.get_by_role("textbox", name="Repository").fill("anna/curriculum")
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Publish it").click()
    pushed = page.get_by_role("list", name="Published")
    expect(pushed).to_contain_text("There is no token for the Hub.", timeout=60_000)
    expect(pushed).to_contain_text("Failed")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete the files").click()
    expect(page.get_by_text("admin deleted its files")).to_be_visible()
    expect(page.get_by_role("region", name="Files")).to_be_hidden()
    assert not (desk.service.folder / "data" / "exports" / f"export-{export_id:06d}").exists()
    assert desk.complaints == []


def test_a_hostile_card_stays_text(desk: Desk) -> None:
    page = desk.new_page()

    def answer(route: Any) -> None:
        real = route.fetch()
        route.fulfill(response=real, body=json.dumps({**real.json(), "card": HOSTILE_CARD}))

    page.route("**/api/v1/exports/3", answer)
    page.goto(f"{desk.service.address}/exports/3")
    card = page.get_by_role("region", name="Data set card")
    expect(card.get_by_text("<script>window.wasRun = true</script>")).to_be_visible()
    expect(card.get_by_text("<iframe src='https://example.org'></iframe>")).to_be_visible()
    expect(card.get_by_role("cell", name="<b>bold</b>")).to_be_visible()
    expect(card.get_by_text("press me")).to_be_visible()
    assert card.locator("a, img, iframe, script, b").count() == 0
    assert "license: other" not in (card.text_content() or "")
    assert page.evaluate("window.wasRun") is None
    assert desk.complaints == []


@pytest.mark.parametrize("name", ["anna.berg"])
def test_who_may_not_export_reads_why(door: Desk, admin: Caller, name: str) -> None:
    sign_in(door, name, PASSWORD)
    page = door.open("/exports")
    expect(page.get_by_text("takes the role operator")).to_be_visible()
    expect(page.get_by_role("link", name="New export")).to_be_hidden()
    page.goto(f"{door.service.address}/exports/new")
    expect(page.get_by_role("heading", name="Operators make exports")).to_be_visible()
    page.goto(f"{door.service.address}/exports/3")
    expect(page.get_by_role("region", name="Files")).to_be_visible()
    for button in ("Verify", "Publish…", "Delete…"):
        expect(page.get_by_role("button", name=button)).to_be_hidden()
    assert door.complaints == []


def test_the_overview_shows_the_last_ruling_and_leads_to_its_document(desk: Desk, admin: Caller) -> None:
    """Also one that was undone since: what was ruled last is what is shown, whether it is in force or not."""
    reason = "read aloud in a second grade"
    [source] = [found["id"] for found in admin.call("GET", "/sources")["items"] if found["name"] == "sample"]
    place = find_kept(admin, 1)
    admin.call("POST", f"/sources/{source}/rulings", {**place, "action": "exclude", "reason": reason})
    admin.call("POST", f"/sources/{source}/rulings/undo", {**place, "reason": "a slip"})
    page = desk.open("/")
    rulings = page.get_by_role("region", name="Last rulings")
    row = rulings.get_by_role("row").filter(has_text=reason)
    expect(row).to_contain_text("Exclude")
    expect(row).to_contain_text("admin")
    row.get_by_role("link").click(timeout=60_000)
    history = page.get_by_role("region", name="Rulings on this document")
    expect(history).to_contain_text(reason, timeout=60_000)
    assert desk.complaints == []
