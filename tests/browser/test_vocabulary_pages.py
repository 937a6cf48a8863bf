"""Vocabulary: words found, read in their contexts, ruled on, weighed and saved; by keys, by two people at once, in hostile texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from desk import Desk, sign_in
from pages import PASSWORD
from playwright.sync_api import Locator, Page, expect
from test_documents_pages import press, start_job
from test_every_page import find_violations
from test_session import sign_in_again
from workbench import Caller

HOSTILE = (
    "<script>window.wasRun = true</script> The amplitude <img src=x onerror='window.wasRun = true'> of it.\n"
    "\u202egnidaer si siht amplitude\u202c and pay\u200bpal. "
)


@pytest.fixture(scope="module", autouse=True)
def _patience() -> Iterator[None]:
    """The first look at a run builds its index."""
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


def ask_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def words_of(page: Page) -> Locator:
    """The rows of the table, its headings apart."""
    return page.get_by_role("grid", name="Words").locator("[role=row][aria-selected]")


def pane_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Word", exact=True)


def edits_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Edits", exact=True)


def figure(region: Locator, label: str) -> str:
    """The number that stands above its label, with its unit."""
    shown = region.locator("dl > div").filter(has=region.page.get_by_text(label, exact=True)).locator("dd")
    return re.sub(r"\s+", " ", shown.inner_text()).strip()


def rule(page: Page, key: str, note: str = "") -> None:
    press(page, key)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    if note:
        dialog.get_by_label("Note").fill(note)
    dialog.get_by_role("button", name="Put on the list").click()
    expect(dialog).to_be_hidden()


def save_as(page: Page, name: str, note: str) -> None:
    edits = edits_of(page)
    edits.get_by_label("Name").fill(name)
    edits.get_by_label("What changes and why").fill(note)
    edits.get_by_role("button", name="Save as a version").click()


def list_versions(admin: Caller, name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = admin.call("GET", f"/vocabularies/{name}/versions")["items"]
    return found


def test_a_word_is_found_read_allowed_weighed_and_saved(desk: Desk, admin: Caller) -> None:
    page = desk.open("/vocabulary/1")
    losses = page.get_by_role("group", name="What words exclude")
    expect(losses).to_contain_text("72 documents excluded for their words")
    for part in ("19 by one word alone", "15 by several words", "38 for other reasons too"):
        expect(losses).to_contain_text(part)
    expect(page.get_by_role("status").filter(has_text="words")).to_have_text("166 words")
    press(page, "/")
    field = page.get_by_role("searchbox", name="Find a word")
    expect(field).to_be_focused()
    field.press_sequentially("amplit")
    expect(words_of(page)).to_have_count(1)
    assert ask_of(page) == {"search": ["amplit"]}
    press(page, "Enter")
    expect(page.get_by_role("grid", name="Words")).to_be_focused()
    press(page, "j")
    expect(words_of(page).first).to_have_attribute("aria-selected", "true")
    pane = pane_of(page)
    expect(pane.get_by_role("heading", name="amplitude")).to_be_visible()
    expect(pane.get_by_text("Lost by it alone")).to_be_visible()
    assert figure(pane, "Lost by it alone") == "3 documents"
    assert figure(pane, "Tokens lost") == "751 tokens"
    assert figure(pane, "Score") == "4.27 points"
    places = pane.get_by_role("list", name="Places").get_by_role("listitem")
    expect(places).to_have_count(9)
    found = admin.call("POST", "/jobs/1/vocabulary/terms/amplitude/concordance", {"sort": "right"})
    pane.get_by_role("button", name=re.compile("As in the source")).click()
    page.get_by_role("option", name="By the word after").click()
    for place, line in enumerate(found["lines"]):
        expect(places.nth(place)).to_contain_text(line["right"].split("\n")[0][:20].strip())
    pane.get_by_text("Lost to words alone").click()
    expect(places).to_have_count(len([line for line in found["lines"] if line["decided_by"] == "vocabulary"]))
    assert ask_of(page) == {"search": ["amplit"], "word": ["amplitude"], "lost": ["yes"], "by": ["right"]}

    rule(page, "a", "how high a wave is")
    expect(words_of(page).first).to_contain_text("allowed*")
    expect(page.get_by_role("region", name="Not saved yet")).to_contain_text("1 edit not saved yet.")
    again = desk.open(page.url.removeprefix(desk.service.address))
    expect(words_of(again).first).to_contain_text("allowed*")
    again.close()
    press(page, "e")
    edits = edits_of(page)
    expect(edits.get_by_role("list", name="Edits", exact=True)).to_contain_text("amplitude: as scored → allowed")
    impact = edits.get_by_role("region", name="Impact")
    expect(impact.get_by_role("list", name="Documents that move").get_by_role("listitem")).to_have_count(3)
    kept = admin.call("POST", "/jobs/1/documents/facets", {})["outcomes"]["kept"]
    assert figure(impact, "Kept in all") == f"{kept} → {kept + 3} documents"
    assert figure(impact, "Now kept") == "3 documents, 751 tokens"
    assert figure(impact, "Now excluded") == "0 documents, 0 tokens"
    assert find_violations(page) == []
    save_as(page, "found-and-saved", "waves are taught in grade 4")
    expect(page.get_by_text("found-and-saved v1 is saved.")).to_be_visible()
    expect(page.get_by_role("region", name="Not saved yet")).to_contain_text("No edits to save.")
    [version] = list_versions(admin, "found-and-saved")
    assert (version["author"], version["note"], version["allow_count"]) == ("admin", "waves are taught in grade 4", 1)
    assert ask_of(page)["version"] == [str(version["id"])]
    expect(losses).to_contain_text(f"{kept + 3} kept")
    page.get_by_role("link", name="Documents under this version").click()
    counts = page.get_by_role("complementary", name="Narrow by")
    expect(counts.get_by_role("button", name=f"Kept {kept + 3}")).to_be_visible()
    assert desk.complaints == []


def test_words_are_narrowed_and_sorted(desk: Desk, admin: Caller) -> None:
    page = desk.open("/vocabulary/1")
    status = page.get_by_role("status").filter(has_text="words")
    expect(status).to_have_text("166 words")
    page.get_by_role("button", name="Looks harmless").click()
    asked = {"looks_harmless": True, "sort": "word", "is_descending": False, "limit": 500}
    expected = admin.call("POST", "/jobs/1/vocabulary/terms", asked)
    expect(status).to_have_text(f"{expected['total']} words")
    page.get_by_role("columnheader", name="Word").get_by_role("button").click()
    expect(words_of(page).first).to_contain_text(expected["items"][0]["word"])
    assert ask_of(page) == {"harmless": ["yes"], "sort": ["word"]}
    page.get_by_role("columnheader", name="Score").get_by_role("button").click()
    expect(page.get_by_role("columnheader", name="Score")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name=re.compile("Any subject")).click()
    page.get_by_role("option", name="Life science").click()
    expected = admin.call(
        "POST", "/jobs/1/vocabulary/terms", {"looks_harmless": True, "subject": "life science", "sort": "score"}
    )
    expect(words_of(page).first).to_contain_text(expected["items"][0]["word"])
    page.get_by_role("columnheader", name="Alone").get_by_role("button").hover()
    expect(page.get_by_role("tooltip")).to_contain_text("Documents that allowing this one word would keep")
    page.get_by_role("searchbox").fill("zzz")
    expect(page.get_by_role("heading", name="No such word")).to_be_visible()
    page.go_back()
    assert desk.complaints == []


def test_two_curators_lose_nothing_and_overwrite_nothing(desk: Desk, admin: Caller) -> None:
    name = "of-two-people"
    anna = Caller(desk.service, "anna.berg", PASSWORD)
    first = admin.call("POST", f"/vocabularies/{name}/versions", {"content": {"allow": ["carbon"]}})
    page = desk.open(f"/vocabulary/1?version={first['id']}&word=amplitude")
    expect(pane_of(page).get_by_role("list", name="Places")).to_be_visible()
    rule(page, "a", "how high a wave is")
    page.get_by_role("searchbox").fill("dioxide")
    expect(words_of(page)).to_have_count(1)
    words_of(page).first.click()
    expect(pane_of(page).get_by_role("heading", name="dioxide")).to_be_visible()
    rule(page, "b")
    theirs = {"allow": ["carbon", "dioxide"], "block": ["volcano"]}
    body = {"based_on": first["id"], "content": theirs, "note": "the gas of fizzy drinks"}
    anna.call("POST", f"/vocabularies/{name}/versions", body)
    press(page, "e")
    edits = edits_of(page)
    expect(edits.get_by_label("Name")).to_have_value(name)
    save_as(page, name, "waves and gases")
    told = edits.get_by_role("alert")
    expect(told).to_contain_text(f"anna.berg saved version 2 of {name}")
    expect(told).to_contain_text("the gas of fizzy drinks")
    changes = told.get_by_role("list", name="Their changes").get_by_role("listitem")
    expect(changes).to_have_text(
        [
            "dioxide: as scored → allowed, where your list says otherwise: yours would hold",
            "volcano: as scored → blocked",
        ]
    )
    assert find_violations(page) == []
    assert len(list_versions(admin, name)) == 2
    told.get_by_role("button", name="Go on with my edits on top of version 2").click()
    expect(edits.get_by_text(f"On top of {name} v2.")).to_be_visible()
    expect(edits.get_by_role("list", name="Edits", exact=True)).to_contain_text("dioxide: allowed → blocked")
    expect(edits.get_by_label("What changes and why")).to_have_value("waves and gases")
    edits.get_by_role("button", name="Save as a version").click()
    expect(page.get_by_text(f"{name} v3 is saved.")).to_be_visible()
    newest = list_versions(admin, name)[0]
    saved = admin.call("GET", f"/vocabularies/ids/{newest['id']}")
    assert saved["content"]["allow"] == ["amplitude", "carbon"]
    assert saved["content"]["block"] == ["dioxide", "volcano"]
    # The browser says on its console that an answer was 409.
    assert [complaint for complaint in desk.complaints if "409" not in complaint] == []


def test_a_list_survives_the_end_of_the_session(desk: Desk, admin: Caller) -> None:
    page = desk.open("/vocabulary/1?word=carbon")
    expect(pane_of(page).get_by_role("list", name="Places")).to_be_visible()
    rule(page, "a", "what leaves breathe in")
    press(page, "e")
    expect(edits_of(page).get_by_role("list", name="Documents that move")).to_be_visible()
    desk.context.clear_cookies()
    save_as(page, "after-the-session", "leaves")
    sign_in_again(page, desk.service.password)
    expect(page.get_by_text("after-the-session v1 is saved.")).to_be_visible()
    [version] = list_versions(admin, "after-the-session")
    content = admin.call("GET", f"/vocabularies/ids/{version['id']}")["content"]
    assert (content["allow"], content["notes"]) == (["carbon"], {"carbon": "what leaves breathe in"})


def test_a_word_is_told_apart_by_sense_and_measured(desk: Desk, admin: Caller) -> None:
    page = desk.open("/vocabulary/1?word=electron")
    expect(pane_of(page).get_by_role("list", name="Places")).to_contain_text("Mudflow")
    press(page, "s")
    dialog = page.get_by_role("dialog", name="Rule on “electron”")
    near = dialog.get_by_label("near any of these words")
    expect(near).to_be_focused()
    near.fill("mudflow, x")
    expect(dialog).to_contain_text("Only words of two or more letters a-z: not “x”.")
    expect(dialog.get_by_role("button", name="Put on the list")).to_be_disabled()
    near.fill("mudflow, river")
    assert find_violations(page) == []
    dialog.get_by_label("Note").fill("a town")
    press(page, "Enter")
    expect(dialog).to_be_hidden()
    expect(pane_of(page)).to_contain_text("Does not count within 8 words of mudflow, river")
    press(page, "e")
    impact = edits_of(page).get_by_role("region", name="Impact")
    expect(impact).to_contain_text("1 document waits for it")
    assert figure(impact, "Of these uncertain") == "1 document, 325 tokens"
    save_as(page, "by-sense", "places are no particles")
    notice = page.get_by_role("status").filter(has_text="this job has not measured that")
    notice.get_by_role("button", name="Measure the senses").click()
    link = notice.get_by_role("link", name=re.compile(r"Job \d+ measures it"))
    job = re.findall(r"\d+", link.inner_text())[0]
    admin.wait_for(f"/jobs/{job}", "succeeded")
    page.reload()
    kept = admin.call("POST", "/jobs/1/documents/facets", {})["outcomes"]["kept"]
    expect(page.get_by_role("group", name="What words exclude")).to_contain_text(f"{kept + 1} kept")
    expect(notice).to_be_hidden()
    version = ask_of(page)["version"][0]
    shown = desk.open(f"/vocabulary/1?version={version}&word=electron")
    expect(pane_of(shown).get_by_role("list", name="Places")).to_contain_text("here it does not count")
    assert desk.complaints == []


def test_every_shortcut(desk: Desk, admin: Caller) -> None:
    page = desk.open("/vocabulary/1")
    expect(words_of(page).first).to_be_visible()
    press(page, "j", "ArrowDown", "j", "k")
    expect(words_of(page).nth(1)).to_have_attribute("aria-selected", "true")
    press(page, "ArrowUp")
    expect(words_of(page).nth(0)).to_have_attribute("aria-selected", "true")
    expect(pane_of(page).get_by_role("list", name="Places")).to_be_visible()
    press(page, "o")
    expect(pane_of(page)).to_be_focused()
    press(page, "Escape")
    expect(page.get_by_role("grid", name="Words")).to_be_focused()
    press(page, "Enter")
    expect(pane_of(page)).to_be_focused()
    for key, what, mark in (("a", "Allow", "allowed*"), ("b", "Block", "blocked*")):
        press(page, key)
        dialog = page.get_by_role("dialog", name="Rule on “amplitude”")
        expect(dialog.get_by_role("radio", name=what)).to_be_checked()
        expect(dialog.get_by_label("Note")).to_be_focused()
        press(page, "Enter")
        expect(words_of(page).first).to_contain_text(mark)
    press(page, "s")
    expect(page.get_by_role("dialog").get_by_role("radio", name="By sense")).to_be_checked()
    press(page, "Escape")
    press(page, "u")
    expect(words_of(page).first).not_to_contain_text("*")
    press(page, "u")
    expect(page.get_by_text("There is no edit to take back.")).to_be_visible()
    press(page, "e")
    expect(edits_of(page).get_by_role("heading", name="No edits yet")).to_be_visible()
    press(page, "e")
    expect(pane_of(page)).to_be_visible()
    press(page, "?")
    listed = page.get_by_role("dialog", name="Shortcuts")
    for label in (
        "Next word", "Word before", "Read where it stands", "Back to the table", "Allow the word", "Block the word",
        "Rule by sense", "Take back the edit", "Edits and their impact", "Find a word",
    ):  # fmt: skip
        expect(listed.get_by_text(label, exact=True)).to_be_visible()
    assert desk.complaints == []


def test_a_hostile_text_is_text_in_a_concordance(desk: Desk, admin: Caller, corpus: Path) -> None:
    rows = [{"text": HOSTILE * 3, "url": "javascript:window.wasRun=true"}]
    (corpus / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    admin.call("POST", "/allowed-prefixes", {"prefix": str(corpus)})
    job = start_job(admin, "hostile-words", corpus)
    page = desk.open(f"/vocabulary/{job}?word=amplitude")
    places = pane_of(page).get_by_role("list", name="Places")
    expect(places.get_by_text("<script>window.wasRun = true</script> The").first).to_be_visible()
    expect(places.get_by_text("<img src=x onerror='window.wasRun = true'>").first).to_be_visible()
    assert places.locator("img[src], script").count() == 0
    assert not re.search("[\u200b\u202e\u202c]", places.text_content() or "")
    for side in places.locator("bdi").all()[:6]:
        expect(side).to_have_css("unicode-bidi", "isolate")
    assert page.evaluate("window.wasRun") is None
    links = places.get_by_role("link").all()
    assert links
    assert all((link.get_attribute("href") or "").startswith(f"/documents/{job}?") for link in links)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert find_violations(page) == []
    assert desk.complaints == []


def test_a_viewer_reads_and_is_told_why_not(door: Desk, admin: Caller) -> None:
    admin.call("POST", "/users", {"name": "reads.words", "role": "viewer", "password": PASSWORD})
    sign_in(door, "reads.words", PASSWORD)
    page = door.open("/vocabulary/1?word=amplitude")
    expect(pane_of(page).get_by_text("Ruling on words needs the role of a curator.")).to_be_visible()
    expect(pane_of(page).get_by_role("list", name="Places")).to_be_visible()
    assert pane_of(page).get_by_role("button", name="Allow").count() == 0
    press(page, "a")
    expect(page.get_by_text("Ruling on words needs the role of a curator.")).to_have_count(2)
    press(page, "e")
    expect(page.get_by_role("heading", name="Curators rule on words")).to_be_visible()
    page.goto(f"{door.service.address}/vocabulary/versions?name=waves")
    expect(page.get_by_text("Going back to a version needs the role of a curator.")).to_be_visible()
    assert page.get_by_role("button", name="Go back to v1").count() == 0
    assert door.complaints == []


def test_versions_are_compared_gone_back_to_and_carried_by_files(desk: Desk, admin: Caller, tmp_path: Path) -> None:
    name = "in-files"
    first = admin.call("POST", f"/vocabularies/{name}/versions", {"content": {"allow": ["carbon"]}, "note": "one"})
    body = {"based_on": first["id"], "content": {"block": ["carbon"]}, "note": "two"}
    second = admin.call("POST", f"/vocabularies/{name}/versions", body)
    page = desk.open(f"/vocabulary/versions?name={name}")
    history = page.get_by_role("region", name=f"History of {name}")
    row = history.get_by_role("row").filter(has_text="two")
    expect(row).to_contain_text("admin")
    row.get_by_role("button", name="Changes of v2").click()
    changed = page.get_by_role("table", name="What changed").get_by_role("row").nth(1)
    expect(changed.get_by_role("cell")).to_have_text(["carbon", "allowed", "blocked"])
    assert ask_of(page) == {"name": [name], "before": [str(first["id"])], "after": [str(second["id"])]}
    history.get_by_role("button", name="Go back to v1").click()
    dialog = page.get_by_role("dialog", name="Go back to v1?")
    dialog.get_by_label("Why").fill("one was right")
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Save v1 as the newest").click()
    expect(page.get_by_text(f"{name} v3 rules as v1 did.")).to_be_visible()
    expect(history.get_by_role("row").nth(1)).to_contain_text("one was right")
    newest = list_versions(admin, name)[0]
    with page.expect_download() as download:
        history.get_by_role("row").nth(1).get_by_role("link", name="CSV").click()
    file = tmp_path / "words.csv"
    download.value.save_as(file)
    assert file.read_text().splitlines()[1].startswith('"carbon","allow"')

    page.goto(f"{desk.service.address}/vocabulary/1?version={newest['id']}&edits=yes")
    edits = edits_of(page)
    file.write_text(file.read_text() + "atom,perhaps,,,,,\n")
    edits.get_by_label("CSV file").set_input_files(file)
    expect(edits.get_by_role("alert")).to_contain_text("Line 3: ruling 'perhaps'")
    file.write_text(file.read_text().replace("perhaps", "allow"))
    edits.get_by_label("CSV file").set_input_files(file)
    expect(edits.get_by_role("list", name="Edits", exact=True)).to_contain_text("atom: as scored → allowed")
    expect(edits.get_by_role("list", name="Edits", exact=True).locator(":scope > li")).to_have_count(1)
    edits.get_by_role("button", name="Give them up…").click()
    page.get_by_role("button", name="Give them up", exact=True).click()
    expect(edits.get_by_role("heading", name="No edits yet")).to_be_visible()
    # The browser says on its console that a file was refused.
    assert [complaint for complaint in desk.complaints if "42" not in complaint] == []


def test_a_word_in_the_reading_pane_leads_to_its_page(desk: Desk, admin: Caller) -> None:
    found = admin.call("POST", "/jobs/1/documents/search", {"query": {"term": "electron"}})["items"][0]
    page = desk.open(f"/documents/1?at={found['position']}")
    page.get_by_role("link", name="electron in the vocabulary").click()
    expect(pane_of(page).get_by_role("heading", name="electron")).to_be_visible()
    assert ask_of(page) == {"word": ["electron"]}
    assert desk.complaints == []


def test_sampling_is_previewed_and_saved_as_a_profile(desk: Desk, admin: Caller) -> None:
    page = desk.open("/vocabulary/1")
    page.get_by_role("link", name="Sampling").click()
    expect(page.get_by_role("heading", name="Sampling by score", exact=True)).to_be_visible()
    main = page.get_by_role("main")
    bands = page.get_by_role("region", name="By the score of the hardest word")

    def ask_api(halving: float, seed: int) -> dict[str, Any]:
        found: dict[str, Any] = admin.call(
            "POST", "/jobs/1/vocabulary/sampling", {"halving": halving, "sampling_seed": seed}
        )
        return found

    for halving, seed in ((4, 0), (4, 7), (2, 7)):
        page.get_by_label("Points that halve the chance").fill(str(halving))
        page.get_by_label("Seed of the draw").fill(str(seed))
        expected = ask_api(halving, seed)
        kept, without = expected["kept"], expected["kept_when_blocking"]
        for label, count, unit in (
            ("kept with sampling", kept["documents"], "documents"),
            ("kept without", without["documents"], "documents"),
            ("more, by sampling", kept["tokens"] - without["tokens"], "tokens"),
            ("need no draw", expected["passing"], "documents"),
        ):
            shown = main.locator("dl > div").filter(has=page.get_by_text(label, exact=True)).locator("dd")
            expect(shown).to_have_text(f"{count:,} {unit}")
        drawn = bands.get_by_role("row").locator("td:nth-child(6)")
        assert drawn.all_inner_texts() == [f"{band['drawn']:,}" for band in expected["bands"] if band["documents"] > 0]
        assert ask_of(page) == {"halving": [str(halving)], "seed": [str(seed)]}
    assert find_violations(page) == []

    page.get_by_label("Points that halve the chance").fill("0")
    expect(page.get_by_text("A number from 0.05 to 100.")).to_be_visible()
    page.get_by_label("Points that halve the chance").fill("4")

    page.get_by_role("button", name="Save as a version…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="What is different")).to_contain_text("Points that halve the chance")
    dialog.get_by_label("Name").fill("sampled-words")
    dialog.get_by_label("Note").fill("hard words by chance, for the second corpus")
    dialog.get_by_role("button", name="Save and publish").click()
    expect(page.get_by_role("heading", name="Profiles", exact=True)).to_be_visible()
    saved = admin.call("GET", "/profiles/sampled-words/versions/1")
    assert saved["content"]["vocabulary"]["sampling"] == {"halving": 4.0, "seed": 7}
    assert saved["content"]["vocabulary"]["mode"] == "sample"
    assert desk.complaints == []
