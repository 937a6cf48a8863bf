"""The funnel: how many documents and tokens each stage takes away, in published and in cheap-first order.

Stages are ANDed, so order changes these counts and never what is kept. Funnels of parts add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from curation.decide import EXCLUDE, KEEP, OVERRIDE, REASONS, SOURCE_RULE, UNDECIDED, Decisions, name_reasons
from curation.stages import STAGES

CHEAP_FIRST = ("lexical", "notation", "vocabulary", "fasttext", "encoder")
_PEOPLE = (OVERRIDE, SOURCE_RULE)  # what people exclude, counted after every stage


@dataclass
class Funnel:
    """Documents and tokens by outcome. Undecided ones are counted apart, never as kept."""

    stages: tuple[str, ...]
    documents: dict[str, int] = field(default_factory=lambda: {"kept": 0, "excluded": 0, "undecided": 0, "error": 0})
    tokens: dict[str, int] = field(default_factory=lambda: {"kept": 0, "excluded": 0, "undecided": 0, "error": 0})
    # (failed bits, missing bits, kept) -> documents, tokens: everything else follows from it.
    outcomes: dict[tuple[int, int, int], tuple[int, int]] = field(default_factory=dict)

    def add(self, decisions: Decisions, tokens: np.ndarray) -> None:
        """Count one slice. `tokens`: int64, one a row."""
        key = (
            (decisions.failed.astype(np.int64) << 20) | (decisions.missing.astype(np.int64) << 2) | (decisions.kept + 1)
        )
        unique, inverse = np.unique(key, return_inverse=True)
        documents = np.bincount(inverse, minlength=len(unique))
        sums = np.zeros(len(unique), np.int64)
        np.add.at(sums, inverse, tokens)
        for value, count, total in zip(unique.tolist(), documents.tolist(), sums.tolist(), strict=True):
            self._count((value >> 20, value >> 2 & 0xFFFF, (value & 3) - 1), count, total)

    def merge(self, other: Funnel) -> None:
        for outcome, (documents, tokens) in other.outcomes.items():
            self._count(outcome, documents, tokens)

    def _count(self, outcome: tuple[int, int, int], documents: int, tokens: int) -> None:
        old_documents, old_tokens = self.outcomes.get(outcome, (0, 0))
        self.outcomes[outcome] = (old_documents + documents, old_tokens + tokens)
        failed, _, kept = outcome
        is_error = kept == EXCLUDE and failed == 1 << REASONS.index("error")
        name = "error" if is_error else {KEEP: "kept", EXCLUDE: "excluded", UNDECIDED: "undecided"}[kept]
        self.documents[name] += documents
        self.tokens[name] += tokens

    @property
    def document_count(self) -> int:
        return sum(self.documents.values())

    def steps(self, order: tuple[str, ...]) -> list[dict[str, int | str]]:
        """A row a stage of `order` that takes part, and last, where there are any, what overrides and then source rules alone
        exclude: documents and tokens excluded there and left after it. After the last row only kept and undecided ones are left."""
        rows: list[dict[str, int | str]] = []
        left = self.document_count - self.documents["error"]
        left_tokens = sum(self.tokens.values()) - self.tokens["error"]
        seen = 0
        for stage in (*order, *_PEOPLE):
            if stage not in (*self.stages, *_PEOPLE):
                continue
            bit = 1 << REASONS.index(stage)
            documents = tokens = 0
            for (failed, _, kept), (count, total) in self.outcomes.items():
                if kept != KEEP and failed & bit and not failed & seen:
                    documents, tokens = documents + count, tokens + total
            if stage in _PEOPLE and not documents:
                continue
            seen |= bit
            left, left_tokens = left - documents, left_tokens - tokens
            rows.append(
                {
                    "stage": stage,
                    "excluded": documents,
                    "excluded_tokens": tokens,
                    "left": left,
                    "left_tokens": left_tokens,
                }
            )
        return rows

    def sole_causes(self) -> dict[str, dict[str, int]]:
        """By reason: documents and tokens that nothing else excludes, every stage having been measured."""
        return self._count_sole_causes(is_certain=True)

    def possible_sole_causes(self) -> dict[str, dict[str, int]]:
        """By reason: documents and tokens that nothing else is known to exclude; a stage that was not measured might."""
        return self._count_sole_causes(is_certain=False)

    def _count_sole_causes(self, *, is_certain: bool) -> dict[str, dict[str, int]]:
        causes: dict[str, dict[str, int]] = {}
        for (failed, missing, kept), (count, total) in sorted(self.outcomes.items()):
            if kept == EXCLUDE and failed and failed & (failed - 1) == 0 and (missing == 0) == is_certain:
                [reason] = name_reasons(failed)
                entry = causes.setdefault(reason, {"documents": 0, "tokens": 0})
                entry["documents"] += count
                entry["tokens"] += total
        return causes

    def undecided_for(self) -> dict[str, int]:
        """By missing stage: documents that are undecided because of it, alone or with others."""
        waiting: dict[str, int] = {}
        for (_, missing, kept), (count, _) in sorted(self.outcomes.items()):
            if kept == UNDECIDED:
                for reason in name_reasons(missing):
                    waiting[reason] = waiting.get(reason, 0) + count
        return waiting

    def report(self) -> dict[str, object]:
        """Everything as JSON."""
        return {
            "documents": self.documents,
            "tokens": self.tokens,
            "published_order": self.steps(STAGES),
            "cheap_first_order": self.steps(CHEAP_FIRST),
            "sole_causes": self.sole_causes(),
            "possible_sole_causes": self.possible_sole_causes(),
            "undecided_for": self.undecided_for(),
        }
