"""An encoder artefact in the bundled layout, of random weights: a folder that loads and scores like the real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from measuring import BAND_WORDS
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

BANDS = ("K5", "K8", "K12", "OOS")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()-"


def write_encoder(
    folder: Path,
    *,
    window_tokens: int = 16,
    hidden: int = 32,
    layers: int = 1,
    labels: tuple[str, ...] = BANDS,
    seed: int = 1,
    sharpness: float = 6.0,
) -> Path:
    """Write config.json, tokenizer.json and model.onnx. `window_tokens` counts the two special ones."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "max_position_embeddings": 512,
        "primer_window_tokens": window_tokens,
        "id2label": {str(index): label for index, label in enumerate(labels)},
    }
    (folder / "config.json").write_text(json.dumps(config))
    graph = _GraphBuilder(seed)
    graph.build(tokenizer.get_vocab_size(), hidden, layers, len(labels), sharpness)
    graph.save(folder / "model.onnx")
    return folder


def make_tokenizer() -> Tokenizer:
    """Letters and the words of the bands: every ASCII text has tokens, `##` marks those inside a word."""
    words = [word for line in BAND_WORDS.values() for word in line.split()]
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *words]
    tokenizer = Tokenizer(models.WordPiece(vocab={entry: i for i, entry in enumerate(entries)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As a trainer leaves it: a reader of windows must not be cut short or padded by this.
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    return tokenizer


class _GraphBuilder:
    """Embeddings, layers of one-headed attention with a padding mask, and a head over the mean: int8 weights, fp32 sums."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._count = 0

    def build(self, vocabulary: int, hidden: int, layers: int, label_count: int, sharpness: float) -> None:
        token = self._node("Gather", self._weight(vocabulary, hidden, 1.0), "input_ids")
        mask = self._node("Unsqueeze", self._node("Cast", "attention_mask", to=TensorProto.FLOAT), self._ints(2))
        # 0 for a token, -10,000 for padding, over the keys: (batch, 1, length).
        penalty = self._node("Unsqueeze", self._node("Cast", "attention_mask", to=TensorProto.FLOAT), self._ints(1))
        penalty = self._node("Mul", self._node("Sub", self._float(1.0), penalty), self._float(-10_000.0))
        state = token
        for _ in range(layers):
            query, key, value = (
                self._node("MatMul", state, self._weight(hidden, hidden, hidden**-0.5)) for _ in range(3)
            )
            scores = self._node("MatMul", query, self._node("Transpose", key, perm=[0, 2, 1]))
            scores = self._node("Mul", scores, self._float(hidden**-0.5))
            attention = self._node("Softmax", self._node("Add", scores, penalty), axis=-1)
            state = self._node("Add", state, self._node("MatMul", attention, value))
            inner = self._node("Relu", self._node("MatMul", state, self._weight(hidden, 4 * hidden, hidden**-0.5)))
            state = self._node("Add", state, self._node("MatMul", inner, self._weight(4 * hidden, hidden, 0.1)))
        total = self._node("ReduceSum", self._node("Mul", state, mask), self._ints(1), keepdims=0)
        count = self._node("ReduceSum", mask, self._ints(1), keepdims=0)
        mean = self._node("Div", total, count)
        self._node("MatMul", mean, self._weight(hidden, label_count, sharpness * hidden**-0.5), name="logits")
        self._label_count = label_count

    def save(self, path: Path) -> None:
        shape = ["batch", "length"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", self._label_count])
        graph = helper.make_graph(self._nodes, "encoder", inputs, [output], self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))

    def _node(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        self._count += 1
        output = name or f"value{self._count}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _weight(self, rows: int, columns: int, scale: float) -> str:
        """Random int8 values that DequantizeLinear turns into floats of about this scale."""
        values = np.clip(self._random.standard_normal((rows, columns)) * 40, -127, 127).astype(np.int8)
        stored = self._constant(values)
        return self._node("DequantizeLinear", stored, self._float(scale / 40), self._constant(np.int8(0)))

    def _float(self, value: float) -> str:
        return self._constant(np.array(value, np.float32))

    def _ints(self, *values: int) -> str:
        return self._constant(np.array(values, np.int64))

    def _constant(self, value: Any) -> str:
        self._count += 1
        name = f"constant{self._count}"
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name
