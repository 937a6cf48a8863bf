"""What stops a labelling run. A single question that gets no usable answer is an outcome, never one of these."""

from __future__ import annotations

from curation.errors import TrainingError


class JudgeError(TrainingError):
    pass
