"""Whole cascades decided out of fold on invented artefacts whose held-out readings are known, and on the shipped ones."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner
from unit.training.evaluation_cases import PLAIN, Case, make_app, make_profile, run, write_artifacts, write_rows

from curation.artifacts.artifact_set import bundled_folder, resolve_artifacts
from curation.cascade import Meters
from curation.errors import ProfileError, TrainingError
from curation.explain import explain_text
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import load_profile
from curation.recipe import build_recipe
from curation.signals.encoder_grade import EncoderGrade
from curation.training.card import read_row_hashes
from curation.training.evaluate import Ratio
from curation.training.evaluation import Evaluation, RowCounts, evaluate_profile
from curation.training.evaluation_report import POOLED, GroupScore, score_evaluation
from curation.training.evaluation_text import write_report
from curation.training.sources import WRITTEN

NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def list_outcomes(evaluation: Evaluation) -> dict[str, tuple[int, int]]:
    """By name: kept, and the mask of failed stages in published order (lexical 1, fasttext 2, encoder 4, notation 8, ...)."""
    decisions = evaluation.decisions
    return {
        row.row.group: (int(kept), int(failed))
        for row, kept, failed in zip(evaluation.rows, decisions.kept, decisions.failed, strict=True)
    }


CASES = (
    Case("one"),
    Case("two", fasttext=(0.49, 0.9)),
    Case("three", fasttext=(0.9, 0.39)),
    Case("four", encoder=0.69),
    Case("five", terms=1),
    Case("six", terms=2),
    Case("seven", text="zqxv wvut kjhg qwrt " * 5),
    Case("eight", text=PLAIN * 2 + r"solve x^{2} + 3x = \frac{1}{2} and \sqrt{7} now "),
    Case("nine", fasttext=(0.1, 0.1), encoder=0.1, terms=9),
)


def test_each_held_out_reading_decides_its_stage_and_no_other(tmp_path: Path) -> None:
    assert list_outcomes(run(tmp_path, CASES)) == {
        "one": (1, 0),
        "two": (0, 2),
        "three": (0, 2),
        "four": (0, 4),
        "five": (1, 0),
        "six": (0, 16),
        "seven": (0, 1),
        "eight": (0, 8),
        "nine": (0, 2 + 4 + 16),
    }


def test_rule_signals_are_those_of_a_run(tmp_path: Path) -> None:
    evaluation = run(tmp_path, CASES)
    artifacts = resolve_artifacts(str(tmp_path / "artifacts"))
    meters = Meters(artifacts, build_recipe(artifacts))
    for place, row in enumerate(evaluation.rows):
        stages = {s.stage: s for s in explain_text(row.row.text, meters, evaluation.bound, PLAIN_VOCABULARY).stages}
        values = stages["lexical"].values
        p95, oov = evaluation.signals.p95_aoa[place], evaluation.signals.oov_ratio[place]
        assert values["oov_ratio"] == oov
        assert values["p95_aoa"] == p95 or (values["p95_aoa"] is None and math.isnan(p95))
        assert len(stages["notation"].values["rules"]) == evaluation.signals.rule_hits[place]  # type: ignore[arg-type]


def test_a_row_that_a_model_was_trained_on_without_a_held_out_reading_is_dropped_and_counted(tmp_path: Path) -> None:
    cases = [
        Case("one"),
        Case("two", terms=None, trained=frozenset({"vocabulary"})),
        Case("three", encoder=None, trained=frozenset({"encoder"})),
        Case("four", fasttext=None, encoder=None, trained=frozenset({"fasttext"})),
    ]
    evaluation = run(tmp_path, cases, live_count=9)
    assert list(list_outcomes(evaluation)) == ["one"]
    assert evaluation.counts == {"labelled_web": RowCounts(loaded=4, trained=3, evaluated=1)}


def test_words_that_the_table_never_saw_are_looked_up_in_it(tmp_path: Path) -> None:
    cases = [Case("one", terms=None), Case("two", terms=0)]
    evaluation = run(tmp_path, cases, make_profile(vocabulary={"mode": "block", "min_score": 4.0}))
    # "sun" scores 9 in the table; the second row's held-out count says 0.
    assert list_outcomes(evaluation) == {"one": (0, 16), "two": (1, 0)}
    assert evaluation.is_live["vocabulary"].tolist() == [True, False]
    assert evaluation.counts["labelled_web"] == RowCounts(loaded=2, evaluated=2)
    assert score_evaluation(evaluation).live_by_source == ()


def test_unseen_rows_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    unseen = [Case(name, fasttext=None, encoder=None, terms=None, source="graded") for name in NAMES[2:8]]
    cases = [Case("one"), Case("two", encoder=None), *unseen]
    artifacts = write_artifacts(tmp_path / "artifacts", cases)
    data = write_rows(tmp_path / "rows.jsonl", cases)
    nothing = evaluate_profile(data, make_profile(), artifacts)
    assert list(list_outcomes(nothing)) == ["one"]
    assert nothing.counts == {
        "graded": RowCounts(loaded=6, unseen=6),
        "labelled_web": RowCounts(loaded=2, unseen=1, evaluated=1),
    }
    some = evaluate_profile(data, make_profile(), artifacts, live_count=4)
    assert some.counts == {
        "graded": RowCounts(loaded=6, unseen=2, evaluated=4, live=4),
        "labelled_web": RowCounts(loaded=2, evaluated=2, live=1),
    }
    again, other = (evaluate_profile(data, make_profile(), artifacts, live_count=4, seed=seed) for seed in (1, 2))
    assert list_outcomes(again) == list_outcomes(some)
    assert set(list_outcomes(other)) != set(list_outcomes(some))
    places = {row.row.group: place for place, row in enumerate(some.rows)}
    two = places["two"]
    assert [bool(some.is_live[kind][two]) for kind in ("vocabulary", "fasttext", "encoder")] == [False, False, True]
    assert some.signals.grades["document"][two, 0] == np.float32(0.9)
    model = EncoderGrade(tmp_path / "artifacts" / "encoder")
    recipe = build_recipe(artifacts)
    found = model.grade_windows([cases[1].row.text], max_windows=recipe.max_windows, seed=recipe.window_seed)
    assert some.signals.encoder[two].tolist() == found.grades[0].tolist()
    assert {score.source for score in score_evaluation(some).live_by_source} == {"graded", "labelled_web"}
    assert any("Live rows" in note for note in some.notes)
    assert not any("Live rows" in note for note in nothing.notes)


def test_copies_count_once_under_the_highest_band(tmp_path: Path) -> None:
    cases = [Case("one"), Case("two"), Case("two", band="K12", source="graded"), Case("two", band="K8")]
    artifacts = write_artifacts(tmp_path / "artifacts", cases[:2])
    evaluation = evaluate_profile(write_rows(tmp_path / "rows.jsonl", cases), make_profile(), artifacts)
    assert [(row.row.group, row.row.band, row.row.source) for row in evaluation.rows] == [
        ("one", "K5", "labelled_web"),
        ("two", "K12", "labelled_web"),
    ]
    assert evaluation.counts == {
        "graded": RowCounts(loaded=1, duplicate=1),
        "labelled_web": RowCounts(loaded=3, duplicate=1, evaluated=2),
    }


def test_a_stage_without_its_artefact_is_left_out_and_said(tmp_path: Path) -> None:
    artifacts = write_artifacts(tmp_path / "artifacts", CASES).restrict_to(("aoa", "vocabulary", "fasttext"))
    evaluation = evaluate_profile(write_rows(tmp_path / "rows.jsonl", CASES), make_profile(), artifacts)
    assert evaluation.bound.stages == ("lexical", "fasttext", "notation", "vocabulary")
    assert evaluation.notes == ("Stage encoder is left out: there is no artefact for it.",)
    assert list_outcomes(evaluation)["four"] == (1, 0)
    report = score_evaluation(evaluation)
    assert report.calibration == ()
    assert {point.grader for point in report.precision_recall} == {"fasttext"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": {"mode": "block", "min_score": 3.5}}, "the scores 3, 4, 5 on"),
        (
            {"vocabulary": {"mode": "sample", "min_score": 4.0, "sampling": {"halving": 1.0, "seed": 1}}},
            "without sampling",
        ),
        ({"fasttext": {"top_band": "window"}}, "not its likeliest band"),
        ({"encoder": {"top_band": "published"}}, "not its published reading"),
    ],
)
def test_a_reading_that_is_not_kept_out_of_fold_is_an_error(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TrainingError, match=message):
        run(tmp_path, CASES[:1], make_profile(**changes))


def test_an_optional_stage_whose_reading_is_not_kept_is_left_out_and_said(tmp_path: Path) -> None:
    profile = make_profile(encoder={"top_band": "published"}, fasttext={"top_band": "published"}, optional=["encoder"])
    evaluation = run(tmp_path, CASES, profile)
    assert evaluation.bound.left_out == ("encoder",)
    assert list_outcomes(evaluation)["four"] == (1, 0)
    # fastText's document: K5 is the likeliest band of two, at 0.49, and of three, but not of nine.
    assert [list_outcomes(evaluation)[name] for name in ("two", "three", "nine")] == [(1, 0), (1, 0), (0, 2 + 16)]
    assert evaluation.notes == (
        "Stage encoder is left out: only its hardest window is kept out of fold, not its published reading.",
        "fastText's reading of the whole normalised document stands for its published reading.",
    )


@pytest.mark.parametrize(("min_score", "kept"), [(3.0, 0), (4.0, 1), (5.0, 1)])
def test_the_threshold_chooses_the_stored_count(tmp_path: Path, min_score: float, kept: int) -> None:
    stage = {"mode": "block", "min_score": min_score, "max_terms": 3}
    assert list_outcomes(run(tmp_path, [Case("one", terms=1)], make_profile(vocabulary=stage)))["one"][0] == kept


def test_an_artefact_must_say_what_it_has_seen(tmp_path: Path) -> None:
    artifacts = write_artifacts(tmp_path / "artifacts", CASES)
    data = write_rows(tmp_path / "rows.jsonl", CASES)
    training = tmp_path / "artifacts" / "encoder" / "training"
    table = pq.read_table(training / "out_of_fold.parquet")
    for broken, message in (
        (table.drop_columns(["p_k8"]), "lacks p_k8"),
        (pa.concat_tables([table, table.slice(0, 1)]), "two rows of one text_hash"),
    ):
        pq.write_table(broken, training / "out_of_fold.parquet")
        with pytest.raises(TrainingError, match=message):
            evaluate_profile(data, make_profile(), artifacts)
    (training / "out_of_fold.parquet").unlink()
    with pytest.raises(TrainingError, match="No row of"):
        evaluate_profile(data, make_profile(), artifacts)
    (training / "training_rows.txt.zst").unlink()
    with pytest.raises(TrainingError, match="which rows the encoder artefact has seen"):
        evaluate_profile(data, make_profile(), artifacts)


def test_thresholds_of_another_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="binds encoder"):
        run(tmp_path, CASES[:1], make_profile(models={"encoder": "0" * 64}))


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Web: K5 kept 2 of 4, beyond kept 1 of 5; graded: K5 none of 1, beyond none of 1."""
    kept = [("one", "K5"), ("two", "K5"), ("three", "K8")]
    failed = [("four", "K5"), ("five", "K5"), ("six", "K8"), ("seven", "K12"), ("eight", "K12"), ("nine", "OOS")]
    cases = [Case(name, band) for name, band in kept]
    cases += [Case(name, band, encoder=0.25) for name, band in failed[:4]]
    cases += [Case(name, band, terms=5, encoder=1.0) for name, band in failed[4:]]
    cases += [Case("ten", source="graded", encoder=0.1), Case("eleven", "K12", source="graded", fasttext=(0.2, 0.2))]
    return run(tmp_path_factory.mktemp("scored"), cases)


