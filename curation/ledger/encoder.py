"""The encoder's layers of a slice, `encoder`, `encoder-2` and so on, read as one.

Every generation has a row for each of the slice's; a later one only fills what earlier ones left null.
"""

from __future__ import annotations

from itertools import count

import pyarrow as pa
import pyarrow.compute as pc

from curation.ledger.schema import ENCODER_SCHEMA, Layer
from curation.ledger.store import Ledger

_WINDOW = ("window", "window_start", "window_end", "is_sampled")


def name_encoder_layer(generation: int) -> Layer:
    """Generations count from 1."""
    return "encoder" if generation == 1 else f"encoder-{generation}"


def list_encoder_layers(ledger: Ledger, slice_id: str) -> list[Layer]:
    """The committed generations, the first first."""
    layers: list[Layer] = []
    for generation in count(1):
        layer = name_encoder_layer(generation)
        if not ledger.is_committed(layer, slice_id):
            break
        layers.append(layer)
    return layers


def read_encoder(ledger: Ledger, slice_id: str) -> pa.Table | None:
    """ENCODER_SCHEMA, one row a row of the slice; None where no generation is committed."""
    merged: pa.Table | None = None
    for layer in list_encoder_layers(ledger, slice_id):
        part = ledger.read_part(layer, slice_id)
        merged = part if merged is None else _fill_nulls(merged, part)
    return merged


def _fill_nulls(earlier: pa.Table, later: pa.Table) -> pa.Table:
    columns = {name: earlier[name] for name in ENCODER_SCHEMA.names}
    for reading, names in (("window", _WINDOW), ("published", ("published",))):
        is_scored = pc.is_valid(earlier[reading])
        for name in names:
            columns[name] = pc.if_else(is_scored, earlier[name], later[name])
    return pa.table(columns, schema=ENCODER_SCHEMA)
