"""Rulings by the HTTP interface, on SQLite and on PostgreSQL: one, many, undone, two people at once, and as the library reads them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from accounts import add_user, open_program
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from curation.errors import LedgerError
from curation.overrides import BulkRuling, encode_entry, read_overrides
from primer.app.auth.actor import Actor
from primer.app.auth.roles import Role
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import NotFound, Unprocessable
from primer.app.models import AuditEntry, Event, Override, Source, SourceShard
from primer.app.models import BulkRuling as BulkRow
from primer.app.overrides import id_sets, loading
from primer.app.overrides import service as rulings
from primer.app.overrides.id_sets import ID_SCHEMA

A, B, UNCOUNTED = "a" * 64, "b" * 64, "c" * 64
RULINGS = "/api/v1/sources/1/rulings"


@pytest.fixture
def source(context: Context) -> int:
    """A source of two counted shards and one that was not."""
    with context.database.transaction() as session:
        row = Source(
            name="source", locations=["/a"], text_field="text", state="ready", created_by="test", created_at=now()
        )
        session.add(row)
        session.flush()
        for position, (sha256, count) in enumerate(((A, 100), (B, 10), (UNCOUNTED, None))):
            session.add(
                SourceShard(
                    source_id=row.id, position=position, name=f"{sha256[0]}.parquet", sha256=sha256, row_count=count
                )
            )
        assert row.id == 1
        return row.id


@pytest.fixture
def anna(service: FastAPI, source: int) -> TestClient:
    return open_program(service, Role.CURATOR, "anna")


@pytest.fixture
def ben(service: FastAPI, source: int) -> TestClient:
    return open_program(service, Role.CURATOR, "ben")


def rule(
    client: TestClient, row: int, action: str = "keep", *, shard: str = A, reason: str = "because"
) -> dict[str, Any]:
    answer = client.post(RULINGS, json={"shard_sha256": shard, "row": row, "action": action, "reason": reason})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def rule_in_bulk(client: TestClient, rows: dict[str, list[int]], action: str = "exclude") -> dict[str, Any]:
    answer = client.post(f"{RULINGS}/bulk", json={"rows": rows, "action": action, "reason": "many"})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def undo(client: TestClient, **what: Any) -> dict[str, Any]:
    answer = client.post(f"{RULINGS}/undo", json={"reason": "wrong", **what})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def list_revisions(client: TestClient, **query: Any) -> list[int]:
    return [item["revision"] for item in client.get(RULINGS, params=query).json()["items"]]


def test_a_ruling_is_an_entry_with_its_author_reason_and_number(anna: TestClient, context: Context) -> None:
    assert anna.get(f"{RULINGS}/revision").json() == {"revision": 0, "at": None}
    answer = rule(anna, 7, reason="a fable")
    assert (answer["disagreement_count"], answer["disagreements"]) == (0, [])
    ruling = answer["ruling"]
    at = ruling.pop("at")
    assert ruling == {
        "revision": 1, "action": "keep", "author": "anna", "reason": "a fable", "is_bulk": False,
        "shard_sha256": A, "row": 7, "row_count": 1, "file_sha256": None, "query": None,
    }  # fmt: skip
    assert anna.get(f"{RULINGS}/revision").json() == {"revision": 1, "at": at}
    with context.database.reading() as session:
        [entry] = session.execute(select(AuditEntry).where(AuditEntry.action.like("ruling.%"))).scalars()
        [event] = session.execute(select(Event).where(Event.kind == "ruling")).scalars()
    assert (entry.action, entry.subject, entry.user_name, entry.before) == ("ruling.keep", "source/1", "anna", None)
    assert entry.after == {
        "revision": 1, "action": "keep", "author": "anna", "reason": "a fable", "shard_sha256": A, "row": 7,
    }  # fmt: skip
    assert event.data == {
        "source_id": 1, "revision": 1, "action": "keep", "author": "anna", "row_count": 1, "shard_sha256": A, "row": 7,
    }  # fmt: skip


def test_another_persons_ruling_that_differs_is_named_and_stays(anna: TestClient, ben: TestClient) -> None:
    rule(anna, 7, "keep", reason="a fable")
    assert rule(ben, 7, "keep")["disagreement_count"] == 0
    answer = rule(anna, 7, "exclude")
    assert answer["disagreement_count"] == 1
    assert answer["disagreements"] == [
        {"shard_sha256": A, "row": 7, "revision": 2, "action": "keep", "author": "ben", "reason": "because"}
    ]
    assert rule(anna, 7, "keep")["disagreement_count"] == 0  # her own
    assert undo(ben, shard_sha256=A, row=7)["disagreement_count"] == 1
    assert rule(ben, 7, "exclude")["disagreement_count"] == 0  # nothing was in force
    assert list_revisions(anna, shard_sha256=A, row=7) == [6, 5, 4, 3, 2, 1]


def test_two_people_at_once_get_numbers_without_a_gap_and_the_later_is_told(
    service: FastAPI, context: Context, source: int
) -> None:
    clients = [open_program(service, Role.CURATOR, f"user{number}") for number in range(4)]

    def work(number: int) -> list[dict[str, Any]]:
        action = "keep" if number % 2 else "exclude"
        return [rule(clients[number], row, action) for row in range(8)]

    with ThreadPoolExecutor(4) as threads:
        answers = [answer for found in threads.map(work, range(4)) for answer in found]
    numbers = sorted(answer["ruling"]["revision"] for answer in answers)
    assert numbers == list(range(1, 33))
    in_force: dict[int, tuple[str, str]] = {}
    for answer in sorted(answers, key=lambda found: found["ruling"]["revision"]):
        ruling = answer["ruling"]
        author, action = in_force.get(ruling["row"], (ruling["author"], ruling["action"]))
        assert answer["disagreement_count"] == int(author != ruling["author"] and action != ruling["action"])
        in_force[ruling["row"]] = ruling["author"], ruling["action"]
    found = loading.load_overrides(context, source).of_shard(A, "")
    assert found == {row: action == "keep" for row, (_, action) in in_force.items()}


def test_a_refused_ruling_takes_no_number(anna: TestClient, context: Context) -> None:
    rule(anna, 1)
    answer = anna.post(f"{RULINGS}/undo", json={"shard_sha256": A, "row": 2, "reason": "r"})
    assert (answer.status_code, answer.json()["detail"]) == (409, f"No ruling is in force on row 2 of shard {A}.")
    assert rule(anna, 2)["ruling"]["revision"] == 2


@pytest.mark.parametrize(
    ("shard", "row", "detail"),
    [
        (A, 100, f"Shard {A} has no row 100."),
        ("d" * 64, 0, f"The source has no shard {'d' * 64}."),
        (UNCOUNTED, 0, f"The source has no shard {UNCOUNTED}."),
    ],
)
def test_a_row_that_is_not_there_cannot_be_ruled_on(anna: TestClient, shard: str, row: int, detail: str) -> None:
    body = {"shard_sha256": shard, "row": row, "action": "keep", "reason": "r"}
    answer = anna.post(RULINGS, json=body)
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)
    many = {"rows": {B: [9], shard: [row, 1]}, "action": "keep", "reason": "r"}
    answer = anna.post(f"{RULINGS}/bulk", json=many)
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)
    assert anna.get(f"{RULINGS}/revision").json()["revision"] == 0


def test_a_bulk_ruling_is_one_entry_with_its_rows_frozen(anna: TestClient, ben: TestClient, context: Context) -> None:
    rule(anna, 3, "keep")
    rule(ben, 4, "keep")
    answer = rule_in_bulk(ben, {A: [5, 3, 4, 3], B: [0]})
    assert (answer["ruling"]["revision"], answer["ruling"]["row_count"], answer["ruling"]["is_bulk"]) == (3, 4, True)
    assert answer["disagreement_count"] == 1
    assert [(other["row"], other["author"]) for other in answer["disagreements"]] == [(3, "anna")]
    rule(anna, 5, "keep")
    overrides = loading.load_overrides(context, 1)
    assert overrides.of_shard(A, "") == {3: False, 4: False, 5: True}
    assert overrides.of_shard(B, "") == {0: False}
    assert loading.load_overrides(context, 1, 2).of_shard(A, "") == {3: True, 4: True}
    assert loading.load_overrides(context, 1, 0).rulings == ()
    assert list_revisions(anna, shard_sha256=A, row=3) == [3, 1]
    assert list_revisions(anna, shard_sha256=B, row=0) == [3]
    assert list_revisions(anna, shard_sha256=B, row=1) == []
    assert list_revisions(anna, author="ben") == [3, 2]


def test_a_bulk_ruling_is_undone_where_it_is_still_in_force(
    anna: TestClient, ben: TestClient, context: Context
) -> None:
    rule_in_bulk(anna, {A: [1, 2, 3]})
    rule(anna, 2, "keep")
    answer = undo(ben, revision=1)
    assert (answer["ruling"]["action"], answer["ruling"]["row_count"]) == ("undo", 2)
    assert answer["ruling"]["query"] == {"undoes": 1}
    assert answer["disagreement_count"] == 2
    assert loading.load_overrides(context, 1).of_shard(A, "") == {2: True}
    answer = ben.post(f"{RULINGS}/undo", json={"revision": 1, "reason": "r"})
    assert (answer.status_code, answer.json()["detail"]) == (409, "Ruling 1 is in force nowhere any more.")
    assert undo(ben, revision=2)["ruling"]["row"] == 2
    assert loading.load_overrides(context, 1).of_shard(A, "") == {}
    assert ben.post(f"{RULINGS}/undo", json={"revision": 9, "reason": "r"}).status_code == 404


@pytest.mark.parametrize(
    "what",
    [{}, {"revision": 1, "shard_sha256": A, "row": 1}, {"row": 1}, {"revision": 1, "row": 1}, {"revision": 0}],
)
def test_an_undo_names_one_thing(anna: TestClient, what: dict[str, Any]) -> None:
    assert anna.post(f"{RULINGS}/undo", json={"reason": "r", **what}).status_code == 422


def test_pages_go_through_both_kinds_newest_first(anna: TestClient) -> None:
    for number in range(7):
        if number % 3 == 1:
            rule_in_bulk(anna, {A: [number]})
        else:
            rule(anna, number)
    seen: list[int] = []
    cursor = None
    while True:
        page = anna.get(RULINGS, params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [item["revision"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    assert anna.get(RULINGS, params={"row": 1}).status_code == 422


def test_the_library_reads_what_the_service_writes(anna: TestClient, context: Context, tmp_path: Path) -> None:
    rule(anna, 7, reason='says "rows": é')
    rule_in_bulk(anna, {B: [2, 1], A: [7]})
    undo(anna, shard_sha256=B, row=1)
    answer = anna.get(f"{RULINGS}.jsonl")
    path = tmp_path / "rulings.jsonl"
    path.write_bytes(answer.content)
    found, loaded = read_overrides(path), loading.load_overrides(context, 1)
    assert (found.sha256, found.revision) == (loaded.sha256, 3)
    assert answer.headers["ETag"] == f'"{found.sha256}"'
    assert found.of_shard(A, "") == loaded.of_shard(A, "") == {7: False}
    assert found.of_shard(B, "") == loaded.of_shard(B, "") == {2: False}
    assert b"".join(map(encode_entry, found.rulings)) == answer.content
    again = anna.get(f"{RULINGS}.jsonl", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    older = anna.get(f"{RULINGS}.jsonl", params={"revision": 1})
    assert older.content == answer.content.splitlines(keepends=True)[0]
    assert anna.get(f"{RULINGS}.jsonl", params={"revision": 4}).status_code == 404


def test_what_was_loaded_is_gone_on_from_and_equals_a_fresh_load(anna: TestClient, context: Context) -> None:
    for row in range(5):
        rule(anna, row)
        step = loading.load_overrides(context, 1)
        assert step.revision == row + 1
    rule_in_bulk(anna, {A: [0, 1]})
    warm = loading.load_overrides(context, 1)
    loading._kept.clear()
    fresh = loading.load_overrides(context, 1)
    assert fresh is not warm
    assert (fresh.sha256, fresh.revision, fresh.of_shard(A, "")) == (warm.sha256, warm.revision, warm.of_shard(A, ""))
    assert loading.load_overrides(context, 1) is fresh


def test_lost_or_changed_rows_of_a_bulk_ruling_are_an_error(anna: TestClient, context: Context) -> None:
    rule_in_bulk(anna, {A: [1]})
    with context.database.reading() as session:
        row = session.execute(select(BulkRow)).scalar_one()
    path = context.settings.data_dir / row.file
    content = path.read_bytes()
    for change in (lambda: path.write_bytes(content + b" "), path.unlink):
        change()
        loading._kept.clear()
        id_sets._read.cache_clear()
        with pytest.raises(LedgerError, match="rulings/"):
            loading.load_overrides(context, 1)


def test_many_rows_by_a_query_of_another_room(curator: Actor, context: Context, source: int) -> None:
    rows = pa.table({"shard_sha256": [A, B, A], "row": [9, 0, 8]}, schema=ID_SCHEMA)
    ruled = rulings.rule_in_bulk(context, curator, source, rows, "keep", "found", {"term": "quark"})
    assert (ruled.record.revision, ruled.record.row_count, ruled.record.query) == (1, 3, {"term": "quark"})
    [entry] = loading.load_overrides(context, source).rulings
    assert isinstance(entry, BulkRuling)
    assert {shard: found.tolist() for shard, found in entry.rows.items()} == {A: [8, 9], B: [0]}
    with pytest.raises(Unprocessable, match="at least one row"):
        rulings.rule_in_bulk(context, curator, source, rows.slice(0, 0), "keep", "none", None)
    with pytest.raises(NotFound):
        rulings.rule_in_bulk(context, curator, 99, rows, "keep", "none", None)


@pytest.fixture
def curator(context: Context) -> Actor:
    user = add_user(context, "carl", Role.CURATOR)
    return Actor(user.id, user.name, Role.CURATOR)


def test_a_viewer_reads_and_does_not_rule(service: FastAPI, anna: TestClient, context: Context) -> None:
    rule(anna, 1)
    viewer = open_program(service, Role.VIEWER)
    assert viewer.get(RULINGS).status_code == 200
    answer = viewer.post(RULINGS, json={"shard_sha256": A, "row": 1, "action": "exclude", "reason": "r"})
    assert answer.status_code == 403
    with context.database.reading() as session:
        assert len(session.execute(select(Override)).all()) == 1


def test_more_rows_than_may_be_listed_are_refused(anna: TestClient) -> None:
    answer = anna.post(f"{RULINGS}/bulk", json={"rows": {A: [1] * 100_001}, "action": "keep", "reason": "r"})
    assert answer.status_code == 422
    assert "at most 100000 rows" in answer.text


def test_a_source_with_rulings_is_not_removed(service: FastAPI, anna: TestClient) -> None:
    rule(anna, 1)
    answer = open_program(service, Role.OPERATOR).delete("/api/v1/sources/1")
    assert (answer.status_code, answer.json()["detail"]) == (
        409, "The source source has 1 rulings, which are never erased.",
    )  # fmt: skip
