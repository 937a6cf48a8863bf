"""Building: whole or not at all, named by what it was built from, equal however it is cut into blocks and threads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cli_runs import digest_folder
from indexed_runs import make_encoder
from ledger_rows import RECIPE, make_core, make_postings, open_shard, write_run
from signal_rows import make_bound

from curation.errors import LedgerError
from curation.index import (
    BuildProgress,
    DecisionRequest,
    Query,
    Range,
    build_index,
    find_index,
    name_index,
    open_index,
    sweep_indexes,
    word_places,
)
from curation.ledger import schema
from curation.ledger.store import Plan, PlannedShard, SliceRef
from curation.lexicon.vocabulary import VocabularyTable, VocabularyVersion
from curation.run_folder import RunFolder
from curation.slice_sample import Sample, choose_slices

TABLE = VocabularyTable({"atom": 5.0, "river": 1.0, "quark": float("inf")}, "b" * 64)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    rows: list[dict[str, Any]] = [
        {"id": "one", "url": "https://www.Example.org/a", "words": ["atom", "river"], "tokens": 5},
        {"id": "two", "url": None, "words": ["atom", "zzz"]},
        {"error": "no text"},
        {"id": "four", "url": "not an address at all", "words": ["quark"], "rules": ["roots", "a rule of tomorrow"]},
    ]
    return write_run(tmp_path / "run", {"a.parquet": [rows, rows[:2]], "b.parquet": [[]], "c.parquet": [rows[3:]]})


def test_an_index_is_found_under_its_name_once_it_is_whole(run: RunFolder, tmp_path: Path) -> None:
    indexes, seen = tmp_path / "indexes", list[BuildProgress]()
    assert find_index(run, indexes) is None
    path = build_index(run, indexes, seen.append, table=TABLE)
    assert path == indexes / name_index(run.ledger) == find_index(run, indexes)
    assert seen == [BuildProgress(1, 4, 4), BuildProgress(2, 4, 6), BuildProgress(3, 4, 6), BuildProgress(4, 4, 7)]
    assert [entry.name for entry in indexes.iterdir()] == [path.name]


def test_a_second_build_finds_the_first(run: RunFolder, tmp_path: Path) -> None:
    path = build_index(run, tmp_path, table=TABLE)
    before = (path / "index.json").stat().st_mtime_ns
    assert build_index(run, tmp_path, pytest.fail, table=TABLE) == path
    assert (path / "index.json").stat().st_mtime_ns == before


def test_threads_and_repetition_change_no_byte(run: RunFolder, tmp_path: Path) -> None:
    paths = [build_index(run, tmp_path / str(workers), table=TABLE, workers=workers) for workers in (1, 3)]
    assert digest_folder(paths[0]) == digest_folder(paths[1])


def test_a_build_that_is_stopped_leaves_nothing(run: RunFolder, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(progress: BuildProgress) -> None:
        if progress.slices_done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        build_index(run, tmp_path / "indexes", stop, table=TABLE)
    assert list((tmp_path / "indexes").iterdir()) == []
    assert find_index(run, tmp_path / "indexes") is None


def test_a_ledger_that_grew_has_another_index_and_the_old_one_is_swept(run: RunFolder, tmp_path: Path) -> None:
    indexes = tmp_path / "indexes"
    old = build_index(run, indexes, table=TABLE)
    (indexes / "somebody-elses").mkdir()
    run.ledger.commit("encoder", "000000-00000", make_encoder(0, 4, 1))
    assert find_index(run, indexes) is None
    new = build_index(run, indexes, table=TABLE)
    assert new != old
    assert sweep_indexes(run, indexes) == 1
    assert sorted(path.name for path in indexes.iterdir()) == sorted([new.name, "somebody-elses"])


def test_an_unmeasured_run_is_refused(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.ledger.create(Plan(recipe=RECIPE, shards=(PlannedShard(name="a.parquet", size_bytes=1),), row_limit=None))
    run.ledger.add_shard(open_shard(0, "a.parquet", [1]))
    with pytest.raises(LedgerError, match="no committed core layer"):
        build_index(run, tmp_path / "indexes", table=TABLE)
    assert not (tmp_path / "indexes").exists()


@pytest.mark.parametrize("name", ["columns/tokens.npy", "words/places.npy", "names/groups.bin", "hosts.arrow"])
@pytest.mark.parametrize("damage", ["cut short", "gone"])
def test_a_damaged_index_is_refused(run: RunFolder, tmp_path: Path, name: str, damage: str) -> None:
    path = build_index(run, tmp_path / "indexes", table=TABLE)
    file = path / name
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(LedgerError, match="damaged"):
        open_index(path)


def test_an_index_of_another_version_is_refused(run: RunFolder, tmp_path: Path) -> None:
    path = build_index(run, tmp_path / "indexes", table=TABLE)
    content = (path / "index.json").read_text()
    (path / "index.json").write_text(content.replace('"schema_number":1', '"schema_number":2'))
    with pytest.raises(LedgerError, match="no index that this version reads"):
        open_index(path)


def test_rows_that_the_slice_should_not_have_are_refused(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.ledger.create(Plan(recipe=RECIPE, shards=(PlannedShard(name="a.parquet", size_bytes=1),), row_limit=None))
    manifest = open_shard(0, "a.parquet", [2])
    run.ledger.add_shard(manifest)
    run.ledger.commit("core", "000000-00000", make_core([{}, {}], first_row=1))
    run.ledger.commit("postings", "000000-00000", make_postings([{}, {}], first_row=1))
    with pytest.raises(LedgerError, match="holds other rows than its 2 from 0 on"):
        build_index(run, tmp_path / "indexes", table=TABLE)
    assert list((tmp_path / "indexes").iterdir()) == []


def test_what_a_row_has_not_is_missing_and_not_zero(run: RunFolder, tmp_path: Path) -> None:
    index = open_index(build_index(run, tmp_path / "indexes", table=TABLE))
    decided = index.decide(DecisionRequest(make_bound(notation={"rules": "recommended"})))
    for column in ("n_bytes", "n_chars", "n_words", "p95_aoa", "lexical_tokens", "rule_count"):
        assert decided.select(Query(ranges=(Range(column=column, is_missing=True),))).tolist() == [2], column
        assert 2 not in decided.select(Query(ranges=(Range(column=column, low=-5),)))
    assert decided.select(Query(ranges=(Range(column="fasttext_window_k5", is_missing=True),))).tolist() == list(
        range(7)
    )
    assert decided.read_values("tokens", np.arange(3)).tolist() == [5, 10, 0]
    assert [index.is_estimated(position) for position in range(3)] == [False, True, False]


def test_rules_that_this_version_does_not_know_count_too(run: RunFolder, tmp_path: Path) -> None:
    index = open_index(build_index(run, tmp_path / "indexes", table=TABLE))
    decided = index.decide(DecisionRequest(make_bound(notation={"rules": "recommended"})))
    assert decided.select(Query(rule="a rule of tomorrow")).tolist() == [3, 6]
    assert decided.read_values("rule_count", np.array([0, 3])).tolist() == [0, 2]
    assert decided.decisions_at(slice(None)).kept.tolist() == [1, 1, 0, 0, 1, 1, 0]


def test_domains_are_hosts_in_their_normal_spelling(run: RunFolder, tmp_path: Path) -> None:
    index = open_index(build_index(run, tmp_path / "indexes", table=TABLE))
    decided = index.decide(DecisionRequest(make_bound(notation={"rules": "recommended"})))
    assert decided.select(Query(domain="www.example.org")).tolist() == [0, 4]
    assert decided.select(Query(domain="WWW.Example.ORG.")).tolist() == [0, 4]
    assert decided.select(Query(domain="example.org")).tolist() == []
    assert decided.select(Query(domain="example.org", has_subdomains=True)).tolist() == [0, 4]
    assert decided.select(Query(domain="ample.org", has_subdomains=True)).tolist() == []


def test_blocks_of_a_few_rows_hold_the_same(run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = open_index(build_index(run, tmp_path / "whole", table=TABLE))
    monkeypatch.setattr(word_places, "BLOCK_ROWS", 3)
    cut = open_index(build_index(run, tmp_path / "cut", table=TABLE))
    assert (whole.places.block_count, cut.places.block_count) == (3, 4)
    stage = {"mode": "block", "min_score": 1.0}
    version = VocabularyVersion(name="v", version=1, allow=("river",), block=("zzz", "quark"))
    request = DecisionRequest(make_bound(vocabulary=stage), version)
    for index in (whole, cut):
        assert index.count_terms(request).tolist() == [1, 2, 0, 1, 1, 2, 1]
        assert index.find_top_scores(request).tolist() == [5, np.inf, -np.inf, np.inf, 5, np.inf, np.inf]
        assert index.find_term("atom", "raw").tolist() == [0, 1, 4, 5]
        assert index.find_term("zzz", "raw").tolist() == [1, 5]
        assert index.find_term("nowhere", "raw").tolist() == []


def test_a_word_that_only_one_form_holds(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.ledger.create(Plan(recipe=RECIPE, shards=(PlannedShard(name="a.parquet", size_bytes=1),), row_limit=None))
    run.ledger.add_shard(open_shard(0, "a.parquet", [2]))
    run.ledger.commit("core", "000000-00000", make_core([{}, {}]))
    entries = [("atom", 0, schema.FORM_RAW), ("atom", 1, schema.FORM_NORMALIZED), ("zzz", 1, schema.FORM_RAW)]
    postings = pa.table(
        [
            pa.array([word for word, _, _ in entries]).dictionary_encode(),
            pa.array([row for _, row, _ in entries]),
            pa.array([1] * 3, pa.int32()),
            pa.array([form for _, _, form in entries], pa.int8()),
        ],
        schema=schema.POSTINGS_SCHEMA,
    )
    run.ledger.commit("postings", "000000-00000", postings)
    index = open_index(build_index(run, tmp_path / "indexes", table=TABLE))
    assert [index.find_term("atom", form).tolist() for form in ("raw", "normalized")] == [[0], [1]]
    assert [index.find_term("zzz", form).tolist() for form in ("raw", "normalized")] == [[1], []]


def test_a_sampled_run_is_indexed_with_its_gaps(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    sample = Sample(share=0.5, seed=3)
    plan = Plan(recipe=RECIPE, shards=(PlannedShard(name="a.parquet", size_bytes=1),), row_limit=None, sample=sample)
    run.ledger.create(plan)
    manifest = open_shard(0, "a.parquet", [2] * 8)
    run.ledger.add_shard(manifest)
    pieces = choose_slices(manifest, sample)
    assert 1 < len(pieces) < 8
    for piece in pieces:
        slice_id = SliceRef(manifest, piece).id
        rows = [{"id": f"{piece.first_row + row}"} for row in range(2)]
        run.ledger.commit("postings", slice_id, make_postings(rows, piece.first_row))
        run.ledger.commit("core", slice_id, make_core(rows, piece.first_row))
    index = open_index(build_index(run, tmp_path / "indexes", table=TABLE))
    measured = [piece.first_row + row for piece in pieces for row in range(2)]
    described = index.describe_rows(range(len(index)))
    assert [row.row for row in described] == measured == [int(row.doc_id or -1) for row in described]
    for position, row in enumerate(measured):
        assert index.find_position(manifest.sha256, row) == position
    [left_out] = {*range(16)} - {*measured} and [min({*range(16)} - {*measured})]
    assert index.find_position(manifest.sha256, left_out) is None


def test_a_run_without_a_row_has_an_index_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": []})
    index = open_index(build_index(run, tmp_path / "indexes", table=TABLE))
    decided = index.decide(DecisionRequest(make_bound(notation={"rules": "recommended"})))
    assert (len(index), decided.count(), decided.facets().documents, decided.page().positions.tolist()) == (0, 0, 0, [])
    assert decided.funnel.document_count == 0
    assert sum(decided.histogram("tokens").counts["kept"]) == 0


def test_an_open_index_outlives_its_folder(run: RunFolder, tmp_path: Path) -> None:
    path = build_index(run, tmp_path / "indexes", table=TABLE)
    index = open_index(path)
    shutil.rmtree(path)
    decided = index.decide(DecisionRequest(make_bound(lexical={"max_p95_aoa": 9.0, "max_oov_ratio": 0.5})))
    assert decided.decisions_at(slice(None)).kept.tolist() == [1, 1, 0, 1, 1, 1, 1]
