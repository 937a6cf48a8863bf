"""Concepts: measured, read and edited by clicking; two curators at once; probes, the gate, hostile text, every key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk, sign_in
from pages import PASSWORD
from playwright.sync_api import Page, expect
from test_documents_pages import start_job
from test_every_page import find_violations
from workbench import SAMPLE, Caller

HOSTILE = (
    "<script>window.wasRun = true</script><img src=x onerror='window.wasRun = true'> photosynthesis "
    "<b>bold</b> \u202egnidaer si sihT\u202c pay\u200bpal.\n"
)


@pytest.fixture(scope="module", autouse=True)
def _patience() -> Iterator[None]:
    """The first look at a run builds its index."""
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def own_job(admin: Caller) -> int:
    """The sample once more, not measured for concepts yet."""
    return start_job(admin, "sample-for-concepts", SAMPLE)


@pytest.fixture(scope="module")
def measured_job(admin: Caller) -> int:
    job_id = start_job(admin, "sample-with-concepts", SAMPLE)
    measure(admin, job_id)
    return job_id


def measure(admin: Caller, job_id: int) -> int:
    """Looks for the newest version's concepts, and returns its number."""
    version = find_newest(admin)
    job = admin.call("POST", f"/jobs/{job_id}/concepts/measure", {"version": version})
    admin.wait_for(f"/jobs/{job['id']}", "succeeded")
    return version


def find_newest(admin: Caller) -> int:
    return int(admin.call("GET", "/concepts/versions?limit=1")["items"][0]["version"])


def put_concept(caller: Caller, concept_id: str, note: str, **fields: object) -> int:
    newest = int(caller.call("GET", "/concepts/versions?limit=1")["items"][0]["version"])
    concept = caller.call("GET", f"/concepts/versions/{newest}/concepts/{concept_id}")
    body = {"based_on": newest, "put": [{**concept, **fields}], "note": note}
    return int(caller.call("POST", "/concepts/versions", body)["version"])


def find_named(admin: Caller, job_id: int, *, is_kept: bool = False) -> dict[str, object]:
    """The counts of the concept in most documents, or in most kept ones."""
    report = admin.call("POST", f"/jobs/{job_id}/concepts/report", {})
    found: list[dict[str, object]] = report["concepts"]
    return max(found, key=lambda counts: int(str(counts["kept" if is_kept else "documents"])))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def open_measured(desk: Desk, job_id: int, query: str = "") -> Page:
    page = desk.open(f"/concepts/{job_id}{query}")
    expect(page.get_by_role("grid", name=re.compile("oncepts")).get_by_role("row").first).to_be_visible()
    return page


def test_concepts_are_measured_by_clicking_and_read(desk: Desk, admin: Caller, own_job: int) -> None:
    page = desk.open(f"/concepts/{own_job}")
    expect(page.get_by_role("heading", name="Concepts are not measured in this job yet")).to_be_visible()
    expect(page.get_by_role("row").first).to_contain_text("not measured yet")
    assert find_violations(page) == []
    page.get_by_role("button", name="Measure concepts in this run").click()
    expect(page.get_by_role("heading", name="What leaks into kept text")).to_be_visible(timeout=120_000)
    report = admin.call("POST", f"/jobs/{own_job}/concepts/report", {})
    overview = page.get_by_role("region", name="All concepts")
    expect(overview.get_by_role("definition").first).to_contain_text(re.compile(rf"^{report['leaking']} "))
    expect(overview).to_contain_text("126 phrases of grade 6 and above in 0.09 %")

    named = find_named(admin, own_job)
    name = str(named["name"])
    page.get_by_role("searchbox", name="Search").fill(name)
    row = page.get_by_role("row").filter(has=page.get_by_text(name, exact=True))
    expect(row).to_contain_text(str(named["documents"]))
    row.click()
    pane = page.get_by_role("region", name="Concept", exact=True)
    expect(pane.get_by_role("heading", name=name, exact=True)).to_be_visible()
    pane.get_by_role("radio", name="All").click()
    places = pane.get_by_role("list", name="Places")
    expect(places.get_by_role("listitem").first).to_be_visible()
    assert f"at={named['concept']}" in page.url
    assert "places=all" in page.url
    again = desk.open(page.url.removeprefix(desk.service.address))
    expect(again.get_by_role("list", name="Places").get_by_role("listitem").first).to_be_visible()
    places.get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Text of the document")).to_be_visible()
    assert f"/documents/{own_job}?at=" in page.url
    assert desk.complaints == []


