"""Loading an export as a trainer does, through the `datasets` library, and counting what arrives."""

from __future__ import annotations

import tempfile
from pathlib import Path

from curation.errors import ExportError
from curation.export.request import CONTROL, CURRICULUM


def load_back(folder: Path, *, cache: Path | None = None) -> dict[str, dict[str, int]]:
    """Rows by config and split. `cache`: where `datasets` puts its copy, as large as the export uncompressed; None is a
    temporary folder that is removed. Raises ExportError when the library cannot load a config."""
    # Imported here: it takes seconds, and only verification needs it.
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    rows: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="primer-load-") as temporary:
        for config in (CURRICULUM, CONTROL):
            try:
                loaded = load_dataset(str(folder), config, cache_dir=str(cache or temporary))
            except (DatasetsError, ValueError, FileNotFoundError) as error:
                raise ExportError(
                    f"The datasets library cannot load config {config} ({error}).",
                    hint="Export again into a new folder.",
                ) from error
            rows[config] = {str(split): int(part.num_rows) for split, part in loaded.items()}
            del loaded
    return rows
