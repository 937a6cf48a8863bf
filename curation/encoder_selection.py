"""Which rows of a slice are worth the encoder's cost: a pure function of the recipe and of what was measured before.

It decides nothing: a row that is not selected is undecided where a profile needs it, and can be scored later.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.chance import draw_row_fractions
from curation.decide import EXCLUDE, judge_stage
from curation.ledger.signals import read_signals
from curation.ledger.store import SliceRef
from curation.profile import BoundProfile, Profile
from curation.recipe import EncoderSelection
from curation.stages import FastTextStage

# A cautious half: moving fastText's minima down to it needs no new scores.
_MINIMUM_FACTOR = 0.5


def derive_selection(profile: Profile) -> EncoderSelection:
    """Selects every row that the profile's other stages pass (under the plain vocabulary), with room below the minima
    of fastText, and those that one rule alone excludes."""
    return EncoderSelection(
        form=profile.form,
        lexical=profile.lexical,
        fasttext=_widen(profile.fasttext) if profile.fasttext is not None else None,
        notation=profile.notation,
        vocabulary=profile.vocabulary,
        reading=profile.encoder.reads if profile.encoder is not None else "window",
    )


def _widen(stage: FastTextStage) -> FastTextStage:
    minima = {name: getattr(stage, name) for name in ("min_k5_document", "min_k5_window")}
    return stage.model_copy(
        update={name: value * _MINIMUM_FACTOR for name, value in minima.items() if value is not None}
    )


def select_rows(
    selection: EncoderSelection,
    ref: SliceRef,
    core: pa.Table,
    postings: pa.Table,
    word_scores: dict[str, float],
) -> npt.NDArray[np.bool_]:
    """One flag a row of the slice. `word_scores`: the words that the plain vocabulary blocks at the selection's score."""
    rows = core["row"].to_numpy()
    fractions = draw_row_fractions(ref.shard.sha256, rows, selection.sample_seed, "encoder")
    is_worth = (fractions < selection.sample_share) | _find_eligible(selection, ref, core, postings, word_scores)
    return is_worth & pc.is_null(core["error"]).to_numpy()  # type: ignore[no-any-return]


def _find_eligible(
    selection: EncoderSelection, ref: SliceRef, core: pa.Table, postings: pa.Table, word_scores: dict[str, float]
) -> npt.NDArray[np.bool_]:
    stages = selection.model_dump(include={"lexical", "fasttext", "notation", "vocabulary"}, exclude_none=True)
    if not stages:
        return np.ones(core.num_rows, bool)
    profile = Profile.model_validate({"name": "selection", "version": 1, "form": selection.form, **stages})
    bound = BoundProfile(profile, {}, ())
    signals = read_signals(ref, core, postings, None, bound, word_scores).signals
    verdicts = {stage: judge_stage(stage, signals, bound) for stage in bound.stages}
    # Where fastText was not measured nothing speaks against a row.
    is_eligible = verdicts.pop("fasttext", np.ones(core.num_rows)) != EXCLUDE
    failing = np.zeros(core.num_rows, np.int64)
    for verdict in verdicts.values():
        failing += verdict == EXCLUDE
    return is_eligible & (failing <= selection.max_failing_rules)  # type: ignore[no-any-return]
