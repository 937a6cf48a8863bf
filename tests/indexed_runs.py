"""Measured runs for the tests of the index, and random decision sets over them whose thresholds often stand at a value."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.artifacts.artifact_set import ArtifactSet, resolve_artifacts
from curation.curate import DecisionSet, begin_run, measure
from curation.export.request import ControlMatch
from curation.ledger import schema
from curation.ledger.signals import decide_ledger
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyTable, VocabularyVersion, read_vocabulary_table
from curation.overrides import BulkRuling, Entry, Overrides, Ruling
from curation.profile import BoundProfile, Profile, load_profile
from curation.request import ExportOptions, RunRequest
from curation.run_folder import RunFolder
from curation.source_rules import SourceRule
from curation.stages import STAGES
from curation.web_address import read_address

EXPORT = ExportOptions(
    shard_bytes=1 << 20,
    shuffle_seed=None,
    token_budget=None,
    validation_share=0.0,
    control_match=ControlMatch.TOKENS,
    control_seed=0,
)


def measure_run(folder: Path, sources: Sequence[Path], *, row_limit: int, slice_bytes: int = 1 << 16) -> RunFolder:
    """A real run without the encoder, in several slices, and then an encoder's layer of random grades for some rows."""
    request = RunRequest(
        sources=tuple(map(str, sources)),
        config=None,
        split=None,
        artifacts=None,
        aoa=None,
        profile=load_profile("published"),
        vocabulary=PLAIN_VOCABULARY,
        export=EXPORT,
    )
    run = RunFolder(folder)
    job = begin_run(run, request, text_field="text", slice_bytes=slice_bytes, row_limit=row_limit, has_encoder=False)
    assert measure(job, workers=1).failures == []
    for number, ref in enumerate(run.ledger.slices()):
        if number % 5 != 4:  # a slice that nobody scored has no such layer
            run.ledger.commit("encoder", ref.id, make_encoder(ref.piece.first_row, ref.piece.row_count, number))
    return run


def make_encoder(first_row: int, row_count: int, seed: int) -> pa.Table:
    """Grades of a third of the rows in either reading; some of those could not be read."""
    chance = np.random.default_rng(seed)

    def draw() -> pa.Array:
        grades = chance.dirichlet([1, 1, 1, 1], row_count).astype(np.float32)
        grades[chance.random(row_count) < 0.1] = np.nan
        rows = [row if chance.random() < 0.4 else None for row in grades.tolist()]
        return pa.array(rows, schema.GRADES_TYPE)

    nothing = pa.nulls(row_count, pa.int64())
    rows = pa.array(np.arange(first_row, first_row + row_count))
    columns = [rows, draw(), nothing, nothing, pa.nulls(row_count, pa.bool_()), draw()]
    return pa.table(columns, schema=schema.ENCODER_SCHEMA)


@dataclass(frozen=True)
class World:
    """A measured run and what random decision sets over it are drawn from."""

    run: RunFolder
    table: VocabularyTable
    values: dict[str, npt.NDArray[np.float64]]
    words: list[str]
    urls: list[str]
    shards: list[tuple[str, str, int]]  # name, sha256, rows

    @property
    def artifacts(self) -> ArtifactSet:
        return ArtifactSet({})


def open_world(run: RunFolder, table: VocabularyTable | None = None) -> World:
    if table is None:
        table = read_vocabulary_table(resolve_artifacts(None).require("vocabulary").path)
    values: dict[str, list[float]] = {"p95_aoa": [], "oov_ratio": [], "document": [], "window": [], "encoder": []}
    words: set[str] = set()
    urls: list[str] = []
    for ref in run.ledger.slices():
        for row in run.ledger.read_part("core", ref.id).to_pylist():
            urls += [row["url"]] if row["url"] else []
            for form in ("lexical_raw", "lexical_normalized"):
                for name in ("p95_aoa", "oov_ratio"):
                    values[name] += [row[form][name]] if row[form] and row[form][name] is not None else []
            for reading in ("document", "window"):
                grades = (row["fasttext"] or {}).get(reading)
                values[reading] += [grades[0]] if grades else []
        words |= set(run.ledger.read_part("postings", ref.id)["word"].combine_chunks().dictionary.to_pylist())
        if run.ledger.is_committed("encoder", ref.id):
            scored = run.ledger.read_part("encoder", ref.id)["window"].to_pylist()
            values["encoder"] += [grades[0] for grades in scored if grades]
    arrays = {name: np.array(found)[np.isfinite(found)] for name, found in values.items()}
    shards = [(shard.name, shard.sha256, shard.row_count) for shard in run.ledger.read_shards()]
    return World(run, table, arrays, sorted(words), urls, shards)


def draw_decisions(world: World, seed: int) -> DecisionSet:
    """A decision set with everything that one can have, or little."""
    chance = random.Random(seed)
    profile = draw_profile(world, chance)
    vocabulary = draw_vocabulary(world, chance) if chance.random() < 0.6 else PLAIN_VOCABULARY
    overrides = draw_overrides(world, chance) if chance.random() < 0.6 else None
    rules = draw_rules(world, chance) if chance.random() < 0.5 else ()
    stage = profile.vocabulary
    scores = vocabulary.score_words(world.table, stage.min_score) if stage is not None else {}
    bound = BoundProfile(profile, {}, ())
    return DecisionSet(world.run, world.artifacts, bound, vocabulary, overrides, scores, rules)


