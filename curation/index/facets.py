"""Exact counts of selected rows: by what was decided and why, by rule, band, domain and shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.decide import REASONS
from curation.funnel import Funnel
from curation.index.column_reader import rule_set
from curation.index.conditions import BAND_CODES
from curation.index.layout import BAND_BITS
from curation.index.outcomes import Codes, OutcomeTable, build_funnel
from curation.index.query import READINGS
from curation.index.request import DecisionRequest
from curation.index.signal_index import SignalIndex
from curation.index.threads import count_cores, map_threads

MAX_DOMAINS = 50

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Facets:
    """Documents by value. `outcomes` and `tokens`: kept, excluded, undecided and error (excluded ones that could not be read).
    `excluded_by`: among others; `sole_causes`: nothing else excludes and every stage was measured; `possible_sole_causes`: nothing
    else is known to. `rules`: of the profile's set. `bands[reading]`: the likeliest band. `domains`: the most frequent hosts;
    the rest are `other_domains` documents of `other_domain_count` hosts and `no_domain` documents without one."""

    documents: int
    outcomes: dict[str, int]
    tokens: dict[str, int]
    decided_by: dict[str, int]
    excluded_by: dict[str, int]
    sole_causes: dict[str, int]
    possible_sole_causes: dict[str, int]
    undecided_for: dict[str, int]
    rules: dict[str, int]
    bands: dict[str, dict[str, int]]
    domains: list[tuple[str, int]]
    other_domain_count: int
    other_domains: int
    no_domain: int
    shards: dict[str, int]


@dataclass(frozen=True)
class Counts:
    """Rows by outcome, by code of the rules column, by packed bands and by host code plus one (first those without a host); the
    tokens by outcome."""

    outcomes: _Numbers
    tokens: _Numbers
    rules: _Numbers
    bands: _Numbers
    domains: _Numbers

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) - getattr(other, name) for name in _COUNTED))


_COUNTED = tuple(field.name for field in fields(Counts))


def count_facets(
    index: SignalIndex,
    request: DecisionRequest,
    codes: Codes,
    table: OutcomeTable,
    flags: npt.NDArray[np.bool_],
    count_whole: Callable[[], Counts],
) -> Facets:
    """Of the flagged rows. `count_whole` gives the counts of all rows: where most are flagged, the others are counted instead."""
    is_most = 2 * np.count_nonzero(flags) > len(flags)
    counts = count_rows(index, request, codes, table, ~flags if is_most else flags)
    if is_most:
        counts = count_whole() - counts
    outcomes = table.list_outcomes()
    funnel = build_funnel(request.bound.stages, outcomes, counts.outcomes, counts.tokens)
    decided_by, excluded_by = _count_reasons(funnel, table, counts.outcomes)
    domains = counts.domains
    top = _find_top(domains[1:])
    return Facets(
        documents=int(counts.outcomes.sum()),
        outcomes=dict(funnel.documents),
        tokens=dict(funnel.tokens),
        decided_by=decided_by,
        excluded_by=excluded_by,
        sole_causes={reason: cause["documents"] for reason, cause in funnel.sole_causes().items()},
        possible_sole_causes={reason: cause["documents"] for reason, cause in funnel.possible_sole_causes().items()},
        undecided_for=funnel.undecided_for(),
        rules=_count_rules(index, rule_set(request), counts.rules),
        bands=_count_bands(counts.bands),
        domains=[(index.hosts.name(code), int(domains[code + 1])) for code in top],
        other_domain_count=int(np.count_nonzero(domains[1:])) - len(top),
        other_domains=int(domains[1:].sum() - sum(domains[code + 1] for code in top)),
        no_domain=int(domains[0]),
        shards=_count_shards(index, flags),
    )


def count_rows(
    index: SignalIndex, request: DecisionRequest, codes: Codes, table: OutcomeTable, flags: npt.NDArray[np.bool_]
) -> Counts:
    """Of the flagged rows."""
    rules_column = index.columns[f"rules_{rule_set(request)}_{request.bound.profile.form}"]
    bands_column, tokens_column = index.columns["bands"], index.columns["tokens"]
    hosts_column = index.columns["domain"]
    sizes = {
        "outcomes": len(table),
        "tokens": len(table),
        "rules": len(index.description.rule_masks[rule_set(request)]),
        "bands": 1 << BAND_BITS * len(READINGS),
        "domains": len(index.hosts) + 1,
    }

    # Each thread counts a long run of rows into its own arrays: a few additions at the end instead of one a chunk.
    def count(spans: list[slice]) -> Counts:
        found = Counts(*(np.zeros(sizes[name], np.int64) for name in _COUNTED))
        hosts = [np.zeros(0, hosts_column.dtype)]
        for span in spans:
            chosen = np.flatnonzero(flags[span])
            if not len(chosen):
                continue
            where = span if len(chosen) == span.stop - span.start else chosen + span.start
            outcomes = codes[where]
            found.outcomes[:] += np.bincount(outcomes, minlength=len(table))
            weighed = np.bincount(outcomes, weights=tokens_column[where], minlength=len(table))
            found.tokens[:] += weighed.astype(np.int64)
            _add_counts(found.rules, rules_column[where])
            _add_counts(found.bands, bands_column[where])
            hosts.append(hosts_column[where])
        # Hosts are many: their codes are gathered first and counted at once.
        _add_counts(found.domains, np.concatenate(hosts) + 1)
        return found

    parts = map_threads(count, _deal(index.spans))
    return Counts(*(sum((getattr(part, name) for part in parts), np.zeros(sizes[name], np.int64)) for name in _COUNTED))


def _add_counts(totals: npt.NDArray[np.int64], codes: npt.NDArray[Any]) -> None:
    counted = np.bincount(codes)
    totals[: len(counted)] += counted


def _deal(spans: list[slice]) -> list[list[slice]]:
    parts = min(count_cores(), len(spans))
    return [spans[part::parts] for part in range(parts)]


def _count_reasons(
    funnel: Funnel, table: OutcomeTable, documents: npt.NDArray[np.int64]
) -> tuple[dict[str, int], dict[str, int]]:
    decided_by: dict[str, int] = {}
    excluded_by: dict[str, int] = {}
    for outcome, count in zip(table.list_outcomes(), documents.tolist(), strict=True):
        if not count:
            continue
        if outcome.decided_by >= 0:
            reason = REASONS[outcome.decided_by]
            decided_by[reason] = decided_by.get(reason, 0) + count
        if outcome.kept == 0:
            for place, reason in enumerate(REASONS):
                if outcome.failed >> place & 1:
                    excluded_by[reason] = excluded_by.get(reason, 0) + count
    return decided_by, excluded_by


def _count_rules(index: SignalIndex, rules: str, documents: npt.NDArray[np.int64]) -> dict[str, int]:
    names, masks = index.description.rule_names[rules], index.description.rule_masks[rules]
    counted = dict.fromkeys(names, 0)
    for mask, count in zip(masks, documents.tolist(), strict=True):
        if mask and count:
            for place, name in enumerate(names):
                if mask >> place & 1:
                    counted[name] += count
    return {name: count for name, count in counted.items() if count}


def _count_bands(documents: npt.NDArray[np.int64]) -> dict[str, dict[str, int]]:
    packed = np.flatnonzero(documents)
    bands = {}
    for place, reading in enumerate(READINGS):
        codes = packed >> BAND_BITS * place & ((1 << BAND_BITS) - 1)
        counted = np.bincount(codes, weights=documents[packed], minlength=1 << BAND_BITS).astype(np.int64)
        bands[reading] = {band: int(counted[code]) for band, code in BAND_CODES.items()}
    return {str(reading): counts for reading, counts in bands.items()}


def _find_top(documents: npt.NDArray[np.int64]) -> list[int]:
    """The codes of the most frequent hosts, equals in the order of codes."""
    bound = max(int(np.partition(documents, -MAX_DOMAINS)[-MAX_DOMAINS]), 1) if len(documents) > MAX_DOMAINS else 1
    candidates = np.flatnonzero(documents >= bound)
    order = np.lexsort((candidates, -documents[candidates]))[:MAX_DOMAINS]
    return candidates[order].tolist()  # type: ignore[no-any-return]


def _count_shards(index: SignalIndex, flags: npt.NDArray[np.bool_]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for shard, start, stop in index.shard_spans:
        counted[shard.name] = counted.get(shard.name, 0) + int(np.count_nonzero(flags[start:stop]))
    return {name: count for name, count in counted.items() if count}
