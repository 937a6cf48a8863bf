"""Artefacts by the HTTP interface: what is said is what the bundled files are."""

from __future__ import annotations

from pathlib import Path

import pytest
from accounts import open_program
from fastapi import FastAPI
from starlette.testclient import TestClient

from curation.artifacts.artifact_set import bundled_folder
from primer.app.auth.roles import Role

ARTIFACTS = "/api/v1/artifacts"


@pytest.fixture
def client(service: FastAPI) -> TestClient:
    return open_program(service, Role.VIEWER)


def _read_sums() -> dict[str, str]:
    lines = (bundled_folder() / "SHA256SUMS").read_text().splitlines()
    return {path: sha256 for sha256, path in (line.split() for line in lines)}


def test_every_bundled_artefact_is_listed_as_it_is(client: TestClient) -> None:
    found = client.get(ARTIFACTS).json()
    assert [item["kind"] for item in found["items"]] == ["aoa", "vocabulary", "fasttext", "encoder"]
    assert found["reports"] == ["evaluation", "purity"]
    sums, by_kind = _read_sums(), {item["kind"]: item for item in found["items"]}
    for kind, file in (("aoa", "aoa.parquet"), ("vocabulary", "vocabulary.parquet"), ("fasttext", "model.ftz")):
        item = by_kind[kind]
        assert (item["file"], item["sha256"]) == (file, sums[f"{kind}/{file}"])
        assert item["size_bytes"] == (bundled_folder() / kind / file).stat().st_size
    assert {kind: item["licence"] for kind, item in by_kind.items()} == {
        "aoa": None, "vocabulary": "Apache-2.0", "fasttext": "Apache-2.0", "encoder": "Apache-2.0",
    }  # fmt: skip
    assert str(Path.cwd()) not in str(found), "no place of this machine"


@pytest.mark.parametrize("kind", ["vocabulary", "fasttext", "encoder"])
def test_a_card_is_shown_with_what_its_head_states(client: TestClient, kind: str) -> None:
    card = client.get(f"{ARTIFACTS}/{kind}/card").json()
    whole = (bundled_folder() / kind / "CARD.md").read_text()
    assert card["is_markdown"]
    assert card["text"].startswith("#")
    assert whole.endswith(card["text"] + "\n")
    assert card["facts"]["title"] == card["title"]
    assert card["facts"]["command"].startswith("primer train ")


def test_a_notice_is_plain_text(client: TestClient) -> None:
    card = client.get(f"{ARTIFACTS}/aoa/card").json()
    assert (card["is_markdown"], card["facts"]) == (False, {})
    assert card["text"] == (bundled_folder() / "aoa" / "NOTICE").read_text()


def test_reports_are_shown_and_nothing_else(client: TestClient) -> None:
    for name, file in (("evaluation", "EVALUATION.md"), ("purity", "PURITY.md")):
        assert client.get(f"{ARTIFACTS}/reports/{name}").json()["text"] == (bundled_folder() / file).read_text()
    for name in ("SHA256SUMS", "..%2F..%2Fartifact_set.py", "EVALUATION.md"):
        assert client.get(f"{ARTIFACTS}/reports/{name}").status_code == 404
    assert client.get(f"{ARTIFACTS}/other/card").status_code == 422