def test_scores_are_counted_by_source_and_in_total(scored: Evaluation) -> None:
    report = score_evaluation(scored)
    graded, web, total = report.by_source
    assert web == GroupScore(
        "labelled_web", "", Ratio(2, 3), Ratio(2, 4), Ratio(1, 5), Ratio(1, 2), Ratio(0, 2), Ratio(0, 1), 0
    )
    assert (graded.purity, graded.k5_kept, graded.beyond_kept) == (Ratio(0, 0), Ratio(0, 1), Ratio(0, 1))
    assert (total.source, total.purity, total.k5_kept, total.beyond_kept) == (
        "total",
        Ratio(2, 3),
        Ratio(2, 5),
        Ratio(1, 6),
    )
    assert report.confusions["labelled_web"]["K12"] == {
        "kept": 0,
        "undecided": 0,
        "lexical": 0,
        "fasttext": 0,
        "encoder": 1,
        "notation": 0,
        "vocabulary": 1,
    }
    assert report.confusions["graded"]["K12"]["fasttext"] == 1
    assert sum(sum(line.values()) for line in report.confusions["total"].values()) == 11


def test_purity_is_projected_to_a_crawl(scored: Evaluation) -> None:
    low, high = score_evaluation(scored).projected_purity
    assert (low.source, low.prevalence, high.prevalence) == ("labelled_web", 0.015, 0.03)
    assert low.purity == pytest.approx(0.015 * 0.5 / (0.015 * 0.5 + 0.985 * 0.2))
    k5, leak = Ratio(2, 4).interval, Ratio(1, 5).interval
    assert high.low == pytest.approx(0.03 * k5[0] / (0.03 * k5[0] + 0.97 * leak[1]))
    assert high.high == pytest.approx(0.03 * k5[1] / (0.03 * k5[1] + 0.97 * leak[0]))


