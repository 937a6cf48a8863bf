"""What a version of a profile can be."""

from __future__ import annotations

from enum import StrEnum


class VersionState(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"  # for ever as it is
    DISCARDED = "discarded"  # shown to nobody; its number is not given again