def test_concepts_are_grouped_filtered_and_sorted(desk: Desk, admin: Caller, measured_job: int) -> None:
    report = admin.call("POST", f"/jobs/{measured_job}/concepts/report", {})
    page = open_measured(desk, measured_job, "?by=subject")
    rows = page.get_by_role("grid").get_by_role("row")
    expect(rows).to_have_count(len(report["subjects"]))
    math = next(group for group in report["subjects"] if group["name"] == "math")
    row = rows.filter(has_text="Math")
    expect(row).to_contain_text(str(math["documents"]))
    row.click()
    page.get_by_role("button", name="Show its concepts").click()
    assert "subject=math" in page.url
    of_math = [counts for counts in report["concepts"] if counts["subject"] == "math"]
    expect(page.get_by_role("status").filter(has_text="concepts")).to_have_text(f"{len(of_math)} concepts")
    page.get_by_role("button", name="In kept text", exact=True).click()
    assert "sort=-kept" in page.url
    most = max(counts["kept"] for counts in of_math)
    expect(rows.first.get_by_role("gridcell").last).to_contain_text(str(most))
    assert find_violations(page) == []
    assert desk.complaints == []


def test_a_concept_is_changed_its_impact_read_and_a_version_saved(desk: Desk, admin: Caller, measured_job: int) -> None:
    before = measure(admin, measured_job) if not is_measured(admin, measured_job) else find_newest(admin)
    named = find_named(admin, measured_job)
    page = open_measured(desk, measured_job, f"?at={named['concept']}")
    page.get_by_role("button", name="Change", exact=True).click()
    dialog = page.get_by_role("dialog")
    words = dialog.get_by_role("textbox", name="Words", exact=True).first
    words.fill(f"{words.input_value()}\nplayground")
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Add to your edit").click()
    expect(page.get_by_role("status", name="Your edit")).to_contain_text("1 concept changed or added")
    page.get_by_role("link", name="See what it changes").click()
    changes = page.get_by_role("list", name="What changes")
    expect(changes.locator("ins").filter(has_text="playground")).to_be_visible()
    meaning = page.get_by_role("region", name="What it means for a job")
    expect(meaning).to_contain_text("1 concept must be looked for again")
    expect(meaning.get_by_role("definition").first).to_contain_text("254")
    assert find_violations(page) == []
    expect(page.get_by_role("button", name=f"Save as version {before + 1}")).to_be_disabled()
    page.get_by_role("textbox", name="Note").fill("playgrounds belong there")
    page.get_by_role("button", name=f"Save as version {before + 1}").click()
    newer = page.get_by_role("status", name="A newer version of the catalogue")
    expect(newer).to_contain_text("Only 1 concept must be looked for in every document")
    newer.get_by_role("button", name=f"Measure version {before + 1}").click()
    expect(newer).to_be_hidden(timeout=120_000)
    saved = admin.call("GET", f"/concepts/versions/{before + 1}")
    assert (saved["note"], saved["author"]) == ("playgrounds belong there", "admin")
    assert saved["changes"]["changed"] == [named["concept"]]
    assert desk.complaints == []


def is_measured(admin: Caller, job_id: int) -> bool:
    newest = find_newest(admin)
    return any(
        entry["version"] == newest and entry["is_whole"] for entry in admin.call("GET", f"/jobs/{job_id}/concepts")
    )


