"""What the vocabulary excludes, and whether that is right: asked of a decision set over a run's index.

    table = audit_terms(decided)                                   # every word with what it costs; list_terms cuts and sorts it
    ConcordanceReader(folder).read(decided, ConcordanceQuery("cell", sort="right"))
    find_related(decided, "cell")                                  # forms that a ruling on the word does not reach
    preview_impact(decided, version)                               # documents in and out before a version is saved
    preview_sampling(decided, VocabularySampling(halving=1.0, seed=0))
    diff_versions(old, new), make_next_version(parent, content, ...), revert_version(current, wanted, ...)
    export_csv(version), import_csv(content, name=...)

A version with sense rules: `curation.sense_layer.measure_senses` measures them, `curation.index.senses.add_senses` tells an index.
"""

from curation.vocabulary_audit.concordance import Concordance, ConcordanceQuery, ConcordanceReader, Line
from curation.vocabulary_audit.csv_file import export_csv, import_csv
from curation.vocabulary_audit.impact import Example, Impact, decide_vocabulary, preview_impact
from curation.vocabulary_audit.related import RelatedForm, find_related
from curation.vocabulary_audit.sampling import SamplingPreview, ScoreBand, preview_sampling
from curation.vocabulary_audit.term_list import (
    TermKey,
    TermPage,
    TermQuery,
    TermRow,
    WordCounts,
    list_terms,
    read_word_counts,
)
from curation.vocabulary_audit.term_table import Losses, TermColumns, TermTable, audit_terms
from curation.vocabulary_audit.version_diff import (
    VocabularyDiff,
    WordChange,
    diff_versions,
    make_next_version,
    revert_version,
)

__all__ = [
    "Concordance",
    "ConcordanceQuery",
    "ConcordanceReader",
    "Example",
    "Impact",
    "Line",
    "Losses",
    "RelatedForm",
    "SamplingPreview",
    "ScoreBand",
    "TermColumns",
    "TermKey",
    "TermPage",
    "TermQuery",
    "TermRow",
    "TermTable",
    "VocabularyDiff",
    "WordChange",
    "WordCounts",
    "audit_terms",
    "decide_vocabulary",
    "diff_versions",
    "export_csv",
    "find_related",
    "import_csv",
    "list_terms",
    "make_next_version",
    "preview_impact",
    "preview_sampling",
    "read_word_counts",
    "revert_version",
]
