"""The four grade bands, in the order in which every grader's probabilities stand. Imports nothing."""

from __future__ import annotations

from typing import Final

BANDS: Final = ("K5", "K8", "K12", "OOS")
