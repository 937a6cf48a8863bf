"""The index of a run: its signals as memory-mapped columns, and any decision set over them in well under a second.

Signals are facts, so one index serves every profile, vocabulary version, ruling and source rule: `decide` computes them by
`curation.decide.decide` itself. An index is disposable: it is named by what it was built from and Parquet is the truth.

    path = build_index(RunFolder(folder), indexes)        # find_index(...) says whether it is there already
    index = open_index(path)                              # memory-mapped; threads may share it
    decided = index.decide(DecisionRequest.of(open_decision_set(RunFolder(folder))))
    page = decided.page(Query(outcome="excluded", excluded_by="notation"), Sort(column="p95_aoa"), limit=50)
    index.describe_rows(page.positions)                   # shard, row, doc_id and url of each
    decided.facets(query), decided.histogram("p95_aoa", bins=40), decided.count_flips(other), decided.find_flips(other)
    decided.what_if(other)                                # curation.compare.Comparison, as `primer decide` reports it
    DocumentReader(RunFolder(folder), index).read(decided, position)     # one document with text, evidence and distances
"""

from curation.index.build import BuildProgress, build_index, find_index, find_named_index, name_index, sweep_indexes
from curation.index.decided import Decided, Selection
from curation.index.documents import Distance, Document, DocumentReader
from curation.index.facets import Facets
from curation.index.histogram import Histogram
from curation.index.paging import Page
from curation.index.query import COLUMNS, READINGS, BandCondition, PageKey, Query, Range, Sort
from curation.index.request import DecisionRequest
from curation.index.signal_index import RowAddress, SignalIndex, open_index

__all__ = [
    "COLUMNS",
    "READINGS",
    "BandCondition",
    "BuildProgress",
    "Decided",
    "DecisionRequest",
    "Distance",
    "Document",
    "DocumentReader",
    "Facets",
    "Histogram",
    "Page",
    "PageKey",
    "Query",
    "Range",
    "RowAddress",
    "Selection",
    "SignalIndex",
    "Sort",
    "build_index",
    "find_index",
    "find_named_index",
    "name_index",
    "open_index",
    "sweep_indexes",
]
