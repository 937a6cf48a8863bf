"""The figures of docs/volcano.md, in the order in which they stand there, are the service's own answers on the bundled sample."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from accounts import open_program
from cli_runs import SAMPLE, run_primer
from exported_runs import bring_run, work_off
from fastapi import FastAPI

from primer.app.auth.roles import Role
from primer.app.core.context import Context

PAGE = Path(__file__).resolve().parents[2] / "docs" / "volcano.md"
SITES = [f"volcanoes.example.{end}" for end in ("com", "net", "org")]
LOST = "https://volcanoes.example.com/park-page/earth-034"
SENSE = {"term": "electron", "innocent_if": [{"words": ["mudflow"], "left": 8, "right": 8}]}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("volcano") / "run"
    run_primer("run", SAMPLE, "--out", folder, "--no-encoder", "--quiet")
    return folder


def test_the_walk_says_what_the_service_says(service: FastAPI, context: Context, run_folder: Path) -> None:
    job_id = bring_run(context, run_folder, SAMPLE, "sample").id
    operator = open_program(service, Role.OPERATOR)

    def ask(path: str, **body: Any) -> Any:
        for _ in range(600):
            answer = operator.post(f"/api/v1/jobs/{job_id}/{path}", json=body)
            if answer.status_code != 503:
                break
            time.sleep(0.1)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    table = ask("vocabulary/terms", limit=1)
    pages = [row for site in SITES for row in ask("documents/search", query={"domain": site})["items"]]
    [lost] = [row for row in pages if not row["kept"]]
    assert (lost["url"], lost["excluded_by"]) == (LOST, ["vocabulary"])
    words = {word: ask(f"vocabulary/terms/{word}")["figures"] for word in ("electron", "peak")}
    assert [words[word]["looks_harmless"] for word in ("electron", "peak")] == [False, True]
    places = {word: ask(f"vocabulary/terms/{word}/concordance", lines_a_document=50)["lines"] for word in words}
    assert "The Electron Mudflow, dated by radiocarbon" in " ".join(
        places["electron"][0][part] for part in ("left", "match", "right")
    )
    assert {line["outcome"] for line in places["peak"]} == {"excluded"}
    read = ask(f"documents/{lost['position']}/read")
    assert _list_terms(read["explanation"]["stages"]) == set(words)

    by_sense = ask("vocabulary/impact", vocabulary={"senses": [SENSE]})
    both = {"allow": ["peak"], "senses": [SENSE]}
    impact = ask("vocabulary/impact", vocabulary=both)
    assert (impact["uncertain"]["documents"], impact["moves"]["now_excluded"]["documents"]) == (0, 0)
    assert [(one["url"], one["move"], one["words"]) for one in impact["examples"]] == [
        (LOST, "now_kept", ["electron", "peak"])
    ]
    saved = operator.post("/api/v1/vocabularies/ours/versions", json={"content": {"senses": [SENSE]}}).json()["id"]
    measuring = ask("vocabulary/measure-senses", vocabulary_id=saved)
    assert work_off(context, measuring["id"]).state == "succeeded"
    measured = ask("vocabulary/impact", vocabulary_id=saved)

    losses = table["losses"]
    expected = [
        table["kept"]["documents"], table["kept"]["tokens"],
        len(pages), len(pages) - 1, lost["tokens"],
        losses["excluded"]["documents"], losses["one_word"]["documents"], losses["several_words"]["documents"],
        losses["with_others"]["documents"],
        *(words["electron"][name] for name in ("score", "documents", "sole_documents")),
        *(words["peak"][name] for name in ("score", "documents", "sole_documents")),
        int(table["min_score"]),
        len(places["electron"]), len(places["peak"]), words["peak"]["documents"],
        by_sense["uncertain"]["documents"], by_sense["uncertain"]["tokens"],
        impact["kept_before"]["documents"], impact["kept_after"]["documents"],
        impact["moves"]["now_kept"]["documents"], impact["moves"]["now_kept"]["tokens"],
        measured["kept_after"]["documents"],
        impact["kept_after"]["documents"], impact["kept_after"]["tokens"],
    ]  # fmt: skip
    shown = re.findall(r"\*\*([\d.,]+)\*\*", PAGE.read_text(encoding="utf-8"))
    assert shown == [f"{figure:.2f}" if isinstance(figure, float) else f"{figure:,}" for figure in expected]


def _list_terms(stages: list[dict[str, Any]]) -> set[str]:
    return {span["name"] for stage in stages for span in stage["evidence"] if span["kind"] == "term"}
