"""The explicit list of the recommended rules, in the order in which hits are reported."""

from __future__ import annotations

from curation.notation.rule import RecommendedRule

RECOMMENDED_RULES: tuple[RecommendedRule, ...] = ()
