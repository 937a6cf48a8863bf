"""Which index answers for a run: the one of what is committed at the request, and its commits are not read again for it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from indexed_runs import make_encoder
from ledger_rows import write_run

from curation.errors import LedgerError
from curation.index import build_index, name_index
from curation.ledger.store import Ledger
from curation.lexicon.vocabulary import VocabularyTable
from curation.run_folder import RunFolder
from primer.app.core.errors import NotReady
from primer.app.documents.index_names import SETTLED_SECONDS, IndexNames
from primer.app.documents.indexes import Indexes

TABLE = VocabularyTable({"atom": 5.0, "river": 1.0}, "b" * 64)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    rows: list[dict[str, Any]] = [{"id": "one", "words": ["atom", "river"]}, {"id": "two", "words": ["river"]}]
    return write_run(tmp_path / "run", {"a.parquet": [rows, rows], "b.parquet": [rows]})


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slices whose core commit was read."""
    seen: list[str] = []
    read = Ledger.part_path

    def note(ledger: Ledger, layer: str, slice_id: str) -> Path:
        if layer == "core":
            seen.append(slice_id)
        return read(ledger, layer, slice_id)

    monkeypatch.setattr(Ledger, "part_path", note)
    return seen


def make_old(run: RunFolder, seconds: float = 60) -> None:
    """As if the run had last changed so long ago."""
    then = time.time() - seconds
    for path in (run.ledger.folder, *run.ledger.folder.rglob("*")):
        os.utime(path, (then, then))


def test_commits_are_read_once_while_nothing_changes(run: RunFolder, reads: list[str]) -> None:
    make_old(run)
    names = IndexNames()
    first = names.find(run.ledger)
    assert (first, reads) == (name_index(run.ledger), ["000000-00000", "000000-00001", "000001-00000"] * 2)
    reads.clear()
    assert [names.find(Ledger(run.ledger.folder)) for _ in range(3)] == [first] * 3
    assert reads == []


@pytest.mark.parametrize(
    ("layer", "slice_id"),
    [("encoder", "000000-00000"), ("encoder-2", "000001-00000"), ("licences", "000000-00000")],
)
def test_a_new_commit_is_seen_at_the_next_request(run: RunFolder, layer: str, slice_id: str) -> None:
    run.ledger.commit("encoder", "000001-00000", make_encoder(0, 2, 1))
    make_old(run)
    names = IndexNames()
    before = names.find(run.ledger)
    run.ledger.commit(layer, slice_id, make_encoder(0, 2, 2))
    after = names.find(run.ledger)
    assert after != before
    assert after == name_index(run.ledger)


def test_what_changed_a_moment_ago_is_not_relied_on(run: RunFolder, reads: list[str]) -> None:
    """Within one tick of the file system's clock a second commit leaves the same time."""
    make_old(run, SETTLED_SECONDS - 1)
    names = IndexNames()
    names.find(run.ledger)
    commits = run.ledger.folder / "commits"
    tick = commits.stat().st_mtime_ns
    run.ledger.commit("encoder", "000000-00000", make_encoder(0, 2, 1))
    for path in (commits, *commits.iterdir()):
        os.utime(path, ns=(tick, tick))
    reads.clear()
    assert names.find(run.ledger) == name_index(run.ledger)
    assert len(reads) == 6


def test_a_run_put_in_the_place_of_another_is_told_apart(run: RunFolder, tmp_path: Path) -> None:
    make_old(run)
    names = IndexNames()
    before = names.find(run.ledger)
    other = write_run(tmp_path / "other", {"c.parquet": [[{"id": "three", "words": ["atom"]}]]})
    shutil.rmtree(run.folder)
    other.folder.rename(run.folder)
    make_old(run)
    assert names.find(run.ledger) == name_index(run.ledger) != before


def test_a_run_that_is_gone_is_not_answered_for(run: RunFolder) -> None:
    make_old(run)
    names = IndexNames()
    names.find(run.ledger)
    shutil.rmtree(run.folder)
    with pytest.raises(LedgerError, match="There is no run"):
        names.find(run.ledger)


def test_the_open_index_is_that_of_the_newest_commit(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "indexes"
    indexes = Indexes(root)
    monkeypatch.setattr("primer.app.documents.indexes.build_index", lambda folder, where: None)
    old = build_index(run, root, table=TABLE)
    make_old(run)
    assert indexes.get(run.folder).path == old
    assert indexes.get(run.folder) is indexes.get(run.folder)
    run.ledger.commit("encoder", "000000-00000", make_encoder(0, 2, 1))
    with pytest.raises(NotReady):
        indexes.get(run.folder)
    new = build_index(run, root, table=TABLE)
    assert indexes.get(run.folder).path == new != old
