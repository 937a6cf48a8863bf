"""Columns of the ledger's layers. A change here is a new LEDGER_SCHEMA in `curation.recipe`; old ledgers stay readable.

`X_normalized` is null where normalisation changed nothing that signal X reads: then `X_raw` holds for both. Where a
row has an `error` nothing was measured and every signal is null.
"""

from __future__ import annotations

import pyarrow as pa

from curation.normalize import CHANGES
from curation.signals.lexical import LEXICAL_TYPE
from curation.signals.vocabulary import VOCABULARY_TYPE

# core, postings, encoder, and encoder-2, encoder-3 …: rows that were scored later.
Layer = str

GRADES_TYPE = pa.list_(pa.float32(), 4)

HIT_TYPE = pa.struct([("rule", pa.string()), ("start", pa.int64()), ("end", pa.int64())])
NOTATION_TYPE = pa.struct([("published", pa.list_(HIT_TYPE)), ("recommended", pa.list_(HIT_TYPE))])
CHANGES_TYPE = pa.struct([(change, pa.int32()) for change in CHANGES])
FASTTEXT_TYPE = pa.struct(
    [
        ("published", GRADES_TYPE),  # the raw text as the published filter sends it
        ("document", GRADES_TYPE),  # the normalised text, whole
        ("window", GRADES_TYPE),  # its hardest window
        ("window_start", pa.int64()),
        ("window_end", pa.int64()),
        ("is_sampled", pa.bool_()),  # more windows than the recipe reads: first, last and a seeded sample were
    ]
)

CORE_SCHEMA = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("doc_id", pa.string()),
        pa.field("url", pa.string()),
        pa.field("token_count", pa.int64()),  # the source's; null where it gives none
        pa.field("n_bytes", pa.int64()),
        pa.field("n_chars", pa.int64()),
        pa.field("n_words", pa.int64()),  # runs between white space
        pa.field("error", pa.string()),
        pa.field("changes", CHANGES_TYPE),  # characters that normalisation touched, by kind; null where none
        pa.field("lexical_raw", LEXICAL_TYPE),
        pa.field("lexical_normalized", LEXICAL_TYPE),
        pa.field("notation_raw", NOTATION_TYPE),
        pa.field("notation_normalized", NOTATION_TYPE),
        pa.field("vocabulary_raw", VOCABULARY_TYPE),
        pa.field("vocabulary_normalized", VOCABULARY_TYPE),
        pa.field("fasttext", FASTTEXT_TYPE),  # null where the recipe has no model
    ]
)

# `form`: which text of the row holds the word this often.
FORM_BOTH, FORM_RAW, FORM_NORMALIZED = 0, 1, 2
POSTINGS_SCHEMA = pa.schema(
    [
        pa.field("word", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("row", pa.int64(), nullable=False),
        pa.field("count", pa.int32(), nullable=False),
        pa.field("form", pa.int8(), nullable=False),
    ]
)

# A reading is null where the row was not scored, and four NaN where it was and the encoder could read nothing.
ENCODER_SCHEMA = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("window", GRADES_TYPE),  # of the hardest window of the normalised text
        pa.field("window_start", pa.int64()),
        pa.field("window_end", pa.int64()),
        pa.field("is_sampled", pa.bool_()),  # more windows than the recipe reads: first, last and a seeded sample were
        pa.field("published", GRADES_TYPE),  # of the raw text, cut short as the published filter cuts it
    ]
)
