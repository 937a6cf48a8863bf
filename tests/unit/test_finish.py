"""The end of a run: what is added up over shards and slices, which ids stand twice, what could not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ledger_rows import RECIPE, open_shard, write_run
from signal_rows import make_bound

from curation.errors import LedgerError
from curation.finish import MAX_EXAMPLES, require_complete, summarize_run
from curation.ledger.store import Plan, PlannedShard
from curation.overrides import Overrides, Ruling
from curation.run_folder import RunFolder

BOUND = make_bound(notation={"rules": "recommended"}, vocabulary={"mode": "block", "min_score": 4})
GRADES = [1.0, 0.0, 0.0, 0.0]


def test_shards_and_slices_add_up(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        {
            "a.parquet": [
                [
                    {"id": "1", "tokens": 100, "n_bytes": 460, "changed": True},
                    {"id": "2", "tokens": 0, "rules": ["powers"]},
                ],
                [{"id": "3", "n_bytes": 47, "grades": GRADES, "sampled": True}],
            ],
            "b.parquet": [
                [
                    {"id": "4", "tokens": 7, "words": ["atom", "river"], "grades": GRADES},
                    {"id": "5", "error": "the text is not UTF-8", "tokens": 9},
                ]
            ],
        },
    )
    summary = summarize_run(run, BOUND, {"atom": 5.0})
    assert summary.funnel.documents == {"kept": 2, "excluded": 2, "undecided": 0, "error": 1}
    # 47 bytes are estimated at 11 tokens; what an unreadable row states does not count.
    assert summary.funnel.tokens == {"kept": 111, "excluded": 7, "undecided": 0, "error": 0}
    assert summary.estimated_token_documents == 1
    assert summary.normalized_documents == 1
    assert summary.sampled_window_documents == 1
    assert (summary.row_error_count, summary.row_errors) == (
        1,
        [{"shard": "b.parquet", "row": 1, "error": "the text is not UTF-8"}],
    )
    assert summary.duplicate_id_count == 0
    assert summary.duplicate_ids == []
    assert [shard["name"] for shard in summary.shards] == ["a.parquet", "b.parquet"]
    assert summary.shard_errors == []


def test_reading_ends_where_the_checkpoint_says_so(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{"tokens": 1}], [{"tokens": 2}], [{"tokens": 4}]]})
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        summarize_run(run, BOUND, {}, checkpoint=check)
    assert calls == 2


def test_overrides_are_counted_where_they_are_given(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{"tokens": 1}, {"tokens": 2}], [{"tokens": 4, "rules": ["x"]}]]})
    rulings = (
        Ruling(shard="a.parquet", row=1, action="exclude"),
        Ruling(shard="a.parquet", row=2, action="keep"),
        Ruling(shard="b.parquet", row=0, action="exclude"),
    )
    assert summarize_run(run, BOUND, {}).funnel.tokens["kept"] == 3
    assert summarize_run(run, BOUND, {}, Overrides(rulings, "0" * 64)).funnel.tokens["kept"] == 5


def test_ids_that_stand_twice_are_found_across_shards(tmp_path: Path) -> None:
    rows = [{"id": name} if name else {} for name in ("x", "y", "", "x", "", "")]
    more: list[dict[str, Any]] = [{"id": "x"}, {"id": "y"}, {"id": "z"}, {"id": "Z"}, {"id": "z "}]
    run = write_run(tmp_path / "run", {"a.parquet": [rows[:2], rows[2:]], "b.parquet": [more]})
    summary = summarize_run(run, BOUND, {})
    assert summary.duplicate_id_count == 2
    assert summary.duplicate_ids == [{"doc_id": "x", "rows": 3}, {"doc_id": "y", "rows": 2}]


def test_an_unreadable_row_keeps_its_id(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{"id": "x"}, {"id": "x", "error": "no text"}]]})
    assert summarize_run(run, BOUND, {}).duplicate_ids == [{"doc_id": "x", "rows": 2}]


def test_examples_are_limited_and_counts_are_not(tmp_path: Path) -> None:
    twice = [{"id": f"{number:03}"} for number in range(MAX_EXAMPLES + 10)] * 2
    broken = [{"error": f"no text {number}"} for number in range(30)]
    run = write_run(tmp_path / "run", {"a.parquet": [twice, broken], "b.parquet": [broken]})
    summary = summarize_run(run, BOUND, {})
    assert summary.duplicate_id_count == MAX_EXAMPLES + 10
    assert [entry["doc_id"] for entry in summary.duplicate_ids] == [f"{number:03}" for number in range(MAX_EXAMPLES)]
    assert summary.row_error_count == 60
    assert len(summary.row_errors) == MAX_EXAMPLES
    assert summary.row_errors[0] == {"shard": "a.parquet", "row": 120, "error": "no text 0"}
    assert summary.row_errors[-1] == {"shard": "b.parquet", "row": 19, "error": "no text 19"}


@pytest.mark.parametrize("name", ["run", "run[1]", "run *", "it's a run", "run?", "r*"])
def test_a_folder_of_any_name_is_read(name: str, tmp_path: Path) -> None:
    write_run(tmp_path / "run1", {"a.parquet": [[{"id": "other"}, {"id": "other"}]]})
    run = write_run(tmp_path / name, {"a.parquet": [[{"id": "mine"}, {"id": "mine"}]]})
    assert summarize_run(run, BOUND, {}).duplicate_ids == [{"doc_id": "mine", "rows": 2}]


def test_bytes_are_those_of_the_parts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{"words": ["atom"]}] * 3, [{}]]})
    summary = summarize_run(run, BOUND, {})
    on_disk = {
        layer: sum(path.stat().st_size for path in (run.ledger.folder / "parts" / layer).iterdir())
        for layer in ("core", "postings")
    }
    assert min(on_disk.values()) > 0
    assert summary.layer_bytes == on_disk
    ledger = summary.report()["ledger"]
    assert ledger == {
        "bytes_by_layer": on_disk,
        "bytes_per_document": {"core": on_disk["core"] / 4, "postings": on_disk["postings"] / 4},
        "projected_bytes_for_1_5_billion": sum(on_disk.values()) * 375_000_000,
    }


def test_no_rows_at_all(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {})
    report = summarize_run(run, BOUND, {}).report()
    assert report["documents"] == 0
    assert report["duplicate_ids"] == {"count": 0, "examples": []}
    assert report["ledger"] == {
        "bytes_by_layer": {},
        "bytes_per_document": {},
        "projected_bytes_for_1_5_billion": 0,
    }


def test_a_shard_that_cannot_be_counted_is_named(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.ledger.create(Plan(recipe=RECIPE, shards=(PlannedShard(name="bad.parquet", size_bytes=1),), row_limit=None))
    run.ledger.add_shard(open_shard(0, "bad.parquet", [], error="the footer is missing"))
    summary = summarize_run(run, BOUND, {})
    assert summary.shard_errors == [{"shard": "bad.parquet", "error": "the footer is missing"}]
    assert summary.funnel.document_count == 0


def test_slices_that_are_missing_are_counted(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}], [{}], [{}]]})
    require_complete(run)
    for number in (1, 2):
        (run.ledger.folder / "commits" / "core" / f"000000-{number:05d}.json").unlink()
    with pytest.raises(LedgerError) as caught:
        require_complete(run)
    assert str(caught.value) == (
        "2 of 3 slices are not measured yet (first: 000000-00001). Run the parts that are missing, then finish again."
    )
    with pytest.raises(LedgerError, match="Slice 000000-00001 has no committed core layer"):
        summarize_run(run, BOUND, {})


def test_a_shard_that_was_never_opened_is_no_finished_run(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.ledger.create(Plan(recipe=RECIPE, shards=(PlannedShard(name="a.parquet", size_bytes=1),), row_limit=None))
    with pytest.raises(LedgerError, match=r"a\.parquet has not been opened yet"):
        require_complete(run)


def test_an_impossible_token_count_is_estimated_instead(tmp_path: Path) -> None:
    """A token is at least a byte: 46 bytes cannot hold 47 tokens, and can hold 46."""
    rows = [{"id": "1", "tokens": 47, "n_bytes": 46}, {"id": "2", "tokens": 46, "n_bytes": 46}]
    summary = summarize_run(write_run(tmp_path / "run", {"a.parquet": [rows]}), BOUND, {})
    assert summary.funnel.tokens["kept"] == 10 + 46
    assert summary.estimated_token_documents == 1
