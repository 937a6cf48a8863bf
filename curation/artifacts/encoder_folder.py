"""What an encoder artefact is: a folder that is recognised by its files, bundled (ONNX) or as published (safetensors).

Files and their hash only; loading and scoring live in `curation.signals.encoder_grade`.
"""

from __future__ import annotations

from pathlib import Path

from curation.errors import ArtifactError

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
ONNX_MODEL = "model.onnx"
TORCH_MODEL = "model.safetensors"


def find_encoder_folders(folder: Path) -> list[Path]:
    """`folder` itself and those just below it that hold a configuration and a model, in order of their names."""
    return [
        path
        for path in (folder, *sorted(path for path in folder.iterdir() if path.is_dir()))
        if (path / CONFIG).is_file() and any((path / model).is_file() for model in (ONNX_MODEL, TORCH_MODEL))
    ]


def list_encoder_files(folder: Path) -> list[Path]:
    """The files that scores depend on, the model last. Where both kinds of model lie, the ONNX one is it.

    Raises ArtifactError that names what is missing.
    """
    if not folder.is_dir():
        raise ArtifactError(f"There is no encoder folder {folder}.", hint="See `primer artifacts list`.")
    model = TORCH_MODEL if (folder / TORCH_MODEL).is_file() and not (folder / ONNX_MODEL).is_file() else ONNX_MODEL
    files = [folder / name for name in (CONFIG, TOKENIZER, model)]
    if missing := [path.name for path in files if not path.is_file()]:
        raise ArtifactError(
            f"The encoder folder {folder} lacks {', '.join(missing)}.",
            hint=f"An encoder is {CONFIG}, {TOKENIZER} and {ONNX_MODEL} or {TORCH_MODEL}.",
        )
    return files
