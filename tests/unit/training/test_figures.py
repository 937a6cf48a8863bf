"""The figures as files: what they say, the same bytes whoever draws, and what is said where they cannot be drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import orjson
import pytest
from typer.testing import CliRunner
from unit.training.evaluation_cases import Case, make_app, make_profile, write_artifacts, write_rows

from curation.errors import TrainingError
from curation.training.figures import draw_figures
from curation.training.grader_curves import GraderCurve, trace_grader

NAMES = ["calibration.svg", "precision_recall.svg"]


def make_curves() -> tuple[GraderCurve, ...]:
    is_k5 = np.arange(40) % 4 == 0
    scores = (np.arange(40) * 7 % 40 / 40).astype(np.float32)
    web, graded = ("labelled_web", "web_read"), ("graded",)
    return (
        trace_grader("encoder", web, is_k5, scores, 0.5),
        trace_grader("fasttext", web, is_k5, 1 - scores, 2.0),
        trace_grader("encoder", graded, np.zeros(40, bool), scores, 0.5),
    )


def read_texts(path: Path) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_the_figures_say_sources_rows_and_what_the_numbers_are_of(tmp_path: Path) -> None:
    paths = draw_figures(make_curves(), "mine v3", tmp_path / "new")
    assert [path.relative_to(tmp_path / "new").as_posix() for path in paths] == NAMES
    calibration, precision_recall = map(read_texts, paths)
    for texts in (calibration, precision_recall):
        assert [text for text in texts if text in ("labelled_web + web_read", "graded")] == [
            "labelled_web + web_read",
            "graded",
        ]
        assert "profile mine v3" in " ".join(texts)
        assert "95 % Wilson interval" in " ".join(texts)
    assert [text for text in calibration if " rows" in text and "K5 of" in text and ":" in text] == [
        "encoder: 10 K5 of 40 rows",
        "fastText: 10 K5 of 40 rows",
        "encoder: 0 K5 of 40 rows",
    ]
    marks = [text for text in precision_recall if "≥" in text]
    # Nothing reaches 2.0, and rows without K5 have no recall: neither has a mark.
    kept = make_curves()[0].shipped
    assert kept is not None
    assert marks == [f"encoder, P(K5) ≥ 0.5: purity {kept.purity}"]
    assert "prevalence of the rows themselves" in " ".join(precision_recall)


def test_the_same_curves_give_the_same_bytes_whatever_the_settings(tmp_path: Path) -> None:
    draw_figures(make_curves(), "mine v3", tmp_path / "one")
    with matplotlib.rc_context({"lines.linewidth": 9, "svg.hashsalt": None, "svg.fonttype": "path", "font.size": 30}):
        draw_figures(make_curves(), "mine v3", tmp_path / "two")
        assert matplotlib.rcParams["font.size"] == 30
    for name in NAMES:
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes()
        assert b"dc:date" not in content
        assert str(tmp_path).encode() not in content


def test_without_a_curve_nothing_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no grader of profile mine v3 has held-out readings"):
        draw_figures((), "mine v3", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def make_arguments(tmp_path: Path) -> list[str]:
    cases = [Case("one"), Case("two", "K8", encoder=0.25)]
    write_artifacts(tmp_path / "artifacts", cases)
    (tmp_path / "p.yaml").write_bytes(orjson.dumps(make_profile().model_dump(mode="json")))
    options = {"data": write_rows(tmp_path / "rows.jsonl", cases), "profile": tmp_path / "p.yaml"}
    options |= {"artifacts": tmp_path / "artifacts", "figures": tmp_path / "figures", "out": tmp_path / "R.md"}
    return [text for name, path in options.items() for text in (f"--{name}", str(path))]


def test_the_command_draws_both_beside_the_report(tmp_path: Path) -> None:
    done = CliRunner().invoke(make_app(), make_arguments(tmp_path))
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == NAMES
    assert "encoder: 1 K5 of 2 rows" in read_texts(tmp_path / "figures" / NAMES[0])
    assert done.stdout == ""
    for name in (f"figures/{NAMES[0]}", f"figures/{NAMES[1]}", "R.md"):
        assert f"Wrote {tmp_path / name}." in done.stderr.replace("\n", "")


def test_without_matplotlib_the_command_says_what_to_install_before_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = make_arguments(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = CliRunner().invoke(make_app(), arguments)
    assert isinstance(done.exception, TrainingError)
    assert str(done.exception) == "Drawing figures needs matplotlib. pip install 'primer-curation[train]'"
    assert not (tmp_path / "R.md").exists()
    assert not (tmp_path / "figures").exists()
