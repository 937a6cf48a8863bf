"""A trained encoder as it ships: ONNX with weights stored in int8 and computed in fp32, its tokenizer and config.

Weights only: activations are not quantised, so a window's score does not depend on its neighbours in a batch.
Needs the extra `train`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MODEL = "model.onnx"
# Smaller tensors (biases, norms) stay as they are: they are a thousandth of the bytes and carry the scale.
_MIN_QUANTIZED_VALUES = 4096


def export_encoder(folder: Path, out: Path, *, window_tokens: int) -> None:
    """Write model.onnx, tokenizer.json and config.json of a Hugging Face model folder into `out`."""
    import torch
    import transformers

    out.mkdir(parents=True, exist_ok=True)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()

    class Logits(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return model(input_ids=input_ids, attention_mask=attention_mask).logits

    wrapped = Logits()
    wrapped.model = model
    example = (torch.ones((2, 16), dtype=torch.long), torch.ones((2, 16), dtype=torch.long))
    shapes = {0: "batch", 1: "length"}
    torch.onnx.export(
        wrapped,
        example,
        out / MODEL,
        input_names=["input_ids", "attention_mask"],
        output_names=["logits"],
        dynamic_axes={"input_ids": shapes, "attention_mask": shapes, "logits": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    quantize_weights(out / MODEL)
    shutil.copy(folder / "tokenizer.json", out / "tokenizer.json")
    config = json.loads((folder / "config.json").read_text())
    config["primer_window_tokens"] = window_tokens
    (out / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")


def quantize_weights(path: Path) -> None:
    """Replace every large float matrix of an ONNX file by int8 values and a scale a row, dequantised when it loads."""
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load(path)
    graph = model.graph
    kept, nodes = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.ndim != 2 or values.size < _MIN_QUANTIZED_VALUES:
            kept.append(tensor)
            continue
        axis = 0 if values.shape[0] > values.shape[1] * 4 else 1
        quantized, scales = quantize_matrix(values, axis)
        name = tensor.name
        kept.append(numpy_helper.from_array(quantized, f"{name}.int8"))
        kept.append(numpy_helper.from_array(scales, f"{name}.scale"))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.int8", f"{name}.scale"], [name], axis=axis))
    del graph.initializer[:]
    graph.initializer.extend(kept)
    old = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *old])
    onnx.checker.check_model(model)
    onnx.save(model, path)


def quantize_matrix(values: npt.NDArray[np.float32], axis: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Symmetric int8 with one scale for each index of `axis`; the largest error is half a scale."""
    largest = np.abs(values).max(axis=1 - axis)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    shape = (-1, 1) if axis == 0 else (1, -1)
    return np.clip(np.rint(values / scales.reshape(shape)), -127, 127).astype(np.int8), scales
