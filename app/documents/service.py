"""Answers about the documents of a decision set: pages, counts, one document, what another boundary would decide."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from curation.decide import REASONS, name_reasons
from curation.index import Decided, PageKey, Query, RowAddress
from curation.index.query import COLUMNS
from primer.app.core.errors import NotFound, Unprocessable
from primer.app.core.paging import decode_cursor, decode_id_cursor, encode_cursor
from primer.app.documents.decisions import OpenDecisions
from primer.app.documents.schemas import (
    DecisionView,
    DistanceView,
    DocumentPage,
    DocumentRow,
    DocumentView,
    FacetView,
    FlipPage,
    FlipRequest,
    HistogramRequest,
    HistogramView,
    MoveView,
    PlaceView,
    SearchRequest,
    WhatIfView,
)
from primer.app.texts.schemas import ExplanationView

Positions = npt.NDArray[np.int64]


def search(found: OpenDecisions, body: SearchRequest) -> DocumentPage:
    """A page of the query's documents in the order asked for."""
    decided = found.opened.index.decide(found.request)
    _require_columns(body.columns)
    page = decided.page(body.query, body.sort, limit=body.limit, after=_read_key(body.cursor))
    key = page.next_key
    return DocumentPage(
        items=describe_rows(found, decided, page.positions, body.columns),
        next=None if key is None else encode_cursor("" if key.value is None else key.value, key.position),
        total=decided.count(body.query),
    )


def count_facets(found: OpenDecisions, query: Query) -> FacetView:
    return FacetView.model_validate(asdict(found.opened.index.decide(found.request).facets(query)))


def draw_histogram(found: OpenDecisions, body: HistogramRequest) -> HistogramView:
    _require_columns((body.column,))
    decided = found.opened.index.decide(found.request)
    drawn = decided.histogram(body.column, bins=body.bins, query=body.query, low=body.low, high=body.high)
    return HistogramView.model_validate(asdict(drawn))


def compare(baseline: OpenDecisions, other: OpenDecisions) -> WhatIfView:
    """Both are of one run."""
    index = baseline.opened.index
    before, after = index.decide(baseline.request), index.decide(other.request)
    flips = before.count_flips(after)
    return WhatIfView(
        baseline=before.funnel.report(),
        funnel=after.funnel.report(),
        flips={move: MoveView(documents=documents, tokens=tokens) for move, (documents, tokens) in flips.items()},
    )


def list_flips(baseline: OpenDecisions, other: OpenDecisions, body: FlipRequest) -> FlipPage:
    """The documents of one move, in source order, as `other` decides them."""
    index = baseline.opened.index
    after = index.decide(other.request)
    positions = index.decide(baseline.request).find_flips(after)[body.move]
    start = decode_id_cursor(body.cursor)
    rest = positions if start is None else positions[np.searchsorted(positions, start, side="right") :]
    page = rest[: body.limit]
    return FlipPage(
        items=describe_rows(other, after, page, ()),
        next=encode_cursor(int(page[-1])) if len(rest) > body.limit else None,
        total=len(positions),
    )


def find_place(found: OpenDecisions, shard_sha256: str, row: int) -> PlaceView:
    """Raises NotFound when the row is not in this run."""
    position = found.opened.index.find_position(shard_sha256, row)
    if position is None:
        raise NotFound(
            f"Row {row} of that shard is not in this run.", hint="It may lie beyond the job's limit or sample."
        )
    [address] = found.opened.index.describe_rows([position])
    return PlaceView(**asdict(address))


def read_document(found: OpenDecisions, position: int) -> DocumentView:
    """Everything that is known of one document. Raises NotFound."""
    index = found.opened.index
    if not 0 <= position < len(index):
        raise NotFound(f"There is no document {position} in this run.", hint=f"It has {len(index):,} documents.")
    decided = index.decide(found.request)
    document = found.opened.reader.read(decided, position)
    explanation = document.explanation
    return DocumentView(
        **asdict(document.address),
        tokens=document.tokens,
        is_estimated=document.is_estimated,
        decision=_describe_decision(decided, np.array([position]))[0],
        text=document.text,
        error=document.error,
        explanation=None if explanation is None else ExplanationView.model_validate(explanation.to_json()),
        distances=[DistanceView.model_validate(asdict(distance)) for distance in document.distances],
        sole_cause=document.sole_cause,
        is_sole_certain=document.is_sole_certain,
        signals=document.signals,
    )


def describe_rows(
    found: OpenDecisions, decided: Decided, positions: Positions, columns: tuple[str, ...]
) -> list[DocumentRow]:
    if not len(positions):
        return []
    addresses: list[RowAddress] = found.opened.index.describe_rows(positions)
    decisions = _describe_decision(decided, positions)
    tokens = decided.read_values("tokens", positions)
    values = {name: decided.read_values(name, positions) for name in columns}
    return [
        DocumentRow(
            **asdict(address),
            **decisions[i].model_dump(),
            tokens=int(tokens[i]),
            values={name: None if np.isnan(column[i]) else float(column[i]) for name, column in values.items()},
        )
        for i, address in enumerate(addresses)
    ]


def _describe_decision(decided: Decided, positions: Positions) -> list[DecisionView]:
    decisions = decided.decisions_at(positions)
    return [
        DecisionView(
            kept={1: True, 0: False, -1: None}[kept],
            decided_by=None if by < 0 else REASONS[by],
            excluded_by=name_reasons(failed),
            undecided_for=name_reasons(unknown),
        )
        for kept, by, failed, unknown in zip(
            decisions.kept.tolist(),
            decisions.decided_by.tolist(),
            decisions.failed.tolist(),
            decisions.unknown.tolist(),
            strict=True,
        )
    ]


def _read_key(cursor: str | None) -> PageKey | None:
    key = decode_cursor(cursor)
    if key is None:
        return None
    try:
        value, position = key
        return PageKey.model_validate({"value": None if value == "" else value, "position": position})
    except (ValueError, ValidationError):
        raise Unprocessable(
            "The cursor is not one of ours.", hint="Give `next` of the page before, unchanged."
        ) from None


def _require_columns(columns: tuple[str, ...]) -> None:
    if unknown := sorted(set(columns) - set(COLUMNS)):
        raise Unprocessable(f"There is no column {unknown[0]}.", hint=f"Columns: {', '.join(COLUMNS)}.")
