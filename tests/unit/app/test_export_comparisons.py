"""Comparisons of exports: made once however often and by how many they are asked for, never for longer than a request may take."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from curation.export.manifest import EXPORT_SCHEMA
from curation.run_folder import RunFolder
from primer.app.core.errors import Conflict, NotReady
from primer.app.exports import comparisons
from primer.app.exports.comparisons import Comparisons
from primer.app.exports.diff import Comparison, Difference, Side

FOUND = Comparison(7, Difference(1, 10), Difference(2, 20))


def make_side(folder: Path, number: int, rows: int = 5) -> Side:
    """An export with a manifest alone."""
    path = folder / f"export-{number}"
    path.mkdir()
    file = {
        "path": "data/curriculum/train-00000.parquet", "config": "curriculum", "split": "train",
        "rows": rows, "tokens": 1, "size_bytes": number, "sha256": "0" * 64,
    }  # fmt: skip
    (path / "manifest.json").write_text(json.dumps({"schema": EXPORT_SCHEMA, "files": [file]}))
    return Side(number, path, RunFolder(folder / "run"))


class Worker:
    """Compares when it is let."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self.may_go = threading.Event()
        self.error: Exception | None = None

    def __call__(self, own: Side, other: Side) -> Comparison:
        self.calls.append((own.export_id, other.export_id))
        assert self.may_go.wait(10)
        if self.error is not None:
            raise self.error
        return FOUND


@pytest.fixture(autouse=True)
def _checks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """These manifests hold what is counted, and nothing else."""
    monkeypatch.setattr(comparisons, "read_manifest", lambda folder: json.loads((folder / "manifest.json").read_text()))


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Side, Side]:
    return make_side(tmp_path, 1), make_side(tmp_path, 2)


def test_who_asks_too_early_is_told_to_ask_again_and_nothing_is_begun_twice(sides: tuple[Side, Side]) -> None:
    worker = Worker()
    found = Comparisons(compare=worker, patience=0.05)
    for _ in range(3):
        with pytest.raises(NotReady, match="being compared") as refused:
            found.get(*sides)
        assert refused.value.retry_after_seconds == 2
    assert worker.calls == [(1, 2)]
    worker.may_go.set()
    assert Comparisons.get(found, *sides) == FOUND
    assert found.get(*sides) is found.get(*sides)
    assert worker.calls == [(1, 2)]


def test_one_at_a_time(sides: tuple[Side, Side]) -> None:
    worker = Worker()
    found = Comparisons(compare=worker, patience=0.05)
    for pair in (sides, sides[::-1]):
        with pytest.raises(NotReady):
            found.get(*pair)
    assert len(worker.calls) == 1
    worker.may_go.set()
    patient = [threading.Thread(target=found.get, args=pair) for pair in (sides, sides[::-1])]
    for thread in patient:
        thread.start()
    for thread in patient:
        thread.join(5)
    assert sorted(worker.calls) == [(1, 2), (2, 1)]


def test_a_comparison_that_broke_is_said_once_and_made_anew(sides: tuple[Side, Side]) -> None:
    worker = Worker()
    worker.may_go.set()
    worker.error = Conflict("It holds a control alone.")
    found = Comparisons(compare=worker, patience=5)
    with pytest.raises(Conflict, match="control alone"):
        found.get(*sides)
    worker.error = None
    assert found.get(*sides) == FOUND
    assert worker.calls == [(1, 2)] * 2


def test_a_changed_manifest_is_another_export(sides: tuple[Side, Side]) -> None:
    worker = Worker()
    worker.may_go.set()
    found = Comparisons(compare=worker, patience=5)
    found.get(*sides)
    path = sides[0].folder / "manifest.json"
    path.write_text(path.read_text() + "\n")
    found.get(*sides)
    assert worker.calls == [(1, 2)] * 2


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    worker = Worker()
    large = make_side(tmp_path, 1, comparisons.MAX_DOCUMENTS), make_side(tmp_path, 2, 1)
    with pytest.raises(Conflict, match="50,000,001 documents"):
        Comparisons(compare=worker).get(*large)
    assert worker.calls == []


def test_few_are_remembered(tmp_path: Path) -> None:
    worker = Worker()
    worker.may_go.set()
    found = Comparisons(compare=worker, patience=5)
    first, others = make_side(tmp_path, 0), [make_side(tmp_path, number) for number in range(1, 40)]
    for other in others:
        found.get(first, other)
    found.get(first, others[-1])
    assert len(worker.calls) == 39
    found.get(first, others[0])
    assert len(worker.calls) == 40
