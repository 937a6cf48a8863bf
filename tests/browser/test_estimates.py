"""What a new job is likely to do, on its page: tried at once, scaled to what is chosen, and said in words when it fails."""

from __future__ import annotations

import re

from desk import Desk
from playwright.sync_api import expect
from test_every_page import find_violations


def test_a_new_job_is_tried_at_once(desk: Desk) -> None:
    page = desk.new_page()
    page.goto(f"{desk.service.address}/jobs/new?source=2")
    section = page.get_by_role("region", name="What to expect")
    expect(section.get_by_text("Trying up to 200 documents now")).to_be_visible()
    page.get_by_text("Use the careful grader").click()
    expect(section.get_by_text(re.compile(r"^200 documents tried in "))).to_be_visible(timeout=60_000)
    expect(section.get_by_text("254", exact=True)).to_be_visible()
    expect(section.get_by_text(re.compile(r"^≈ [0-9,]+ tokens$"))).to_be_visible()
    assert find_violations(page) == []
    section.get_by_role("button", name="Kept", exact=True).focus()
    expect(page.get_by_role("tooltip")).to_contain_text("19 times out of 20")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "estimate" in request.url else None)
    page.get_by_role("button", name=re.compile("How much")).click()
    page.get_by_role("option", name=re.compile("^A trial")).click()
    expect(section.get_by_text("3", exact=True)).to_be_visible()
    page.wait_for_timeout(1_500)
    assert asked == [], "a share of what was tried needs no other trial"
    assert desk.complaints == []


def test_a_trial_that_fails_says_why_and_can_be_repeated(desk: Desk) -> None:
    page = desk.new_page()
    refusal = {"title": "Conflict", "status": 409, "detail": "The source cannot be listed.", "hint": "Scan it again."}
    page.route("**/api/v1/jobs/estimate", lambda route: route.fulfill(status=409, json=refusal))
    page.goto(f"{desk.service.address}/jobs/new?source=2")
    section = page.get_by_role("region", name="What to expect")
    expect(section.get_by_role("alert")).to_contain_text("The source cannot be listed.")
    page.unroute("**/api/v1/jobs/estimate")
    page.get_by_text("Use the careful grader").click()
    expect(section.get_by_text(re.compile("documents tried in "))).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Start the job")).to_be_enabled()