def test_aims_say_by_how_much_they_are_missed(scored: Evaluation) -> None:
    aims = score_evaluation(scored).aims
    found = [(aim.name, aim.found, aim.margin_ratio and round(aim.margin_ratio, 4), aim.is_met) for aim in aims]
    assert found == [
        ("a", Ratio(1, 5), -0.19, False),
        ("a", Ratio(2, 4), -0.1, False),
        ("b", Ratio(0, 0), None, False),
        ("b", Ratio(0, 0), None, False),
        ("c", Ratio(0, 1), 0.02, True),
        ("c", Ratio(0, 1), -0.6, False),
    ]


def test_calibration_bins_hold_every_row_once(scored: Evaluation) -> None:
    bins = [b for b in score_evaluation(scored).calibration if b.source == "total"]
    shares = {round(b.low, 1): b.k5_share for b in bins if b.k5_share.total}
    # 0.93 and 1.0 share the last bin.
    assert shares == {0.1: Ratio(1, 1), 0.2: Ratio(2, 4), 0.9: Ratio(2, 6)}
    assert len(bins) == 10
    assert bins[2].mean == pytest.approx(0.25)
    assert bins[0].mean is None


def test_the_curve_moves_one_threshold_of_the_whole_cascade(scored: Evaluation) -> None:
    report = score_evaluation(scored)
    points = {point.minimum: point for point in report.precision_recall if point.source == "labelled_web"}
    assert (points[0.0].precision, points[0.0].recall) == (Ratio(4, 7), Ratio(4, 4))
    assert (points[0.3].precision, points[0.3].recall) == (Ratio(2, 3), Ratio(2, 4))
    assert (points[0.95].precision, points[0.95].recall) == (Ratio(0, 0), Ratio(0, 4))
    assert list(points) == sorted(points)


