"""What a source can be."""

from __future__ import annotations

from enum import StrEnum


class SourceState(StrEnum):
    REGISTERED = "registered"  # it waits for its scan
    SCANNING = "scanning"
    READY = "ready"
    FAILED = "failed"  # its error says why; shards that could be read are known all the same
