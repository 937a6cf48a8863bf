"""`labels.parquet`: one row a document, with its band and every variant's vote. Made from cases and the cache alone.

The same answers give the same bytes. The file appears at once, replacing what was there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from curation.publish import replace_bytes
from curation.training.judge.agree import Agreement, Rule, Verdict, agree
from curation.training.judge.answers import Judgement, Outcome
from curation.training.judge.questions import Case

# `outcome`: "judged", or the fault; `reason` says more of a fault and is null where the vote was usable.
VOTE_TYPE: Final = pa.struct(
    [
        pa.field("variant", pa.string()),
        pa.field("outcome", pa.string()),
        pa.field("band", pa.string()),
        pa.field("confidence", pa.int8()),
        pa.field("why", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("decisive_terms", pa.list_(pa.string())),
        pa.field("reason", pa.string()),
    ]
)
SCHEMA: Final = pa.schema(
    [
        pa.field("doc_id", pa.string()),
        pa.field("shard", pa.string(), nullable=False),
        pa.field("shard_sha256", pa.string(), nullable=False),
        pa.field("row", pa.int64(), nullable=False),
        pa.field("text_sha256", pa.string()),
        pa.field("text_chars", pa.int64(), nullable=False),
        pa.field("judged_chars", pa.int64(), nullable=False),
        pa.field("is_excerpt", pa.bool_(), nullable=False),
        pa.field("band", pa.string()),
        pa.field("agreement", pa.string(), nullable=False),
        pa.field("confidence", pa.int8()),
        pa.field("why", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("decisive_terms", pa.list_(pa.string())),
        pa.field("votes", pa.list_(VOTE_TYPE), nullable=False),
        pa.field("error", pa.string()),
    ]
)
JUDGED: Final = "judged"

FindOutcome = Callable[[str], Outcome]


def write_labels(path: Path, cases: Iterable[Case], find_outcome: FindOutcome, rule: Rule) -> dict[str, dict[str, int]]:
    """Write the table; counts of documents by `band` ("none" without one) and by `agreement`, and of `outcome`s by vote."""
    rows = [_build_row(case, find_outcome, rule) for case in cases]
    table = pa.Table.from_pylist(rows, SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    replace_bytes(path, sink.getvalue().to_pybytes())
    return {
        "bands": _count(row["band"] or "none" for row in rows),
        "agreement": _count(row["agreement"] for row in rows),
        "votes": _count(vote["outcome"] for row in rows for vote in row["votes"]),
    }


def _count(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _build_row(case: Case, find_outcome: FindOutcome, rule: Rule) -> dict[str, Any]:
    outcomes = {variant: find_outcome(key) for variant, key in case.questions.items()}
    verdict = agree(outcomes, rule) if outcomes else Verdict(None, Agreement.UNREAD, None, None, case.error)
    lead = verdict.lead
    row = asdict(case)
    del row["questions"]
    return {
        **row,
        "band": verdict.band,
        "agreement": str(verdict.agreement),
        "confidence": verdict.confidence,
        "why": lead.why if lead else None,
        "subject": lead.subject if lead else None,
        "decisive_terms": list(lead.decisive_terms) if lead else None,
        "votes": [_build_vote(variant, outcome) for variant, outcome in outcomes.items()],
        "error": verdict.error,
    }


def _build_vote(variant: str, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Judgement):
        return {"variant": variant, "outcome": JUDGED, **outcome.model_dump(), "reason": None}
    return {"variant": variant, "outcome": str(outcome.fault), "reason": outcome.reason}
