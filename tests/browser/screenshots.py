"""Takes a picture of every page, at the width of a laptop and of a tablet, light and dark: `make screenshots`.

They go to docs/screenshots, named page-width-theme.png. Run from anywhere: a service of its own is started and furnished.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import workbench
from desk import Desk, sign_in
from pages import PAGES, Page, find_path, furnish
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SIZES = {1280: 900, 820: 1180}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
FOLDER = workbench.REPO / "docs" / "screenshots"
_LOAD_MS = 60_000
_SETTLE_MS = 900  # charts, and first rows of a source


def take_pictures(browser: Browser, service: workbench.Service, folder: Path, only: list[str]) -> None:
    caller = furnish(service)
    for width, height in SIZES.items():
        for theme in THEMES:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            desk = Desk(context, service)
            for page in sorted(PAGES, key=lambda page: not page.is_open):
                if only and page.name not in only:
                    continue
                if not page.is_open:
                    sign_in(desk)
                path = folder / f"{page.name}-{width}-{theme}.png"
                _take_picture(desk, page, find_path(page, caller), path)
                sys.stdout.write(f"{path}\n")
            context.close()


def _take_picture(desk: Desk, page: Page, address: str, path: Path) -> None:
    shown = desk.open(address)
    shown.get_by_role("heading", name=page.heading, exact=True).wait_for()
    expect(shown.get_by_role("status", name="Loading")).to_have_count(0, timeout=_LOAD_MS)
    shown.wait_for_timeout(_SETTLE_MS)
    shown.screenshot(path=path, full_page=True)
    shown.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="Names of pages; default: all.")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    if (obstacle := workbench.find_obstacle()) is not None:
        raise SystemExit(obstacle)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="primer-screenshots-") as folder,
        workbench.running_service(Path(folder)) as service,
        workbench.open_browser() as browser,
    ):
        take_pictures(browser, service, chosen.folder, chosen.pages)


if __name__ == "__main__":
    main()
