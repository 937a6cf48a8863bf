"""Documents, thresholds and try a text: read, narrowed, ruled on, moved, saved; by keys, by pointer, and whatever a text holds."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from desk import Desk, sign_in
from pages import PASSWORD, find_profile
from playwright.sync_api import Locator, Page, expect
from test_every_page import find_violations
from test_session import sign_in_again
from workbench import SAMPLE, Caller

from curation.index import find_index
from curation.run_folder import RunFolder

HOSTILE = (
    "<script>window.wasRun = true</script><img src=x onerror='window.wasRun = true'> "
    "\u202egnidaer si sihT\u202c pay\u200bpal 😀😀 Solve x^2 + 3x = 10 for photosynthesis.\n"
)
MANY = 1_250
LONG_LINE = "word" * 1_300_000  # 5 MB without a space
TRIED = "<b>bold</b> 😀 Solve x^2 + 3x = 10 for x. \u202eThe mitochondria of a cell."


@pytest.fixture(scope="module", autouse=True)
def _patience() -> Iterator[None]:
    """The first look at a run builds its index and loads what explains its documents."""
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def hostile_job(admin: Caller, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A job over documents that want to be more than text: the first is markup, the second one line of 5 MB."""
    folder = tmp_path_factory.mktemp("hostile-documents")
    rows = [{"text": HOSTILE * 4, "url": "javascript:window.wasRun=true"}, {"text": LONG_LINE, "url": "<b>bold</b>"}]
    (folder / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    many = "".join(json.dumps({"text": f"Cat {n} sat on mat {n}.", "id": f"cat-{n}"}) + "\n" for n in range(MANY))
    (folder / "many.jsonl").write_text(many)
    admin.call("POST", "/allowed-prefixes", {"prefix": str(folder)})
    return start_job(admin, "hostile-documents", folder)


@pytest.fixture(scope="module")
def own_job(admin: Caller) -> int:
    """The sample once more, under a source that no other test rules on."""
    return start_job(admin, "sample-to-rule-on", SAMPLE)


def start_job(admin: Caller, name: str, folder: Path) -> int:
    source = admin.call("POST", "/sources", {"name": name, "locations": [str(folder)]})
    admin.wait_for(f"/sources/{source['id']}", "ready")
    body = {
        "source_id": source["id"],
        "profile_id": find_profile(admin, "recommended"),
        "options": {"has_encoder": False},
    }
    job = admin.call("POST", "/jobs", body)
    admin.wait_for(f"/jobs/{job['id']}", "succeeded")
    return int(job["id"])


def ask_of(page: Page) -> dict[str, list[str]]:
    """The page's address as questions."""
    return parse_qs(urlsplit(page.url).query)


def rows_of(page: Page) -> Locator:
    return page.get_by_role("grid").get_by_role("row")


def text_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Text of the document")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_documents_are_narrowed_and_the_address_says_how(desk: Desk, own_job: int) -> None:
    page = desk.open(f"/documents/{own_job}")
    status = page.get_by_role("status").filter(has_text="documents")
    expect(status).to_have_text("254 documents")
    counts = page.get_by_role("complementary", name="Narrow by")
    counts.get_by_role("region", name="First cause").get_by_role("button", name="Advanced notation").click()
    assert ask_of(page) == {"by": ["notation"]}
    expect(status).to_have_text(re.compile(r"^\d\d documents$"))
    press(page, "/")
    field = page.get_by_role("combobox", name="Add a condition")
    expect(field).to_be_focused()
    field.press_sequentially("length > 150")
    page.get_by_role("option", name="Length: at least 150 tokens").click()
    expect(
        page.get_by_role("list", name="Conditions").get_by_role("listitem").filter(has_text="Length")
    ).to_be_visible()
    assert ask_of(page) == {"by": ["notation"], "range": ["tokens:150.."]}
    rows_of(page).first.click()
    expect(text_of(page)).to_be_visible()
    where = page.url
    again = desk.open(where.removeprefix(desk.service.address))
    expect(again.get_by_role("list", name="Conditions")).to_contain_text("Length: at least 150 tokens")
    expect(rows_of(again).first).to_have_attribute("aria-selected", "true")
    assert text_of(again).text_content() == text_of(page).text_content()
    again.get_by_role("button", name="Without: First cause: Advanced notation").click()
    assert "by" not in ask_of(again)
    again.go_back()
    assert ask_of(again)["by"] == ["notation"]
    again.get_by_role("button", name="Without any").click()
    expect(again.get_by_role("status").filter(has_text="254 documents")).to_be_visible()
    assert desk.complaints == []


def test_keys_move_read_rule_and_undo(desk: Desk, admin: Caller, own_job: int) -> None:
    page = desk.open(f"/documents/{own_job}?cause=notation&alone=certain")
    expect(rows_of(page).first).to_be_visible()
    press(page, "j")
    expect(rows_of(page).nth(0)).to_have_attribute("aria-selected", "true")
    press(page, "j", "ArrowDown", "k", "k", "k")
    expect(rows_of(page).nth(0)).to_have_attribute("aria-selected", "true")
    verdict = page.get_by_text("by this alone: advanced notation")
    expect(verdict).to_be_visible()
    press(page, "o")
    expect(text_of(page)).to_be_focused()
    press(page, "e")
    expect(text_of(page).locator("mark")).to_have_count(0)
    press(page, "e")
    expect(text_of(page).locator("mark").first).to_be_visible()
    press(page, "f")
    expect(page.get_by_role("complementary", name="Narrow by")).to_be_hidden()
    press(page, "Escape")
    expect(page.get_by_role("grid")).to_be_focused()
    press(page, "Shift+K")
    dialog = page.get_by_role("dialog", name="Keep this document")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    assert find_violations(page) == []
    dialog.get_by_label("Reason").fill("a fable, not a lecture")
    press(page, "Enter")
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("by a person, whatever the stages say")).to_be_visible()
    expect(rows_of(page).nth(0)).to_contain_text("Kept by a person")
    history = page.get_by_role("region", name="Rulings on this document")
    expect(history).to_contain_text("admin kept it")
    expect(history).to_contain_text("a fable, not a lecture")
    press(page, "x")
    page.get_by_role("dialog", name="Exclude this document").get_by_label("Reason").fill("read again")
    press(page, "Enter")
    expect(rows_of(page).nth(0)).to_contain_text("Ruled out by a person")
    press(page, "u")
    page.get_by_role("dialog", name="Undo the ruling").get_by_label("Reason").fill("the profile is right")
    press(page, "Enter")
    expect(verdict).to_be_visible()
    expect(history.get_by_role("listitem")).to_have_count(3)
    press(page, "U")
    expect(page.get_by_text("There is no ruling to undo.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()
    source = admin.call("GET", f"/jobs/{own_job}")["source"]["id"]
    rulings = admin.call("GET", f"/sources/{source}/rulings")["items"]
    assert [ruling["action"] for ruling in rulings[:3]] == ["undo", "exclude", "keep"]
    press(page, "?")
    listed = page.get_by_role("dialog", name="Shortcuts")
    for label in ("Next document", "Document before", "Keep the document", "Add a condition", "Marks in the text"):
        expect(listed.get_by_text(label, exact=True)).to_be_visible()
    assert desk.complaints == []


def test_g_and_a_letter_lead_away_and_move_nothing(desk: Desk, own_job: int) -> None:
    page = desk.open(f"/documents/{own_job}")
    expect(rows_of(page).first).to_be_visible()
    press(page, "g", "j")
    expect(page.get_by_role("heading", name="All jobs")).to_be_visible()
    page.go_back()
    assert "at" not in ask_of(page)


def test_a_ruling_says_whom_it_overrules_and_survives_the_end_of_the_session(
    desk: Desk, admin: Caller, own_job: int
) -> None:
    source = admin.call("GET", f"/jobs/{own_job}")["source"]["id"]
    found = admin.call("POST", f"/jobs/{own_job}/documents/search", {"query": {"outcome": "kept"}, "limit": 1})
    [row] = found["items"]
    anna = Caller(desk.service, "anna.berg", PASSWORD)
    body = {"shard_sha256": row["shard_sha256"], "row": row["row"], "action": "exclude", "reason": "an advertisement"}
    anna.call("POST", f"/sources/{source}/rulings", body)
    page = desk.open(f"/documents/{own_job}?at={row['position']}")
    expect(page.get_by_role("region", name="Rulings on this document")).to_contain_text("anna.berg")
    desk.context.clear_cookies()
    page.get_by_role("button", name="Keep", exact=True).click()
    dialog = page.get_by_role("dialog", name="Keep this document")
    expect(dialog.get_by_role("alert")).to_contain_text("anna.berg excluded it for this reason: an advertisement")
    dialog.get_by_label("Reason").fill("it is a story about one")
    dialog.get_by_role("button", name="Keep").click()
    sign_in_again(page, desk.service.password)
    expect(page.get_by_text("This overrules anna.berg")).to_be_visible()
    rulings = admin.call("GET", f"/sources/{source}/rulings")["items"]
    assert [(ruling["author"], ruling["action"]) for ruling in rulings[:2]] == [
        ("admin", "keep"),
        ("anna.berg", "exclude"),
    ]


def test_a_viewer_reads_and_does_not_rule(door: Desk, admin: Caller, own_job: int) -> None:
    admin.call("POST", "/users", {"name": "only.looks", "role": "viewer", "password": PASSWORD})
    sign_in(door, "only.looks", PASSWORD)
    page = door.open(f"/documents/{own_job}?at=0")
    expect(text_of(page)).to_be_visible()
    assert page.get_by_role("button", name="Keep", exact=True).count() == 0
    assert page.get_by_role("button", name=re.compile("Rule on all")).count() == 0
    press(page, "Shift+K")
    expect(page.get_by_text("Ruling on documents needs the role of a curator.")).to_be_visible()
    assert door.complaints == []


def test_a_ruling_on_all_documents_is_seen_before_it_is_made(desk: Desk, admin: Caller, own_job: int) -> None:
    page = desk.open(f"/documents/{own_job}?site=oceans.example.net")
    page.get_by_role("button", name="Rule on all 3 documents…").click(timeout=60_000)
    dialog = page.get_by_role("dialog", name="Rule on all documents of the query")
    expect(dialog.get_by_role("list", name="Which documents")).to_contain_text("Site: oceans.example.net")
    ruled = dialog.get_by_role("button", name="Exclude 3 documents")
    expect(ruled).to_be_disabled()
    assert find_violations(page) == []
    source = admin.call("GET", f"/jobs/{own_job}")["source"]["id"]
    before = admin.call("GET", f"/sources/{source}/rulings/revision")["revision"]
    dialog.get_by_label("Reason").fill("a site of advertisements")
    ruled.click()
    expect(dialog).to_be_hidden()
    expect(rows_of(page)).to_have_count(3)
    for place in range(3):
        expect(rows_of(page).nth(place)).to_contain_text("Ruled out by a person")
    assert admin.call("GET", f"/sources/{source}/rulings/revision")["revision"] == before + 1
    facets = admin.call("POST", f"/jobs/{own_job}/documents/facets", {"query": {"override": "exclude"}})
    assert facets["decided_by"]["override"] <= facets["documents"]
    assert facets["documents"] >= 3
    assert desk.complaints == []


def test_hostile_documents_are_text_and_nothing_else(desk: Desk, hostile_job: int) -> None:
    page = desk.open(f"/documents/{hostile_job}?file=hostile.jsonl")
    rows = rows_of(page)
    expect(rows).to_have_count(2)
    rows.nth(0).click()
    shown = text_of(page)
    expect(shown).to_contain_text("<script>window.wasRun = true</script><img src=x onerror='window.wasRun = true'>")
    # What was read is tidied; the source has the hidden characters, which are named and not in the page.
    page.get_by_role("button", name="Show it as the source has it").click()
    expect(shown.get_by_role("img", name="hidden: right-to-left override, U+202E").first).to_be_visible()
    expect(shown.get_by_role("img", name="hidden: zero-width space, U+200B").first).to_be_visible()
    assert not re.search("[\u200b\u202e\u202c]", shown.text_content() or "")
    page.get_by_role("button", name="Show what was read").click()
    notation = page.get_by_role("list", name="Why, stage by stage").get_by_role("button", name="Variable with exponent")
    notation.first.click()
    mark = shown.locator("mark").filter(has_text="x^2").first
    assert (mark.text_content() or "").strip() == "x^2", "offsets count characters, of which an emoji is one"
    mark.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("Advanced notation: variable with exponent")
    assert page.evaluate("window.wasRun") is None
    assert page.get_by_role("link", name="javascript").count() == 0
    rows.nth(1).click()
    expect(page.get_by_role("heading", name="<b>bold</b>")).to_be_visible()
    expect(shown).to_contain_text("wordword")
    drawn = page.evaluate("document.querySelector('[aria-label=\"Text of the document\"]').textContent.length")
    assert drawn < 60_000, "only what is in sight is in the page"
    shown.evaluate("region => region.scrollTo(0, region.scrollHeight)")
    expect(shown).to_contain_text("wordword")
    assert page.evaluate("window.wasRun") is None
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert find_violations(page) == []
    assert desk.complaints == []


def test_a_long_table_is_scrolled_to_its_end_and_only_what_is_in_sight_is_in_the_page(
    desk: Desk, hostile_job: int
) -> None:
    page = desk.open(f"/documents/{hostile_job}?file=many.jsonl")
    expect(page.get_by_role("status").filter(has_text="1,250 documents")).to_be_visible()
    page.get_by_role("grid").focus()
    last = rows_of(page).filter(has_text=f"cat-{MANY - 1}")
    for _ in range(MANY):
        if last.count() > 0:
            break
        press(page, "End")
        page.wait_for_timeout(100)
    expect(last).to_have_attribute("aria-selected", "true")
    expect(last).to_have_attribute("aria-rowindex", str(MANY))
    assert rows_of(page).count() < 60
    press(page, "Home")
    expect(rows_of(page).first).to_contain_text("cat-0")
    expect(rows_of(page).first).to_have_attribute("aria-selected", "true")
    assert desk.complaints == []


def test_documents_are_waited_for_while_they_are_made_ready(desk: Desk, hostile_job: int) -> None:
    data = desk.service.folder / "data"
    index = find_index(RunFolder(data / "runs" / f"job-{hostile_job:06}"), data / "indexes")
    assert index is not None
    shutil.rmtree(index)
    page = desk.open(f"/documents/{hostile_job}?file=many.jsonl")
    expect(page.get_by_role("heading", name="The documents are being made ready").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="1,250 documents")).to_be_visible()
    # The browser says on its console that an answer was 503.
    assert [complaint for complaint in desk.complaints if "503" not in complaint] == []


def test_a_threshold_is_dragged_the_flips_are_read_and_a_version_is_saved(
    desk: Desk, admin: Caller, own_job: int
) -> None:
    page = desk.open(f"/thresholds/{own_job}")
    line = page.get_by_role("slider", name="Quick grader: How likely K-5, whole text")
    expect(line).to_have_attribute("aria-valuenow", "0.1")
    outlook = page.get_by_role("status", name="What would be kept")
    kept = int(admin.call("POST", f"/jobs/{own_job}/documents/facets", {})["outcomes"]["kept"])
    expect(outlook).to_contain_text(f"{kept} ")
    box = line.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 13):
        page.mouse.move(x + 10 * step, y)
    expect(outlook).to_contain_text("→")
    page.mouse.up()
    value = float(line.get_attribute("aria-valuenow") or 0)
    assert 0.3 < value < 0.5
    assert ask_of(page)["move"] == [f"fasttext.min_k5_document:{value:g}"]
    line.focus()
    press(page, "ArrowRight")
    expect(line).to_have_attribute("aria-valuenow", f"{value + 0.01:g}")
    expect(page.get_by_role("region", name="What is different")).to_contain_text("at least 0.1, from 0 to 1")
    flips = page.get_by_role("region", name="Documents that change sides")
    excluded = flips.get_by_role("button", name=re.compile(r"Now excluded \d+"))
    expect(excluded).to_be_visible()
    profile = {**find_content(admin), "fasttext": {"min_k5_document": round(value + 0.01, 2), "min_k5_window": 0.05}}
    answer = admin.call("POST", f"/jobs/{own_job}/what-if", {"other": {"profile": profile}})
    assert excluded.text_content() == f"Now excluded {answer['flips']['now_excluded']['documents']}"
    expect(outlook).to_contain_text(f"{kept} → {answer['funnel']['documents']['kept']}")
    rows_of(page).first.click()
    expect(
        flips.get_by_text("by this alone: quick grader").or_(flips.get_by_text("quick grader")).first
    ).to_be_visible()
    expect(text_of(page)).to_be_visible()
    assert find_violations(page) == []
    page.get_by_role("button", name="Save as a version…").click()
    dialog = page.get_by_role("dialog", name="Save as a profile version")
    dialog.get_by_label("Name").fill("recommended")
    expect(dialog).to_contain_text("This profile came with Primer and stays as it is")
    dialog.get_by_label("Name").fill("surer-of-k5")
    dialog.get_by_label("Note").fill("the quick grader must be surer")
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Save and publish").click()
    expect(dialog).to_be_hidden()
    saved = admin.call("GET", "/profiles/surer-of-k5/versions/1")
    assert (saved["state"], saved["note"]) == ("published", "the quick grader must be surer")
    assert saved["content"]["fasttext"]["min_k5_document"] == round(value + 0.01, 2)
    assert ask_of(page) == {"from": [str(saved["id"])]}
    expect(line).to_have_attribute("aria-valuenow", f"{value + 0.01:g}")
    expect(outlook).to_contain_text(f"{kept} → {answer['funnel']['documents']['kept']}")
    assert desk.complaints == []