def test_undecided_rows_are_in_no_ratio(scored: Evaluation) -> None:
    kept = scored.decisions.kept.copy()
    kept[:2] = -1
    waiting = dataclasses.replace(scored, decisions=dataclasses.replace(scored.decisions, kept=kept))
    web = score_evaluation(waiting).by_source[1]
    assert (web.purity, web.k5_kept, web.beyond_kept, web.undecided) == (Ratio(0, 1), Ratio(0, 2), Ratio(1, 5), 2)


def test_subjects_and_genres_come_from_the_data(tmp_path: Path) -> None:
    cases = [Case(name, "K5" if place < 6 else "K8", source="paired") for place, name in enumerate(NAMES)]
    rows = [case.row for case in cases]
    (tmp_path / "data" / "paired").mkdir(parents=True)
    columns = {
        "text": [row.text for row in rows],
        "band": [row.band for row in rows],
        "topic": [row.group for row in rows],
        "subject": ["arts"] * 10 + ["math", "hobbies"],
        "genre": [""] * 12,
    }
    pq.write_table(pa.table(columns), tmp_path / "data" / "paired" / "paired.parquet")
    artifacts = write_artifacts(tmp_path / "artifacts", cases)
    report = score_evaluation(evaluate_profile(tmp_path / "data", make_profile(), artifacts))
    assert [(s.source, s.name, s.k5_kept, s.beyond_kept) for s in report.by_subject] == [
        ("paired", "arts", Ratio(6, 6), Ratio(4, 4)),
        ("paired", POOLED, Ratio(0, 0), Ratio(2, 2)),
    ]
    assert report.by_genre == ()


def test_pages_that_the_project_wrote_are_a_source_of_their_own(tmp_path: Path) -> None:
    pages = pq.read_table(WRITTEN).to_pylist()[:12]
    cases = [Case(page["text"], page["band"], source="written_web", text="") for page in pages]
    (tmp_path / "data" / "graded").mkdir(parents=True)
    row = {"text": "a text", "band": "K5", "family": "one", "licence_class": "open"}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "data" / "graded" / "graded.parquet")
    artifacts = write_artifacts(tmp_path / "artifacts", cases)
    evaluation = evaluate_profile(tmp_path / "data", make_profile(), artifacts)
    assert [(row.row.band, row.subject) for row in evaluation.rows] == [(p["band"], p["subject"]) for p in pages]
    report = score_evaluation(evaluation)
    assert report.rows["written_web"]["evaluated"] == 12
    assert [score.source for score in report.by_source] == ["written_web", "total"]
    assert {score.source for score in report.by_subject} == {"written_web"}
    for numbers in (report.calibration, report.precision_recall):
        assert {number.source for number in numbers} == {"written_web", "total"}
    assert report.projected_purity == ()
    assert all(aim.found == Ratio(0, 0) for aim in report.aims)


