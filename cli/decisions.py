"""The decisions that a command was asked for: a run seen through the profile, vocabulary, rulings and source rules of its options."""

from __future__ import annotations

from pathlib import Path

from curation.curate import DecisionSet, open_decision_set
from curation.lexicon.vocabulary import read_vocabulary_version
from curation.overrides import read_overrides
from curation.profile import load_profile
from curation.run_folder import RunFolder
from curation.source_rules import read_source_rules


def open_wanted(
    run_folder: RunFolder,
    profile: str | None,
    vocabulary: Path | None,
    overrides: Path | None,
    source_rules: Path | None = None,
) -> DecisionSet:
    """An option that is None leaves what the run itself decided by."""
    return open_decision_set(
        run_folder,
        profile=load_profile(profile) if profile else None,
        vocabulary=read_vocabulary_version(vocabulary) if vocabulary else None,
        overrides=read_overrides(overrides) if overrides else None,
        source_rules=read_source_rules(source_rules) if source_rules else None,
    )
