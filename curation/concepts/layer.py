"""The ledger's layer of a catalogue version, `concepts-VERSION-HASH`: which concepts every row mentions, how often, where first.

A part names its concepts, so a layer is readable without its catalogue; the catalogue lies beside it all the same, in
`ledger/catalogues/LAYER.yaml`. Measuring with a newer version touches neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.concepts.catalogue import Catalogue, dump_catalogue, parse_catalogue
from curation.concepts.match import Hits
from curation.errors import LedgerError
from curation.ledger.schema import Layer
from curation.ledger.store import Ledger
from curation.publish import publish_bytes

CATALOGUES = "catalogues"

# Ordered by row, then by concept as the catalogue has them. A row without a concept is not there.
CONCEPTS_SCHEMA = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("concept", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("count", pa.int32(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),  # of the first hit, in characters of the normalised text
        pa.field("end", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True)
class RecordedCatalogue:
    """A catalogue that a ledger was measured with. `slices_measured` of `slices`: whether the layer is whole."""

    layer: Layer
    catalogue: Catalogue
    slices_measured: int
    slices: int

    @property
    def is_whole(self) -> bool:
        return self.slices_measured == self.slices


def name_concepts_layer(catalogue: Catalogue) -> Layer:
    return f"concepts-{catalogue.version}-{catalogue.sha256[:12]}"


def record_catalogue(ledger: Ledger, catalogue: Catalogue) -> None:
    """Keep the catalogue beside its layer; once."""
    publish_bytes(_catalogue_path(ledger, name_concepts_layer(catalogue)), dump_catalogue(catalogue))


def list_recorded(ledger: Ledger) -> list[RecordedCatalogue]:
    """Every catalogue that the ledger was measured with, whole or not, by version and then by hash."""
    slices = [ref.id for ref in ledger.slices()]
    found = []
    for path in (ledger.folder / CATALOGUES).glob("concepts-*.yaml"):
        catalogue = parse_catalogue(path.read_bytes(), str(path))
        measured = sum(ledger.is_committed(path.stem, slice_id) for slice_id in slices)
        found.append(RecordedCatalogue(path.stem, catalogue, measured, len(slices)))
    return sorted(found, key=lambda recorded: (recorded.catalogue.version, recorded.layer))


def choose_base(recorded: Sequence[RecordedCatalogue], catalogue: Catalogue) -> RecordedCatalogue | None:
    """The measured catalogue that knows most of what `catalogue` asks: what its layer holds need not be looked for again.

    None where none knows anything, or only what an older matcher found.
    """
    wanted = {concept.matching_sha256 for concept in catalogue.concepts}

    def count_known(base: RecordedCatalogue) -> int:
        return len(wanted & {concept.matching_sha256 for concept in base.catalogue.concepts})

    usable = [
        base
        for base in recorded
        if base.slices_measured and base.catalogue != catalogue and name_concepts_layer(base.catalogue) == base.layer
    ]
    best = max(usable, key=count_known, default=None)
    return best if best is not None and count_known(best) else None


def build_layer(catalogue: Catalogue, rows: npt.NDArray[np.int64], hits: Sequence[Hits]) -> pa.Table:
    """CONCEPTS_SCHEMA from the hits of consecutive batches of texts. `rows`: the row of every text; `hits[i].concepts` are
    indices into the catalogue, `texts` into `rows`."""
    texts = np.concatenate([batch.texts for batch in hits] or [np.zeros(0, np.int64)])
    concepts = np.concatenate([batch.concepts for batch in hits] or [np.zeros(0, np.int64)])
    starts = np.concatenate([batch.starts for batch in hits] or [np.zeros(0, np.int64)])
    ends = np.concatenate([batch.ends for batch in hits] or [np.zeros(0, np.int64)])
    order = np.lexsort((starts, concepts, texts))
    keys = texts[order] * len(catalogue.concepts) + concepts[order]
    _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    chosen = order[firsts]
    return _make_table(catalogue, rows[texts[chosen]], concepts[chosen], counts, starts[chosen], ends[chosen])


def join_layers(catalogue: Catalogue, measured: pa.Table, base: pa.Table, base_catalogue: Catalogue) -> pa.Table:
    """`measured`, and of `base` the rows of those concepts that find in `catalogue` what they found in `base_catalogue`."""
    ids = {concept.matching_sha256: index for index, concept in enumerate(catalogue.concepts)}
    numbers = {concept.id: ids.get(concept.matching_sha256, -1) for concept in base_catalogue.concepts}
    known = base["concept"].combine_chunks()
    translate = np.array([numbers.get(name, -1) for name in known.dictionary.to_pylist()], np.int64)
    copied = translate[known.indices.to_numpy()] if len(known) else np.zeros(0, np.int64)
    is_copied = copied >= 0
    mine = index_concepts(catalogue, measured)
    concepts = np.concatenate([mine, copied[is_copied]])
    columns = {
        name: np.concatenate([measured[name].to_numpy(), base[name].to_numpy()[is_copied]])
        for name in ("row", "count", "start", "end")
    }
    order = np.lexsort((concepts, columns["row"]))
    return _make_table(
        catalogue, columns["row"][order], concepts[order], *(columns[name][order] for name in ("count", "start", "end"))
    )


def read_concepts(ledger: Ledger, slice_id: str, catalogue: Catalogue) -> pa.Table:
    """CONCEPTS_SCHEMA of a slice. Raises LedgerError where it was not measured with this catalogue."""
    layer = name_concepts_layer(catalogue)
    if not ledger.is_committed(layer, slice_id):
        raise LedgerError(
            f"Slice {slice_id} was not measured with the concepts {catalogue.label}.",
            hint="Measure them first: `primer concepts measure DIR`.",
        )
    return ledger.read_part(layer, slice_id)


def index_concepts(catalogue: Catalogue, table: pa.Table) -> npt.NDArray[np.int64]:
    """The concepts of a layer's rows as indices into the catalogue that it was measured with."""
    numbers = {concept.id: index for index, concept in enumerate(catalogue.concepts)}
    column = table["concept"].combine_chunks()
    if not len(column):
        return np.zeros(0, np.int64)
    translate = np.array([numbers[name] for name in column.dictionary.to_pylist()], np.int64)
    return translate[column.indices.to_numpy()]  # type: ignore[no-any-return]


def _make_table(
    catalogue: Catalogue,
    rows: npt.NDArray[np.int64],
    concepts: npt.NDArray[np.int64],
    counts: npt.NDArray[np.integer],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> pa.Table:
    used = np.unique(concepts)
    names = pa.array([catalogue.concepts[index].id for index in used.tolist()], pa.string())
    indices = pa.array(np.searchsorted(used, concepts), pa.int32())
    return pa.table(
        [
            pa.array(rows, pa.int64()),
            pa.DictionaryArray.from_arrays(indices, names),
            pa.array(counts, pa.int32()),
            pa.array(starts, pa.int64()),
            pa.array(ends, pa.int64()),
        ],
        schema=CONCEPTS_SCHEMA,
    )


def _catalogue_path(ledger: Ledger, layer: Layer) -> Path:
    return ledger.folder / CATALOGUES / f"{layer}.yaml"
