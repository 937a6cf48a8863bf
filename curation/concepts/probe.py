"""The leak probe: the whole concept bank against texts that are meant to be free of it, counted and shown in context.

Every document is read, so the share is that of these documents; the interval is about others made the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.concepts.catalogue import Catalogue
from curation.concepts.compile import compile_catalogue
from curation.concepts.concordance import DEFAULT_CONTEXT_CHARS, ConceptLine, make_line
from curation.concepts.interval import find_interval
from curation.concepts.match import find_concepts
from curation.errors import ExportError
from curation.export.manifest import list_files, read_manifest
from curation.export.request import CURRICULUM, ExportedFile
from curation.normalize import normalize
from curation.shards.rows import decode_strings

# arXiv 2608.13545: of 126 n-grams of grade 6 and above, this share of the published corpus' passages holds one. Another list over
# other passages: it stands beside our share, it is no bound for it.
PUBLISHED_NGRAMS = 126
PUBLISHED_SHARE = 0.0009

DEFAULT_LINES = 5  # of each concept
_BATCH_ROWS = 1024


@dataclass(frozen=True)
class ProbedText:
    """A document and where it is from."""

    text: str
    url: str | None
    shard: str
    row: int


@dataclass(frozen=True)
class ConceptLeaks:
    """Of one concept: documents that mention it, hits in all, and the first few in context."""

    documents: int
    hits: int
    lines: tuple[ConceptLine, ...]


@dataclass(frozen=True)
class ProbeReport:
    """`leaking`: documents that mention any concept; `interval`: exact, 95 %. `concepts`: those that were found, most documents first."""

    catalogue: str
    catalogue_version: int
    catalogue_sha256: str
    documents: int
    leaking: int
    interval: tuple[float, float]
    concepts: dict[str, ConceptLeaks]

    @property
    def share(self) -> float:
        return self.leaking / self.documents if self.documents else 0.0

    def exceeds(self, max_share: float) -> bool:
        """Whether the share itself is above. Its interval plays no part: these documents were all read."""
        return self.share > max_share

    def to_json(self) -> dict[str, object]:
        return {
            **asdict(self),
            "share": self.share,
            "published": {"ngrams": PUBLISHED_NGRAMS, "share": PUBLISHED_SHARE},
        }


def probe_texts(
    catalogue: Catalogue,
    batches: Iterable[Sequence[ProbedText]],
    *,
    max_lines: int = DEFAULT_LINES,
    context_chars: int = DEFAULT_CONTEXT_CHARS,
    checkpoint: Callable[[], None] = lambda: None,
) -> ProbeReport:
    """Count the concepts of raw texts. `max_lines`: of each concept, from as many documents as possible; `checkpoint` is called
    before every batch."""
    compiled = compile_catalogue(catalogue)
    documents = leaking = 0
    found: dict[int, tuple[int, int]] = {}
    lines: dict[int, list[ConceptLine]] = {}
    for batch in batches:
        checkpoint()
        documents += len(batch)
        texts = [normalize(item.text).text for item in batch]
        hits = find_concepts(compiled, texts)
        last = (-1, -1)
        for text, concept, start, end in zip(
            hits.texts.tolist(), hits.concepts.tolist(), hits.starts.tolist(), hits.ends.tolist(), strict=True
        ):
            leaking += text != last[0]
            is_first = (text, concept) != last
            last = (text, concept)
            of_concept = found.get(concept, (0, 0))
            found[concept] = (of_concept[0] + is_first, of_concept[1] + 1)
            shown = lines.setdefault(concept, [])
            if is_first and len(shown) < max_lines:
                item = batch[text]
                shown.append(
                    make_line(
                        compiled.concepts[concept].id,
                        texts[text],
                        (start, end),
                        url=item.url,
                        shard=item.shard,
                        row=item.row,
                        context_chars=context_chars,
                    )
                )
    order = sorted(found, key=lambda concept: (-found[concept][0], concept))
    return ProbeReport(
        catalogue=catalogue.label,
        catalogue_version=catalogue.version,
        catalogue_sha256=catalogue.sha256,
        documents=documents,
        leaking=leaking,
        interval=find_interval(leaking, documents),
        concepts={compiled.concepts[i].id: ConceptLeaks(*found[i], tuple(lines[i])) for i in order},
    )


def probe_export(
    folder: Path,
    catalogue: Catalogue,
    *,
    max_lines: int = DEFAULT_LINES,
    checkpoint: Callable[[], None] = lambda: None,
) -> ProbeReport:
    """Probe the curriculum of a finished export. Raises ExportError where there is none, or a file is missing or damaged."""
    manifest = read_manifest(folder)
    if CURRICULUM not in manifest["totals"]:
        raise ExportError(f"{folder} holds a control alone.", hint="Probe an export with a curriculum, or a run.")
    text_field = manifest["recipe"]["content"]["text_field"]
    return probe_files(folder, list_files(manifest), text_field, catalogue, max_lines=max_lines, checkpoint=checkpoint)


def probe_files(
    folder: Path,
    files: Sequence[ExportedFile],
    text_field: str,
    catalogue: Catalogue,
    *,
    max_lines: int = DEFAULT_LINES,
    checkpoint: Callable[[], None] = lambda: None,
) -> ProbeReport:
    """Probe the curriculum's files of an export, finished or still being built."""
    wanted = [file for file in files if file.config == CURRICULUM]
    return probe_texts(catalogue, _read_files(folder, wanted, text_field), max_lines=max_lines, checkpoint=checkpoint)


def _read_files(folder: Path, files: Sequence[ExportedFile], text_field: str) -> Iterator[list[ProbedText]]:
    for file in files:
        try:
            parquet = pq.ParquetFile(folder / file.path)
            names = set(parquet.schema_arrow.names)
            columns = [name for name in (text_field, "url", "primer_shard", "primer_row") if name in names]
            for batch in parquet.iter_batches(batch_size=_BATCH_ROWS, columns=columns, use_threads=False):
                urls = decode_strings(batch.column("url")) if "url" in columns else [None] * batch.num_rows
                yield [
                    ProbedText(str(text), url if isinstance(url, str) else None, shard, row)
                    for text, url, shard, row in zip(
                        decode_strings(batch.column(text_field)),
                        urls,
                        batch.column("primer_shard").to_pylist(),
                        batch.column("primer_row").to_pylist(),
                        strict=True,
                    )
                ]
        except (pa.ArrowException, OSError, KeyError) as error:
            raise ExportError(
                f"{folder / file.path} is missing or damaged ({error}).", hint=f"Delete {folder} and export again."
            ) from error
