"""The steps of measuring: open a shard, measure a slice, score it with the encoder, settle what is still undecided.

Each step commits what it made and finds what an earlier call committed, so that repeating it changes nothing. A
`checkpoint` is called between batches; what it raises ends the step there, with nothing half committed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from curation.artifacts.artifact_set import ArtifactSet
from curation.cascade import Meters, measure_slice
from curation.encoder_layer import commit_rows, commit_selected, find_undecided
from curation.funnel import Funnel
from curation.ledger.counts import count_tokens
from curation.ledger.encoder import read_encoder
from curation.ledger.licences import LICENCES, find_barred
from curation.ledger.senses import name_senses_layer, read_senses
from curation.ledger.signals import DecidedSlice, decide_slice
from curation.ledger.store import Plan, SliceRef
from curation.lexicon.vocabulary import VocabularyVersion, WordScores
from curation.profile import BoundProfile
from curation.run_folder import RunFolder
from curation.sense_layer import commit_senses
from curation.shards.manifest import ShardManifest
from curation.shards.prepare import prepare_shard
from curation.source_rules import SourceRule

Checkpoint = Callable[[], None]


def _go_on() -> None:
    """The checkpoint of those who are never interrupted."""


@dataclass(frozen=True)
class MeasureJob:
    """What every worker process needs; sent to each once."""

    folder: RunFolder
    plan: Plan
    artifacts: ArtifactSet
    bound: BoundProfile
    vocabulary: VocabularyVersion
    source_rules: tuple[SourceRule, ...] = ()

    @property
    def has_encoder(self) -> bool:
        return "encoder" in self.plan.recipe.artifacts


@dataclass(frozen=True)
class SliceResult:
    """A slice that is measured to its end. `scored_later`: documents that the encoder scored because the profile asks for
    more than the recipe selects."""

    documents: int
    text_bytes: int
    scored_later: int
    funnel: Funnel


class SliceWork:
    """The steps over one run. `meters` may be shared by runs of one recipe; without it models load when first needed."""

    def __init__(self, job: MeasureJob, *, meters: Meters | None = None, checkpoint: Checkpoint = _go_on) -> None:
        self._job = job
        self._given_meters = meters
        self._checkpoint = checkpoint

    @cached_property
    def meters(self) -> Meters:
        return self._given_meters or Meters(self._job.artifacts, self._job.plan.recipe)

    def open_shard(self, index: int, row_limit: int | None) -> ShardManifest:
        """Hash, count and cut a shard; the manifest is the caller's to record."""
        recipe = self._job.plan.recipe
        name = self._job.plan.shards[index].name
        with self._job.folder.shard_file(name) as path:
            return prepare_shard(
                path,
                name,
                index,
                staging_root=self._job.folder.staging,
                text_field=recipe.text_field,
                slice_bytes=recipe.slice_bytes,
                row_limit=row_limit,
            )

    def measure(self, ref: SliceRef) -> bool:
        """Commit the slice's `core` and `postings`, and where there are any its `licences`. True when they were there already."""
        ledger = self._job.folder.ledger
        if ledger.is_committed("postings", ref.id) and ledger.is_committed("core", ref.id):
            return True
        with self._job.folder.slice_file(ref.shard, ref.piece) as path:
            layers = measure_slice(self.meters, path, ref.shard.name, ref.piece, checkpoint=self._checkpoint)
        if layers.licences is not None:
            ledger.commit(LICENCES, ref.id, layers.licences)
        ledger.commit("postings", ref.id, layers.postings)
        ledger.commit("core", ref.id, layers.core)
        return False

    def score(self, ref: SliceRef) -> bool:
        """Commit the encoder's grades of the rows that the recipe selects, where there is an encoder. True when nothing was to do."""
        ledger = self._job.folder.ledger
        if not self._job.has_encoder or ledger.is_committed("encoder", ref.id):
            return True
        core, postings = ledger.read_part("core", ref.id), ledger.read_part("postings", ref.id)
        commit_selected(self._job.folder, self.meters, ref, core, postings, checkpoint=self._checkpoint)
        return False

    def settle(self, ref: SliceRef) -> SliceResult:
        """Decide the slice; its vocabulary's senses are measured, and rows that wait for the encoder scored, first."""
        ledger = self._job.folder.ledger
        core, postings = ledger.read_part("core", ref.id), ledger.read_part("postings", ref.id)
        senses = self._word_scores.senses
        if senses and not ledger.is_committed(name_senses_layer(senses), ref.id):
            commit_senses(self._job.folder, ref, postings, senses)
        decided = self._decide(ref, core, postings)
        scored = 0
        stage = self._job.bound.profile.encoder
        # What the recipe does not select but this profile asks for: a run must not end with rows undecided.
        if self._job.has_encoder and stage is not None and (is_undecided := find_undecided(decided.decisions)).any():
            scored = commit_rows(
                self._job.folder, self.meters, ref, core, is_undecided, stage.reads, checkpoint=self._checkpoint
            )
            decided = self._decide(ref, core, postings)
        funnel = Funnel(self._job.bound.stages)
        funnel.add(decided.decisions, count_tokens(core)[0])
        text_bytes = int(core["n_bytes"].fill_null(0).to_numpy().sum())
        return SliceResult(core.num_rows, text_bytes, scored, funnel)

    def _decide(self, ref: SliceRef, core: pa.Table, postings: pa.Table) -> DecidedSlice:
        reads_encoder = "encoder" in self._job.bound.stages
        encoder = read_encoder(self._job.folder.ledger, ref.id) if reads_encoder else None
        is_barred = find_barred(self._job.folder.ledger, ref, core, self._job.source_rules)
        scores = self._word_scores
        senses = read_senses(self._job.folder.ledger, ref.id, scores.senses)
        return decide_slice(ref, core, postings, encoder, self._job.bound, scores, None, is_barred, senses=senses)

    @cached_property
    def _word_scores(self) -> WordScores:
        stage = self._job.bound.profile.vocabulary
        if stage is None:
            return WordScores({})
        return self._job.vocabulary.score_words(self.meters.vocabulary, stage.min_score)
