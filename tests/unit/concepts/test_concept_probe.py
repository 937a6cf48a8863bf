"""The probe counts documents and shows hits in runs and exports alike; the gate lets through what is not above its share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from concept_catalogues import SMALL
from concept_world import World
from plain_concepts import find_plainly

from curation.concepts.interval import find_interval
from curation.concepts.probe import ProbedText, probe_export, probe_texts
from curation.concepts.probe_run import probe_run
from curation.decide import KEEP
from curation.errors import ExportError, TooManyLeaks
from curation.export.build import write_export
from curation.export.manifest import read_manifest
from curation.export.request import ExportRequest
from curation.ledger.signals import decide_ledger
from curation.normalize import normalize


def make_request(world: World, out: Path, **options: object) -> ExportRequest:
    d = world.decisions
    request = ExportRequest(d.folder, d.bound, d.vocabulary, d.word_scores, None, out, origins={})
    return replace(request, **options)


def count_kept(world: World) -> tuple[int, int]:
    """Kept documents, and those of them that mention a concept: in plain Python."""
    kept = leaking = 0
    for decided in decide_ledger(world.run.ledger, world.decisions.bound, world.decisions.word_scores):
        texts = world.texts[decided.ref.shard.name]
        for row, code in zip(decided.signals.core["row"].to_pylist(), decided.decisions.kept.tolist(), strict=True):
            if code == KEEP:
                kept += 1
                leaking += any(find_plainly(concept, normalize(texts[row] or "").text) for concept in SMALL.concepts)
    return kept, leaking


def test_texts_are_counted_once_and_hits_all() -> None:
    batches = [
        [ProbedText("a compound, a compound", "http://a.example/x", "s", 0), ProbedText("nothing", None, "s", 1)],
        [ProbedText("“compound” solve for x", None, "s", 2)],
        [],
    ]
    report = probe_texts(SMALL, batches, max_lines=1, context_chars=2)
    assert (report.documents, report.leaking, report.share) == (3, 2, 2 / 3)
    assert report.interval == find_interval(2, 3)
    assert {name: (leaks.documents, leaks.hits) for name, leaks in report.concepts.items()} == {
        "gas": (2, 3),
        "slope": (1, 1),
    }
    [line] = report.concepts["gas"].lines
    assert (line.left, line.hit, line.right, line.domain, line.row) == ("a ", "compound", ", ", "a.example", 0)
    assert report.to_json()["published"] == {"ngrams": 126, "share": 0.0009}
    assert report.exceeds(0.66)
    assert not report.exceeds(2 / 3)


def test_no_document_has_no_share() -> None:
    report = probe_texts(SMALL, [])
    assert (report.documents, report.share, report.interval, report.concepts) == (0, 0.0, (0.0, 1.0), {})


def test_a_run_and_its_export_have_the_same_leaks(world: World, tmp_path: Path) -> None:
    write_export(make_request(world, tmp_path / "export", shuffle_seed=3, validation_share=0.3))
    kept, leaking = count_kept(world)
    of_run, of_export = probe_run(world.decisions, SMALL), probe_export(tmp_path / "export", SMALL)
    assert (of_run.documents, of_run.leaking) == (of_export.documents, of_export.leaking) == (kept, leaking)
    assert {name: (leaks.documents, leaks.hits) for name, leaks in of_run.concepts.items()} == {
        name: (leaks.documents, leaks.hits) for name, leaks in of_export.concepts.items()
    }
    line = of_export.concepts["gas"].lines[0]
    assert normalize(world.texts[line.shard][line.row] or "").text[line.start : line.end] == line.hit


def test_the_gate_is_off_by_default_and_then_leaves_no_trace(world: World, tmp_path: Path) -> None:
    plain = make_request(world, tmp_path / "plain")
    write_export(plain)
    manifest = read_manifest(tmp_path / "plain")
    assert "leak_gate" not in manifest
    assert not {"max_leak_share", "leak_catalogue"} & set(manifest["options"])


def test_the_gate_refuses_what_is_above_and_nothing_is_left(world: World, tmp_path: Path) -> None:
    kept, leaking = count_kept(world)
    below = (leaking - 1) / kept
    with pytest.raises(TooManyLeaks, match=rf"{leaking} of {kept} documents .*test v1.*gas \(18\), cell \(9\)"):
        write_export(make_request(world, tmp_path / "refused", max_leak_share=below, leak_catalogue=SMALL))
    assert list(tmp_path.iterdir()) == []


def test_the_gate_lets_its_own_share_through_and_the_manifest_says_so(world: World, tmp_path: Path) -> None:
    kept, leaking = count_kept(world)
    request = make_request(world, tmp_path / "passed", max_leak_share=leaking / kept, leak_catalogue=SMALL)
    write_export(request)
    gate = read_manifest(tmp_path / "passed")["leak_gate"]
    assert (gate["documents"], gate["leaking"], gate["share"], gate["max_share"]) == (
        kept,
        leaking,
        leaking / kept,
        leaking / kept,
    )
    assert gate["interval_95"] == list(find_interval(leaking, kept))
    assert gate["catalogue"] == {"name": "test", "version": 1, "sha256": SMALL.sha256}
    assert gate["concepts"] == {"gas": 18, "cell": 9, "slope": 9}
    assert f"{leaking} (" in (tmp_path / "passed" / "README.md").read_text()
    assert not write_export(request).is_new
    with pytest.raises(ExportError, match="holds another export"):
        write_export(replace(request, max_leak_share=None))


def test_a_gate_that_means_nothing_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"A share of leaks of 1\.5"):
        make_request(world, tmp_path / "x", max_leak_share=1.5)
    with pytest.raises(ExportError, match="control alone"):
        make_request(world, tmp_path / "x", max_leak_share=0.1, has_curriculum=False)


def test_a_folder_without_an_export_is_told(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="holds no finished export"):
        probe_export(tmp_path, SMALL)
