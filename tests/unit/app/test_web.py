"""The workbench's files beside the API: what is kept for how long, what is a page, and what stays the API's."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from primer.app.core.errors import install_error_handlers
from primer.app.core.middleware import install_middleware
from primer.app.core.settings import Settings
from primer.app.web import serve_workbench

PAGE = "<!doctype html><title>Primer</title>"
SCRIPT = "console.log(1);" * 200


def open_client(folder: Path | None, settings: Settings) -> TestClient:
    app = FastAPI(openapi_url=None)
    install_middleware(app, settings)
    install_error_handlers(app)

    @app.post("/api/v1/jobs")
    def _start() -> dict[str, int]:
        return {"id": 1}

    serve_workbench(app, folder)
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.fixture
def built(tmp_path: Path) -> TestClient:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "theme.js").write_text("1;")
    (folder / "assets" / "main-a1b2.js").write_text(SCRIPT)
    (tmp_path / "secret.txt").write_text("not to be served")
    return open_client(folder, Settings(data_dir=tmp_path / "data"))


@pytest.mark.parametrize("path", ["/", "/jobs", "/jobs/12", "/profiles/stricter-words/2"])
def test_every_page_is_the_workbench_and_asked_for_anew(built: TestClient, path: str) -> None:
    answer = built.get(path)
    assert (answer.status_code, answer.text) == (200, PAGE)
    assert answer.headers["cache-control"] == "no-cache"
    assert "'unsafe-inline'" not in answer.headers["content-security-policy"]
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")


def test_files_with_a_hash_in_their_name_are_kept_and_compressed(built: TestClient) -> None:
    answer = built.get("/assets/main-a1b2.js")
    assert (answer.status_code, answer.text) == (200, SCRIPT)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert built.get("/theme.js").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/assets/main-0000.js", "/old.js", "/..%2fsecret.txt", "/%2e%2e/secret.txt"])
def test_a_file_that_is_not_there_is_no_page(built: TestClient, path: str) -> None:
    answer = built.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "not to be served" not in answer.text


def test_the_api_keeps_its_own_answers(built: TestClient) -> None:
    missing = built.get("/api/v1/nothing")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
    assert built.get("/api/v1/jobs").status_code == 405
    assert built.post("/api/v1/jobs").json() == {"id": 1}
    assert built.post("/jobs").status_code == 405


def test_without_built_files_a_page_says_how_to_build_them(tmp_path: Path) -> None:
    client = open_client(None, Settings(data_dir=tmp_path / "data"))
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "make install" in page.text
    assert 'href="/api/v1/openapi.json"' in page.text
    assert client.get("/jobs").status_code == 404
    assert client.post("/").status_code == 404
