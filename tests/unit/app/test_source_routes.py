"""Sources by the HTTP interface, on SQLite and on PostgreSQL: registered, scanned, looked into, removed."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accounts import open_program
from fakes.hub_server import HubServer
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from primer.app.auth.roles import Role
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.models import AuditEntry, Job, ProfileVersion, Source
from primer.app.profiles.bundled import import_bundled
from primer.app.sources import claims, scan
from primer.app.sources.rules import read_binding_rules

SOURCES, PREFIXES, RULES = "/api/v1/sources", "/api/v1/allowed-prefixes", "/api/v1/source-rules"


@pytest.fixture
def operator(service: FastAPI) -> TestClient:
    return open_program(service, Role.OPERATOR)


@pytest.fixture
def admin(service: FastAPI) -> TestClient:
    return open_program(service, Role.ADMIN)


@pytest.fixture
def folder(tmp_path: Path, admin: TestClient) -> Path:
    """An allowed folder: a.parquet of 25 rows in 3 row groups, b.jsonl of 3 lines."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    rows = {"text": [f"text {row} " + "x" * 600 for row in range(25)], "score": [row / 2 for row in range(25)]}
    pq.write_table(pa.table(rows), folder / "a.parquet", row_group_size=10)
    (folder / "b.jsonl").write_text("".join(json.dumps({"text": f"line {row}"}) + "\n" for row in range(3)))
    assert admin.post(PREFIXES, json={"prefix": str(folder)}).status_code == 201
    return folder


def register(client: TestClient, *locations: Path | str, name: str = "mine", **more: Any) -> int:
    answer = client.post(SOURCES, json={"name": name, "locations": [str(place) for place in locations], **more})
    assert answer.status_code == 202, answer.text
    assert answer.json()["state"] == "registered"
    return int(answer.json()["id"])


def scan_source(context: Context, source_id: int, *, check: Callable[[], None] = lambda: None) -> None:
    """What a worker does that is told of the source; it is made to wait for a scan first."""
    with context.database.transaction() as session:
        claims.wait_for_scan(session, context, session.get_one(Source, source_id))
        held = claims.claim(session, source_id, seconds=60)
    assert held is not None
    scan.scan_source(context, held, check=check)


def read_entries(context: Context, action: str) -> list[AuditEntry]:
    with context.database.reading() as session:
        return list(session.execute(select(AuditEntry).where(AuditEntry.action == action)).scalars())


