"""Runs with a tiny encoder, end to end: what is scored, when, by whom; and that no decision waits for it in the end."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import cli_runs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from test_decide_equals_run import EXPORT
from tiny_encoder import write_encoder

from curation.artifacts.artifact_set import resolve_artifacts
from curation.curate import begin_measuring, begin_run, finish_run, measure, open_decision_set
from curation.encoder_selection import select_rows
from curation.errors import ExportError, LedgerError
from curation.ledger.encoder import list_encoder_layers, read_encoder
from curation.ledger.signals import decide_ledger
from curation.ledger.view import flatten_slice
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, read_vocabulary_table
from curation.profile import Profile, load_profile
from curation.request import RunRequest
from curation.run import measure_run
from curation.run_folder import RunFolder

ROW_LIMIT = 90
SLICE_BYTES = 30_000
WINDOW = {"min_k5_window": 0.75}


def make_profile(name: str, **encoder: Any) -> Profile:
    """A bundled profile with the tiny model's stage of the encoder."""
    content = load_profile(name).model_dump(mode="json") | {"name": f"{name}-tiny", "models": {}, "encoder": encoder}
    return Profile.model_validate(content)


RECOMMENDED = make_profile("recommended", **WINDOW)
PUBLISHED = make_profile("published", top_band="published")
EVERY_WINDOW, EVERY_TEXT = (
    Profile.model_validate({"name": "alone", "version": 1, "form": "raw", "encoder": encoder})
    for encoder in (WINDOW, {"top_band": "published"})
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as lines, so that a run has several slices, and a folder with an encoder beside it."""
    folder = tmp_path_factory.mktemp("source")
    cli_runs.write_sample_lines(folder / "sample.jsonl")
    write_encoder(folder / "artifacts" / "encoder", window_tokens=128)
    return folder


def run_source(
    source: Path, folder: Path, profile: Profile, *, workers: int = 1, has_encoder: bool = True
) -> RunFolder:
    request = RunRequest(
        sources=(str(source / "sample.jsonl"),),
        config=None,
        split=None,
        artifacts=str(source / "artifacts"),
        aoa=None,
        profile=profile,
        vocabulary=PLAIN_VOCABULARY,
        export=EXPORT,
    )
    run = RunFolder(folder)
    job = begin_run(
        run, request, text_field="text", slice_bytes=SLICE_BYTES, row_limit=ROW_LIMIT, has_encoder=has_encoder
    )
    assert measure(job, workers=workers).failures == []
    return run


@pytest.fixture(scope="module")
def recommended(source: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run_source(source, tmp_path_factory.mktemp("recommended") / "run", RECOMMENDED)


@pytest.fixture
def copied(recommended: RunFolder, tmp_path: Path) -> RunFolder:
    shutil.copytree(recommended.folder, tmp_path / "copied")
    return RunFolder(tmp_path / "copied")


def view(run: RunFolder, profile: Profile) -> pa.Table:
    decisions = open_decision_set(run, profile=profile)
    slices = decide_ledger(run.ledger, decisions.bound, decisions.word_scores)
    return pa.concat_tables([flatten_slice(decided, decisions.bound) for decided in slices])


def measure_under(run: RunFolder, profile: Profile, workers: int = 1) -> int:
    progress = measure_run(begin_measuring(run, profile=profile), workers=workers)
    assert progress.failures == []
    assert progress.funnel.documents["undecided"] == 0
    return progress.scored_later


def list_layers(run: RunFolder) -> set[str]:
    return {layer for ref in run.ledger.slices() for layer in list_encoder_layers(run.ledger, ref.id)}


def test_the_layer_holds_exactly_what_the_recipe_selects(recommended: RunFolder) -> None:
    recipe = recommended.ledger.read_plan().recipe
    selection = recipe.encoder_selection
    assert selection is not None
    assert selection.vocabulary is not None
    table = read_vocabulary_table(resolve_artifacts().require("vocabulary").path)
    scores = PLAIN_VOCABULARY.score_words(table, selection.vocabulary.min_score)
    slices = list(recommended.ledger.slices())
    assert len(slices) > 2
    counts = []
    for ref in slices:
        assert list_encoder_layers(recommended.ledger, ref.id) == ["encoder"]
        core, postings, layer = (recommended.ledger.read_part(name, ref.id) for name in ("core", "postings", "encoder"))
        assert layer["row"].equals(core["row"])
        is_selected = select_rows(selection, ref, core, postings, scores)
        assert np.array_equal(pc.is_valid(layer["window"]).to_numpy(), is_selected)
        assert layer["published"].null_count == layer.num_rows
        counts.append(int(is_selected.sum()))
    assert 0 < sum(counts) < ROW_LIMIT


def test_nothing_is_undecided_under_the_default_profile(recommended: RunFolder) -> None:
    """Without a second generation: the selection covers every row that the profile's other stages pass."""
    found = view(recommended, RECOMMENDED)
    assert set(found["kept"].to_pylist()) == {True, False}
    assert "encoder" in {stage for stages in found["excluded_by"].to_pylist() for stage in stages}
    assert set(pc.list_value_length(found["undecided_for"]).to_pylist()) == {0}
    others = make_profile("recommended", min_k5_window=0.0)
    kept_by_others = pc.filter(found, pa.array(view(recommended, others)["kept"].to_pylist()))
    assert kept_by_others["encoder_k5"].null_count == 0


def test_a_run_under_another_profile_scores_what_that_asks_for_and_exports(source: Path, tmp_path: Path) -> None:
    run = run_source(source, tmp_path / "run", PUBLISHED)
    assert list_layers(run) == {"encoder", "encoder-2"}
    report = finish_run(run)
    funnel = report["funnel"]
    assert isinstance(funnel, dict)
    assert funnel["undecided_for"] == {}
    assert funnel["documents"]["kept"] > 0
    ledger = report["ledger"]
    assert isinstance(ledger, dict)
    assert list(ledger["bytes_by_layer"]) == ["core", "postings", "encoder", "encoder-2"]
    for layer, size in ledger["bytes_by_layer"].items():
        assert size == sum(path.stat().st_size for path in (run.ledger.folder / "parts" / layer).iterdir())


def test_measuring_resolves_what_is_undecided_as_if_everything_had_been_scored(
    copied: RunFolder, recommended: RunFolder, tmp_path: Path
) -> None:
    before = cli_runs.digest_folder(copied.folder / "ledger")
    partial = view(copied, PUBLISHED)
    is_undecided = pc.is_null(partial["kept"])
    assert 0 < pc.sum(is_undecided).as_py() < ROW_LIMIT
    assert {tuple(stages) for stages in pc.filter(partial, is_undecided)["undecided_for"].to_pylist()} == {("encoder",)}

    assert measure_under(copied, PUBLISHED) == pc.sum(is_undecided).as_py()
    after = cli_runs.digest_folder(copied.folder / "ledger")
    assert before.items() <= after.items()
    assert {Path(name).parent.name for name in after.keys() - before.keys()} == {"encoder-2"}
    resolved = view(copied, PUBLISHED)
    assert resolved["kept"].null_count == 0
    is_certain = pc.invert(is_undecided)
    assert pc.filter(resolved["kept"], is_certain).equals(pc.filter(partial["kept"], is_certain))
    assert view(copied, RECOMMENDED).equals(view(recommended, RECOMMENDED))

    shutil.copytree(recommended.folder, tmp_path / "full")
    full = RunFolder(tmp_path / "full")
    assert measure_under(full, EVERY_TEXT) == ROW_LIMIT
    assert view(full, PUBLISHED)["kept"].equals(resolved["kept"])
    assert measure_under(copied, PUBLISHED) == 0
    assert cli_runs.digest_folder(copied.folder / "ledger") == after


def test_generations_add_up_to_every_row(copied: RunFolder) -> None:
    first = measure_under(copied, EVERY_WINDOW)
    assert 0 < first < ROW_LIMIT
    assert measure_under(copied, EVERY_TEXT) == ROW_LIMIT
    assert list_layers(copied) == {"encoder", "encoder-2", "encoder-3"}
    for ref in copied.ledger.slices():
        merged = read_encoder(copied.ledger, ref.id)
        assert merged is not None
        assert merged["window"].null_count == merged["published"].null_count == 0


def test_an_export_refuses_what_is_undecided(copied: RunFolder) -> None:
    from curation.curate import build_export_request
    from curation.export.build import write_export

    decisions = open_decision_set(copied, profile=PUBLISHED)
    with pytest.raises(
        ExportError, match=r"signals missing: encoder for \d+\. Measure those documents \(`primer measure`\)"
    ):
        write_export(build_export_request(decisions, copied.folder / "other", EXPORT))
    measure_under(copied, PUBLISHED)
    write_export(build_export_request(decisions, copied.folder / "other", EXPORT))


def test_two_workers_write_the_bytes_of_one(source: Path, recommended: RunFolder, tmp_path: Path) -> None:
    two = run_source(source, tmp_path / "two", RECOMMENDED, workers=2)
    assert cli_runs.digest_folder(two.folder / "ledger") == cli_runs.digest_folder(recommended.folder / "ledger")


def test_a_run_killed_between_the_commits_of_core_and_encoder_carries_on(
    source: Path, copied: RunFolder, recommended: RunFolder
) -> None:
    """What such a kill leaves: no encoder commit, a part that none names, and one slice whose postings alone are there."""
    first, second, *_ = [ref.id for ref in copied.ledger.slices()]
    commits, parts = copied.ledger.folder / "commits", copied.ledger.folder / "parts"
    for path in [*(commits / "encoder").iterdir(), commits / "core" / f"{second}.json"]:
        path.unlink()
    for path in (parts / "encoder").glob(f"{first}.*"):
        path.unlink()
    core_parts = {path: path.stat().st_mtime_ns for path in (parts / "core").iterdir()}
    run_source(source, copied.folder, RECOMMENDED)
    assert cli_runs.digest_folder(copied.folder / "ledger") == cli_runs.digest_folder(recommended.folder / "ledger")
    assert {path: path.stat().st_mtime_ns for path in (parts / "core").iterdir()} == core_parts


def test_without_the_encoder_a_run_is_one_that_never_had_it(source: Path, tmp_path: Path) -> None:
    optional = Profile.model_validate(RECOMMENDED.model_dump(mode="json") | {"optional": ["encoder"]})
    run = run_source(source, tmp_path / "run", optional, has_encoder=False)
    recipe = run.ledger.read_plan().recipe
    assert "encoder" not in recipe.artifacts
    assert "encoder" not in recipe.signals
    assert recipe.encoder_selection is None
    assert not (run.ledger.folder / "parts" / "encoder").exists()
    assert open_decision_set(run).bound.left_out == ("encoder",)
    assert view(run, optional)["kept"].null_count == 0
    assert "encoder left out" in str(finish_run(run)["statement"])
    with pytest.raises(LedgerError, match="was measured without an encoder"):
        begin_measuring(run, profile=PUBLISHED)
    with pytest.raises(LedgerError, match="under another recipe: signals, artifacts, encoder_selection differ"):
        run_source(source, run.folder, optional)


def test_the_command_line(source: Path, tmp_path: Path) -> None:
    for profile in (RECOMMENDED, PUBLISHED):
        (tmp_path / f"{profile.name}.yaml").write_text(profile.model_dump_json())
    out, published = tmp_path / "run", tmp_path / "published-tiny.yaml"
    chosen = ["--profile", tmp_path / "recommended-tiny.yaml", "--artifacts", source / "artifacts"]
    report = cli_runs.run_json("run", source / "sample.jsonl", "--out", out, "--limit", "40", "--workers", "1", *chosen)
    assert report["funnel"]["undecided_for"] == {}
    decided = cli_runs.run_json("decide", out, "--profile", published)
    waiting = decided["funnel"]["documents"]["undecided"]
    assert waiting > 0
    measured = cli_runs.run_json("measure", out, "--profile", published, "--workers", "1")
    assert (measured["scored"], measured["failures"]) == (waiting, [])
    again = cli_runs.run_json("decide", out, "--profile", published)
    assert again["funnel"]["documents"]["undecided"] == 0
    assert again["funnel"] == measured["funnel"]
    assert cli_runs.run_json("verify", out / "export")["is_sound"]
    explained = cli_runs.run_json("explain", cli_runs.REPO / "README.md", *chosen)
    [stage] = [stage for stage in explained["stages"] if stage["stage"] == "encoder"]
    assert stage["verdict"] in ("pass", "fail")
    assert (stage["values"]["window"][0] >= 0.75) == (stage["verdict"] == "pass")
    [evidence] = stage["evidence"]
    assert (evidence["kind"], evidence["value"]) == ("window", stage["values"]["window"][0])
    assert 0 <= evidence["start"] < evidence["end"] <= len(explained["text"])
    without = cli_runs.run_primer("measure", tmp_path / "none", status=1)
    assert "There is no run" in without.stderr