def test_the_command_writes_the_same_numbers_twice(tmp_path: Path) -> None:
    write_artifacts(tmp_path / "artifacts", CASES)
    data = write_rows(tmp_path / "rows.jsonl", CASES)
    profile = tmp_path / "p.yaml"
    profile.write_bytes(orjson.dumps(make_profile().model_dump(mode="json")))
    arguments = ["--data", str(data), "--profile", str(profile), "--artifacts", str(tmp_path / "artifacts")]
    shown = [CliRunner().invoke(make_app(), arguments) for _ in range(2)]
    assert [result.exit_code for result in shown] == [0, 0]
    assert shown[0].stdout == shown[1].stdout
    written = CliRunner().invoke(make_app(), [*arguments, "--out", str(tmp_path / "new" / "R.md"), "--json"])
    assert (tmp_path / "new" / "R.md").read_text() == shown[0].stdout
    numbers = orjson.loads(written.stdout)
    assert numbers["by_source"][0]["purity"] == {
        "hits": 2,
        "total": 2,
        "value": 1.0,
        "low": Ratio(2, 2).interval[0],
        "high": 1.0,
    }
    assert numbers["by_source"][0]["k8_kept"] == {"hits": 0, "total": 0, "value": None, "low": None, "high": None}
    assert "nan" not in shown[0].stdout
    assert str(tmp_path) not in shown[0].stdout
    assert shown[0].stdout.index("| purity |") < shown[0].stdout.index("| K5 kept |")


@pytest.fixture(scope="module")
def shipped(shared: Path) -> Evaluation:
    return evaluate_profile(shared / "data", load_profile("recommended"), resolve_artifacts(), live_count=3)


def test_no_row_is_decided_by_a_model_that_saw_it(shipped: Evaluation) -> None:
    assert shipped.is_live
    for kind, is_live in shipped.is_live.items():
        folder = bundled_folder() / kind / "training"
        trained = read_row_hashes(folder / "training_rows.txt.zst")
        held_out = set(pq.read_table(folder / "out_of_fold.parquet")["text_hash"].to_pylist())
        for row, is_read_live in zip(shipped.rows, is_live.tolist(), strict=True):
            assert (row.text_hash in held_out) != is_read_live
            assert not (is_read_live and row.text_hash in trained)


def test_the_shipped_evaluation_adds_up(shipped: Evaluation) -> None:
    report = score_evaluation(shipped)
    for source, count in shipped.counts.items():
        assert count.loaded == count.duplicate + count.trained + count.unseen + count.evaluated, source
        assert count.live <= 3
    assert sum(count.evaluated for count in shipped.counts.values()) == len(shipped.rows)
    *parts, total = report.by_source
    for name in ("purity", "k5_kept", "beyond_kept", "k8_kept", "k12_kept", "oos_kept"):
        ratios = [getattr(part, name) for part in parts]
        whole = Ratio(sum(r.hits for r in ratios), sum(r.total for r in ratios))
        assert getattr(total, name) == whole, name
    for score in report.by_source:
        beyond = [score.k8_kept, score.k12_kept, score.oos_kept]
        assert score.beyond_kept == Ratio(sum(r.hits for r in beyond), sum(r.total for r in beyond))
        assert score.purity == Ratio(score.k5_kept.hits, score.k5_kept.hits + score.beyond_kept.hits)
        outcomes = report.confusions[score.source]
        assert sum(sum(line.values()) for line in outcomes.values()) == (
            score.k5_kept.total + score.beyond_kept.total + score.undecided
        )
        assert outcomes["K5"]["kept"] == score.k5_kept.hits
    for scores in (report.by_subject, report.by_genre):
        for source in {score.source for score in scores} - {"paired_web"}:
            whole_source = next(part for part in parts if part.source == source)
            assert sum(s.k5_kept.hits for s in scores if s.source == source) == whole_source.k5_kept.hits
    assert total.undecided == 0
    assert write_report(report).startswith("# Evaluation of profile recommended")
