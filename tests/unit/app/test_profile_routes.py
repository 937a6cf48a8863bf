"""Profiles by the HTTP interface, on SQLite and on PostgreSQL: drafts, conflicts, versions that never change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from accounts import open_program
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from curation.profile import list_profiles, load_profile, read_profile
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.models import AuditEntry, ProfileVersion
from primer.app.profiles import bundled
from primer.app.profiles.bundled import import_bundled

PROFILES = "/api/v1/profiles"
CONTENT: dict[str, Any] = {"form": "normalized", "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05}}


@pytest.fixture
def operator(service: FastAPI) -> TestClient:
    return open_program(service, Role.OPERATOR)


def draft(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(PROFILES, json={"name": "mine", **({"content": CONTENT} if not body else {}), **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def publish(client: TestClient, version: dict[str, Any]) -> None:
    path = f"{PROFILES}/{version['name']}/versions/{version['version']}/publish"
    assert client.post(path, headers={"If-Match": f'"{version["sha256"]}"'}).status_code == 200


def test_a_draft_becomes_a_version_that_nobody_changes(operator: TestClient, context: Context) -> None:
    made = draft(operator)
    assert (made["version"], made["state"], made["author"], made["published_at"]) == (1, "draft", "a-operator", None)
    assert (made["content"]["name"], made["content"]["version"]) == ("mine", 1)
    path = f"{PROFILES}/mine/versions/1"
    read = operator.get(path)
    assert read.json() == made
    assert (read.headers["ETag"], read.headers["Cache-Control"]) == (f'"{made["sha256"]}"', "no-store")
    change = {"content": {**CONTENT, "lexical": {"max_p95_aoa": 11.0, "max_oov_ratio": 0.05}}, "note": "stricter"}
    changed = operator.put(path, json=change, headers={"If-Match": read.headers["ETag"]})
    assert changed.status_code == 200
    assert (changed.json()["content"]["lexical"]["max_p95_aoa"], changed.json()["note"]) == (11.0, "stricter")
    published = operator.post(f"{path}/publish", headers={"If-Match": changed.headers["ETag"]})
    assert (published.status_code, published.json()["state"]) == (200, "published")
    for refused in (
        operator.put(path, json=change, headers={"If-Match": changed.headers["ETag"]}),
        operator.post(f"{path}/publish", headers={"If-Match": changed.headers["ETag"]}),
        operator.delete(path),
    ):
        assert refused.status_code == 409
        assert refused.json()["detail"] == "mine version 1 is published and stays as it is."
    assert operator.get(path).json() == published.json()
    with context.database.reading() as session:
        entries = session.execute(select(AuditEntry).where(AuditEntry.action.startswith("profile."))).scalars().all()
    assert [entry.action for entry in entries] == ["profile.draft", "profile.change", "profile.publish"]
    assert entries[1].before["sha256"] == made["sha256"]


def test_a_change_that_has_not_seen_the_last_one_is_refused(operator: TestClient) -> None:
    made = draft(operator)
    path, seen = f"{PROFILES}/mine/versions/1", {"If-Match": f'"{made["sha256"]}"'}
    first = {"content": {**CONTENT, "description": "first"}}
    assert operator.put(path, json=first, headers=seen).status_code == 200
    late = operator.put(path, json={"content": {**CONTENT, "description": "second"}}, headers=seen)
    assert (late.status_code, late.json()["detail"]) == (412, "Somebody changed it meanwhile.")
    assert operator.post(f"{path}/publish", headers=seen).status_code == 412
    assert operator.put(path, json=first).status_code == 428
    assert operator.post(f"{path}/publish").status_code == 428
    assert operator.get(path).json()["content"]["description"] == "first"


def test_of_two_changes_at_once_one_is_refused(operator: TestClient, service: FastAPI) -> None:
    made = draft(operator)
    path, seen = f"{PROFILES}/mine/versions/1", {"If-Match": f'"{made["sha256"]}"'}

    def change(number: int) -> int:
        body = {"content": {**CONTENT, "description": str(number)}}
        return int(operator.put(path, json=body, headers=seen).status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(change, range(4))) == [200, 412, 412, 412]


def test_numbers_grow_and_are_never_given_twice(operator: TestClient) -> None:
    assert [draft(operator)["version"] for _ in range(2)] == [1, 2]
    assert operator.delete(f"{PROFILES}/mine/versions/2").status_code == 204
    assert operator.get(f"{PROFILES}/mine/versions/2").status_code == 404
    assert operator.delete(f"{PROFILES}/mine/versions/2").status_code == 404
    assert draft(operator)["version"] == 3
    assert [version["version"] for version in operator.get(f"{PROFILES}/mine/versions").json()["items"]] == [1, 3]
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: operator.post(PROFILES, json={"name": "mine", "content": CONTENT}), range(4)))
    numbers = [answer.json()["version"] for answer in codes if answer.status_code == 201]
    assert len(set(numbers)) == len(numbers) >= 1
    assert {answer.status_code for answer in codes} <= {201, 409}


def test_a_draft_may_begin_as_another_version_a_bundled_one_or_yaml(operator: TestClient) -> None:
    first = draft(operator, bundled="recommended", note="a copy")
    shipped = load_profile("recommended").model_dump(mode="json")
    assert first["content"] == {**shipped, "name": "mine", "version": 1}
    second = draft(operator, version_id=first["id"], name="other")
    assert second["content"] == {**first["content"], "name": "other", "version": 1}
    third = draft(
        operator, yaml="form: raw\nlexical: {max_p95_aoa: 9, max_oov_ratio: 0.1}\nname: ignored\nversion: 99\n"
    )
    assert (third["content"]["form"], third["content"]["name"], third["content"]["version"]) == ("raw", "mine", 2)
    for body in (
        {"bundled": "nonsense"},
        {"version_id": 10_000},
        {"yaml": "a: ["},
        {"yaml": "[" * 5000},
        {"yaml": "- 1"},
        {},
        {"bundled": "recommended", "content": CONTENT},
    ):
        answer = operator.post(PROFILES, json={"name": "mine", **body})
        assert answer.status_code == (404 if {"version_id"} & body.keys() or body == {"bundled": "nonsense"} else 422)
    assert operator.post(PROFILES, json={"name": "../x", "content": CONTENT}).status_code == 422


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"form": "upper"}, "form: Input should be 'raw' or 'normalized'"),
        ({"form": "raw"}, "the profile: Value error, a profile needs at least one stage"),
        ({**CONTENT, "lexical": {"max_p95_aoa": "x"}}, "lexical.max_p95_aoa: Input should be a valid number"),
        ({**CONTENT, "lexicl": {}}, "lexicl: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_field_is_named(operator: TestClient, content: dict[str, Any], said: str) -> None:
    answer = operator.post(PROFILES, json={"name": "mine", "content": content})
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert operator.get(PROFILES).json()["items"] == []


def test_a_published_version_may_be_kept_and_says_when_it_is_known(operator: TestClient) -> None:
    made = draft(operator)
    path = f"{PROFILES}/mine/versions/1"
    tag = {"If-None-Match": f'"{made["sha256"]}"'}
    assert operator.get(path, headers=tag).status_code == 200  # a draft
    publish(operator, made)
    for place in (path, f"{path}/yaml"):
        read = operator.get(place)
        assert (read.headers["ETag"], read.headers["Cache-Control"]) == (
            tag["If-None-Match"],
            "private, max-age=31536000, immutable",
        )
        known = operator.get(place, headers=tag)
        assert (known.status_code, known.content) == (304, b"")


def test_the_download_is_a_profile_file(operator: TestClient, tmp_path: Path) -> None:
    made = draft(operator, bundled="published")
    answer = operator.get(f"{PROFILES}/mine/versions/1/yaml")
    assert answer.headers["content-type"].startswith("application/yaml")
    assert answer.headers["content-disposition"] == 'attachment; filename="mine-v1.yaml"'
    path = tmp_path / "mine.yaml"
    path.write_bytes(answer.content)
    assert read_profile(path).model_dump(mode="json") == made["content"]


def test_differences_are_told_by_place(operator: TestClient) -> None:
    first = draft(operator)
    other = {**CONTENT, "lexical": {"max_p95_aoa": 11.5, "max_oov_ratio": 0.05}, "notation": {"rules": "published"}}
    second = draft(operator, content=other)
    found = operator.get(f"{PROFILES}/diff", params={"before": first["id"], "after": second["id"]}).json()
    assert found == [
        {"path": "version", "before": 1, "after": 2},
        {"path": "lexical.max_p95_aoa", "before": 12.0, "after": 11.5},
        {"path": "notation", "before": None, "after": {"ignore": [], "rules": "published"}},
    ]
    same = operator.get(f"{PROFILES}/diff", params={"before": first["id"], "after": first["id"]}).json()
    assert same == []
    assert operator.get(f"{PROFILES}/diff", params={"before": first["id"], "after": 9999}).status_code == 404


def test_names_are_listed_with_their_newest_version_page_by_page(operator: TestClient) -> None:
    for name in ("b", "a", "c", "a"):
        draft(operator, name=name, content=CONTENT)
    page = operator.get(PROFILES, params={"limit": 2}).json()
    assert [(item["name"], item["version_count"], item["newest"]["version"]) for item in page["items"]] == [
        ("a", 2, 2),
        ("b", 1, 1),
    ]
    rest = operator.get(PROFILES, params={"limit": 2, "cursor": page["next"]}).json()
    assert ([item["name"] for item in rest["items"]], rest["next"]) == (["c"], None)
    assert operator.get(PROFILES, params={"cursor": "MQ"}).status_code == 422


def test_bundled_profiles_are_imported_once(
    operator: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    with context.database.transaction() as session:
        assert sorted(version.name for version in import_bundled(session)) == ["published", "recommended"]
    with context.database.transaction() as session:
        assert import_bundled(session) == []
    for profile in list_profiles():
        answer = operator.get(f"{PROFILES}/{profile.name}/versions/{profile.version}").json()
        assert (answer["state"], answer["author"]) == ("published", "system")
        assert answer["content"] == profile.model_dump(mode="json")
    for name in ("published", "recommended"):
        refused = operator.post(PROFILES, json={"name": name, "content": CONTENT})
        assert (refused.status_code, refused.json()["detail"]) == (409, f"{name} is a profile of the library.")
    shipped = load_profile("recommended")
    anew = shipped.model_copy(update={"description": "another text under the old number"})
    monkeypatch.setattr(bundled, "list_profiles", lambda: [anew, load_profile("published")])
    with context.database.transaction() as session:
        [added] = import_bundled(session)
        assert (added.name, added.version) == ("recommended", shipped.version + 1)
    with context.database.transaction() as session:
        assert import_bundled(session) == []
        old = session.execute(
            select(ProfileVersion).where(
                ProfileVersion.name == "recommended", ProfileVersion.version == shipped.version
            )
        ).scalar_one()
    assert old.content == shipped.model_dump(mode="json")
