"""From the first sign-in to a job that has succeeded, by clicking and writing only."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from desk import Desk
from playwright.sync_api import expect
from workbench import SAMPLE, Caller


def test_from_sign_in_to_a_job_that_succeeded(door: Desk, admin: Caller, corpus: Path) -> None:
    shutil.copy(SAMPLE / "sample-00000.parquet", corpus)
    page = door.open()
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(door.service.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    page.get_by_role("link", name="Admin", exact=True).click()
    page.get_by_role("link", name="Allowed places").click()
    page.get_by_role("button", name="Allow a place").click()
    page.get_by_role("textbox", name="Place").fill(str(corpus))
    page.get_by_role("button", name="Allow it").click()
    expect(page.get_by_role("cell", name=str(corpus), exact=True)).to_be_visible()

    page.get_by_role("link", name="Sources", exact=True).click()
    page.get_by_role("link", name="Register a source").click()
    page.get_by_role("textbox", name="Name").fill("first-readers")
    page.get_by_role("textbox", name="Places").fill(str(corpus))
    page.get_by_role("button", name="Register the source").click()
    expect(page.get_by_role("heading", name="first-readers")).to_be_visible()
    expect(page.get_by_text("Choo-Choo Charlie").first).to_be_visible()

    page.get_by_role("link", name="New job").click()
    page.get_by_text("Use the careful grader").click()
    page.get_by_role("button", name="Start the job").click()
    heading = page.get_by_role("heading", name=re.compile(r"^Job \d+: first-readers$"))
    expect(heading).to_be_visible()
    expect(page.get_by_role("heading", name="Report")).to_be_visible(timeout=180_000)

    job_id = int(re.findall(r"\d+", heading.inner_text())[0])
    job = admin.call("GET", f"/jobs/{job_id}")
    assert (job["state"], job["documents_done"], job["options"]["has_encoder"]) == ("succeeded", 127, False)
    kept = job["funnel"]["documents"]["kept"]
    assert 0 < kept < 127
    figures = page.get_by_role("region", name="How it went")
    expect(figures).to_contain_text("127")
    expect(figures).to_contain_text(f"{kept} ")
    # Who is not signed in is answered 401 on the way in, which the browser reports by itself.
    assert [text for text in door.complaints if "401" not in text] == []
