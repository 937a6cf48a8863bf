"""One event stream for all tabs of a browser, and pages that change by themselves."""

from __future__ import annotations

from desk import Desk
from pages import find_profile
from playwright.sync_api import Page, Request, expect
from workbench import Caller


def watch_streams(page: Page, opened: list[str], name: str) -> None:
    def note(request: Request) -> None:
        if "/events/stream" in request.url:
            opened.append(name)

    page.on("request", note)


def start_job(admin: Caller, limit: int) -> int:
    source = next(source for source in admin.call("GET", "/sources")["items"] if source["name"] == "sample")
    body = {"source_id": source["id"], "profile_id": find_profile(admin, "recommended")}
    options = {"has_encoder": False, "limit": limit}
    return int(admin.call("POST", "/jobs", {**body, "options": options})["id"])


def test_tabs_share_a_stream_and_the_second_takes_over(desk: Desk, admin: Caller) -> None:
    opened: list[str] = []
    tabs = []
    for name in ("first", "second"):
        page = desk.new_page()
        watch_streams(page, opened, name)
        page.goto(f"{desk.service.address}/jobs")
        expect(page.get_by_role("heading", name="All jobs")).to_be_visible()
        tabs.append(page)
    job_id = start_job(admin, 3)
    for page in tabs:
        expect(page.get_by_role("link", name=f"Job {job_id}", exact=True)).to_be_visible()
    assert opened == ["first"]
    tabs[0].close()
    expect(tabs[1].get_by_role("link", name=f"Job {job_id}", exact=True)).to_be_visible()
    next_id = start_job(admin, 4)
    expect(tabs[1].get_by_role("link", name=f"Job {next_id}", exact=True)).to_be_visible()
    assert opened == ["first", "second"]
    for wanted in (job_id, next_id):
        admin.wait_for(f"/jobs/{wanted}", "succeeded")


def test_a_job_page_follows_its_job_to_the_end(desk: Desk, admin: Caller) -> None:
    job_id = start_job(admin, 5)
    page = desk.open(f"/jobs/{job_id}")
    expect(page.get_by_role("heading", name="Report")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("region", name="How it went")).to_contain_text("5")
    assert desk.complaints == []
