"""Two decision sets side by side: every move is counted once, in documents and tokens, with its first examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ledger_rows import write_run
from signal_rows import make_bound

from curation.artifacts.artifact_set import ArtifactSet
from curation.compare import MAX_EXAMPLES, MOVES, Comparison, compare_decisions
from curation.curate import DecisionSet
from curation.finish import summarize_run
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.overrides import Overrides, Ruling
from curation.run_folder import RunFolder

NOTATION = {"notation": {"rules": "recommended"}}
LEXICAL = {"lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05}}


def see(
    run: RunFolder, scores: dict[str, float] | None = None, overrides: Overrides | None = None, **stages: Any
) -> DecisionSet:
    return DecisionSet(run, ArtifactSet({}), make_bound(**stages), PLAIN_VOCABULARY, overrides, scores or {})


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return write_run(
        tmp_path / "run",
        {
            "a.parquet": [
                [
                    {"id": "plain", "tokens": 1},
                    {"id": "old", "tokens": 2, "p95_aoa": 13.0},
                    {"id": "power", "tokens": 4, "rules": ["powers"], "url": "https://example.org/power"},
                ],
                [
                    {"id": "both", "tokens": 8, "p95_aoa": 13.0, "rules": ["powers"]},
                    {"id": "broken", "tokens": 16, "error": "no text"},
                ],
            ],
            "b.parquet": [[{"id": "power too", "tokens": 32, "rules": ["powers", "roots"]}]],
        },
    )


def count_moves(comparison: Comparison) -> dict[str, tuple[int, int, list[object]]]:
    return {
        move: (flips.documents, flips.tokens, [example["doc_id"] for example in flips.examples])
        for move, flips in comparison.flips.items()
        if flips.documents
    }


def test_both_ways_at_once(run: RunFolder) -> None:
    comparison = compare_decisions(see(run, **LEXICAL), see(run, **NOTATION))
    assert count_moves(comparison) == {
        "now_kept": (1, 2, ["old"]),
        "now_excluded": (2, 36, ["power", "power too"]),
    }
    assert comparison.flips["now_excluded"].examples == [
        {"shard": "a.parquet", "row": 2, "doc_id": "power", "url": "https://example.org/power"},
        {"shard": "b.parquet", "row": 0, "doc_id": "power too", "url": None},
    ]
    assert comparison.baseline.documents == {"kept": 3, "excluded": 2, "undecided": 0, "error": 1}
    assert comparison.funnel.documents == {"kept": 2, "excluded": 3, "undecided": 0, "error": 1}


def test_a_decision_set_against_itself_moves_nothing(run: RunFolder) -> None:
    wanted = see(run, **LEXICAL, **NOTATION)
    comparison = compare_decisions(wanted, wanted)
    assert count_moves(comparison) == {}
    assert list(comparison.report()["flips"]) == list(MOVES)  # type: ignore[call-overload]
    assert comparison.funnel == comparison.baseline


def test_funnels_are_those_of_the_runs_themselves(run: RunFolder) -> None:
    baseline, wanted = see(run, **LEXICAL), see(run, **LEXICAL, **NOTATION)
    comparison = compare_decisions(baseline, wanted)
    assert comparison.baseline == summarize_run(run, baseline.bound, {}).funnel
    assert comparison.funnel == summarize_run(run, wanted.bound, {}).funnel


def test_moves_into_and_out_of_undecided(run: RunFolder) -> None:
    """The encoder was not measured: what no other stage excludes waits for it."""
    with_encoder = see(run, **LEXICAL, encoder={"min_k5_window": 0.5})
    without = see(run, **LEXICAL)
    forth, back = compare_decisions(without, with_encoder), compare_decisions(with_encoder, without)
    moved = (3, 37, ["plain", "power", "power too"])
    assert count_moves(forth) == {"now_undecided": moved}
    # One move has one name: what is no longer undecided is not called newly kept as well.
    assert count_moves(back) == {"no_longer_undecided": moved}
    assert forth.funnel.undecided_for() == {"encoder": 3}


def test_a_vocabulary_and_rulings_move_documents_too(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        {"a.parquet": [[{"id": "atom", "tokens": 1, "words": ["atom"]}, {"id": "river", "tokens": 2}]]},
    )
    stage = {"vocabulary": {"mode": "block", "min_score": 4.0}}
    rulings = (Ruling(shard="a.parquet", row=1, action="exclude"), Ruling(shard="a.parquet", row=7, action="exclude"))
    overrides = Overrides(rulings, "0" * 64)
    comparison = compare_decisions(see(run, {"atom": 5.0}, **stage), see(run, {"zebra": 5.0}, overrides, **stage))
    assert count_moves(comparison) == {"now_kept": (1, 1, ["atom"]), "now_excluded": (1, 2, ["river"])}


@pytest.mark.parametrize(("one", "two", "moved_count"), [(0, 0, 0), (0, 1, 3), (0, 2, 4), (1, 2, 2), (2, 2, 0)])
def test_each_move_is_counted_once_in_either_direction(run: RunFolder, one: int, two: int, moved_count: int) -> None:
    views = [see(run, **LEXICAL), see(run, **NOTATION), see(run, **NOTATION, encoder={"min_k5_window": 0.5})]
    for before, after in ((views[one], views[two]), (views[two], views[one])):
        comparison = compare_decisions(before, after)
        flips = comparison.flips
        assert sum(move.documents for move in flips.values()) == moved_count
        difference = comparison.funnel.documents["undecided"] - comparison.baseline.documents["undecided"]
        assert difference == flips["now_undecided"].documents - flips["no_longer_undecided"].documents


def test_examples_are_the_first_and_limited(tmp_path: Path) -> None:
    slices = [[{"id": f"{piece}-{row}", "tokens": 1, "rules": ["powers"]} for row in range(15)] for piece in range(3)]
    run = write_run(tmp_path / "run", {"a.parquet": slices})
    comparison = compare_decisions(see(run, **LEXICAL), see(run, **NOTATION))
    flips = comparison.flips["now_excluded"]
    assert (flips.documents, flips.tokens, len(flips.examples)) == (45, 45, MAX_EXAMPLES)
    assert [example["row"] for example in flips.examples] == list(range(MAX_EXAMPLES))
    assert flips.examples[15]["doc_id"] == "1-0"


def test_estimated_tokens_count_where_the_source_gives_none(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{"n_bytes": 47, "rules": ["powers"]}, {"n_bytes": 0}]]})
    comparison = compare_decisions(see(run, **LEXICAL), see(run, **NOTATION))
    assert count_moves(comparison) == {"now_excluded": (1, 11, [None])}
    assert comparison.funnel.tokens == {"kept": 0, "excluded": 11, "undecided": 0, "error": 0}


def test_rulings_on_rows_that_the_run_does_not_have_are_counted(run: RunFolder) -> None:
    [first, *_] = run.ledger.read_shards()
    entries = (
        Ruling(shard="a.parquet", row=0, action="exclude"),
        Ruling(shard_sha256=first.sha256, row=first.row_count, action="keep"),
        Ruling(shard="missing.parquet", row=1, action="keep"),
    )
    wanted = see(run, overrides=Overrides(entries, ""), **NOTATION)
    report = compare_decisions(see(run, **NOTATION), wanted).report()
    assert report["rulings_without_row"] == {
        "count": 2,
        "examples": [{"shard": first.sha256, "row": first.row_count}, {"shard": "missing.parquet", "row": 1}],
    }
    plain = compare_decisions(see(run, **NOTATION), see(run, **NOTATION))
    assert plain.report()["rulings_without_row"] == {"count": 0, "examples": []}
