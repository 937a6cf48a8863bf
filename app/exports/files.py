"""The files of a finished export: only what its manifest lists, so that no path leads anywhere else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.export.card import list_configs
from curation.export.manifest import CARD, MANIFEST, list_files, read_manifest
from primer.app.core.errors import NotFound

# What is said of an export; the whole manifest is among its files.
_LEFT_OUT = ("files", "inputs", "card", "recipe")


@dataclass(frozen=True)
class FileEntry:
    """`path` is relative, with slashes. `config` and what follows are None for the card and the manifest."""

    path: str
    size_bytes: int
    sha256: str
    config: str | None = None
    split: str | None = None
    rows: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Contents:
    """A finished export, read from its folder."""

    folder: Path
    manifest: dict[str, Any]
    files: tuple[FileEntry, ...]

    @property
    def summary(self) -> dict[str, Any]:
        summary = {key: value for key, value in self.manifest.items() if key not in _LEFT_OUT}
        return summary | {"recipe_sha256": self.manifest["recipe"]["sha256"], "inputs": len(self.manifest["inputs"])}

    @property
    def card(self) -> str:
        return (self.folder / CARD).read_text(encoding="utf-8")

    def require_file(self, path: str) -> FileEntry:
        """Raises NotFound for everything that is not listed."""
        found = next((entry for entry in self.files if entry.path == path), None)
        if found is None:
            raise NotFound("The export has no such file.", hint="See the list of its files.")
        return found

    def write_loading_lines(self, place: str, revision: str | None = None) -> list[str]:
        """Python that loads every config with the `datasets` library from a folder, or from a repository at a commit."""
        at = f", revision={revision!r}" if revision is not None else ""
        configs = list_configs(self.manifest)
        return [
            "from datasets import load_dataset",
            *(f"{config} = load_dataset({place!r}, {config!r}{at})" for config in configs),
        ]

    def write_checksums(self) -> str:
        """Lines that `sha256sum -c` reads."""
        return "".join(f"{entry.sha256}  {entry.path}\n" for entry in self.files)


def read_contents(folder: Path) -> Contents:
    """Raises ExportError when the folder is gone or its manifest was changed."""
    manifest = read_manifest(folder)
    described = (folder / MANIFEST).read_bytes()
    card = manifest["card"]
    files = (
        *(
            FileEntry(file.path, file.size_bytes, file.sha256, file.config, file.split, file.rows, file.tokens)
            for file in list_files(manifest)
        ),
        FileEntry(card["path"], card["size_bytes"], card["sha256"]),
        FileEntry(MANIFEST, len(described), hashlib.sha256(described).hexdigest()),
    )
    return Contents(folder, manifest, files)
