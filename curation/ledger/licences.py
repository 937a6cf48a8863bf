"""The layer `licences`: what a source's column `license` or `licence` says of each row, where it has such a column.

No signal and in no recipe: only source rules read it. A slice whose rows have no such column has no such layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.errors import LedgerError
from curation.ledger.store import Ledger, SliceRef
from curation.source_rules import SourceRule, has_licence_rule, match_rules

LICENCES = "licences"
LICENCE_COLUMNS = ("license", "licence")  # the first that the source has

LICENCES_SCHEMA = pa.schema([pa.field("row", pa.int64(), nullable=False), pa.field("licence", pa.string())])


def find_barred(
    ledger: Ledger, ref: SliceRef, core: pa.Table, rules: Sequence[SourceRule]
) -> npt.NDArray[np.bool_] | None:
    """The rows of a slice that a source rule matches; None where there are no rules."""
    if not rules:
        return None
    licences = None
    if has_licence_rule(rules) and ledger.is_committed(LICENCES, ref.id):
        licences = ledger.read_part(LICENCES, ref.id)["licence"].combine_chunks()
    return match_rules(rules, core["url"].combine_chunks(), licences)


def require_licences(ledger: Ledger, rules: Sequence[SourceRule]) -> None:
    """Raises LedgerError when a rule asks for a licence and the ledger knows none: it must not look as if the rule held."""
    if not has_licence_rule(rules):
        return
    refs = list(ledger.slices())
    if refs and not any(ledger.is_committed(LICENCES, ref.id) for ref in refs):
        raise LedgerError(
            f"A source rule names a licence, but no document of {ledger.folder.parent} states one.",
            hint=f"Use rules of kind domain or url_prefix, or a source with a column {' or '.join(LICENCE_COLUMNS)}.",
        )
