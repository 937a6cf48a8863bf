"""The release gate of an export: no more than a share of its curriculum may mention a concept that is taught after grade 5.

It counts the documents of this export, all of them; the interval is recorded beside the share and decides nothing, because
a small export could pass no bound on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from curation.concepts.catalogue import open_catalogue
from curation.concepts.probe import ProbeReport, probe_files
from curation.errors import TooManyLeaks
from curation.export.request import ExportedFile, ExportRequest

_NAMED_CONCEPTS = 5


def check_leaks(request: ExportRequest, work: Path, files: Sequence[ExportedFile]) -> dict[str, object] | None:
    """What the manifest says of the gate; None where the request has none. Raises TooManyLeaks when the share exceeds it."""
    if request.max_leak_share is None:
        return None
    catalogue = request.leak_catalogue or open_catalogue()
    text_field = request.run.ledger.read_plan().recipe.text_field
    report = probe_files(work, files, text_field, catalogue, max_lines=0)
    if report.exceeds(request.max_leak_share):
        raise TooManyLeaks(
            f"{report.leaking:,} of {report.documents:,} documents ({report.share:.4%}) mention a concept of "
            f"{report.catalogue}; the export allows {request.max_leak_share:.4%}. Most often: {_name_worst(report)}.",
            hint="Look at them with `primer probe DIR`, then rule on them or choose a stricter profile.",
        )
    return {
        "max_share": request.max_leak_share,
        "catalogue": {"name": catalogue.name, "version": catalogue.version, "sha256": catalogue.sha256},
        "documents": report.documents,
        "leaking": report.leaking,
        "share": report.share,
        "interval_95": list(report.interval),
        "concepts": {concept: leaks.documents for concept, leaks in report.concepts.items()},
    }


def _name_worst(report: ProbeReport) -> str:
    worst = list(report.concepts.items())[:_NAMED_CONCEPTS]
    return ", ".join(f"{concept} ({leaks.documents:,})" for concept, leaks in worst)
