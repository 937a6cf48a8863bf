"""Loading an export as a trainer does, through the `datasets` library, and counting what arrives."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from curation.errors import ExportError
from curation.export.request import CONTROL, CURRICULUM


def load_back(
    folder: Path, configs: Iterable[str] = (CURRICULUM, CONTROL), *, cache: Path | None = None
) -> dict[str, dict[str, int]]:
    """Rows by config and split. `cache`: where `datasets` puts its copy, as large as the export uncompressed; None is a
    temporary folder that is removed. Raises ExportError when the library cannot load a config.

    The library loads a split without rows only as a stream (huggingface/datasets#8401): such a config is streamed.
    """
    with tempfile.TemporaryDirectory(prefix="primer-load-") as temporary:
        return {config: _load_config(folder, config, cache or Path(temporary)) for config in configs}


def _load_config(folder: Path, config: str, cache: Path) -> dict[str, int]:
    # Imported here: it takes seconds, and only verification needs it.
    from datasets import disable_progress_bars, load_dataset
    from datasets.exceptions import DatasetsError

    disable_progress_bars()
    try:
        streams = load_dataset(str(folder), config, cache_dir=str(cache), streaming=True)
        if all(next(iter(stream), None) is None for stream in streams.values()):
            return {str(split): 0 for split in streams}
        loaded = load_dataset(str(folder), config, cache_dir=str(cache))
        return {str(split): int(part.num_rows) for split, part in loaded.items()}
    except (DatasetsError, pa.ArrowException, ValueError, FileNotFoundError) as error:
        raise ExportError(
            f"The datasets library cannot load config {config} ({error}).", hint="Export again into a new folder."
        ) from error
