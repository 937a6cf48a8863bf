"""A session that ends in the middle of work: the same person signs in again, nothing is lost, nothing is done twice."""

from __future__ import annotations

from desk import Desk, sign_in
from pages import PASSWORD
from playwright.sync_api import Page, expect
from workbench import SAMPLE, Caller


def sign_in_again(page: Page, password: str) -> None:
    dialog = page.get_by_role("dialog", name="Your session has ended")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Password").fill(password)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_be_hidden()


def count_sources(admin: Caller, name: str) -> int:
    return sum(source["name"] == name for source in admin.call("GET", "/sources")["items"])


def test_what_was_written_and_asked_survives_the_end_of_the_session(desk: Desk, admin: Caller) -> None:
    page = desk.open("/sources/new")
    page.get_by_label("Name").fill("kept-through-expiry")
    page.get_by_label("Places").fill(str(SAMPLE))
    desk.context.clear_cookies()
    page.get_by_role("button", name="Register the source").click()
    sign_in_again(page, desk.service.password)
    expect(page.get_by_role("heading", name="kept-through-expiry")).to_be_visible()
    assert count_sources(admin, "kept-through-expiry") == 1


def test_a_wrong_password_leaves_the_work_where_it_is(desk: Desk, admin: Caller) -> None:
    page = desk.open("/sources/new")
    page.get_by_label("Name").fill("never-registered")
    desk.context.clear_cookies()
    page.get_by_label("Places").fill(str(SAMPLE))
    page.get_by_role("button", name="Register the source").click()
    dialog = page.get_by_role("dialog", name="Your session has ended")
    dialog.get_by_label("Password").fill("not the password")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_contain_text("Name or password is wrong.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    assert count_sources(admin, "never-registered") == 0


def test_one_tab_signs_in_for_all(desk: Desk) -> None:
    first, second = desk.open("/jobs"), desk.open("/sources")
    expect(second.get_by_role("heading", name="All sources")).to_be_visible()
    expect(first.get_by_role("heading", name="All jobs")).to_be_visible()
    desk.context.clear_cookies()
    for page, place in ((first, "Sources"), (second, "Profiles")):
        page.get_by_role("link", name=place, exact=True).click()
    dialogs = [page.get_by_role("dialog", name="Your session has ended") for page in (first, second)]
    expect(dialogs[1]).to_be_visible()
    sign_in_again(second, desk.service.password)
    expect(dialogs[0]).to_be_hidden()
    expect(second.get_by_role("heading", name="All profiles")).to_be_visible()


def test_a_session_begun_elsewhere_is_taken_over_with_its_token(desk: Desk, admin: Caller) -> None:
    page = desk.open("/sources/new")
    page.get_by_label("Name").fill("with-the-new-token")
    page.get_by_label("Places").fill(str(SAMPLE))
    sign_in(desk)  # as another window of the browser would: the page's token is of a session that has ended
    page.get_by_role("button", name="Register the source").click()
    expect(page.get_by_role("heading", name="with-the-new-token")).to_be_visible()
    assert count_sources(admin, "with-the-new-token") == 1


def test_another_person_does_not_go_on_with_the_first_ones_work(desk: Desk, admin: Caller) -> None:
    page = desk.open("/sources/new")
    page.get_by_label("Name").fill("of-the-admin")
    page.get_by_label("Places").fill(str(SAMPLE))
    sign_in(desk, "anna.berg", PASSWORD)
    page.get_by_role("button", name="Register the source").click()
    expect(page.get_by_role("link", name="anna.berg")).to_be_visible()
    assert count_sources(admin, "of-the-admin") == 0


def test_signing_out_leaves_nothing_on_the_screen(desk: Desk) -> None:
    page = desk.open("/admin/users")
    expect(page.get_by_role("cell", name="anna.berg", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert "anna.berg" not in page.content()
    page.go_back()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
