"""An encoder of the bundled layout, run by ONNX Runtime: weights stored as int8, everything computed in fp32.

Scores logits of ready-made batches; windows, shapes and probabilities are `encoder_grade`'s.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime  # type: ignore[import-untyped, unused-ignore]
from onnxruntime.capi import onnxruntime_pybind11_state as failures  # type: ignore[import-untyped, unused-ignore]

from curation.errors import ArtifactError

_INPUTS = {"input_ids", "attention_mask"}
_OUTPUT = "logits"
_LOAD_FAILURES = (
    failures.Fail,
    failures.InvalidArgument,
    failures.InvalidGraph,
    failures.InvalidProtobuf,
    failures.NotImplemented,
    failures.RuntimeException,
)
# Measured on 6 layers of 384, one thread: from 256 tokens on a larger batch is no faster; a GPU wants many.
_CPU_BATCH_TOKENS = 256
_CUDA_BATCH_TOKENS = 1 << 15


class OnnxScorer:
    """Raises ArtifactError when the file cannot be loaded, takes other inputs, or the device is not there."""

    def __init__(self, path: Path, device: str) -> None:
        self.batch_tokens = _CUDA_BATCH_TOKENS if device == "cuda" else _CPU_BATCH_TOKENS
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Without this the runtime multiplies some stored matrices in int8, and scores move by a percent.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=_choose_providers(device))
        except _LOAD_FAILURES as error:
            raise ArtifactError(f"{path} is not a readable ONNX model: {error}.") from error
        inputs = {entry.name for entry in self._session.get_inputs()}
        outputs = {entry.name for entry in self._session.get_outputs()}
        if inputs != _INPUTS or _OUTPUT not in outputs:
            raise ArtifactError(
                f"{path} takes {', '.join(sorted(inputs))} and gives {', '.join(sorted(outputs))}.",
                hint=f"A grade model takes {', '.join(sorted(_INPUTS))} and gives {_OUTPUT}.",
            )

    def score(self, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        [logits] = self._session.run([_OUTPUT], {"input_ids": ids, "attention_mask": mask})
        return np.asarray(logits, np.float32)


def _choose_providers(device: str) -> list[str]:
    if device == "cpu":
        return ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise ArtifactError(
            "The encoder was asked to run on CUDA, and this ONNX Runtime cannot.",
            hint="Install onnxruntime-gpu in place of onnxruntime, or unset PRIMER_ENCODER_DEVICE.",
        )
    return ["CUDAExecutionProvider", "CPUExecutionProvider"]
