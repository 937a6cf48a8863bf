"""ModernBERT as a grader, from the weights that transformers loaded: one window through it, alone, in plain PyTorch.

The exact way: no padding, no batch, the precision of the weights. The fast way over the same weights is `encoder_packed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch.nn import functional

_LOCAL = "sliding_attention"


class Layer(NamedTuple):
    """Weights of one layer, each as it is stored: (out, in). `attention_norm` None: the first layer has none."""

    is_local: bool
    attention_norm: Any
    attention_in: Any
    attention_out: Any
    mlp_norm: Any
    mlp_in: Any
    mlp_out: Any


class Rotation(NamedTuple):
    """Cosines and sines, float32 (positions, half a head): of one kind of layer."""

    cosines: Any
    sines: Any


def is_supported(config: Any) -> bool:
    """Whether a transformers configuration is a ModernBERT without biases and scaled positions, as the published ones are,
    and its heads fit the kernels of `encoder_packed`: a power of two wide, from 32 on."""
    if config.model_type != "modernbert":
        return False
    head_width = config.hidden_size // config.num_attention_heads
    return (
        head_width >= 32
        and head_width.bit_count() == 1
        and config.hidden_activation == config.classifier_activation == "gelu"
        and not (config.norm_bias or config.attention_bias or config.mlp_bias or config.classifier_bias)
        and all(config.rope_parameters[kind]["rope_type"] == "default" for kind in set(config.layer_types))
    )


class ModernBert:
    """Weights on a device in one precision, by name. `max_tokens`: the longest window it will be given.

    `config` must be supported, and `state` the whole state dict of its ModernBertForSequenceClassification.
    """

    def __init__(
        self, config: Any, state: Mapping[str, Any], *, device: str, dtype: torch.dtype, max_tokens: int
    ) -> None:
        def take(name: str) -> Any:
            return state[name].to(device=device, dtype=dtype)

        self.device, self.dtype = torch.device(device), dtype
        self.heads: int = config.num_attention_heads
        self.width: int = config.hidden_size
        self.inner_width: int = config.intermediate_size
        self.reach: int = config.local_attention // 2  # tokens to either side that a local layer sees
        self.epsilon: float = config.norm_eps
        self.pools_first: bool = config.classifier_pooling == "cls"
        self.embedding = take("model.embeddings.tok_embeddings.weight")
        self.embedding_norm = take("model.embeddings.norm.weight")
        self.layers = [
            Layer(
                kind == _LOCAL,
                take(f"model.layers.{i}.attn_norm.weight") if i else None,
                *(take(f"model.layers.{i}.{name}.weight") for name in ("attn.Wqkv", "attn.Wo")),
                *(take(f"model.layers.{i}.{name}.weight") for name in ("mlp_norm", "mlp.Wi", "mlp.Wo")),
            )
            for i, kind in enumerate(config.layer_types)
        ]
        self.final_norm = take("model.final_norm.weight")
        self.head_dense, self.head_norm = take("head.dense.weight"), take("head.norm.weight")
        self.classifier, self.classifier_bias = take("classifier.weight"), take("classifier.bias")
        self.rotations = {
            kind == _LOCAL: _build_rotation(
                config.rope_parameters[kind]["rope_theta"], self.width // self.heads, max_tokens, device
            )
            for kind in set(config.layer_types)
        }

    def score_alone(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits (labels,) of one window: ids (n,) with its special tokens."""
        count = len(ids)
        places = torch.arange(count, device=self.device)
        is_near = (places[:, None] - places[None, :]).abs() <= self.reach
        state = self.normalize(functional.embedding(ids, self.embedding), self.embedding_norm)
        for layer in self.layers:
            normed = state if layer.attention_norm is None else self.normalize(state, layer.attention_norm)
            query, key, value = (normed @ layer.attention_in.T).view(count, 3, self.heads, -1).permute(1, 2, 0, 3)
            rotation = self.rotations[layer.is_local]
            attended = functional.scaled_dot_product_attention(
                _rotate(query, rotation)[None],
                _rotate(key, rotation)[None],
                value[None],
                attn_mask=is_near if layer.is_local and count > self.reach + 1 else None,
            )[0]
            state = state + attended.transpose(0, 1).reshape(count, self.width) @ layer.attention_out.T
            inner, gate = (self.normalize(state, layer.mlp_norm) @ layer.mlp_in.T).chunk(2, dim=-1)
            state = state + (functional.gelu(inner) * gate) @ layer.mlp_out.T
        pooled = state[:1] if self.pools_first else state
        return self.classify(self.normalize(pooled, self.final_norm).mean(dim=0, keepdim=True))[0]

    def normalize(self, values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(values, (self.width,), weight, eps=self.epsilon)

    def classify(self, pooled: torch.Tensor) -> torch.Tensor:
        """Logits (n, labels) of pooled windows (n, width)."""
        hidden = self.normalize(functional.gelu(pooled @ self.head_dense.T), self.head_norm)
        return functional.linear(hidden, self.classifier, self.classifier_bias)


def _build_rotation(theta: float, head_width: int, max_tokens: int, device: str) -> Rotation:
    # On the CPU whatever the device, so that every device turns by the same float32 angles.
    frequencies = 1.0 / theta ** (torch.arange(0, head_width, 2, dtype=torch.float32) / head_width)
    angles = torch.arange(max_tokens, dtype=torch.float32)[:, None] * frequencies[None, :]
    return Rotation(angles.cos().to(device), angles.sin().to(device))


def _rotate(values: torch.Tensor, rotation: Rotation) -> torch.Tensor:
    """(heads, n, head width) turned by position."""
    count = values.shape[1]
    cosines, sines = rotation.cosines[:count].to(values.dtype), rotation.sines[:count].to(values.dtype)
    first, second = values.chunk(2, dim=-1)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1)