def draw_profile(world: World, chance: random.Random) -> Profile:
    def cut(name: str, default: float) -> float:
        values = world.values[name]
        return float(chance.choice(values.tolist())) if len(values) else default

    stages: dict[str, Any] = {
        "lexical": {"max_p95_aoa": cut("p95_aoa", 9.0), "max_oov_ratio": cut("oov_ratio", 0.1)},
        "fasttext": chance.choice(
            [
                {"top_band": chance.choice(["published", "document", "window"])},
                {"min_k5_document": cut("document", 0.3), "min_k5_window": cut("window", 0.3)},
                {"top_band": "published", "min_k5_window": cut("window", 0.3)},
            ]
        ),
        "encoder": chance.choice(
            [
                {"top_band": chance.choice(["published", "window"])},
                {"min_k5_window": cut("encoder", 0.3)},
                {"top_band": "window", "min_k5_window": cut("encoder", 0.3)},
            ]
        ),
        "notation": chance.choice(
            [
                {"rules": "published", "ignore": chance.sample([str(number) for number in range(1, 29)], 5)},
                {"rules": "recommended"},
            ]
        ),
        "vocabulary": {
            "mode": "block",
            "min_score": chance.choice([-1.0, 2.5, 3.0, 4.0, 4.3]),
            "max_terms": chance.choice([0, 0, 1, 3]),
            **({"max_terms_per_1000": chance.choice([0.5, 2.0, 8.0])} if chance.random() < 0.4 else {}),
        },
    }
    if chance.random() < 0.3:
        stages["vocabulary"] |= {"mode": "sample", "sampling": {"halving": 0.7, "seed": chance.randrange(9)}}
    chosen = chance.sample(STAGES, chance.randint(1, len(STAGES)))
    content = {stage: stages[stage] for stage in chosen}
    return Profile.model_validate(
        {"name": "drawn", "version": 1, "form": chance.choice(["raw", "normalized"]), **content}
    )


def draw_vocabulary(world: World, chance: random.Random) -> VocabularyVersion:
    """Words that texts hold: scored ones, ones that the table does not have, and one that no text holds."""
    scored = [word for word in world.words if world.table.scores.get(word, -9.0) >= 2.5]
    unlisted = [word for word in world.words if word not in world.table.scores]
    low = [word for word in world.words if world.table.scores.get(word, 9.0) < 2.5]
    block = {"qqqq", *_some(unlisted, chance, 2), *_some(low, chance, 2), *_some(scored, chance, 2)}
    allow = {"wwww", *_some(scored, chance, 6), *_some(unlisted, chance, 1)} - block
    return VocabularyVersion(name="drawn", version=1, allow=tuple(allow), block=tuple(block))


def _some(words: Sequence[str], chance: random.Random, count: int) -> list[str]:
    return chance.sample(words, min(count, len(words)))


def draw_overrides(world: World, chance: random.Random) -> Overrides:
    rulings: list[Entry] = []
    for _ in range(20):
        name, sha256, row_count = chance.choice(world.shards)
        key = {"shard": name} if chance.random() < 0.5 else {"shard_sha256": sha256}
        row, action = chance.randrange(row_count + 3), chance.choice(["keep", "exclude", "keep", "exclude", "undo"])
        rulings.append(Ruling.model_validate({**key, "row": row, "action": action}))
    name, sha256, row_count = chance.choice(world.shards)
    rows = np.array(sorted(chance.sample(range(row_count), min(row_count, 10))), np.int64)
    rulings.insert(chance.randrange(20), BulkRuling({sha256: rows}, chance.choice(["keep", "exclude", "undo"])))
    rulings.append(Ruling(shard="elsewhere.parquet", row=0, action="keep"))
    return Overrides(tuple(rulings), f"{chance.getrandbits(256):064x}")


def draw_rules(world: World, chance: random.Random) -> tuple[SourceRule, ...]:
    """A host, all of a domain above one, an address, and one that nothing matches."""
    hosts = [read_address(url).host for url in chance.sample(world.urls, min(2, len(world.urls)))]
    values = [("domain", "nobody.invalid")]
    if hosts:
        values += [("domain", hosts[0]), ("url_prefix", chance.choice(world.urls)[:40])]
        values += [("domain", ".".join(hosts[-1].split(".")[-2:]))] if chance.random() < 0.5 else []
    return tuple(SourceRule.model_validate({"kind": kind, "value": value}) for kind, value in values)


def decide_plainly(decisions: DecisionSet) -> dict[str, npt.NDArray[Any]]:
    """Every row as the ledger decides it."""
    decided = list(
        decide_ledger(
            decisions.folder.ledger,
            decisions.bound,
            decisions.word_scores,
            decisions.overrides,
            decisions.source_rules,
        )
    )
    names = ("kept", "failed", "unknown", "decided_by", "missing")
    return {name: np.concatenate([getattr(part.decisions, name) for part in decided]) for name in names}
