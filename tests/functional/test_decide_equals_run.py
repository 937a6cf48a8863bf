"""Deciding anew over a ledger equals a full run under the same profile, row by row, or says undecided; it is never wrong.

Real documents, real signals: one run is measured once and decided under many profiles; each of them is also run whole.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.artifacts import artifact_set
from curation.curate import DecisionSet, begin_run, measure, open_decision_set
from curation.export.request import ControlMatch
from curation.ledger import schema
from curation.ledger.signals import decide_ledger
from curation.ledger.view import dump_flat_view
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion, read_vocabulary_table
from curation.overrides import Overrides, Ruling
from curation.profile import Profile, load_profile
from curation.recipe import DEFAULT_SLICE_BYTES
from curation.request import ExportOptions, RunRequest
from curation.run_folder import RunFolder
from curation.sample.build import sample_dir
from curation.signals.notation import PUBLISHED_RULES, RECOMMENDED_RULES

ROW_LIMIT = 150
SMALL_SLICE_BYTES = 1 << 16  # several slices, so that equality does not hang on how a run is cut
PROFILE_COUNT = 5
EXPORT = ExportOptions(
    shard_bytes=1 << 20,
    shuffle_seed=None,
    token_budget=None,
    validation_share=0.0,
    control_match=ControlMatch.TOKENS,
    control_seed=0,
)


@dataclass(frozen=True)
class Source:
    """Where the documents are, and the run over them that was measured once, under the published profile."""

    location: str
    run: RunFolder


def measure_source(
    folder: Path,
    location: str,
    profile: Profile,
    vocabulary: VocabularyVersion = PLAIN_VOCABULARY,
    slice_bytes: int = DEFAULT_SLICE_BYTES,
) -> RunFolder:
    request = RunRequest(
        sources=(location,),
        config=None,
        split=None,
        artifacts=None,
        aoa=None,
        profile=profile,
        vocabulary=vocabulary,
        export=EXPORT,
    )
    run = RunFolder(folder)
    job = begin_run(run, request, text_field="text", slice_bytes=slice_bytes, row_limit=ROW_LIMIT, has_encoder=False)
    progress = measure(job, workers=1)
    assert progress.failures == []
    return run


def dump(decisions: DecisionSet, out: Path) -> pa.Table:
    slices = decide_ledger(decisions.folder.ledger, decisions.bound, decisions.word_scores, decisions.overrides)
    dump_flat_view(slices, decisions.bound, out)
    return pq.read_table(out)


@pytest.fixture(scope="module", params=["sample", "web"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Source:
    if request.param == "sample":
        location = str(sample_dir())
    else:
        shared: Path = request.getfixturevalue("shared")
        location = str(shared / "data" / "shards" / "fineweb_edu-00000.parquet")
    folder = tmp_path_factory.mktemp(request.param) / "run"
    return Source(location, measure_source(folder, location, load_profile("published"), slice_bytes=SMALL_SLICE_BYTES))


def invent_profile(chance: random.Random, with_encoder: bool = False) -> Profile:
    """Any thresholds that real documents fall on both sides of; every stage is there more often than not."""
    stages: dict[str, Any] = {}
    if chance.random() < 0.7:
        stages["lexical"] = {
            "max_p95_aoa": chance.choice([8.0, 9.5, 11.0, 12.0]),
            "max_oov_ratio": chance.choice([0.0, 0.01, 0.05, 1.0]),
        }
    if chance.random() < 0.7:
        conditions = {
            "top_band": chance.choice(["published", "document", "window"]),
            "min_k5_document": chance.choice([0.01, 0.1, 0.5, 0.9]),
            "min_k5_window": chance.choice([0.01, 0.1, 0.5, 0.9]),
        }
        chosen = chance.sample(sorted(conditions), chance.randint(1, 3))
        stages["fasttext"] = {name: conditions[name] for name in chosen}
    if with_encoder:
        stages["encoder"] = {"min_k5_window": chance.choice([0.3, 0.7])}
    if chance.random() < 0.7:
        rules = chance.choice(["published", "recommended"])
        names = [rule.name for rule in (PUBLISHED_RULES if rules == "published" else RECOMMENDED_RULES)]
        stages["notation"] = {"rules": rules, "ignore": chance.sample(names, chance.choice([0, 0, 5]))}
    if chance.random() < 0.8 or not stages:
        mode = chance.choice(["block", "sample"])
        stages["vocabulary"] = {
            "mode": mode,
            "min_score": chance.choice([2.0, 3.5, 4.0, 6.0]),
            "max_terms": chance.choice([0, 0, 1, 5]),
            "max_terms_per_1000": chance.choice([None, None, 5.0]),
            "sampling": {"halving": chance.choice([0.5, 2.0]), "seed": chance.randint(0, 9)}
            if mode == "sample"
            else None,
        }
    form = chance.choice(["raw", "normalized"])
    return Profile.model_validate({"name": "invented", "version": 1, "form": form, **stages})


def invent_vocabulary(chance: random.Random, run: RunFolder) -> VocabularyVersion:
    """Allows and blocks words that the documents use: some the table scores, some it does not know."""
    slices = run.ledger.slices()
    words = sorted(
        {word for ref in slices for word in run.ledger.read_part("postings", ref.id)["word"].unique().to_pylist()}
    )
    scores = read_vocabulary_table(artifact_set.resolve_artifacts().require("vocabulary").path).scores
    scored = [word for word in words if scores.get(word, -1.0) >= 2.0]
    plain = [word for word in words if word not in scores]
    allow = chance.sample(scored, min(len(scored) // 2, 200))
    block = chance.sample(sorted(set(plain) - set(allow)), min(len(plain), 5))
    return VocabularyVersion(name="invented", version=1, allow=tuple(allow), block=tuple(block))


def assert_equal_rows(found: pa.Table, wanted: pa.Table) -> None:
    assert found.schema.equals(wanted.schema)
    for ours, theirs in zip(found.to_pylist(), wanted.to_pylist(), strict=True):
        assert ours == theirs


@pytest.mark.parametrize("seed", range(PROFILE_COUNT))
def test_deciding_anew_equals_a_fresh_run(source: Source, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    profile = invent_profile(chance)
    vocabulary = invent_vocabulary(chance, source.run)
    anew = open_decision_set(source.run, profile=profile, vocabulary=vocabulary)
    fresh = open_decision_set(measure_source(tmp_path / "fresh", source.location, profile, vocabulary))
    found, wanted = dump(anew, tmp_path / "anew.parquet"), dump(fresh, tmp_path / "fresh.parquet")
    assert found["kept"].null_count == 0
    assert_equal_rows(found, wanted)
    assert anew.bound.sha256 == fresh.bound.sha256


def test_the_invented_profiles_try_both_sides(source: Source, tmp_path: Path) -> None:
    """A comparison of runs that keep everything or nothing would prove little."""
    shares = []
    for seed in range(PROFILE_COUNT):
        chance = random.Random(seed)
        profile = invent_profile(chance)
        decisions = open_decision_set(source.run, profile=profile, vocabulary=invent_vocabulary(chance, source.run))
        kept = dump(decisions, tmp_path / f"{seed}.parquet")["kept"].to_pylist()
        shares.append(sum(kept) / len(kept))
    assert sum(0.02 < share < 0.98 for share in shares) >= 3, shares


@pytest.mark.parametrize("name", ["published", "recommended"])
def test_a_bundled_profile_decided_anew_equals_its_run(source: Source, name: str, tmp_path: Path) -> None:
    anew = open_decision_set(source.run, profile=load_profile(name))
    fresh = open_decision_set(measure_source(tmp_path / "fresh", source.location, load_profile(name)))
    assert_equal_rows(dump(anew, tmp_path / "anew.parquet"), dump(fresh, tmp_path / "fresh.parquet"))


def test_going_back_gives_the_first_decisions_byte_for_byte(source: Source, tmp_path: Path) -> None:
    first, other, again = tmp_path / "first.parquet", tmp_path / "other.parquet", tmp_path / "again.parquet"
    dump(open_decision_set(source.run), first)
    dump(open_decision_set(source.run, profile=load_profile("recommended")), other)
    dump(open_decision_set(source.run), again)
    assert first.read_bytes() == again.read_bytes() != other.read_bytes()


def test_rulings_change_their_rows_and_no_others(source: Source, tmp_path: Path) -> None:
    before = dump(open_decision_set(source.run), tmp_path / "before.parquet").to_pylist()
    chance = random.Random(1)
    chosen = chance.sample(range(len(before)), 12)
    rulings = tuple(
        Ruling(
            shard=before[place]["shard"],
            row=before[place]["row"],
            action="exclude" if before[place]["kept"] else "keep",
        )
        for place in chosen
    )
    overrides = Overrides(rulings, "0" * 64)
    after = dump(open_decision_set(source.run, overrides=overrides), tmp_path / "after.parquet").to_pylist()
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if place in chosen:
            assert (new["kept"], new["decided_by"]) == (not old["kept"], "override")
        else:
            assert new == old


def assert_sound(partial: pa.Table, full: pa.Table) -> tuple[int, int]:
    """certain kept ⊆ kept once measured ⊆ certain kept ∪ undecided; how many rows are certain and how many are not."""
    certain = undecided = 0
    for before, after in zip(partial.to_pylist(), full.to_pylist(), strict=True):
        assert (before["shard"], before["row"]) == (after["shard"], after["row"])
        assert after["kept"] is not None
        if before["kept"] is None:
            undecided += 1
            assert before["undecided_for"]
            assert before["excluded_by"] == []
        else:
            certain += 1
            assert before["kept"] == after["kept"]
            assert set(before["excluded_by"]) <= set(after["excluded_by"])
    return certain, undecided


@pytest.fixture
def without_fasttext(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A bundle whose classifier is missing, as for someone who measured before it came."""
    bundle = tmp_path / "bundle"
    for kind in ("aoa", "vocabulary"):
        shutil.copytree(artifact_set.bundled_folder() / kind, bundle / kind)
    monkeypatch.setattr(artifact_set, "bundled_folder", lambda: bundle)
    yield
    monkeypatch.undo()


