"""An encoder of the published layout (config.json, model.safetensors, tokenizer.json), run by PyTorch.

Scores logits of ready-made batches; fp32 on a CPU, bfloat16 on CUDA. Needs the extra `gpu`, imported here alone.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.errors import ArtifactError

_CPU_BATCH_TOKENS = 512
_CUDA_BATCH_TOKENS = 1 << 16


class TorchScorer:
    """Raises ArtifactError when PyTorch or its device is missing, or the folder holds no whole classifier."""

    def __init__(self, folder: Path, device: str) -> None:
        try:
            self._torch: Any = import_module("torch")
            transformers: Any = import_module("transformers")
        except ImportError as error:
            raise ArtifactError(
                f"{folder} holds an encoder of PyTorch, which is not installed.",
                hint="Install it: pip install 'primer-curation[gpu]'.",
            ) from error
        if device == "cuda" and not self._torch.cuda.is_available():
            raise ArtifactError(
                "The encoder was asked to run on CUDA, and PyTorch finds none.", hint="Unset PRIMER_ENCODER_DEVICE."
            )
        self.batch_tokens = _CUDA_BATCH_TOKENS if device == "cuda" else _CPU_BATCH_TOKENS
        self._device = device
        if device == "cpu":
            self._torch.set_num_threads(1)
        try:
            model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(
                folder,
                dtype=self._torch.bfloat16 if device == "cuda" else self._torch.float32,
                local_files_only=True,
                use_safetensors=True,
                output_loading_info=True,
            )
        except (OSError, ValueError, KeyError, RuntimeError, import_module("safetensors").SafetensorError) as error:
            raise ArtifactError(f"{folder} is not a readable encoder: {error}.") from error
        # What the file lacks would be drawn at random, and scores would mean nothing.
        if missing := sorted(loading["missing_keys"]):
            raise ArtifactError(
                f"{folder} lacks the weights {', '.join(missing[:3])}.", hint="Fetch the artefacts again."
            )
        self._model = model.to(device).eval()

    def score(self, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        torch = self._torch
        with torch.inference_mode():
            logits = self._model(
                input_ids=torch.from_numpy(ids).to(self._device), attention_mask=torch.from_numpy(mask).to(self._device)
            ).logits
        return np.asarray(logits.float().cpu().numpy(), np.float32)
