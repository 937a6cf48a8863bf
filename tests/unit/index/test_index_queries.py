"""Every question to an index answered a second time, row by row and without an index, from what the ledger holds."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from indexed_runs import World, decide_plainly, draw_decisions, measure_run, open_world

from curation.curate import DecisionSet
from curation.decide import REASONS, name_reasons
from curation.errors import ProfileError
from curation.index import (
    COLUMNS,
    READINGS,
    BandCondition,
    Decided,
    DecisionRequest,
    PageKey,
    Query,
    Range,
    SignalIndex,
    Sort,
    build_index,
    open_index,
    signal_index,
)
from curation.ledger.counts import count_tokens
from curation.ledger.encoder import read_encoder
from curation.ledger.signals import decide_ledger, read_notation_rules
from curation.sample.build import sample_dir
from curation.signals.bands import BANDS
from curation.web_address import read_address

SEEDS = range(12)


@dataclass(frozen=True)
class Case:
    """A decision set, by the index and as plain rows."""

    decided: Decided
    rows: list[dict[str, Any]]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Case]]:
    folder = tmp_path_factory.mktemp("queries")
    run = measure_run(folder / "run", sorted(sample_dir().glob("*.parquet")), row_limit=300)
    world = open_world(run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal_index, "CHUNK_ROWS", 37)
        index = open_index(build_index(run, folder / "indexes", table=world.table))
        yield [open_case(world, index, seed) for seed in SEEDS]


def open_case(world: World, index: SignalIndex, seed: int) -> Case:
    decisions = draw_decisions(world, seed)
    return Case(index.decide(DecisionRequest.of(decisions)), describe_plainly(decisions))


def describe_plainly(decisions: DecisionSet) -> list[dict[str, Any]]:
    profile = decisions.bound.profile
    decided = decide_plainly(decisions)
    rule_set = profile.notation.rules if profile.notation else "published"
    ignored = profile.notation.ignore if profile.notation else ()
    rows: list[dict[str, Any]] = []
    for part in decide_ledger(decisions.folder.ledger, decisions.bound, decisions.word_scores):
        core = part.signals.core
        encoder = read_encoder(decisions.folder.ledger, part.ref.id)
        scored = encoder.to_pylist() if encoder is not None else [None] * core.num_rows
        terms = part.signals.blocked_terms.to_pylist()
        rules = read_notation_rules(core, profile.form, rule_set).to_pylist()
        tokens, _ = count_tokens(core)
        postings = decisions.folder.ledger.read_part("postings", part.ref.id).to_pylist()
        other_form = {"raw": 2, "normalized": 1}[profile.form]
        rulings = (
            decisions.overrides.of_shard(part.ref.shard.sha256, part.ref.shard.name) if decisions.overrides else {}
        )
        for place, row in enumerate(core.to_pylist()):
            lexical = (row["lexical_normalized"] if profile.form == "normalized" else None) or row["lexical_raw"]
            grades = {
                f"fasttext_{name}": (row["fasttext"] or {}).get(name) for name in ("published", "document", "window")
            }
            readings = scored[place] or {}
            grades |= {f"encoder_{name}": readings.get(name) for name in ("published", "window")}
            position = len(rows)
            is_ruled = not row["error"] and row["row"] in rulings
            hits = [decisions.word_scores[term] for term in terms[place]]
            rows.append(
                {
                    "position": position,
                    **{name: int(values[position]) for name, values in decided.items()},
                    "shard": part.ref.shard.name,
                    "row": row["row"],
                    "url": row["url"],
                    "doc_id": row["doc_id"],
                    "host": read_address(row["url"]).host if row["url"] else None,
                    "error": row["error"] is not None,
                    "override": {True: "keep", False: "exclude"}[rulings[row["row"]]] if is_ruled else None,
                    "rules": rules[place],
                    "words": {
                        entry["word"]
                        for entry in postings
                        if entry["row"] == row["row"] and entry["form"] != other_form
                    },
                    "grades": grades,
                    "values": {
                        "tokens": int(tokens[place]),
                        **{name: row[name] for name in ("n_bytes", "n_chars", "n_words")},
                        **{name: lexical[name] if lexical else None for name in ("p95_aoa", "oov_ratio")},
                        "lexical_tokens": lexical["token_count"] if lexical else None,
                        **{
                            f"{reading}_{band.lower()}": read_grade(found, number)
                            for reading, found in grades.items()
                            for number, band in enumerate(BANDS)
                        },
                        "rule_count": None
                        if row["error"]
                        else len([rule for rule in rules[place] if rule not in ignored]),
                        "term_count": None if row["error"] else len(hits),
                        "top_term_score": max(hits, default=None),
                    },
                }
            )
    return rows


def read_grade(grades: list[float] | None, number: int) -> float | None:
    return None if grades is None or math.isnan(grades[0]) else grades[number]


def name_band(grades: list[float] | None) -> str:
    if grades is None:
        return "not_measured"
    return "unreadable" if math.isnan(grades[0]) else BANDS[grades.index(max(grades))]


def list_columns(case: Case) -> list[str]:
    has_words = "vocabulary" in case.decided.stages
    return [name for name in COLUMNS if has_words or name not in ("term_count", "top_term_score")]


def draw_query(case: Case, chance: random.Random) -> Query:
    """One to three conditions, of values that occur."""
    row = chance.choice(case.rows)
    host = row["host"]
    column = chance.choice(list_columns(case))
    values = sorted(value[column] for entry in case.rows if (value := entry["values"])[column] is not None)
    rules = sorted({rule for entry in case.rows for rule in entry["rules"] or ()})
    bounds = sorted(chance.choices(values, k=2)) if values else [0.0, 1.0]
    span = chance.choice([{"low": bounds[0]}, {"high": bounds[1]}, {"low": bounds[0], "high": bounds[1]}])
    readings = {reading: name_band(row["grades"][reading]) for reading in READINGS}
    reading = chance.choice(READINGS)
    reason = chance.choice(REASONS)
    choices: list[dict[str, Any]] = [
        {"outcome": chance.choice(["kept", "excluded", "undecided"])},
        {"decided_by": reason},
        {"excluded_by": reason},
        {"excluded_by": reason, "sole": chance.choice(["certain", "possible"])},
        {"undecided_for": chance.choice(["encoder", "fasttext"])},
        {"override": chance.choice(["keep", "exclude", "any"])},
        {"has_source_rule": chance.random() < 0.5},
        {"has_error": chance.random() < 0.2},
        {"ranges": (Range(column=column, **span),)},
        {"ranges": (Range(column=column, is_missing=True),)},
        {"bands": (BandCondition(reading=reading, band=readings[reading]),)},  # type: ignore[arg-type]
        {"domain": host},
        {"domain": ".".join(host.split(".")[-2:]), "has_subdomains": True},
        {"shard": row["shard"]},
        {"url": row["url"]},
        {"doc_id": row["doc_id"]},
        {"term": chance.choice(sorted(row["words"]) or ["the"])},
        *([{"rule": chance.choice(rules)}] if rules else []),
    ]
    conditions: dict[str, Any] = {}
    for chosen in chance.sample(choices, chance.randint(1, 3)):
        conditions |= chosen
    if "excluded_by" not in conditions:
        conditions.pop("sole", None)
    return Query(**conditions)


def meets(row: dict[str, Any], query: Query) -> bool:
    failed, reasons = name_reasons(row["failed"]), name_reasons(row["unknown"])
    tests = [
        query.outcome is None or row["kept"] == {"kept": 1, "excluded": 0, "undecided": -1}[query.outcome],
        query.decided_by is None or (row["decided_by"] >= 0 and REASONS[row["decided_by"]] == query.decided_by),
        query.excluded_by is None or (query.excluded_by in failed and row["kept"] == 0),
        query.sole is None or (failed == [query.excluded_by] and (row["missing"] == 0) == (query.sole == "certain")),
        query.undecided_for is None or query.undecided_for in reasons,
        query.override is None
        or row["override"] in (("keep", "exclude") if query.override == "any" else (query.override,)),
        query.has_source_rule is None or ("source_rule" in failed) == query.has_source_rule,
        query.has_error is None or row["error"] == query.has_error,
        query.rule is None or query.rule in (row["rules"] or ()),
        query.term is None or query.term in row["words"],
        all(name_band(row["grades"][band.reading]) == band.band for band in query.bands),
        query.domain is None
        or row["host"] == query.domain
        or (query.has_subdomains and bool(row["host"]) and row["host"].endswith(f".{query.domain}")),
        query.shard is None or row["shard"] == query.shard,
        query.url is None or row["url"] == query.url,
        query.doc_id is None or row["doc_id"] == query.doc_id,
        all(is_within(row["values"][wanted.column], wanted) for wanted in query.ranges),
    ]
    return all(tests)


def is_within(value: float | None, wanted: Range) -> bool:
    if wanted.is_missing:
        return value is None
    return (
        value is not None
        and (wanted.low is None or value >= wanted.low)
        and (wanted.high is None or value < wanted.high)
    )


def draw_queries(cases: list[Case], count: int) -> Iterator[tuple[Case, Query]]:
    chance = random.Random(7)
    for case in cases:
        for _ in range(count):
            yield case, draw_query(case, chance)


def test_queries_find_the_rows_that_meet_them(cases: list[Case]) -> None:
    sizes = Counter()
    for case, query in draw_queries(cases, 60):
        expected = [row["position"] for row in case.rows if meets(row, query)]
        assert case.decided.select(query).tolist() == expected, query
        assert case.decided.count(query) == len(expected)
        sizes["some" if 0 < len(expected) < len(case.rows) else "none or all"] += 1
    assert sizes["some"] > 200


def test_facets_count_every_row_of_the_query(cases: list[Case]) -> None:
    for case, query in [*((case, Query()) for case in cases), *draw_queries(cases, 15)]:
        rows = [row for row in case.rows if meets(row, query)]
        facets = case.decided.facets(query)
        is_error = [row["kept"] == 0 and row["failed"] == 1 << REASONS.index("error") for row in rows]
        names = [
            "error" if error else {1: "kept", 0: "excluded", -1: "undecided"}[row["kept"]]
            for row, error in zip(rows, is_error, strict=True)
        ]
        tokens = Counter()
        for name, row in zip(names, rows, strict=True):
            tokens[name] += row["values"]["tokens"]
        assert facets.documents == len(rows)
        assert +Counter(facets.outcomes) == Counter(names)
        assert +Counter(facets.tokens) == +tokens
        assert facets.decided_by == Counter(REASONS[row["decided_by"]] for row in rows if row["decided_by"] >= 0)
        assert facets.excluded_by == Counter(
            reason for row in rows if row["kept"] == 0 for reason in name_reasons(row["failed"])
        )
        sole = [row for row in rows if row["kept"] == 0 and row["failed"].bit_count() == 1]
        assert facets.sole_causes == Counter(name_reasons(row["failed"])[0] for row in sole if row["missing"] == 0)
        assert facets.possible_sole_causes == Counter(name_reasons(row["failed"])[0] for row in sole if row["missing"])
        assert facets.undecided_for == Counter(reason for row in rows for reason in name_reasons(row["unknown"]))
        assert facets.rules == Counter(rule for row in rows for rule in row["rules"] or ())
        for reading in READINGS:
            assert +Counter(facets.bands[reading]) == Counter(name_band(row["grades"][reading]) for row in rows)
        assert facets.shards == Counter(row["shard"] for row in rows)
        check_domains(facets, Counter(row["host"] for row in rows))


def check_domains(facets: Any, expected: Counter[str | None]) -> None:
    assert facets.no_domain == expected.pop(None, 0)
    shown = dict(facets.domains)
    assert len(facets.domains) == min(50, len(expected))
    assert all(expected[host] == count for host, count in shown.items())
    rest = [count for host, count in expected.items() if host not in shown]
    assert (facets.other_domain_count, facets.other_domains) == (len(rest), sum(rest))
    assert not rest or max(rest) <= min(shown.values())


def test_pages_one_after_the_other_are_the_whole_order(cases: list[Case]) -> None:
    chance = random.Random(3)
    for case, query in draw_queries(cases, 12):
        query = query if chance.random() < 0.5 else Query()
        column = chance.choice([None, *list_columns(case)])
        sort = Sort(column=column, is_descending=column is not None and chance.random() < 0.5)
        limit = chance.choice([1, 7, 50, 400])
        found: list[int] = []
        key: PageKey | None = None
        while True:
            page = case.decided.page(query, sort, limit=limit, after=key)
            found += page.positions.tolist()
            key = page.next_key
            if key is None:
                break
            assert len(page.positions) == limit
            assert PageKey.model_validate(key.model_dump()) == key
        assert found == order_plainly([row for row in case.rows if meets(row, query)], sort), (query, sort)


def order_plainly(rows: list[dict[str, Any]], sort: Sort) -> list[int]:
    if sort.column is None:
        return [row["position"] for row in rows]
    sign = -1 if sort.is_descending else 1
    valued = [
        (sign * row["values"][sort.column], row["position"]) for row in rows if row["values"][sort.column] is not None
    ]
    return [place for _, place in sorted(valued)] + [
        row["position"] for row in rows if row["values"][sort.column] is None
    ]


def test_histograms_count_every_row_once(cases: list[Case]) -> None:
    chance = random.Random(5)
    for case, query in draw_queries(cases, 10):
        query = query if chance.random() < 0.5 else Query()
        column = chance.choice(list_columns(case))
        values = [row["values"][column] for row in case.rows if row["values"][column] is not None]
        finite = [value for value in values if math.isfinite(value)]
        bounds = {} if chance.random() < 0.5 or not finite else {"low": chance.choice(finite), "high": max(finite) / 2}
        drawn = case.decided.histogram(column, chance.choice([1, 10, 40]), query=query, **bounds)
        rows = [row for row in case.rows if meets(row, query)]
        is_single = column.startswith(("fasttext", "encoder"))
        edges = [float(np.float32(edge)) for edge in drawn.edges] if is_single else drawn.edges
        for name, kept in (("kept", 1), ("excluded", 0), ("undecided", -1)):
            found = [row["values"][column] for row in rows if row["kept"] == kept]
            present = [value for value in found if value is not None]
            expected = [sum(low <= value < high for value in present) for low, high in pairwise(edges)]
            expected[-1] += sum(value == edges[-1] for value in present)
            assert drawn.counts[name] == expected, (column, drawn.edges)
            assert drawn.below[name] == sum(value < edges[0] for value in present)
            assert drawn.above[name] == sum(value > edges[-1] for value in present)
            assert drawn.missing[name] == len(found) - len(present)


def test_rows_have_their_names_and_places(cases: list[Case]) -> None:
    case = cases[0]
    index = case.decided.index
    positions = [200, 3, 3, 130]
    assert [(row.position, row.shard, row.row, row.doc_id, row.url) for row in index.describe_rows(positions)] == [
        (place, *(case.rows[place][name] for name in ("shard", "row", "doc_id", "url"))) for place in positions
    ]
    address = index.describe_rows([130])[0]
    assert index.find_position(address.shard_sha256, address.row) == 130
    assert index.find_position(address.shard_sha256, 10_000) is None
    assert index.find_position("0" * 64, 0) is None


def test_values_of_a_page_are_those_measured(cases: list[Case]) -> None:
    for case in cases:
        positions = np.array([5, 250, 17])
        for column in list_columns(case):
            found = case.decided.read_values(column, positions).tolist()
            expected = [case.rows[place]["values"][column] for place in positions.tolist()]
            assert [None if math.isnan(value) else value for value in found] == expected, column


def test_what_nobody_can_answer_is_refused(cases: list[Case]) -> None:
    without_words = next(case for case in cases if "vocabulary" not in case.decided.stages)
    with pytest.raises(ProfileError, match="no vocabulary stage"):
        without_words.decided.page(sort=Sort(column="term_count"))
    with pytest.raises(ProfileError, match="no reason 'grammar'"):
        cases[0].decided.select(Query(decided_by="grammar"))
    with pytest.raises(ProfileError, match="no notation rule 'square_dance'"):
        cases[0].decided.select(Query(rule="square_dance"))
    with pytest.raises(ValueError, match="no column 'colour'"):
        Range(column="colour", low=1)
    with pytest.raises(ValueError, match="needs low, high or is_missing"):
        Range(column="tokens")
    with pytest.raises(ValueError, match="sole needs excluded_by"):
        Query(sole="certain")