@pytest.mark.usefixtures("without_fasttext")
def test_without_the_classifier_decisions_are_certain_or_undecided(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = Profile.model_validate(
        {
            "name": "both",
            "version": 1,
            "form": "normalized",
            "lexical": {"max_p95_aoa": 11.0, "max_oov_ratio": 0.05},
            "fasttext": {"top_band": "document"},
            "notation": {"rules": "recommended"},
        }
    )
    run = measure_source(tmp_path / "run", source.location, profile)
    partial = dump(open_decision_set(run), tmp_path / "partial.parquet")
    monkeypatch.undo()
    full = dump(open_decision_set(source.run, profile=profile), tmp_path / "full.parquet")
    certain, undecided = assert_sound(partial, full)
    assert min(certain, undecided) > 0
    assert set(partial["kept"].to_pylist()) == {False, None}


def score_rows(run: RunFolder, share: float, seed: int) -> None:
    """Commit an encoder layer with invented grades for about `share` of the rows; a row's grades do not depend on it."""
    for ref in run.ledger.slices():
        rows = run.ledger.read_part("core", ref.id)["row"].to_pylist()
        windows = []
        for row in rows:
            chance = random.Random(f"{ref.shard.name}:{row}:{seed}")
            is_scored = chance.random() < share
            k5 = float(np.float32(chance.random()))
            windows.append([k5, 1.0 - k5, 0.0, 0.0] if is_scored else None)
        scored = [{"row": row, "window": window} for row, window in zip(rows, windows, strict=True)]
        table = pa.Table.from_pylist(scored, schema.ENCODER_SCHEMA)
        assert run.ledger.commit("encoder", ref.id, table)


@pytest.mark.parametrize("share", [None, 0.0, 0.4])
def test_with_part_of_the_encoder_decisions_are_certain_or_undecided(
    source: Source, share: float | None, tmp_path: Path
) -> None:
    """`share` None: the layer is not there at all."""
    runs = {}
    for name, scored in (("partial", share), ("full", 1.0)):
        shutil.copytree(source.run.folder, tmp_path / name)
        runs[name] = RunFolder(tmp_path / name)
        if scored is not None:
            score_rows(runs[name], scored, seed=5)
    undecided_counts = []
    for seed in range(8):
        profile = invent_profile(random.Random(100 + seed), with_encoder=True)
        partial, full = (
            dump(open_decision_set(run, profile=profile), tmp_path / f"{name}-{seed}.parquet")
            for name, run in runs.items()
        )
        certain, undecided = assert_sound(partial, full)
        assert certain + undecided == ROW_LIMIT
        missing = {stage for stages in partial["undecided_for"].to_pylist() for stage in stages}
        assert missing == ({"encoder"} if undecided else set())
        undecided_counts.append(undecided)
    assert sum(undecided > 0 for undecided in undecided_counts) >= 4, undecided_counts
