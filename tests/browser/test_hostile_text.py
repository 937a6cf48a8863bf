"""Documents are hostile text: the workbench shows them as text and does nothing else with them."""

from __future__ import annotations

import json
from pathlib import Path

from desk import Desk
from playwright.sync_api import expect
from workbench import Caller

SCRIPT = "<script>window.wasRun = true</script><img src=x onerror='window.wasRun = true'>"
OVERRIDE = "\u202egnidaer si sihT"  # turns the direction of what follows
LONG_LINE = "word" * 1_300_000  # 5 MB without a space


def test_markup_scripts_and_turned_text_are_shown_and_nothing_is_run(desk: Desk, admin: Caller, corpus: Path) -> None:
    rows = [
        {"text": SCRIPT, "url": "javascript:window.wasRun=true"},
        {"text": OVERRIDE, "url": "<b>bold</b>"},
        {"text": "x" * 40_000, "url": LONG_LINE[:3_000]},
    ]
    (corpus / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (corpus / "long.jsonl").write_text(json.dumps({"text": LONG_LINE}) + "\n", encoding="utf-8")
    admin.call("POST", "/allowed-prefixes", {"prefix": str(corpus)})
    for name, file in (("hostile", "hostile.jsonl"), ("long", "long.jsonl")):
        source = admin.call("POST", "/sources", {"name": name, "locations": [str(corpus / file)]})
        admin.wait_for(f"/sources/{source['id']}", "ready")
        page = desk.open(f"/sources/{source['id']}")
        expect(page.get_by_role("region", name="First documents")).to_be_visible()
        if name == "hostile":
            expect(page.get_by_text(SCRIPT, exact=True)).to_be_visible()
            shown = page.get_by_role("group", name="Text of the document").nth(1)
            expect(shown).to_have_css("unicode-bidi", "isolate")
            assert shown.text_content() == OVERRIDE
            assert page.get_by_role("link", name="javascript").count() == 0
        else:
            expect(page.get_by_role("region", name="Files", exact=True)).to_contain_text("long.jsonl")
        assert page.evaluate("window.wasRun") is None
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert desk.complaints == []
