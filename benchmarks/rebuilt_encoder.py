"""The shipped encoder as PyTorch reads it: the weights of its ONNX file, int8 times scale, in the Hugging Face layout."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from curation.artifacts.encoder_folder import CONFIG, ONNX_MODEL, TOKENIZER


def rebuild_encoder(folder: Path, out: Path) -> Path:
    """Write config.json, tokenizer.json and model.safetensors into `out`, whose fp32 scores are those of `folder`."""
    from safetensors.numpy import save_file  # type: ignore[import-not-found, unused-ignore]

    out.mkdir(parents=True)
    for name in (CONFIG, TOKENIZER):
        shutil.copy(folder / name, out / name)
    save_file(_read_weights(folder / ONNX_MODEL), out / "model.safetensors", metadata={"format": "pt"})
    return out


def _read_weights(path: Path) -> dict[str, Any]:
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            values, scales = (tensors[name] for name in node.input[:2])
            axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
            tensors[node.output[0]] = values.astype(np.float32) * np.expand_dims(scales, 1 - axis)
    weights = {
        name: values for name, values in tensors.items() if name.startswith("model.") and values.dtype == np.float32
    }
    weights = {name: values for name, values in weights.items() if not name.endswith(".scale")}
    for node in graph.node:
        # A product is named after its module, and its matrix is the transposed weight.
        if node.op_type == "MatMul" and node.input[1] in tensors:
            module = node.name.removesuffix("/MatMul").strip("/").replace("/", ".")
            weights[f"{module}.weight"] = tensors[node.input[1]].T
    return {name.removeprefix("model."): np.ascontiguousarray(values) for name, values in weights.items()}
