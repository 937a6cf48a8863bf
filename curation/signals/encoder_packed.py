"""ModernBERT on CUDA over many windows at once: packed end to end into one row of a fixed size, without padding.

Matrix products see one shape whatever the windows are, and attention keeps to its own window. Invariant: the logits of
a window depend on that window alone, not on the pack it lies in or its place there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]

from curation.errors import ArtifactError
from curation.signals import encoder_kernels as kernels
from curation.signals.encoder_modernbert import Layer, ModernBert

PACK_TOKENS: Final = 1 << 16
PACK_WINDOWS: Final = 1 << 10  # at most: windows of a few tokens each leave the rest of a pack empty

# One program's share of attention, of a normalisation and of a gate: the fastest of those tried on an H200.
_QUERIES, _KEYS = 64, 64
_ROWS = 4
_BLOCK = 1 << 11

Ids = npt.NDArray[np.int32]


class Pack(NamedTuple):
    """One row of windows. `places`: which of the windows given, in the order they lie in. `layout`: all that the device
    needs, int32, in one copy: token ids, positions, the first token of each window and one past its last, the attention
    blocks of every window, then its first ones alone. `block_count`: how many blocks there are of every window."""

    places: list[int]
    layout: Ids
    block_count: int


class _Workspace(NamedTuple):
    normed: torch.Tensor
    inner: torch.Tensor
    gated: torch.Tensor


class PackedModernBert:
    """`model` with workspace for one pack; `device` and precision are the model's. A head is a power of two wide, 32 or more."""

    def __init__(self, model: ModernBert, *, tokens: int = PACK_TOKENS, windows: int = PACK_WINDOWS) -> None:
        self._model = model
        self._tokens, self._windows = tokens, windows

        self._state, self._attended = self._make(tokens, model.width), self._make(tokens, model.width)
        self._mixed = self._make(tokens, 3 * model.width)
        self._workspace = self._make_workspace(tokens)

    def score(self, windows: Sequence[Ids]) -> npt.NDArray[np.float32]:
        """Logits float32 (n, labels) of windows with their special tokens. Packs are copied while earlier ones are computed.

        Raises ArtifactError for an id that the model has no embedding for.
        """
        places: list[int] = []
        logits: list[torch.Tensor] = []
        with torch.inference_mode():
            for pack in build_packs(windows, tokens=self._tokens, most_windows=self._windows):
                if pack.layout[: self._tokens].max() >= len(self._model.embedding):
                    raise ArtifactError("The tokenizer has tokens that the model lacks.", hint="Use the model's own.")
                layout = torch.from_numpy(pack.layout)
                if self._model.device.type == "cuda":
                    layout = layout.pin_memory().to(self._model.device, non_blocking=True)
                logits.append(self._run(layout, pack.block_count)[: len(pack.places)])
                places.extend(pack.places)
            found = np.empty((len(windows), len(self._model.classifier_bias)), np.float32)
            if logits:
                found[places] = torch.cat(logits).float().cpu().numpy()
        return found

    def _run(self, layout: torch.Tensor, block_count: int) -> torch.Tensor:
        tokens, windows = self._tokens, self._windows
        ids, positions, begins, ends, blocks = layout.split(
            [tokens, tokens, windows, windows, len(layout) - 2 * (tokens + windows)]
        )
        all_blocks, first_blocks = blocks[: 3 * block_count], blocks[3 * block_count :]
        model, state = self._model, self._state
        self._normalize(model.embedding, model.embedding_norm, state, ids)
        for layer in model.layers[:-1]:
            self._attend(layer, positions, all_blocks)
            self._finish_layer(layer, state, self._attended, self._workspace)
        if model.pools_first:
            # Nothing but each window's first token is read after this: the last layer goes on with those rows alone.
            self._attend(model.layers[-1], positions, first_blocks)
            pooled = state[begins]
            self._finish_layer(model.layers[-1], pooled, self._attended[begins], self._make_workspace(windows))
            return model.classify(model.normalize(pooled, model.final_norm))
        self._attend(model.layers[-1], positions, all_blocks)
        self._finish_layer(model.layers[-1], state, self._attended, self._workspace)
        normed, pooled = self._workspace.normed, self._make(windows, model.width)
        self._normalize(state, model.final_norm, normed)
        kernels.average_windows[(windows,)](
            normed, begins, ends, pooled, WIDTH=model.width, ROWS=_ROWS, LANES=_fit(model.width)
        )
        return model.classify(pooled)

    def _attend(self, layer: Layer, positions: torch.Tensor, blocks: torch.Tensor) -> None:
        """Attention of `_state` into `_attended`, before its output matrix."""
        model, mixed = self._model, self._mixed
        normed = self._state
        if layer.attention_norm is not None:
            normed = self._workspace.normed
            self._normalize(self._state, layer.attention_norm, normed)
        torch.mm(normed, layer.attention_in.T, out=mixed)
        half = model.width // model.heads // 2
        cosines, sines = model.rotations[layer.is_local]
        shape = {"HEADS": model.heads, "HALF": half}
        if not layer.is_local:  # a local layer reads each key twice or so and turns it while reading
            kernels.rotate_in_place[(self._tokens,)](mixed, positions, cosines, sines, LANES=_fit(model.width), **shape)
        kernels.attend[(model.heads, len(blocks) // 3)](
            mixed,
            blocks,
            cosines,
            sines,
            self._attended,
            math.log2(math.e) / math.sqrt(2 * half),
            REACH=model.reach if layer.is_local else 0,
            IS_TURNED=not layer.is_local,
            QUERIES=_QUERIES,
            KEYS=_KEYS,
            num_stages=2,
            **shape,
        )

    def _finish_layer(self, layer: Layer, state: torch.Tensor, attended: torch.Tensor, workspace: _Workspace) -> None:
        """Everything of a layer after attention, added to `state`."""
        normed, inner, gated = workspace
        state.addmm_(attended, layer.attention_out.T)
        self._normalize(state, layer.mlp_norm, normed)
        torch.mm(normed, layer.mlp_in.T, out=inner)
        kernels.gate_gelu[(triton.cdiv(gated.numel(), _BLOCK),)](
            inner, gated, gated.numel(), WIDTH=self._model.inner_width, BLOCK=_BLOCK
        )
        state.addmm_(gated, layer.mlp_out.T)

    def _normalize(
        self, source: torch.Tensor, weight: torch.Tensor, out: torch.Tensor, ids: torch.Tensor | None = None
    ) -> None:
        kernels.normalize_rows[(triton.cdiv(len(out), _ROWS),)](
            source,
            source if ids is None else ids,
            weight,
            out,
            self._model.epsilon,
            len(out),
            IS_LOOKED_UP=ids is not None,
            WIDTH=self._model.width,
            ROWS=_ROWS,
            LANES=_fit(self._model.width),
        )

    def _make(self, rows: int, width: int) -> torch.Tensor:
        return torch.zeros((rows, width), device=self._model.device, dtype=self._model.dtype)

    def _make_workspace(self, rows: int) -> _Workspace:
        width, inner_width = self._model.width, self._model.inner_width
        return _Workspace(self._make(rows, width), self._make(rows, 2 * inner_width), self._make(rows, inner_width))


def build_packs(windows: Sequence[Ids], *, tokens: int, most_windows: int) -> Iterator[Pack]:
    """Packs of all windows, the longest first, so that a pack's programs take about as long as each other."""
    lengths = np.array([len(window) for window in windows], np.int64)
    chosen: list[int] = []
    used = 0
    for place in np.argsort(-lengths, kind="stable").tolist():
        if used + lengths[place] > tokens or len(chosen) == most_windows:
            yield _build_pack(windows, chosen, tokens, most_windows)
            chosen, used = [], 0
        chosen.append(place)
        used += int(lengths[place])
    if chosen:
        yield _build_pack(windows, chosen, tokens, most_windows)


def _build_pack(windows: Sequence[Ids], places: list[int], tokens: int, most_windows: int) -> Pack:
    lengths = np.array([len(windows[place]) for place in places], np.int32)
    ends = np.cumsum(lengths, dtype=np.int32)
    begins = ends - lengths
    used = int(ends[-1])
    counts = -(-lengths // _QUERIES)
    owners = np.repeat(np.arange(len(places)), counts)
    firsts = (
        begins[owners]
        + (np.arange(len(owners), dtype=np.int32) - np.repeat(np.cumsum(counts) - counts, counts)) * _QUERIES
    )
    layout = np.zeros(2 * (tokens + most_windows) + 3 * (len(owners) + len(places)), np.int32)
    ids, positions, all_begins, all_ends, blocks = np.split(
        layout, np.cumsum([tokens, tokens, most_windows, most_windows])
    )
    np.concatenate([windows[place] for place in places], out=ids[:used])
    positions[:used] = np.arange(used, dtype=np.int32) - np.repeat(begins, lengths)
    all_begins[: len(places)], all_ends[: len(places)] = begins, ends
    rows = blocks.reshape(-1, 3)
    rows[: len(owners)] = np.stack([firsts, begins[owners], ends[owners]], axis=1)
    rows[len(owners) :] = np.stack([begins, begins, ends], axis=1)
    return Pack(places, layout, len(owners))


def _fit(width: int) -> int:
    return int(triton.next_power_of_2(width))