def test_a_source_is_registered_and_its_shards_described(operator: TestClient, context: Context, folder: Path) -> None:
    source_id = register(operator, folder)
    assert operator.get(f"{SOURCES}/{source_id}/shards").json() == {"items": [], "next": None}
    scan_source(context, source_id)
    source = operator.get(f"{SOURCES}/{source_id}").json()
    assert (source["state"], source["error"], source["shard_count"], source["row_count"]) == ("ready", None, 2, None)
    assert source["size_bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert source["locations"] == [str(folder)]
    assert source["scanned_at"].endswith("Z")
    expected = [
        {
            "position": position,
            "name": name,
            "size_bytes": (folder / name).stat().st_size,
            "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
            "row_count": rows,
            "row_groups": groups,
            "error": None,
        }
        for position, (name, rows, groups) in enumerate([("a.parquet", 25, 3), ("b.jsonl", None, None)])
    ]
    assert operator.get(f"{SOURCES}/{source_id}/shards").json()["items"] == expected
    assert operator.get(f"{SOURCES}/{source_id}/shards/1").json() == expected[1]
    [entry] = read_entries(context, "source.register")
    assert (entry.user_name, entry.subject, entry.after["locations"]) == (
        "a-operator",
        f"source/{source_id}",
        [str(folder)],
    )


def test_pages_of_shards_and_sources_join_without_a_gap(operator: TestClient, context: Context, folder: Path) -> None:
    for number in range(5):
        (folder / f"c{number}.jsonl").write_text('{"text": "x"}\n')
    source_id = register(operator, folder)
    register(operator, folder / "b.jsonl", name="second")
    scan_source(context, source_id)
    for path, wanted in ((f"{SOURCES}/{source_id}/shards", 7), (SOURCES, 2)):
        found: list[Any] = []
        cursor = None
        while True:
            page = operator.get(
                path, params={"limit": 3 if wanted > 3 else 1, **({"cursor": cursor} if cursor else {})}
            ).json()
            found += page["items"]
            cursor = page["next"]
            if cursor is None:
                break
        assert len(found) == wanted
        assert found == operator.get(path).json()["items"]
    assert operator.get(f"{SOURCES}/{source_id}/shards", params={"cursor": "nonsense"}).status_code == 422


def test_an_etag_of_a_shard_holds_until_another_file_is_found(
    operator: TestClient, context: Context, folder: Path
) -> None:
    source_id = register(operator, folder)
    scan_source(context, source_id)
    path = f"{SOURCES}/{source_id}/shards/1"
    etag = operator.get(path).headers["ETag"]
    known = operator.get(path, headers={"If-None-Match": f'"other", {etag}'})
    assert (known.status_code, known.content) == (304, b"")
    scan_source(context, source_id)
    assert operator.get(path, headers={"If-None-Match": etag}).status_code == 304
    assert read_entries(context, "source.changed") == []
    (folder / "b.jsonl").write_text('{"text": "changed"}\n')
    (folder / "c.jsonl").write_text('{"text": "new"}\n')
    assert operator.post(f"{SOURCES}/{source_id}/scan").status_code == 202
    assert operator.get(f"{SOURCES}/{source_id}").json()["state"] == "registered"
    scan_source(context, source_id)
    changed = operator.get(path, headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed.json()["sha256"] == hashlib.sha256((folder / "b.jsonl").read_bytes()).hexdigest()
    [entry] = read_entries(context, "source.changed")
    assert entry.after == {
        "added": ["c.jsonl"], "removed": [], "changed": ["b.jsonl"], "added_count": 1, "removed_count": 0, "changed_count": 1,
    }  # fmt: skip


def test_a_shard_that_cannot_be_read_is_named_and_the_others_stand(
    operator: TestClient, context: Context, folder: Path
) -> None:
    (folder / "a2.parquet").write_bytes((folder / "a.parquet").read_bytes()[:-100])
    (folder / "b2.jsonl.gz").write_bytes(b"\x1f\x8bnonsense")
    source_id = register(operator, folder)
    scan_source(context, source_id)
    source = operator.get(f"{SOURCES}/{source_id}").json()
    assert source["state"] == "failed"
    assert source["error"].startswith("2 of 4 shards cannot be read: a2.parquet: not a readable Parquet file")
    shards = {shard["name"]: shard for shard in operator.get(f"{SOURCES}/{source_id}/shards").json()["items"]}
    assert [name for name, shard in shards.items() if shard["error"]] == ["a2.parquet", "b2.jsonl.gz"]
    assert (shards["a.parquet"]["row_count"], shards["a.parquet"]["error"]) == (25, None)
    assert str(folder) not in json.dumps(shards)
    (folder / "a2.parquet").unlink()
    (folder / "b2.jsonl.gz").write_bytes(gzip.compress(b'{"text": "x"}\n'))
    scan_source(context, source_id)
    assert operator.get(f"{SOURCES}/{source_id}").json()["state"] == "ready"


def test_a_source_that_holds_nothing_or_is_gone_fails_with_the_reason(
    operator: TestClient, context: Context, folder: Path
) -> None:
    source_id = register(operator, folder / "none.parquet")
    scan_source(context, source_id)
    source = operator.get(f"{SOURCES}/{source_id}").json()
    assert (source["state"], source["shard_count"]) == ("failed", None)
    assert "There is no file or folder" in source["error"]


def test_the_allow_list_is_asked_at_registration_scan_and_preview(
    operator: TestClient, admin: TestClient, context: Context, folder: Path, tmp_path: Path
) -> None:
    for location in (
        tmp_path,
        f"{folder}/../x",
        "/etc/passwd",
        "https://example.org/a.parquet",
        "hf://datasets/owner/name",
    ):
        refused = operator.post(SOURCES, json={"name": "x", "locations": [str(folder), str(location)]})
        assert refused.status_code == 403
        assert "is under no place that sources may name" in refused.json()["detail"]
    for location in ("relative", "memory://x", "https://u:hunter2@example.org/"):
        refused = operator.post(SOURCES, json={"name": "x", "locations": [location]})
        assert refused.status_code == 422
        assert "hunter2" not in refused.text
    assert operator.get(SOURCES).json()["items"] == []
    source_id = register(operator, folder)
    scan_source(context, source_id)
    [prefix] = admin.get(PREFIXES).json()["items"]
    assert admin.delete(f"{PREFIXES}/{prefix['id']}").status_code == 204
    assert operator.get(f"{SOURCES}/{source_id}/preview").status_code == 403
    scan_source(context, source_id)
    source = operator.get(f"{SOURCES}/{source_id}").json()
    assert source["state"] == "failed"
    assert "is under no place that sources may name" in source["error"]


def test_a_link_in_the_folder_fails_the_scan(operator: TestClient, context: Context, folder: Path) -> None:
    (folder / "link.jsonl").symlink_to("/etc/hostname")
    source_id = register(operator, folder)
    scan_source(context, source_id)
    assert "is under no place" in operator.get(f"{SOURCES}/{source_id}").json()["error"]
    assert operator.get(f"{SOURCES}/{source_id}/shards").json()["items"] == []


def test_only_admins_change_the_allow_list_and_each_change_is_kept(
    admin: TestClient, operator: TestClient, context: Context
) -> None:
    made = admin.post(
        PREFIXES, json={"prefix": "HTTPS://Data.Example.org:443/a/../b/", "allows_private": True, "note": "n"}
    )
    assert made.status_code == 201
    assert made.json()["prefix"] == "https://data.example.org/b"
    assert admin.post(PREFIXES, json={"prefix": "https://data.example.org/b"}).status_code == 409
    for prefix in ("/", "https://", "/srv/*", "relative"):
        assert admin.post(PREFIXES, json={"prefix": prefix}).status_code == 422
    assert operator.get(PREFIXES).status_code == 403
    assert admin.delete(f"{PREFIXES}/{made.json()['id']}").status_code == 204
    assert admin.delete(f"{PREFIXES}/{made.json()['id']}").status_code == 404
    [allowed], [removed] = read_entries(context, "prefix.allow"), read_entries(context, "prefix.remove")
    assert (
        allowed.after == removed.before == {"prefix": "https://data.example.org/b", "allows_private": True, "note": "n"}
    )


def test_names_are_unique_and_bodies_are_read_strictly(operator: TestClient, folder: Path) -> None:
    register(operator, folder)
    taken = operator.post(SOURCES, json={"name": "mine", "locations": [str(folder)]})
    assert (taken.status_code, taken.json()["detail"]) == (409, "There is already a source mine.")
    for body in (
        {"name": "x", "locations": []},
        {"name": "", "locations": ["/srv"]},
        {"name": "x", "locations": ["/srv"], "textfield": "content"},
        {"name": "x\u202e", "locations": ["/srv"]},
        {"name": "x", "locations": ["/srv"], "split": "a\u0000"},
    ):
        assert operator.post(SOURCES, json=body).status_code == 422


def test_a_source_is_removed_with_its_rules_unless_a_job_was_made_from_it(
    operator: TestClient, context: Context, folder: Path
) -> None:
    source_id, used_id = register(operator, folder), register(operator, folder, name="used")
    scan_source(context, source_id)
    rule = {"kind": "domain", "value": "a.example", "reason": "asked", "source_id": source_id}
    assert operator.post(RULES, json=rule).status_code == 201
    with context.database.transaction() as session:
        import_bundled(session)
        profile_id = session.execute(select(ProfileVersion.id).limit(1)).scalar_one()
        session.add(
            Job(kind="curate", state="succeeded", source_id=used_id, profile_id=profile_id, options={}, folder="runs/x",
                created_by="x", created_at=now())
        )  # fmt: skip
    refused = operator.delete(f"{SOURCES}/{used_id}")
    assert (refused.status_code, refused.json()["detail"]) == (409, "The source used is what 1 jobs were made from.")
    assert operator.delete(f"{SOURCES}/{source_id}").status_code == 204
    assert operator.get(f"{SOURCES}/{source_id}").status_code == 404
    assert operator.get(f"{SOURCES}/{source_id}/shards").status_code == 404
    assert [source["id"] for source in operator.get(SOURCES).json()["items"]] == [used_id]
    assert (folder / "a.parquet").exists()
    [entry] = read_entries(context, "source.remove")
    assert entry.before["name"] == "mine"


def test_a_scan_that_is_stopped_records_nothing(operator: TestClient, context: Context, folder: Path) -> None:
    source_id = register(operator, folder)
    calls = []

    def stop_at_second() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        scan_source(context, source_id, check=stop_at_second)
    assert operator.get(f"{SOURCES}/{source_id}").json()["state"] == "scanning"
    assert operator.get(f"{SOURCES}/{source_id}/shards").json()["items"] == []
    scan_source(context, source_id)
    assert operator.get(f"{SOURCES}/{source_id}").json()["state"] == "ready"


def test_a_preview_of_parquet_shows_columns_and_cut_rows(operator: TestClient, folder: Path) -> None:
    source_id = register(operator, folder)
    preview = operator.get(f"{SOURCES}/{source_id}/preview", params={"rows": 2}).json()
    assert preview["shard"] == "a.parquet"
    assert preview["columns"] == [{"name": "text", "type": "string"}, {"name": "score", "type": "double"}]
    assert [row["score"] for row in preview["rows"]] == [0.0, 0.5]
    assert preview["rows"][0]["text"] == "text 0 " + "x" * 492 + "…"
    assert len(operator.get(f"{SOURCES}/{source_id}/preview").json()["rows"]) == 5
    assert operator.get(f"{SOURCES}/{source_id}/preview", params={"rows": 1000}).status_code == 422


def test_a_preview_of_lines_names_what_cannot_be_read(operator: TestClient, folder: Path) -> None:
    lines = [
        '{"text": "one", "n": 1, "list": [1, {"a": null}], "big": 12345678901234567890}',
        "nonsense",
        '{"body": 1}',
        '{"text": "four", "ok": true}',
    ]
    path = folder / "c.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    preview = operator.get(f"{SOURCES}/{register(operator, path)}/preview").json()
    assert preview["rows"] == [
        {"text": "one", "n": 1, "list": [1, {"a": None}], "big": "12345678901234567890"},
        {"text": "four", "ok": True},
    ]
    assert preview["columns"] == [
        {"name": "text", "type": "string"}, {"name": "n", "type": "number"}, {"name": "list", "type": "array"},
        {"name": "big", "type": "number"}, {"name": "ok", "type": "boolean"},
    ]  # fmt: skip
    assert len(preview["notes"]) == 2
    assert preview["notes"][0].startswith("c.jsonl.gz: line 2: not JSON")
    assert preview["notes"][1].startswith("c.jsonl.gz: line 3: no field 'text'")


def test_hostile_text_leaves_as_json_strings(operator: TestClient, folder: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e\x1b[31m\x00" + "\U0001f600"
    table = pa.table({
        "<b>text": pa.array([hostile.encode(), b"\xff\xfe", None]),
        "number": pa.array([float("nan"), float("inf"), 1 << 40]),
        "when": pa.array([0, 1, 2], pa.timestamp("s")),
        "deep": pa.array([[[[[[1]]]]]] * 3),
    })  # fmt: skip
    pq.write_table(table, folder / "h.parquet")
    answer = operator.get(f"{SOURCES}/{register(operator, folder / 'h.parquet')}/preview")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    rows = answer.json()["rows"]
    assert rows[0]["<b>text"] == hostile
    assert [row["number"] for row in rows] == ["nan", "inf", float(1 << 40)]
    assert rows[1]["<b>text"] == "\ufffd\ufffd"
    assert rows[2] == {"<b>text": None, "number": float(1 << 40), "when": "1970-01-01 00:00:02", "deep": [[[["…"]]]]}


def test_a_preview_of_what_cannot_be_read_says_why(operator: TestClient, folder: Path) -> None:
    (folder / "bad.parquet").write_bytes(b"PAR1 nonsense")
    refused = operator.get(f"{SOURCES}/{register(operator, folder / 'bad.parquet')}/preview")
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("bad.parquet: not a readable Parquet file")
    (folder / "cut.parquet").write_bytes(_damage((folder / "a.parquet").read_bytes()))
    preview = operator.get(f"{SOURCES}/{register(operator, folder / 'cut.parquet', name='cut')}/preview").json()
    assert (preview["rows"], len(preview["notes"])) == ([], 1)
    assert preview["notes"][0].startswith("Unreadable from row 0 on")


def _damage(content: bytes) -> bytes:
    return content[:4] + b"\xff" * 200 + content[204:]


def test_a_hub_data_set_is_scanned_by_its_footers(
    operator: TestClient, admin: TestClient, context: Context, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet, lines = (folder / "a.parquet").read_bytes(), (folder / "b.jsonl").read_bytes()
    with HubServer({"data/train-00000-of-00001.parquet": parquet, "data/test.jsonl": lines}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        prefix = {"prefix": "hf://datasets/owner", "allows_private": True}
        assert admin.post(PREFIXES, json=prefix).status_code == 201
        source_id = register(operator, "hf://datasets/owner/name/data")
        scan_source(context, source_id)
        source = operator.get(f"{SOURCES}/{source_id}").json()
        assert (source["state"], source["error"]) == ("ready", None)
        shards = operator.get(f"{SOURCES}/{source_id}/shards").json()["items"]
        assert [(shard["name"], shard["row_count"], shard["row_groups"]) for shard in shards] == [
            ("data/test.jsonl", None, None),
            ("data/train-00000-of-00001.parquet", 25, 3),
        ]
        assert [shard["sha256"] for shard in shards] == [hashlib.sha256(body).hexdigest() for body in (lines, parquet)]
        preview = operator.get(f"{SOURCES}/{source_id}/preview").json()
        assert [row["text"] for row in preview["rows"]] == ["line 0", "line 1", "line 2"]
        other = operator.post(SOURCES, json={"name": "x", "locations": ["hf://datasets/other/name"]})
        assert other.status_code == 403


def test_rules_are_added_with_a_reason_and_retired_but_never_changed(
    operator: TestClient, context: Context, folder: Path
) -> None:
    source_id = register(operator, folder)
    common = operator.post(RULES, json={"kind": "domain", "value": "Bücher.Example.", "reason": "takedown"})
    assert (common.status_code, common.json()["value"]) == (201, "xn--bcher-kva.example")
    own = operator.post(
        RULES, json={"kind": "licence", "value": "CC-BY-NC-4.0", "reason": "not for us", "source_id": source_id}
    )
    assert own.json()["value"] == "cc-by-nc-4.0"
    again = operator.post(RULES, json={"kind": "domain", "value": "bücher.example", "reason": "x"})
    assert again.status_code == 409
    for body in (
        {"kind": "domain", "value": "https://x/", "reason": "x"},
        {"kind": "domain", "value": "x.example", "reason": " "},
        {"kind": "author", "value": "x", "reason": "x"},
        {"kind": "domain", "value": "x.example"},
    ):
        assert operator.post(RULES, json=body).status_code == 422
    unknown = {"kind": "domain", "value": "x.example", "reason": "x", "source_id": 999}
    assert operator.post(RULES, json=unknown).status_code == 404
    with context.database.reading() as session:
        assert [rule.kind for rule in read_binding_rules(session, source_id)] == ["domain", "licence"]
        assert [rule.kind for rule in read_binding_rules(session, source_id + 1)] == ["domain"]
    retired = operator.post(f"{RULES}/{common.json()['id']}/retire").json()
    assert retired["retired_by"] == "a-operator"
    assert operator.post(f"{RULES}/{common.json()['id']}/retire").status_code == 409
    assert [rule["kind"] for rule in operator.get(RULES).json()["items"]] == ["licence"]
    assert len(operator.get(RULES, params={"has_retired": True}).json()["items"]) == 2
    assert operator.get(RULES, params={"source_id": source_id + 1}).json()["items"] == []
    assert len(read_entries(context, "source_rule.add")) == 2
    assert len(read_entries(context, "source_rule.retire")) == 1


def test_of_several_scans_at_once_one_has_the_claim(operator: TestClient, context: Context, folder: Path) -> None:
    source_id = register(operator, folder)

    def try_scan(_: int) -> bool:
        with context.database.transaction() as session:
            held = claims.claim(session, source_id, seconds=60)
        if held is not None:
            scan.scan_source(context, held)
        return held is not None

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(try_scan, range(8))) == 1
    assert len(operator.get(f"{SOURCES}/{source_id}/shards").json()["items"]) == 2
    assert operator.get(f"{SOURCES}/{source_id}").json()["state"] == "ready"


def test_who_lost_the_claim_records_nothing(operator: TestClient, context: Context, folder: Path) -> None:
    source_id = register(operator, folder)
    with context.database.transaction() as session:
        lost = claims.claim(session, source_id, seconds=60)
    assert lost is not None
    (folder / "b.jsonl").unlink()
    scan_source(context, source_id)
    (folder / "a.parquet").unlink()
    (folder / "late.jsonl").write_text('{"text": "x"}\n')
    scan.scan_source(context, lost)
    assert [shard["name"] for shard in operator.get(f"{SOURCES}/{source_id}/shards").json()["items"]] == ["a.parquet"]
