"""One PostgreSQL table of decisions, asked what the decision index is asked: the alternative that docs/decisions/0007 weighs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv as csv

from curation.decide import REASONS
from curation.index import Decided, Query, Sort
from curation.index.layout import BAND_BITS
from curation.index.query import READINGS

sys.path.append(str(Path(__file__).parent.parent / "tests"))

from servers import PostgresServer

_PAGE_ROWS = 50
_COPY_ROWS = 1 << 17

# What the questions need: decisions, the signals that are cut and sorted by, bands, rules, and names.
_COLUMNS = {
    "position": "integer primary key",
    "shard": "text",
    "source_row": "integer",
    "kept": "smallint",
    "failed": "smallint",
    "missing": "smallint",
    "decided_by": "smallint",
    "tokens": "integer",
    "p95_aoa": "double precision",
    "oov_ratio": "double precision",
    "fasttext_document_k5": "real",
    "fasttext_window_k5": "real",
    "encoder_window_k5": "real",
    "term_count": "integer",
    "bands": "smallint",
    "rules": "bigint",
    "domain": "text",
    "doc_id": "text",
    "url": "text",
}
_INDEXED = ("kept", "decided_by", "p95_aoa", "tokens", "domain")
_SETTINGS = {
    "shared_buffers": "2GB",
    "work_mem": "256MB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "16GB",
    "max_parallel_workers_per_gather": "2",
}


def measure_table(home: Path, folder: Path) -> dict[str, Any]:
    """Load the decisions of the index in `home` into a table and ask it the same. Raises AssertionError where an answer differs."""
    from benchmarks.index import draw_filters, make_request, open_home

    index = open_home(home)
    decided = index.decide(make_request())
    server = PostgresServer(folder)
    try:
        url = server.create_database("decisions").replace("+psycopg", "")
        with psycopg.connect(url, autocommit=True) as connection:
            for name, value in _SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")  # type: ignore[arg-type]
        server.stop("fast")
        server.start()
        with psycopg.connect(url, autocommit=True) as connection:
            load_seconds = _load(connection, decided)
            size = _ask(connection, "SELECT pg_total_relation_size('decisions')")[0][0]
            asked = [entry for entry in draw_filters(40) if entry[0].term is None]
            pages, alone, own_pages, own_alone = [], [], [], []
            load = os.getloadavg()[0]
            for query, sort in asked:
                began = time.perf_counter()
                page = _find_page(connection, decided, query, sort)
                alone.append((time.perf_counter() - began) * 1000)
                documents = _count_facets(connection, decided, query)
                pages.append((time.perf_counter() - began) * 1000)
                # The index is asked the same at once, under the same load; it remembers nothing of this query yet.
                began = time.perf_counter()
                found = decided.page(query, sort, limit=_PAGE_ROWS)
                index.describe_rows(found.positions)
                own_alone.append((time.perf_counter() - began) * 1000)
                own_documents = decided.facets(query).documents
                own_pages.append((time.perf_counter() - began) * 1000)
                assert documents == own_documents, query
                assert page == found.positions.tolist(), (query, sort)
            funnel, changes = [], []
            for cut in (9.5, 10.5, 11.5):
                funnel.append(_time(lambda cut=cut: _count_funnel(connection, cut)))  # type: ignore[misc]
                request = make_request(lexical={"max_p95_aoa": cut, "max_oov_ratio": 0.05})
                changes.append(_time(lambda request=request: index.decide(request).funnel))  # type: ignore[misc]
            update = [_time(lambda: _update(connection, 11.0))]
            [[version]] = _ask(connection, "SHOW server_version")
        return {
            "version": version.split()[0],
            "settings": "no durability, " + ", ".join(f"{name} {value}" for name, value in _SETTINGS.items()),
            "load_seconds": load_seconds,
            "bytes_a_row": size / len(index),
            "pages_ms": pages,
            "page_ms": alone,
            "index_pages_ms": own_pages,
            "index_page_ms": own_alone,
            "index_changes_ms": changes,
            "load": (load, os.getloadavg()[0]),
            "funnel_ms": funnel,
            "update_ms": update,
            "asked": len(asked),
        }
    finally:
        server.stop()


def _time(work: Any) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _ask(connection: psycopg.Connection[Any], query: str, parameters: Sequence[Any] = ()) -> list[Any]:
    return connection.execute(query, parameters).fetchall()  # type: ignore[arg-type]


def _load(connection: psycopg.Connection[Any], decided: Decided) -> float:
    """Seconds of COPY, of the indexes and of ANALYZE; making the lines is not counted."""
    connection.execute(
        f"CREATE TABLE decisions ({', '.join(f'{name} {kind}' for name, kind in _COLUMNS.items())})"  # type: ignore[arg-type]
    )
    seconds = 0.0
    for start in range(0, len(decided), _COPY_ROWS):
        lines = _write_lines(decided, np.arange(start, min(start + _COPY_ROWS, len(decided))))
        began = time.monotonic()
        with connection.cursor().copy("COPY decisions FROM STDIN (FORMAT csv)") as copy:
            copy.write(lines)
        seconds += time.monotonic() - began
    began = time.monotonic()
    for name in _INDEXED:
        connection.execute(f"CREATE INDEX ON decisions ({name})")  # type: ignore[arg-type]
    connection.execute("VACUUM ANALYZE decisions")
    return seconds + time.monotonic() - began


def _write_lines(decided: Decided, positions: Any) -> bytes:
    index, decisions = decided.index, decided.decisions_at(positions)
    rows = index.describe_rows(positions)
    masks = np.array([mask or 0 for mask in index.description.rule_masks["recommended"]], np.int64)
    hosts = index.columns["domain"][positions].tolist()
    columns: dict[str, Any] = {
        "position": positions,
        "shard": [row.shard for row in rows],
        "source_row": [row.row for row in rows],
        **{name: getattr(decisions, name) for name in ("kept", "failed", "missing", "decided_by")},
        "tokens": index.columns["tokens"][positions],
        **{
            name: pa.array(values := decided.read_values(name, positions), mask=np.isnan(values))
            for name in ("p95_aoa", "oov_ratio")
        },
        **{
            name: pa.array(values := decided.column(name).read(positions), mask=np.isnan(values))
            for name in ("fasttext_document_k5", "fasttext_window_k5", "encoder_window_k5")
        },
        "term_count": pa.array(values := decided.column("term_count").read(positions), mask=values < 0),
        "bands": index.columns["bands"][positions],
        "rules": masks[index.columns["rules_recommended_normalized"][positions]],
        "domain": [None if code < 0 else index.hosts.name(code) for code in hosts],
        "doc_id": [row.doc_id for row in rows],
        "url": [row.url for row in rows],
    }
    sink = pa.BufferOutputStream()
    csv.write_csv(pa.table({name: columns[name] for name in _COLUMNS}), sink, csv.WriteOptions(include_header=False))
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _list_conditions(decided: Decided, query: Query) -> tuple[str, list[Any]]:
    conditions: list[str] = ["true"]
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        conditions.append(condition)
        values.extend(given)

    if query.outcome is not None:
        add("kept = %s", {"kept": 1, "excluded": 0, "undecided": -1}[query.outcome])
    if query.decided_by is not None:
        add("decided_by = %s", REASONS.index(query.decided_by))
    if query.excluded_by is not None:
        bit = 1 << REASONS.index(query.excluded_by)
        add("failed = %s AND kept = 0 AND missing = 0" if query.sole else "failed & %s <> 0 AND kept = 0", bit)
    for wanted in query.ranges:
        bound = np.float32 if wanted.column.startswith("fasttext") else float
        if wanted.low is not None:
            add(f"{wanted.column} >= %s", float(bound(wanted.low)))
        if wanted.high is not None:
            add(f"{wanted.column} < %s", float(bound(wanted.high)))
    for band in query.bands:
        code = {"K5": 0, "K8": 1, "K12": 2, "OOS": 3}[band.band]
        add("bands >> %s & 7 = %s", BAND_BITS * READINGS.index(band.reading), code)
    if query.domain is not None:
        if query.has_subdomains:
            add("(domain = %s OR domain LIKE %s)", query.domain, f"%.{query.domain}")
        else:
            add("domain = %s", query.domain)
    if query.rule is not None:
        names = decided.index.description.rule_names["recommended"]
        add("rules >> %s & 1 = 1", names.index(query.rule))
    if query.shard is not None:
        add("shard = %s", query.shard)
    return " AND ".join(conditions), values


def _find_page(connection: psycopg.Connection[Any], decided: Decided, query: Query, sort: Sort) -> list[int]:
    conditions, values = _list_conditions(decided, query)
    order = (
        f"{sort.column} {'DESC' if sort.is_descending else 'ASC'} NULLS LAST, position" if sort.column else "position"
    )
    found = _ask(
        connection,
        f"SELECT position, doc_id, url FROM decisions WHERE {conditions} ORDER BY {order} LIMIT {_PAGE_ROWS}",
        values,
    )
    return [row[0] for row in found]


def _count_facets(connection: psycopg.Connection[Any], decided: Decided, query: Query) -> int:
    """What `Decided.facets` counts, in three statements: by codes, by domain, by shard. The first gives reasons, bands and rules."""
    conditions, values = _list_conditions(decided, query)
    grouped = _ask(
        connection,
        f"""
        SELECT kept, failed, missing, decided_by, bands, rules, count(*), sum(tokens) FROM decisions WHERE {conditions}
        GROUP BY GROUPING SETS ((kept, failed, missing, decided_by), (bands), (rules))
        """,
        values,
    )
    _ask(
        connection,
        f"SELECT domain, count(*) FROM decisions WHERE {conditions} GROUP BY domain ORDER BY 2 DESC LIMIT 51",
        values,
    )
    _ask(connection, f"SELECT shard, count(*) FROM decisions WHERE {conditions} GROUP BY shard", values)
    return sum(row[6] for row in grouped if row[0] is not None)


# The default profile with another lexical bound; the bits of the other stages stay what they were.
_FAILED = "CASE WHEN p95_aoa <= %(cut)s AND oov_ratio <= 0.05 THEN failed & ~1 ELSE failed | 1 END"


def _count_funnel(connection: psycopg.Connection[Any], cut: float) -> None:
    connection.execute(
        f"SELECT {_FAILED} AS bits, missing, count(*), sum(tokens) FROM decisions WHERE failed & 32 = 0 GROUP BY bits, missing",  # type: ignore[arg-type]
        {"cut": cut},
    ).fetchall()


def _update(connection: psycopg.Connection[Any], cut: float) -> None:
    """Every decision that the new bound changes is written."""
    connection.execute(
        f"""
        UPDATE decisions SET failed = bits,
            kept = CASE WHEN bits <> 0 THEN 0 WHEN decisions.missing <> 0 THEN -1 ELSE 1 END,
            decided_by = CASE WHEN bits = 0 THEN -1 ELSE round(log(2, (bits & -bits)::numeric))::smallint END
        FROM (SELECT position AS place, {_FAILED} AS bits FROM decisions WHERE failed & 32 = 0) AS wanted
        WHERE position = place AND failed <> bits
        """,  # type: ignore[arg-type]
        {"cut": cut},
    )
