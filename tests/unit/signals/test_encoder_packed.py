"""ModernBERT in plain PyTorch and packed, beside transformers' own, over a tiny random model and ragged windows.

Without a GPU the kernels run in Triton's interpreter, in fp32.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.errors import ArtifactError

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None,
    reason="needs the extra gpu: torch and transformers",
)
needs_triton = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None or find_spec("triton") is None,
    reason="needs torch, transformers and triton",
)
# Before anything imports Triton: its own functions are compiled or interpreted from then on.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"

LENGTHS = (2, 5, 17, 30, 63, 64, 65, 100, 1)
MAX_TOKENS = 128


def build_modernbert(pooling: str = "cls", **fields: Any) -> Any:
    """Two layers, one global and one local that sees 8 tokens to either side; heads 32 wide; norms that are not 1."""
    import torch
    from transformers import ModernBertConfig, ModernBertForSequenceClassification

    torch.manual_seed(1)
    config = ModernBertConfig(
        vocab_size=100,
        hidden_size=96,
        intermediate_size=80,
        num_hidden_layers=3,
        num_attention_heads=3,
        local_attention=16,
        global_attn_every_n_layers=2,
        classifier_pooling=pooling,
        initializer_range=0.2,
        pad_token_id=0,
        cls_token_id=1,
        bos_token_id=1,
        sep_token_id=2,
        eos_token_id=2,
        num_labels=4,
        **fields,
    )
    model = ModernBertForSequenceClassification(config).eval()
    for name, weight in model.named_parameters():
        if "norm" in name:
            weight.data.uniform_(0.5, 1.5)
    return model


def draw_windows() -> list[np.ndarray]:
    chance = np.random.default_rng(7)
    return [chance.integers(3, 100, size=length).astype(np.int32) for length in LENGTHS]


def score_with_transformers(model: Any, windows: list[np.ndarray]) -> np.ndarray:
    import torch

    with torch.inference_mode():
        found = [model(input_ids=torch.from_numpy(window).long()[None]).logits[0] for window in windows]
    return torch.stack(found).numpy()


def load_plain(model: Any, device: str = "cpu") -> Any:
    import torch

    from curation.signals.encoder_modernbert import ModernBert

    return ModernBert(model.config, model.state_dict(), device=device, dtype=torch.float32, max_tokens=MAX_TOKENS)


@pytest.fixture(scope="module")
def packed() -> Any:
    return import_module("curation.signals.encoder_packed")


def build_packed(packed: Any, model: Any, *, tokens: int = 256, windows: int = 4) -> Any:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    return packed.PackedModernBert(load_plain(model, device), tokens=tokens, windows=windows)


@needs_torch
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_window_alone_scores_as_in_transformers(pooling: str) -> None:
    import torch

    model, windows = build_modernbert(pooling), draw_windows()
    plain = load_plain(model)
    with torch.inference_mode():
        found = torch.stack([plain.score_alone(torch.from_numpy(window)) for window in windows]).numpy()
    expected = score_with_transformers(model, windows)
    assert expected.std() > 0.1
    assert np.abs(found - expected).max() < 1e-5


@needs_triton
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_packed_windows_score_as_in_transformers(packed: Any, pooling: str) -> None:
    model, windows = build_modernbert(pooling), draw_windows()
    found = build_packed(packed, model).score(windows)
    assert found.dtype == np.float32
    assert np.abs(found - score_with_transformers(model, windows)).max() < 1e-5


@needs_triton
def test_a_score_is_the_same_bits_in_any_pack(packed: Any) -> None:
    """Alone, last behind other windows, and in a pack of its own behind a full one."""
    scorer, windows = build_packed(packed, build_modernbert()), draw_windows()
    [alone] = scorer.score([windows[3]])
    assert scorer.score([windows[3], windows[7]])[0].tobytes() == alone.tobytes()
    assert scorer.score([windows[7], windows[6], windows[5], windows[3]])[3].tobytes() == alone.tobytes()


@needs_triton
def test_no_windows_have_no_scores(packed: Any) -> None:
    assert build_packed(packed, build_modernbert()).score([]).shape == (0, 4)


@needs_triton
def test_an_id_without_an_embedding_is_refused(packed: Any) -> None:
    scorer = build_packed(packed, build_modernbert())
    with pytest.raises(ArtifactError, match="tokens that the model lacks"):
        scorer.score([np.array([1, 100, 2], np.int32)])


@needs_triton
def test_packs_hold_every_window_once_and_keep_to_their_limits(packed: Any) -> None:
    windows = draw_windows()
    packs = list(packed.build_packs(windows, tokens=256, most_windows=4))
    assert [pack.places for pack in packs] == [[7, 6, 5], [4, 3, 2, 1], [0, 8]]
    ids, positions, begins, ends, blocks = np.split(packs[0].layout, [256, 512, 516, 520])
    assert np.array_equal(ids[:229], np.concatenate([windows[7], windows[6], windows[5]]))
    assert not ids[229:].any()
    assert positions[:229].tolist() == [*range(100), *range(65), *range(64)]
    assert begins.tolist() == [0, 100, 165, 0]
    assert ends.tolist() == [100, 165, 229, 0]
    every = [[0, 0, 100], [64, 0, 100], [100, 100, 165], [164, 100, 165], [165, 165, 229]]
    assert packs[0].block_count == 5
    assert blocks.reshape(-1, 3).tolist() == [*every, [0, 0, 100], [100, 100, 165], [165, 165, 229]]


@needs_torch
def test_what_the_kernels_do_not_know_is_not_supported() -> None:
    from transformers import BertConfig

    from curation.signals.encoder_modernbert import is_supported

    assert is_supported(build_modernbert().config)
    assert not is_supported(BertConfig())
    for fields in (
        {"norm_bias": True},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"classifier_bias": True},
        {"hidden_activation": "relu"},
    ):
        assert not is_supported(build_modernbert(**fields).config)
    config = build_modernbert().config
    config.num_attention_heads = 6  # heads 16 wide
    assert not is_supported(config)
