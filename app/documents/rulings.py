"""A ruling on every document of a query: previewed first, then frozen as a set of ids, so that it means the same for ever."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from curation.decide import EXCLUDE, KEEP, UNDECIDED
from primer.app.auth.actor import Actor
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, Unprocessable
from primer.app.documents.decisions import OpenDecisions
from primer.app.documents.schemas import BulkRulingRequest, BulkRulingView
from primer.app.overrides.service import rule_in_bulk

MAX_DOCUMENTS = 1_000_000


def rule_by_query(context: Context, actor: Actor, found: OpenDecisions, body: BulkRulingRequest) -> BulkRulingView:
    """Raises Conflict when the query names other documents than the preview did, Unprocessable when there are none or too many."""
    decided = found.opened.index.decide(found.request)
    positions = decided.select(body.query)
    decisions = decided.decisions_at(positions)
    tokens = int(np.nansum(decided.read_values("tokens", positions)))
    outcomes = {
        name: int(np.count_nonzero(decisions.kept == code))
        for name, code in (("kept", KEEP), ("excluded", EXCLUDE), ("undecided", UNDECIDED))
    }
    if body.is_preview:
        return BulkRulingView(documents=len(positions), tokens=tokens, outcomes=outcomes, revision=None)
    if not 0 < len(positions) <= MAX_DOCUMENTS:
        raise Unprocessable(
            f"The query names {len(positions):,} documents; a ruling is on 1 to {MAX_DOCUMENTS:,}.",
            hint="Look at the preview, and narrow the query.",
        )
    if body.expected_documents is not None and body.expected_documents != len(positions):
        raise Conflict(
            f"The query names {len(positions):,} documents now, not {body.expected_documents:,} as in the preview.",
            hint="Preview it again.",
        )
    shards = {shard.index: shard.sha256 for shard in found.opened.index.description.shards}
    places, rows = found.opened.index.locate(positions)
    table = pa.table({"shard_sha256": [shards[place] for place in places.tolist()], "row": pa.array(rows, pa.int64())})
    ruled = rule_in_bulk(
        context,
        actor,
        found.job.source_id,
        table,
        action=body.action,
        reason=body.reason,
        query=body.query.model_dump(mode="json", exclude_defaults=True),
    )
    return BulkRulingView(documents=len(positions), tokens=tokens, outcomes=outcomes, revision=ruled.record.revision)
