"""A person at a browser, for the tests of the workbench."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench import Service

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page


@dataclass
class Desk:
    """A browser that somebody is signed in with, and what it complained of."""

    context: BrowserContext
    service: Service
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str = "/") -> Page:
        page = self.new_page()
        page.goto(self.service.address + path)
        return page

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} {message.location.get('url', '')}")


def sign_in(desk: Desk, name: str = "admin", password: str | None = None) -> None:
    password = desk.service.password if password is None else password
    answer = desk.context.request.post(
        f"{desk.service.address}/api/v1/session", data={"name": name, "password": password}
    )
    assert answer.ok, answer.text()
