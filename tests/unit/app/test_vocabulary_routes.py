"""Versions of vocabularies by the HTTP interface, on SQLite and on PostgreSQL: saved, compared, reverted, exported, imported."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from accounts import open_program
from fastapi import FastAPI
from sqlalchemy import func, select
from starlette.testclient import TestClient

from curation.lexicon.vocabulary import read_vocabulary_version
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.models import AuditEntry, VocabularyRecord

VOCABULARIES = "/api/v1/vocabularies"
OURS = f"{VOCABULARIES}/ours"
HEADER = "term,ruling,context,words,left,right,note"
CELL = {
    "term": "cell",
    "note": "=HYPERLINK(1)",
    "innocent_if": [{"words": ["prison", "jail"], "left": 3, "right": 0}],
    "counts_if": [],
}
FIRST: dict[str, Any] = {
    "allow": ["volcano", "tan", "volcano"],
    "block": ["yeast"],
    "senses": [CELL],
    "notes": {"tan": "+a colour", "yeast": "@baking"},
}


@pytest.fixture
def anna(service: FastAPI) -> TestClient:
    return open_program(service, Role.CURATOR, "anna")


@pytest.fixture
def ben(service: FastAPI) -> TestClient:
    return open_program(service, Role.CURATOR, "ben")


def save(client: TestClient, content: dict[str, Any], based_on: int | None = None, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{OURS}/versions", json={"content": content, "based_on": based_on, **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def count_versions(context: Context) -> int:
    with context.database.reading() as session:
        return session.execute(select(func.count()).select_from(VocabularyRecord)).scalar_one()


def test_a_saved_version_is_read_kept_and_audited(anna: TestClient, context: Context) -> None:
    made = save(anna, FIRST, note="the first")
    assert (made["name"], made["version"], made["author"], made["note"], made["parent_id"]) == (
        "ours", 1, "anna", "the first", None,
    )  # fmt: skip
    assert (made["allow_count"], made["block_count"], made["sense_count"]) == (2, 1, 1)
    assert made["content"] == {
        "allow": ["tan", "volcano"],
        "block": ["yeast"],
        "senses": [{**CELL, "innocent_if": [{"words": ["jail", "prison"], "left": 3, "right": 0}]}],
        "notes": {"tan": "+a colour", "yeast": "@baking"},
    }
    second = save(anna, {"allow": ["tan"]}, made["id"])
    assert (second["version"], second["parent_id"]) == (2, made["id"])
    for path in (f"{OURS}/versions/1", f"{VOCABULARIES}/ids/{made['id']}"):
        read = anna.get(path)
        assert read.json() == made
        assert (read.headers["ETag"], read.headers["Cache-Control"]) == (
            f'"{made["sha256"]}"',
            "private, max-age=31536000, immutable",
        )
        known = anna.get(path, headers={"If-None-Match": read.headers["ETag"]})
        assert (known.status_code, known.content) == (304, b"")
    [listed] = anna.get(VOCABULARIES).json()["items"]
    summary = {key: value for key, value in second.items() if key != "content"}
    assert listed == {"name": "ours", "version_count": 2, "newest": summary}
    page = anna.get(f"{OURS}/versions", params={"limit": 1}).json()
    assert [item["version"] for item in page["items"]] == [2]
    rest = anna.get(f"{OURS}/versions", params={"limit": 1, "cursor": page["next"]}).json()
    assert ([item["version"] for item in rest["items"]], rest["next"]) == ([1], None)
    with context.database.reading() as session:
        entries = session.execute(select(AuditEntry).where(AuditEntry.action.startswith("vocabulary."))).scalars().all()
    assert [(entry.user_name, entry.action, entry.subject) for entry in entries] == [
        ("anna", "vocabulary.save", f"vocabulary/{made['id']}"),
        ("anna", "vocabulary.save", f"vocabulary/{second['id']}"),
    ]
    assert entries[0].before is None
    assert entries[1].before["sha256"] == made["sha256"]
    assert (entries[1].after["sha256"], entries[1].after["allow"]) == (second["sha256"], 1)


def test_of_two_curators_the_later_is_told_who_saved_what_and_loses_nothing(
    anna: TestClient, ben: TestClient, context: Context
) -> None:
    first = save(anna, {"allow": ["tan"]})
    theirs = save(ben, {"allow": ["tan", "volcano"]}, first["id"], note="grade 4")
    late = {"content": {"allow": ["tan"], "block": ["yeast"]}, "based_on": first["id"]}
    refused = anna.post(f"{OURS}/versions", json=late)
    assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
    moment = theirs["created_at"][:19]
    assert refused.json()["detail"] == (
        f"ben saved version 2 of ours at {moment}+00:00 (grade 4); yours is based on an older one."
    )
    assert refused.json()["hint"] == (
        f"Nothing was saved, and nothing overwritten. See GET /api/v1/vocabularies/diff?before={first['id']}"
        f"&after={theirs['id']}. Then save again with based_on {theirs['id']}."
    )
    assert anna.post(f"{OURS}/versions", json={**late, "based_on": None}).status_code == 409
    assert anna.post(f"{OURS}/revert", json={"based_on": first["id"], "to_version": 1}).status_code == 409
    assert count_versions(context) == 2
    again = save(anna, late["content"], theirs["id"])  # type: ignore[arg-type]
    assert (again["version"], again["parent_id"]) == (3, theirs["id"])
    assert anna.get(f"{OURS}/versions/2").json() == theirs


def test_of_many_at_once_one_is_saved(anna: TestClient, context: Context) -> None:
    first = save(anna, {"allow": ["tan"]})
    words = ["volcano", "yeast", "prime", "root"]

    def try_save(word: str) -> int:
        body = {"content": {"allow": [word]}, "based_on": first["id"]}
        return int(anna.post(f"{OURS}/versions", json=body).status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(try_save, words)) == [201, 409, 409, 409]
    assert count_versions(context) == 2


def test_versions_are_compared_word_by_word(anna: TestClient) -> None:
    first = save(anna, FIRST)
    second = save(anna, {"allow": ["tan"], "block": ["volcano"], "notes": {"tan": "a hue"}}, first["id"])
    changes = anna.get(f"{VOCABULARIES}/diff", params={"before": first["id"], "after": second["id"]}).json()
    assert [(c["word"], c["before"], c["after"], c["is_note_only"]) for c in changes] == [
        ("cell", "sense", None, False),
        ("tan", "allow", "allow", True),
        ("volcano", "allow", "block", False),
        ("yeast", "block", None, False),
    ]
    assert (changes[0]["rule_before"]["term"], changes[0]["rule_after"]) == ("cell", None)
    assert (changes[1]["note_before"], changes[1]["note_after"]) == ("+a colour", "a hue")
    same = {"before": first["id"], "after": first["id"]}
    assert anna.get(f"{VOCABULARIES}/diff", params=same).json() == []
    assert anna.get(f"{VOCABULARIES}/diff", params={**same, "after": 999}).status_code == 404


def test_going_back_is_a_new_version(anna: TestClient, ben: TestClient) -> None:
    first = save(anna, FIRST)
    second = save(anna, {"allow": ["tan"]}, first["id"])
    answer = ben.post(f"{OURS}/revert", json={"based_on": second["id"], "to_version": 1})
    assert answer.status_code == 201
    third = answer.json()
    assert (third["version"], third["author"], third["note"], third["parent_id"]) == (
        3, "ben", "Back to version 1.", second["id"],
    )  # fmt: skip
    assert third["content"] == first["content"]
    nothing = ben.post(f"{OURS}/versions", json={"content": FIRST, "based_on": third["id"]})
    assert (nothing.status_code, nothing.json()["detail"]) == (422, "This rules as ours version 3 does.")
    for version, status in ((3, 422), (4, 404)):
        body = {"based_on": third["id"], "to_version": version}
        assert ben.post(f"{OURS}/revert", json=body).status_code == status


def test_a_spreadsheet_runs_nothing_and_a_round_trip_changes_nothing(anna: TestClient) -> None:
    first = save(anna, FIRST)
    answer = anna.get(f"{OURS}/versions/1/csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="ours-v1.csv"'
    assert answer.text == (
        '"term","ruling","context","words","left","right","note"\r\n'
        '"cell","sense","innocent","jail prison","3","0","\'=HYPERLINK(1)"\r\n'
        '"tan","allow","","","","","\'+a colour"\r\n'
        '"volcano","allow","","","","",""\r\n'
        '"yeast","block","","","","","\'@baking"\r\n'
    )
    for line in csv.reader(io.StringIO(answer.text, newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in line)
    read = anna.post(f"{VOCABULARIES}/read-csv", json={"csv": answer.text})
    assert read.json() == first["content"]
    body = {"csv": answer.text + '"prime","allow","","","","",""\r\n', "based_on": first["id"]}
    saved = anna.post(f"{OURS}/versions", json=body).json()
    assert saved["content"] == {**first["content"], "allow": ["prime", "tan", "volcano"]}
    known = anna.get(f"{OURS}/versions/1/csv", headers={"If-None-Match": answer.headers["ETag"]})
    assert (known.status_code, known.content) == (304, b"")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "The first line does not name the columns."),
        (f"{HEADER}\ntan,allow\n", "Line 2 has 2 cells."),
        (f"{HEADER}\ntan,allow,,,,,\ntan,block,,,,,\n", "Line 3: tan is allowed and blocked at once."),
        (f"{HEADER}\n=1+1,allow,,,,,\n", "Line 2: not tokens (two or more lower-case letters a-z): =1+1."),
        (f"{HEADER}\ntan,forbid,,,,,\n", "Line 2: ruling 'forbid' with context '' is none."),
        (f"{HEADER}\ntan,sense,counts,ab,51,,\n", "Line 2: left: Input should be less than or equal to 50."),
        (f'{HEADER}\n"open', "This is no CSV file in UTF-8"),
    ],
)
def test_a_wrong_line_of_a_file_is_named(anna: TestClient, context: Context, content: str, said: str) -> None:
    for path in (f"{VOCABULARIES}/read-csv", f"{OURS}/versions"):
        answer = anna.post(path, json={"csv": content})
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith(said)
    assert count_versions(context) == 0


def test_the_file_is_one_that_the_command_line_takes(anna: TestClient, tmp_path: Path) -> None:
    first = save(anna, FIRST)
    second = save(anna, {"allow": ["tan"]}, first["id"], note="fewer")
    path = tmp_path / "ours.yaml"
    path.write_bytes(anna.get(f"{OURS}/versions/2/yaml").content)
    version = read_vocabulary_version(path)
    assert (version.sha256, version.parent, version.author, version.note) == (
        second["sha256"], first["sha256"], "anna", "fewer",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"content": {}, "csv": HEADER}, 422),
        ({"content": {"allow": ["An atom"]}}, 422),
        ({"content": {"allow": ["tan"], "block": ["tan"]}}, 422),
        ({"content": {"allow": ["tan"], "notes": {"tan": "a\x00b"}}}, 422),
        ({"content": {"allow": ["tan"], "notes": {"tan": "a" * 2001}}}, 422),
        ({"content": {"notes": {"tan": "of no word"}}}, 422),
        ({"content": {"allow": ["tan"]}, "note": "a" * 2001}, 422),
        ({"content": {"allow": ["tan"]}, "based_on": 0}, 422),
        ({"content": {"allow": ["tan"]}, "based_on": 1 << 63}, 422),
        ({"content": {"allow": ["tan"]}, "based_on": 7}, 404),
        ({"content": {"allow": ["tan"] * 100_001}}, 422),
    ],
)
def test_what_cannot_be_saved(anna: TestClient, context: Context, body: dict[str, Any], status: int) -> None:
    answer = anna.post(f"{OURS}/versions", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert count_versions(context) == 0


def test_names_that_are_none_are_refused(anna: TestClient) -> None:
    body = {"content": {"allow": ["tan"]}}
    assert anna.post(f"{VOCABULARIES}/plain/versions", json=body).status_code == 409
    assert anna.post(f"{VOCABULARIES}/Ours/versions", json=body).status_code == 422
    assert anna.get(f"{OURS}/versions/1").status_code == 404
    assert anna.get(f"{VOCABULARIES}/ids/1").status_code == 404
    first = save(anna, {"allow": ["tan"]})
    other = anna.post(f"{VOCABULARIES}/other/versions", json=body).json()
    assert anna.post(f"{OURS}/versions", json={"content": FIRST, "based_on": other["id"]}).status_code == 404
    names = anna.get(VOCABULARIES, params={"limit": 1}).json()
    assert [item["name"] for item in names["items"]] == ["other"]
    rest = anna.get(VOCABULARIES, params={"limit": 1, "cursor": names["next"]}).json()
    assert ([item["newest"]["id"] for item in rest["items"]], rest["next"]) == ([first["id"]], None)


def test_a_viewer_reads_and_saves_nothing(anna: TestClient, service: FastAPI, context: Context) -> None:
    first = save(anna, {"allow": ["tan"]})
    viewer = open_program(service, Role.VIEWER)
    assert viewer.get(f"{OURS}/versions/1").json() == first
    refused = viewer.post(f"{OURS}/versions", json={"content": FIRST, "based_on": first["id"]})
    assert refused.status_code == 403
    assert viewer.post(f"{OURS}/revert", json={"based_on": first["id"], "to_version": 1}).status_code == 403
    assert count_versions(context) == 1
