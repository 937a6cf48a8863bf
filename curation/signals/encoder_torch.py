"""An encoder of the published layout (config.json, model.safetensors, tokenizer.json), run by PyTorch.

Scores logits: on a CPU of ready-made batches in fp32, on CUDA of any number of windows in bfloat16, or one by one in fp32.
Needs the extra `gpu`, imported here and in what this module imports alone.
"""

from __future__ import annotations

import copy
import multiprocessing
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.errors import ArtifactError

_CPU_BATCH_TOKENS = 512
_CUDA_BATCH_TOKENS = 1 << 16
_LENGTH_STEP = 64  # of padded batches on CUDA

Ids = npt.NDArray[np.int32]
Logits = npt.NDArray[np.float32]


class TorchScorer:
    """On the CPU, one thread. Raises ArtifactError when PyTorch is missing, or the folder holds no whole classifier."""

    def __init__(self, folder: Path) -> None:
        self._torch, model = _load_classifier(folder)
        self._torch.set_num_threads(1)
        self.batch_tokens = _CPU_BATCH_TOKENS
        self._model = model

    def score(self, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Logits:
        torch = self._torch
        with torch.inference_mode():
            logits = self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).logits
        return np.asarray(logits.numpy(), np.float32)


class CudaScorer:
    """On one GPU: the only one, or this worker process's share of them (processes take turns in the order they started).

    A ModernBERT runs packed (`encoder_packed`), any other classifier in padded batches of one length. Raises
    ArtifactError as TorchScorer does, and where there is no GPU.
    """

    def __init__(self, folder: Path, *, max_tokens: int) -> None:
        self._torch, model = _load_classifier(folder)
        torch = self._torch
        if not torch.cuda.is_available():
            raise ArtifactError(
                "The encoder was asked to run on CUDA, and PyTorch finds none.", hint="Unset PRIMER_ENCODER_DEVICE."
            )
        self.gpu = choose_gpu(torch.cuda.device_count())
        with torch.cuda.device(self.gpu):
            self._exact, self._fast = _place_model(torch, model, self.gpu, max_tokens)

    def score_pool(self, windows: Sequence[Ids]) -> Logits:
        with self._torch.cuda.device(self.gpu):
            return self._fast.score(windows)  # type: ignore[no-any-return]

    def score_alone(self, windows: Sequence[Ids]) -> Logits:
        torch = self._torch
        with torch.inference_mode(), torch.cuda.device(self.gpu):
            found = [self._exact(torch.from_numpy(window).to("cuda", non_blocking=True)) for window in windows]
            return np.asarray(torch.stack(found).cpu().numpy(), np.float32)


class _PaddedModel:
    """Any classifier of transformers in bfloat16, in padded batches of one length each, always as many rows."""

    def __init__(self, torch: Any, model: Any, max_tokens: int) -> None:
        self._torch, self._model, self._max_tokens = torch, model, max_tokens
        self._pad: int = model.config.pad_token_id or 0

    def score(self, windows: Sequence[Ids]) -> Logits:
        torch = self._torch
        by_length: dict[int, list[int]] = {}
        for place, window in enumerate(windows):
            padded = -(-len(window) // _LENGTH_STEP) * _LENGTH_STEP
            by_length.setdefault(min(padded, self._max_tokens), []).append(place)
        places: list[int] = []
        logits = []
        with torch.inference_mode():
            for length, owned in sorted(by_length.items()):
                row_count = max(1, _CUDA_BATCH_TOKENS // length)
                for first in range(0, len(owned), row_count):
                    chosen = owned[first : first + row_count]
                    logits.append(self._score_batch([windows[place] for place in chosen], row_count, length))
                    places.extend(chosen)
            found = np.empty((len(windows), self._model.config.num_labels), np.float32)
            if logits:
                found[places] = torch.cat(logits).float().cpu().numpy()
        return found

    def _score_batch(self, windows: Sequence[Ids], row_count: int, length: int) -> Any:
        torch = self._torch
        ids = np.full((row_count, length), self._pad, np.int64)
        mask = np.zeros((row_count, length), np.int64)
        mask[len(windows) :, 0] = 1  # a row without a token would divide by nothing
        for row, window in enumerate(windows):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        copies = [torch.from_numpy(values).pin_memory().to("cuda", non_blocking=True) for values in (ids, mask)]
        return self._model(input_ids=copies[0], attention_mask=copies[1]).logits[: len(windows)]


def choose_gpu(gpu_count: int) -> int:
    """The GPU of this process: worker processes take turns by the number multiprocessing gave them, any other the first."""
    numbers: tuple[int, ...] = getattr(multiprocessing.current_process(), "_identity", ())
    return (numbers[-1] - 1) % gpu_count if numbers else 0


def _place_model(torch: Any, model: Any, gpu: int, max_tokens: int) -> tuple[Any, Any]:
    """A function from one window's ids to its logits in fp32, and something that scores many in bfloat16."""
    modernbert: Any = import_module("curation.signals.encoder_modernbert")
    if modernbert.is_supported(model.config):
        place = {"device": f"cuda:{gpu}", "max_tokens": max_tokens}
        state = model.state_dict()
        exact = modernbert.ModernBert(model.config, state, dtype=torch.float32, **place)
        fast = modernbert.ModernBert(model.config, state, dtype=torch.bfloat16, **place)
        packed: Any = import_module("curation.signals.encoder_packed")
        return exact.score_alone, packed.PackedModernBert(fast)
    fast = copy.deepcopy(model).to(device="cuda", dtype=torch.bfloat16)
    exact = model.to("cuda")
    return lambda ids: exact(input_ids=ids[None].long()).logits[0], _PaddedModel(torch, fast, max_tokens)


def _load_classifier(folder: Path) -> tuple[Any, Any]:
    try:
        torch: Any = import_module("torch")
        transformers: Any = import_module("transformers")
    except ImportError as error:
        raise ArtifactError(
            f"{folder} holds an encoder of PyTorch, which is not installed.",
            hint="Install it: pip install 'primer-curation[gpu]'.",
        ) from error
    try:
        model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, import_module("safetensors").SafetensorError) as error:
        raise ArtifactError(f"{folder} is not a readable encoder: {error}.") from error
    # What the file lacks would be drawn at random, and scores would mean nothing.
    if missing := sorted(loading["missing_keys"]):
        raise ArtifactError(f"{folder} lacks the weights {', '.join(missing[:3])}.", hint="Fetch the artefacts again.")
    return torch, model.eval()
