"""Reading the audit log by the HTTP interface, on SQLite and on PostgreSQL."""

from __future__ import annotations

import csv
import io
import json

import pytest
from accounts import add_user, open_program
from fastapi import FastAPI
from sqlalchemy import delete
from starlette.testclient import TestClient

from primer.app.auth.actor import SYSTEM, Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.models import AuditEntry


@pytest.fixture
def admin(service: FastAPI, context: Context) -> TestClient:
    """An admin's program; the log begins empty."""
    admin = open_program(service, Role.ADMIN)
    with context.database.transaction() as session:
        session.execute(delete(AuditEntry))
    return admin


def _write(context: Context, action: str, subject: str, user: str = "system", **after: object) -> None:
    with context.database.transaction() as session:
        record_change(session, Actor(None, user, Role.ADMIN), action, subject, after=dict(after))


def _subjects(admin: TestClient, **wanted: str) -> list[str]:
    return [item["subject"] for item in admin.get("/api/v1/audit", params=wanted).json()["items"]]


def test_entries_come_newest_first_in_pages_that_additions_do_not_shift(admin: TestClient, context: Context) -> None:
    for number in range(5):
        _write(context, "job.cancel", f"job/{number}")
    first = admin.get("/api/v1/audit", params={"limit": 2}).json()
    _write(context, "job.cancel", "job/late")
    second = admin.get("/api/v1/audit", params={"limit": 2, "cursor": first["next"]}).json()
    third = admin.get("/api/v1/audit", params={"limit": 2, "cursor": second["next"]}).json()
    pages = [[item["subject"] for item in page["items"]] for page in (first, second, third)]
    assert pages == [["job/4", "job/3"], ["job/2", "job/1"], ["job/0"]]
    assert third["next"] is None


def test_entries_are_found_by_user_beginning_of_action_and_subject(admin: TestClient, context: Context) -> None:
    _write(context, "job.cancel", "job/1")
    _write(context, "job.pause", "job/2", user="anna")
    _write(context, "jobs_x", "job/3", user="anna")
    _write(context, "user.change", "user/1", user="anna")
    assert _subjects(admin, user="anna") == ["user/1", "job/3", "job/2"]
    assert _subjects(admin, action="job.") == ["job/2", "job/1"]
    assert _subjects(admin, action="job%") == []
    assert _subjects(admin, action="job_") == []
    assert _subjects(admin, subject="job/1") == ["job/1"]
    assert _subjects(admin, user="anna", action="job.") == ["job/2"]
    assert _subjects(admin, user="' OR 1=1 --") == []


def test_a_filter_that_no_database_takes_is_refused(admin: TestClient) -> None:
    for name in ("user", "action", "subject"):
        assert admin.get(f"/api/v1/audit?{name}=a%00b").status_code == 422
        assert admin.get("/api/v1/audit", params={name: "x" * 201}).status_code == 422


def test_the_export_is_csv_without_formulas(admin: TestClient, context: Context) -> None:
    _write(context, "job.cancel", "job/1", note='a "quoted", =SUM(A1)\nnote')
    _write(context, "=cmd|' /C calc'!A0", "@SUM(A1)", user="+1-1")
    answer = admin.get("/api/v1/audit.csv")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    heading, hostile, plain = csv.reader(io.StringIO(answer.text))
    assert heading == ["id", "at", "user", "action", "subject", "before", "after"]
    assert hostile[2:] == ["'+1-1", "'=cmd|' /C calc'!A0", "'@SUM(A1)", "", "{}"]
    assert plain[2:6] == ["system", "job.cancel", "job/1", ""]
    assert json.loads(plain[6]) == {"note": 'a "quoted", =SUM(A1)\nnote'}
    assert plain[1].endswith("+00:00")
    filtered = admin.get("/api/v1/audit.csv", params={"subject": "job/1"})
    assert len(filtered.text.splitlines()) == 2


def test_the_export_has_every_entry_once(admin: TestClient, context: Context) -> None:
    with context.database.transaction() as session:
        for number in range(2_500):
            record_change(session, SYSTEM, "job.cancel", f"job/{number}")
    rows = list(csv.DictReader(io.StringIO(admin.get("/api/v1/audit.csv").text)))
    assert [row["subject"] for row in rows] == [f"job/{number}" for number in reversed(range(2_500))]


def test_only_admins_read_it(service: FastAPI, context: Context) -> None:
    add_user(context, "anna", Role.OPERATOR)
    operator = open_program(service, Role.OPERATOR, "anna")
    for path in ("/api/v1/audit", "/api/v1/audit.csv"):
        answer = operator.get(path)
        assert answer.status_code == 403
        assert answer.json()["detail"] == "This needs the role admin; anna has the role operator."
