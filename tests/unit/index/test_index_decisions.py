"""Decisions by the index equal those by the ledger, row by row, for any profile, vocabulary, ruling and source rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from indexed_runs import World, decide_plainly, draw_decisions, measure_run, open_world
from ledger_rows import write_run
from signal_rows import make_bound

from curation.artifacts.artifact_set import ArtifactSet
from curation.compare import compare_decisions
from curation.curate import DecisionSet
from curation.decide import Signals, Verdicts, judge_stage
from curation.errors import LedgerError
from curation.finish import summarize_run
from curation.index import DecisionRequest, SignalIndex, build_index, open_index, signal_index, verdicts
from curation.ledger.licences import LICENCES, LICENCES_SCHEMA
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyTable
from curation.overrides import Overrides, Ruling
from curation.profile import BoundProfile
from curation.run_folder import RunFolder
from curation.sample.build import sample_dir
from curation.source_rules import SourceRule

DECISION_SETS = 40
NO_TABLE = VocabularyTable({}, "0" * 64)


@pytest.fixture(scope="module", params=["sample", "shared"])
def indexed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, SignalIndex]]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "shared":
        shards = request.getfixturevalue("shared") / "data" / "shards"
        run = measure_run(
            folder / "run",
            [shards / "fineweb_edu-00000.parquet", shards / "web-00000.parquet"],
            row_limit=700,
            slice_bytes=1 << 19,
        )
    else:
        run = measure_run(folder / "run", sorted(sample_dir().glob("*.parquet")), row_limit=300)
    world = open_world(run)
    # Chunks of few rows, so that several threads work and chunks end within slices and shards.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal_index, "CHUNK_ROWS", 37)
        index = open_index(build_index(run, folder / "indexes", table=world.table))
        assert len(index.chunks) > 5
        yield world, index


def test_every_row_is_decided_as_the_ledger_decides_it(indexed: tuple[World, SignalIndex]) -> None:
    world, index = indexed
    outcomes: set[tuple[int, ...]] = set()
    for seed in range(DECISION_SETS):
        decisions = draw_decisions(world, seed)
        found = index.decide(DecisionRequest.of(decisions)).decisions_at(slice(None))
        expected = decide_plainly(decisions)
        for name, values in expected.items():
            assert np.array_equal(getattr(found, name), values), (seed, name)
            assert getattr(found, name).dtype == values.dtype, name
        outcomes |= set(zip(*(values.tolist() for values in expected.values()), strict=True))
    # The draws reach all that can happen: kept, excluded, undecided; by a ruling, by a source rule.
    assert {outcome[0] for outcome in outcomes} == {1, 0, -1}
    assert {6, 7} <= {outcome[3] for outcome in outcomes}
    assert len(outcomes) > 50


def test_what_if_reports_what_the_ledger_reports(indexed: tuple[World, SignalIndex]) -> None:
    world, index = indexed
    for seed in range(0, 24, 2):
        before, after = draw_decisions(world, seed), draw_decisions(world, seed + 1)
        comparison = index.decide(DecisionRequest.of(before)).what_if(index.decide(DecisionRequest.of(after)))
        assert comparison.report() == compare_decisions(before, after).report(), seed


def test_flips_are_the_rows_that_moved(indexed: tuple[World, SignalIndex]) -> None:
    world, index = indexed
    for seed in range(0, 12, 2):
        before, after = draw_decisions(world, seed), draw_decisions(world, seed + 1)
        flips = index.decide(DecisionRequest.of(before)).find_flips(index.decide(DecisionRequest.of(after)))
        old, new = decide_plainly(before)["kept"], decide_plainly(after)["kept"]
        assert flips["now_kept"].tolist() == np.flatnonzero((old == 0) & (new == 1)).tolist()
        assert flips["now_excluded"].tolist() == np.flatnonzero((old == 1) & (new == 0)).tolist()
        assert flips["now_undecided"].tolist() == np.flatnonzero((old != -1) & (new == -1)).tolist()
        assert flips["no_longer_undecided"].tolist() == np.flatnonzero((old == -1) & (new != -1)).tolist()


def test_the_funnel_is_the_runs_own(indexed: tuple[World, SignalIndex]) -> None:
    world, index = indexed
    decisions = draw_decisions(world, 3)
    expected = summarize_run(
        world.run, decisions.bound, decisions.word_scores, decisions.overrides, decisions.source_rules
    ).funnel
    assert index.decide(DecisionRequest.of(decisions)).funnel == expected


def test_blocked_terms_of_a_row_are_those_of_the_ledger(indexed: tuple[World, SignalIndex]) -> None:
    from curation.ledger.signals import decide_ledger

    world, index = indexed
    for seed in range(8):
        decisions = draw_decisions(world, seed)
        wanted = index.plan_words(DecisionRequest.of(decisions))
        if wanted is None:
            continue
        slices = decide_ledger(world.run.ledger, decisions.bound, decisions.word_scores)
        expected = [terms for part in slices for terms in part.signals.blocked_terms.to_pylist()]
        assert [index.places.list_words(position, wanted) for position in range(len(index))] == expected


def see(run: RunFolder, **others: object) -> DecisionSet:
    bound = make_bound(notation={"rules": "recommended"})
    return DecisionSet(
        run, ArtifactSet({}), bound, PLAIN_VOCABULARY, others.get("overrides"), {}, others.get("rules", ())
    )  # type: ignore[arg-type]


def test_licences_bar_rows_and_only_where_the_source_states_some(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}, {}, {"error": "no text"}, {}]], "b.parquet": [[{}]]})
    licences = pa.table(
        [pa.array([0, 1, 2, 3]), pa.array(["CC-BY-NC-4.0", None, "cc-by-nc-4.0", "cc0"])], schema=LICENCES_SCHEMA
    )
    rule = SourceRule(kind="licence", value="cc-by-nc-4.0")
    decisions = see(run, rules=(rule,))
    without = open_index(build_index(run, tmp_path / "without", table=NO_TABLE))
    with pytest.raises(LedgerError, match="names a licence"):
        without.decide(DecisionRequest.of(decisions))
    run.ledger.commit(LICENCES, "000000-00000", licences)
    index = open_index(build_index(run, tmp_path / "with", table=NO_TABLE))
    found = index.decide(DecisionRequest.of(decisions)).decisions_at(slice(None))
    assert found.kept.tolist() == [0, 1, 0, 1, 1]
    assert found.decided_by.tolist() == [7, -1, 5, -1, -1]
    assert found.failed.tolist() == decide_plainly(decisions)["failed"].tolist()


def test_rulings_that_change_give_new_decisions_and_leave_the_old(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}, {"rules": ["roots"]}], [{}]]})
    index = open_index(build_index(run, tmp_path / "indexes", table=NO_TABLE))
    rulings = (Ruling(shard="a.parquet", row=1, action="keep"), Ruling(shard="a.parquet", row=2, action="exclude"))
    plain = index.decide(DecisionRequest.of(see(run)))
    ruled = index.decide(DecisionRequest.of(see(run, overrides=Overrides(rulings, "1" * 64))))
    undone = (*rulings, Ruling(shard="a.parquet", row=1, action="undo"))
    again = index.decide(DecisionRequest.of(see(run, overrides=Overrides(undone, "2" * 64))))
    assert [decided.decisions_at(slice(None)).kept.tolist() for decided in (plain, ruled, again)] == [
        [1, 0, 1],
        [1, 1, 0],
        [1, 0, 0],
    ]
    # A row that a ruling keeps still shows what had failed.
    assert ruled.decisions_at(np.array([1])).failed.tolist() == [8]


def test_equal_requests_share_one_answer(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}]]})
    index = open_index(build_index(run, tmp_path / "indexes", table=NO_TABLE))
    assert index.decide(DecisionRequest.of(see(run))) is index.decide(DecisionRequest.of(see(run)))


def test_a_profile_that_moves_one_threshold_has_one_stage_judged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}, {"rules": ["roots"]}, {"error": "no text"}]]})
    index = open_index(build_index(run, tmp_path / "indexes", table=NO_TABLE))
    judged: list[str] = []

    def judge(stage: str, signals: Signals, bound: BoundProfile) -> Verdicts:
        judged.append(stage)
        return judge_stage(stage, signals, bound)

    monkeypatch.setattr(verdicts, "judge_stage", judge)

    def decide(max_p95_aoa: float, rules: str) -> list[int]:
        bound = make_bound(lexical={"max_p95_aoa": max_p95_aoa, "max_oov_ratio": 1.0}, notation={"rules": rules})
        return index.decide(DecisionRequest(bound)).decisions_at(slice(None)).failed.tolist()

    assert decide(99.0, "recommended") == [0, 8, 32]
    assert judged == ["lexical", "notation"]
    assert decide(0.5, "recommended") == [1, 9, 32]
    assert judged == ["lexical", "notation", "lexical"]
    assert decide(0.5, "published") == [1, 1, 32]
    assert judged == ["lexical", "notation", "lexical", "notation"]
    assert decide(99.0, "published") == [0, 0, 32]
    assert judged == ["lexical", "notation", "lexical", "notation"]


def test_a_ruling_names_its_shard_by_hash_or_by_name(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}, {}]], "b.parquet": [[{}, {}]]})
    index = open_index(build_index(run, tmp_path / "indexes", table=NO_TABLE))
    first, _ = run.ledger.read_shards()
    rulings = (
        Ruling(shard_sha256=first.sha256, row=0, action="exclude"),
        Ruling(shard="b.parquet", row=1, action="exclude"),
    )
    decisions = see(run, overrides=Overrides(rulings, "1" * 64))
    kept = index.decide(DecisionRequest.of(decisions)).decisions_at(slice(None)).kept
    assert kept.tolist() == [0, 1, 1, 0] == decide_plainly(decisions)["kept"].tolist()
