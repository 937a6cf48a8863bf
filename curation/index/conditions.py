"""A query as conditions on rows, each a function from a span of positions to one flag a row."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from curation.decide import EXCLUDE, KEEP, REASONS, UNDECIDED
from curation.errors import ProfileError
from curation.index.column_reader import ColumnReader, open_column, rule_set
from curation.index.layout import HAS_ERROR, NOT_MEASURED_CODE, UNREADABLE_CODE
from curation.index.outcomes import Codes, Outcome, OutcomeTable
from curation.index.query import NOT_MEASURED, UNREADABLE, BandCondition, Query, Range
from curation.index.request import DecisionRequest
from curation.index.signal_index import SignalIndex
from curation.index.threads import map_threads
from curation.signals.bands import BANDS
from curation.source_rules import SourceRule

Flags = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int64]
Condition = Callable[[slice], Flags]

BAND_CODES: dict[str, int] = {
    **{band: place for place, band in enumerate(BANDS)},
    UNREADABLE: UNREADABLE_CODE,
    NOT_MEASURED: NOT_MEASURED_CODE,
}
_KEPT = {"kept": KEEP, "excluded": EXCLUDE, "undecided": UNDECIDED}


def select_outcomes(table: OutcomeTable, query: Query) -> Flags | None:
    """For each outcome whether the query wants it; None where it asks nothing of decisions. Raises ProfileError for a reason that
    does not exist."""
    tests: list[Callable[[Outcome], bool]] = []
    if query.outcome is not None:
        tests.append(lambda outcome: outcome.kept == _KEPT[query.outcome or ""])
    if query.decided_by is not None:
        by = _number_reason(query.decided_by)
        tests.append(lambda outcome: outcome.decided_by == by)
    if query.excluded_by is not None:
        bit = 1 << _number_reason(query.excluded_by)
        if query.sole is None:
            tests.append(lambda outcome: outcome.failed & bit != 0 and outcome.kept == EXCLUDE)
        else:
            is_certain = query.sole == "certain"
            tests.append(
                lambda outcome: (
                    outcome.failed == bit and outcome.kept == EXCLUDE and (outcome.missing == 0) == is_certain
                )
            )
    if query.undecided_for is not None:
        waiting = 1 << _number_reason(query.undecided_for)
        tests.append(lambda outcome: outcome.unknown & waiting != 0)
    if query.has_source_rule is not None:
        rule = 1 << REASONS.index("source_rule")
        tests.append(lambda outcome: (outcome.failed & rule != 0) == query.has_source_rule)
    if not tests:
        return None
    return table.select(lambda outcome: all(test(outcome) for test in tests))


def _number_reason(reason: str) -> int:
    if reason not in REASONS:
        raise ProfileError(f"There is no reason {reason!r}.", hint=f"Reasons: {', '.join(REASONS)}.")
    return REASONS.index(reason)


def list_conditions(
    index: SignalIndex,
    request: DecisionRequest,
    codes: Codes,
    table: OutcomeTable,
    rulings: dict[str, Positions],
    query: Query,
) -> list[Condition]:
    """What a row must meet, the cheapest and most telling first. `rulings`: positions that are overruled, by action."""
    conditions: list[Condition] = []
    if query.url is not None or query.doc_id is not None:
        conditions.append(_among(find_named(index, query.url, query.doc_id)))
    if query.term is not None:
        conditions.append(_among(index.find_term(query.term.strip().lower(), request.bound.profile.form)))
    if query.override is not None:
        actions = ("keep", "exclude") if query.override == "any" else (query.override,)
        conditions.append(_among(np.sort(np.concatenate([rulings[action] for action in actions]))))
    if query.shard is not None:
        spans = [(start, stop) for shard, start, stop in index.shard_spans if shard.name == query.shard]
        conditions.append(_within(spans))
    if (wanted := select_outcomes(table, query)) is not None:
        conditions.append(lambda span: wanted[codes[span]])
    if query.has_error is not None:
        conditions.append(lambda span: (_read_error(index, span)) == query.has_error)
    if query.domain is not None:
        conditions.append(match_domain(index, query.domain, has_subdomains=query.has_subdomains))
    conditions += [_match_band(index, band) for band in query.bands]
    if query.rule is not None:
        conditions.append(_match_rule(index, request, query.rule))
    conditions += [_match_range(open_column(index, request, wanted.column), wanted) for wanted in query.ranges]
    return conditions


def _read_error(index: SignalIndex, span: slice) -> Flags:
    return (index.columns["flags"][span] & np.uint8(HAS_ERROR)) != 0  # type: ignore[no-any-return]


def _among(positions: Positions) -> Condition:
    def meets(span: slice) -> Flags:
        first, end = np.searchsorted(positions, [span.start, span.stop])
        flags = np.zeros(span.stop - span.start, bool)
        flags[positions[first:end] - span.start] = True
        return flags

    return meets


def _within(spans: Sequence[tuple[int, int]]) -> Condition:
    def meets(span: slice) -> Flags:
        flags = np.zeros(span.stop - span.start, bool)
        for start, stop in spans:
            flags[max(start - span.start, 0) : max(stop - span.start, 0)] = True
        return flags

    return meets


def match_domain(index: SignalIndex, domain: str, *, has_subdomains: bool) -> Condition:
    first, end = index.hosts.find_range(domain, has_subdomains=has_subdomains)
    hosts = index.columns["domain"]

    def meets(span: slice) -> Flags:
        return np.greater_equal(hosts[span], first) & np.less(hosts[span], end)

    return meets


def _match_band(index: SignalIndex, wanted: BandCondition) -> Condition:
    return lambda span: index.read_bands(wanted.reading, span) == BAND_CODES[wanted.band]


def _match_rule(index: SignalIndex, request: DecisionRequest, rule: str) -> Condition:
    rules = rule_set(request)
    names, masks = index.description.rule_names[rules], index.description.rule_masks[rules]
    if rule not in names:
        raise ProfileError(
            f"There is no notation rule {rule!r} among the {rules} ones.", hint=f"Rules: {', '.join(names)}."
        )
    has_rule = np.array([mask is not None and mask >> names.index(rule) & 1 == 1 for mask in masks], bool)
    codes = index.columns[f"rules_{rules}_{request.bound.profile.form}"]
    return lambda span: has_rule[codes[span]]


def _match_range(column: ColumnReader, wanted: Range) -> Condition:
    low = None if wanted.low is None else column.round_bound(wanted.low)
    high = None if wanted.high is None else column.round_bound(wanted.high)

    def meets(span: slice) -> Flags:
        values = column.read(span)
        flags = column.is_present(values)
        if wanted.is_missing:
            return ~flags
        if low is not None:
            flags &= np.greater_equal(values, low)
        if high is not None:
            flags &= np.less(values, high)
        return flags

    return meets


def find_named(index: SignalIndex, url: str | None, doc_id: str | None) -> Positions:
    """The positions of the rows with exactly this URL and this id; None asks nothing."""
    checks = [
        (index.columns[f"{name}_crc"], zlib.crc32(value.encode("utf-8", "surrogatepass")))
        for name, value in (("url", url), ("doc_id", doc_id))
        if value is not None
    ]

    def find(span: slice) -> Positions:
        flags = np.ones(span.stop - span.start, bool)
        for column, wanted in checks:
            flags &= np.equal(column[span], wanted)
        return np.flatnonzero(flags) + int(span.start)

    candidates = np.concatenate([np.zeros(0, np.int64), *map_threads(find, index.spans)])
    names = index.names.read(candidates.tolist())
    is_it = [
        (url is None or found_url == url) and (doc_id is None or found_id == doc_id) for found_id, found_url in names
    ]
    return np.array(candidates[np.array(is_it, bool)], np.int64)


def find_barred(index: SignalIndex, rules: Sequence[SourceRule]) -> Positions:
    """The positions of the rows that a source rule matches, ascending: as `source_rules.match_rules` finds them."""
    from curation.web_address import read_address

    conditions: list[Condition] = []
    domains = {rule.value for rule in rules if rule.kind == "domain"}
    conditions += [match_domain(index, domain, has_subdomains=True) for domain in sorted(domains)]
    licences = {rule.value for rule in rules if rule.kind == "licence"}
    if licences:
        barred = [" ".join(licence.split()).casefold() in licences for licence in index.description.licences]
        is_barred = np.array([*barred, False], bool)  # the last answers for -1: no licence
        conditions.append(lambda span: is_barred[index.columns["licence"][span]])
    found = select(index, conditions)
    prefixes = tuple({rule.value for rule in rules if rule.kind == "url_prefix"})
    if not prefixes:
        return found
    hosts = [match_domain(index, read_address(prefix).host, has_subdomains=False) for prefix in prefixes]
    candidates = np.setdiff1d(select(index, hosts), found, assume_unique=True)
    names = index.names.read(candidates.tolist())
    is_match = [url is not None and str(read_address(url)).startswith(prefixes) for _, url in names]
    return np.union1d(found, candidates[np.array(is_match, bool)])


def select(index: SignalIndex, conditions: Sequence[Condition]) -> Positions:
    """The positions for which any condition holds, ascending."""
    if not conditions:
        return np.zeros(0, np.int64)

    def find(span: slice) -> Positions:
        flags = conditions[0](span)
        for condition in conditions[1:]:
            flags = flags | condition(span)
        return np.flatnonzero(flags) + int(span.start)

    return np.concatenate([np.zeros(0, np.int64), *map_threads(find, index.spans)])