def test_two_curators_never_overwrite_each_other_silently(desk: Desk, admin: Caller, measured_job: int) -> None:
    before = find_newest(admin)
    page = open_measured(desk, measured_job, "?at=ratio")
    page.get_by_role("button", name="Change", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Fine in grades K-5").fill("sharing fairly")
    dialog.get_by_role("button", name="Add to your edit").click()
    page.get_by_role("link", name="See what it changes").click()
    expect(page.get_by_role("list", name="What changes")).to_contain_text("sharing fairly")
    anna = Caller(desk.service, "anna.berg", PASSWORD)
    put_concept(anna, "ratio", "halves are no ratios", k5_neighbour="halves and quarters")
    page.get_by_role("textbox", name="Note").fill("sharing is for all")
    page.get_by_role("button", name=re.compile("^Save as version")).click()
    between = page.get_by_role("region", name="Somebody saved in between")
    expect(between).to_contain_text(f"anna.berg saved version {before + 1}")
    expect(between).to_contain_text("halves are no ratios")
    expect(between).to_contain_text("You both touch ratio")
    assert find_newest(admin) == before + 1
    between.get_by_text("What changed since version").click()
    expect(between.locator("ins")).to_contain_text("halves and quarters")
    assert find_violations(page) == []
    between.get_by_role("button", name=f"Go on from version {before + 1}").click()
    expect(page.get_by_role("list", name="What changes").locator("del")).to_contain_text("halves and quarters")
    page.get_by_role("button", name=f"Save as version {before + 2}").click()
    expect(page.get_by_text(f"Version {before + 2} of the catalogue is saved.")).to_be_visible()
    ratio = admin.call("GET", f"/concepts/versions/{before + 2}/concepts/ratio")
    assert ratio["k5_neighbour"] == "sharing fairly"
    assert [text for text in desk.complaints if "409" not in text] == []


def test_history_is_compared_and_taken_back(desk: Desk, admin: Caller, measured_job: int) -> None:
    newest = put_concept(admin, "ratio", "to be taken back", k5_neighbour="for a moment")
    page = desk.open(f"/concepts/catalogue?job={measured_job}")
    row = page.get_by_role("row").filter(has_text=f"version {newest}").first
    expect(row).to_contain_text("to be taken back")
    expect(row).to_contain_text("described otherwise: ratio")
    row.get_by_role("button", name="What changed").click()
    expect(page.get_by_role("list", name="What differs").locator("ins")).to_contain_text("for a moment")
    assert find_violations(page) == []
    older = page.get_by_role("row").filter(has_text=f"version {newest - 1}").first
    older.get_by_role("button", name="Go back to it…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Note").fill("it was right before")
    dialog.get_by_role("button", name="Go back to it", exact=True).click()
    expect(page.get_by_role("row").filter(has_text=f"version {newest + 1}").first).to_contain_text(
        "it was right before"
    )
    ratio = admin.call("GET", f"/concepts/versions/{newest + 1}/concepts/ratio")
    assert ratio["k5_neighbour"] != "for a moment"
    assert desk.complaints == []


def test_a_csv_goes_out_and_comes_in_and_wrong_lines_are_named(desk: Desk, admin: Caller, tmp_path: Path) -> None:
    newest = put_concept(admin, "ratio", "for the file", k5_neighbour="before the file")
    page = desk.open("/concepts/catalogue")
    with page.expect_download() as download:
        page.get_by_role("row").filter(has_text=f"version {newest}").first.get_by_role("link", name="CSV").click()
    path = tmp_path / "concepts.csv"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert "before the file" in text
    path.write_text(text.replace("before the file", "from the file"), encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Bring in a CSV…").click()
    chooser.value.set_files(path)
    expect(page.get_by_role("list", name="What changes").locator("ins")).to_contain_text("from the file")
    page.get_by_role("button", name="Throw it away").click()
    expect(page.get_by_role("heading", name="There is no edit")).to_be_visible()
    assert find_newest(admin) == newest

    path.write_text(text.replace('"math"', '"maths"', 1), encoding="utf-8")
    page.goto(f"{desk.service.address}/concepts/catalogue")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Bring in a CSV…").click()
    chooser.value.set_files(path)
    expect(page.get_by_role("alert")).to_contain_text(re.compile(r"line \d+: subject"))
    expect(page.get_by_role("button", name=re.compile("^Save as version"))).to_be_disabled()
    assert [text for text in desk.complaints if "422" not in text] == []


def test_an_export_is_probed_and_the_gate_is_said(desk: Desk, admin: Caller) -> None:
    export = admin.call("POST", "/exports", {"base_job_id": 1, "max_leak_share": 0.9})
    admin.wait_for(f"/exports/{export['id']}", "succeeded")
    page = desk.open(f"/exports/{export['id']}")
    leaks = page.get_by_role("region", name="What leaks")
    gate = admin.call("GET", f"/exports/{export['id']}")["manifest"]["leak_gate"]
    expect(leaks.get_by_role("definition").first).to_have_text(f"{gate['leaking']} of {gate['documents']}")
    expect(leaks).to_contain_text("at most 90 %")
    leaks.get_by_role("link", name="Probe it").click()
    page.get_by_label("Compare with at most (%)").fill("much")
    expect(page.get_by_role("button", name="Start the probe")).to_be_disabled()
    page.get_by_label("Compare with at most (%)").fill("0")
    page.get_by_role("button", name="Start the probe").click()
    expect(page.get_by_role("heading", name=re.compile(r"^Probe \d+: export"))).to_be_visible()
    result = page.get_by_role("region", name="What leaks")
    expect(result).to_contain_text("126 phrases of grade 6 and above", timeout=120_000)
    expect(result.get_by_role("definition").first).to_have_text(f"{gate['leaking']} of {gate['documents']}")
    expect(result).to_contain_text("that was asked for")
    probe = admin.call("GET", f"/probes/{page.url.rpartition('/')[2]}")
    assert (probe["export_id"], probe["leaking"]) == (export["id"], gate["leaking"])
    if probe["leaking"]:
        hits = page.get_by_role("list", name="Hits by concept").locator(":scope > li")
        expect(hits).to_have_count(len(probe["concepts"]))
        first = hits.first.get_by_role("list").get_by_role("listitem")
        expect(first).to_have_count(len(probe["concepts"][0]["lines"]))
    assert find_violations(page) == []
    assert desk.complaints == []


def test_hostile_text_in_a_concordance_is_text(
    desk: Desk, admin: Caller, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile-concepts")
    rows = [{"text": HOSTILE, "url": "https://<b>site</b>.example.org/x"}, {"text": HOSTILE * 3, "url": "no address"}]
    (folder / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    admin.call("POST", "/allowed-prefixes", {"prefix": str(folder)})
    job_id = start_job(admin, "hostile-concepts", folder)
    measure(admin, job_id)
    page = open_measured(desk, job_id, "?at=photosynthesis-as-a-chemical-process&places=all")
    places = page.get_by_role("list", name="Places")
    expect(places).to_contain_text("<script>window.wasRun = true</script>")
    assert places.locator("script, img, b, iframe").count() == 0
    assert "\u202e" not in (places.text_content() or "")
    assert page.evaluate("window.wasRun") is None
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert find_violations(page) == []
    assert desk.complaints == []


def test_every_key_does_what_the_list_says(desk: Desk, measured_job: int) -> None:
    page = open_measured(desk, measured_job)
    selected = page.get_by_role("row", selected=True)
    press(page, "j")
    expect(selected).to_have_attribute("aria-rowindex", "1")
    press(page, "j", "ArrowDown", "k")
    expect(selected).to_have_attribute("aria-rowindex", "2")
    press(page, "ArrowUp", "ArrowUp")
    expect(selected).to_have_attribute("aria-rowindex", "1")
    press(page, "o")
    expect(page.get_by_role("region", name="Concept", exact=True)).to_be_focused()
    press(page, "Escape")
    expect(page.get_by_role("grid")).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_role("region", name="Concept", exact=True)).to_be_focused()
    press(page, "/")
    field = page.get_by_role("searchbox", name="Search")
    expect(field).to_be_focused()
    field.press_sequentially("jok")
    expect(field).to_have_value("jok")
    field.fill("")
    press(page, "Escape", "e")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name=re.compile("^Change "))).to_be_visible()
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    press(page, "n")
    expect(dialog.get_by_role("heading", name="Add a concept")).to_be_visible()
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    press(page, "?")
    for label in (
        "Next concept", "Concept before", "Open the concept", "Back to the table", "Search", "Change the concept",
        "Add a concept",
    ):  # fmt: skip
        expect(dialog.get_by_text(label, exact=True)).to_be_visible()
    assert desk.complaints == []


def test_who_may_not_change_or_measure_reads_why(door: Desk, admin: Caller, measured_job: int) -> None:
    admin.call("POST", "/users", {"name": "vera.view", "role": "viewer", "password": PASSWORD})
    sign_in(door, "vera.view", PASSWORD)
    page = open_measured(door, measured_job, "?at=ratio")
    pane = page.get_by_role("region", name="Concept", exact=True)
    expect(pane).to_contain_text("takes the role curator")
    for button in ("Change", "Remove", "Add a concept"):
        expect(page.get_by_role("button", name=button, exact=True)).to_be_hidden()
    press(page, "e")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.goto(f"{door.service.address}/concepts/edit")
    expect(page.get_by_role("heading", name="Curators change the catalogue")).to_be_visible()
    page.goto(f"{door.service.address}/concepts/catalogue")
    expect(page.get_by_text("takes the role curator")).to_be_visible()
    expect(page.get_by_role("button", name="Go back to it…")).to_have_count(0)
    page.goto(f"{door.service.address}/concepts/probes")
    expect(page.get_by_text("takes the role operator")).to_be_visible()
    expect(page.get_by_role("button", name="Start the probe")).to_be_hidden()
    page.goto(f"{door.service.address}/concepts/1")
    expect(page.get_by_text("takes the role operator")).to_be_visible()
    expect(page.get_by_role("button", name="Measure concepts in this run")).to_be_hidden()
    assert door.complaints == []
