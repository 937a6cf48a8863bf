"""The workbench in Chromium over a million decisions: `python -m benchmarks.browser [--write]`.

How long until the first documents are there, what scrolling through 10,000 of them costs, and how soon a dragged threshold is
answered. Asserts nothing; says whether the aims hold.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Request

from benchmarks.corpus import REPO
from benchmarks.machine import describe_machine
from benchmarks.synthetic_service import (
    Desk,
    SyntheticService,
    find_obstacle,
    open_browser,
    serve_decisions,
    sign_in,
)
from benchmarks.users import find_share

AIM_FIRST_MS, AIM_DRAG_MS = 1_000, 300
RESULT = REPO / "benchmarks" / "results" / "browser.md"
_VISITS = 7
_ROW_PIXELS = 54
_ROWS = 10_000
_ROWS_A_STEP = 25
_STEP_MS = 40
_DRAG_STEPS = 80
_DRAG_STEP_MS = 60
_SIZE = {"width": 1280, "height": 900}


@dataclass
class Scroll:
    """`heap_megabytes` after a collection, by the row that was reached."""

    seconds: float = 0.0
    requests: int = 0
    dropped: list[str] = field(default_factory=list)
    heap_megabytes: dict[int, float] = field(default_factory=dict)
    rows_in_page: int = 0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.browser", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help=f"also into benchmarks/results/{RESULT.name}")
    options = parser.parse_args(arguments)
    if (obstacle := find_obstacle()) is not None:
        raise SystemExit(obstacle)
    with (
        tempfile.TemporaryDirectory(prefix="primer-benchmark-") as name,
        serve_decisions(Path(name), options.rows, megabytes=1) as synthetic,
        open_browser() as browser,
    ):
        visit(browser, synthetic)  # the API reads its files for the first time
        visits = [visit(browser, synthetic) for _ in range(_VISITS)]
        scroll = scroll_through(browser, synthetic)
        drag = drag_threshold(browser, synthetic)
    report = format_report(synthetic.rows, visits, scroll, drag)
    sys.stdout.write(report)
    if options.write:
        RESULT.write_text(report)


def _open_desk(browser: Browser, synthetic: SyntheticService) -> Desk:
    """Somebody who has signed in, with nothing in the browser's cache."""
    desk = Desk(browser.new_context(viewport=_SIZE), synthetic.service)
    sign_in(desk)
    return desk


def visit(browser: Browser, synthetic: SyntheticService) -> float:
    """Milliseconds from the address to the first documents and their counts."""
    desk = _open_desk(browser, synthetic)
    began = time.perf_counter()
    page = desk.open(f"/documents/{synthetic.job_id}")
    page.get_by_role("gridcell").filter(has_text="site-").first.wait_for()
    taken = (time.perf_counter() - began) * 1000
    desk.context.close()
    return taken


def scroll_through(browser: Browser, synthetic: SyntheticService) -> Scroll:
    desk = _open_desk(browser, synthetic)
    page = desk.open(f"/documents/{synthetic.job_id}")
    grid = page.get_by_role("grid")
    grid.get_by_role("row").first.wait_for()
    found = Scroll()
    page.on("request", lambda request: _count(found, request))
    page.on("requestfailed", lambda request: found.dropped.append(request.url))
    page.on("response", lambda answer: None if answer.ok else found.dropped.append(f"{answer.status} {answer.url}"))
    session = desk.context.new_cdp_session(page)
    session.send("Performance.enable")
    began = time.perf_counter()
    for row in range(0, _ROWS + 1, _ROWS_A_STEP):
        grid.evaluate(
            "async (grid, top) => {"
            " while (grid.scrollHeight < top + grid.clientHeight) {"
            "  grid.scrollTop = grid.scrollHeight; await new Promise((go) => setTimeout(go, 20)); }"
            " grid.scrollTop = top; }",
            row * _ROW_PIXELS,
        )
        page.wait_for_timeout(_STEP_MS)
        if row in (1_000, _ROWS // 2, _ROWS):
            found.heap_megabytes[row] = _read_heap(session)
    page.locator(f'[aria-rowindex="{_ROWS + 1}"]').get_by_text("site-").first.wait_for()
    found.seconds = time.perf_counter() - began
    found.rows_in_page = grid.get_by_role("row").count()
    desk.context.close()
    return found


def _count(found: Scroll, request: Request) -> None:
    found.requests += "/api/" in request.url


def _read_heap(session: Any) -> float:
    session.send("HeapProfiler.collectGarbage")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "JSHeapUsedSize") / 1e6


def drag_threshold(browser: Browser, synthetic: SyntheticService) -> list[float]:
    """Milliseconds of each answer while a threshold is dragged to and fro."""
    desk = _open_desk(browser, synthetic)
    page = desk.open(f"/thresholds/{synthetic.job_id}")
    line = page.get_by_role("slider").first
    line.wait_for()
    page.wait_for_timeout(1_500)  # every histogram is drawn
    taken: list[float] = []
    page.on("requestfinished", lambda request: _note_answer(taken, request))
    box = line.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(_DRAG_STEPS):
        page.mouse.move(x + 60 - abs(step % 40 - 20) * 6, y)
        page.wait_for_timeout(_DRAG_STEP_MS)
    page.mouse.up()
    page.wait_for_timeout(1_000)
    desk.context.close()
    return taken


def _note_answer(taken: list[float], request: Request) -> None:
    if request.url.endswith("/what-if"):
        taken.append(request.timing["responseEnd"] - request.timing["requestStart"])


def format_report(rows: int, visits: list[float], scroll: Scroll, drag: list[float]) -> str:
    machine = describe_machine()
    first, p95 = statistics.median(visits), find_share(sorted(drag), 0.95)
    heaps = list(scroll.heap_megabytes.values())
    heap = ", ".join(f"{size:.1f} MB at row {row:,}" for row, size in scroll.heap_megabytes.items())
    return "\n".join(
        [
            f"{machine['hardware']}; Python {machine['python']}; {machine['date']}; load at the end {os.getloadavg()[0]:.1f}",
            f"{rows:,} decisions; Chromium without a screen, on the same cores as the service.",
            "",
            f"- First documents, nothing cached in the browser: median {first:.0f} ms, worst of {len(visits)} "
            f"{max(visits):.0f} ms (aim: under {AIM_FIRST_MS}): {_say(max(visits) < AIM_FIRST_MS)}.",
            f"- {_ROWS:,} documents scrolled through in {scroll.seconds:.0f} s with {scroll.requests} requests, of which "
            f"{len(scroll.dropped)} were dropped: {_say(not scroll.dropped)}. Script's memory {heap}: "
            f"{heaps[-1] / heaps[0]:.2f} times as much at the end; {scroll.rows_in_page} rows in the page.",
            f"- Threshold dragged, every decision counted anew: {len(drag)} answers, p50 {find_share(sorted(drag), 0.5):.0f} ms, "
            f"p95 {p95:.0f} ms (aim: under {AIM_DRAG_MS}): {_say(p95 < AIM_DRAG_MS)}.",
            "",
        ]
    )


def _say(holds: bool) -> str:
    return "holds" if holds else "does not hold"


if __name__ == "__main__":
    main()