def find_content(admin: Caller) -> dict[str, object]:
    version = admin.call("GET", "/profiles")["items"]
    newest = next(profile["newest"]["version"] for profile in version if profile["name"] == "recommended")
    content: dict[str, object] = admin.call("GET", f"/profiles/recommended/versions/{newest}")["content"]
    return content


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_text_is_tried_and_kept_nowhere(desk: Desk, theme: Literal["light", "dark"]) -> None:
    page = desk.new_page()
    page.emulate_media(color_scheme=theme)
    page.goto(desk.service.address + "/try")
    page.get_by_role("textbox", name="A text, as it would stand in a source").fill(TRIED)
    page.get_by_role("button", name="Measure").click()
    result = page.get_by_role("region", name="What is decided")
    expect(result.get_by_text("Excluded", exact=True)).to_be_visible(timeout=120_000)
    expect(text_of(page)).to_contain_text("<b>bold</b>")
    mark = text_of(page).locator("mark").filter(has_text="x^2").first
    assert (mark.text_content() or "").strip() == "x^2"
    expect(result.get_by_role("list", name="Why, stage by stage")).to_contain_text("Advanced notation")
    assert find_violations(page) == []
    page.reload()
    expect(page.get_by_role("textbox", name="A text, as it would stand in a source")).to_have_value("")
    assert desk.complaints == []
