"""The published layout: a tiny random ModernBERT as `save_pretrained` writes it, scored through PyTorch."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_encoder import BANDS, make_tokenizer, write_encoder

from curation.errors import ArtifactError
from curation.signals.encoder_grade import EncoderGrade

HAS_TORCH = find_spec("torch") is not None and find_spec("transformers") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="needs the extra gpu: torch and transformers")
ALL: dict[str, Any] = {"max_windows": 64, "seed": 1}


def write_modernbert(folder: Path) -> Path:
    import torch
    from transformers import ModernBertConfig, ModernBertForSequenceClassification, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=make_tokenizer(), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    )
    torch.manual_seed(1)
    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=8_192,
        global_attn_every_n_layers=2,
        local_attention=16,
        pad_token_id=0,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
        id2label=dict(enumerate(BANDS)),
        label2id={band: index for index, band in enumerate(BANDS)},
        initializer_range=0.5,
    )
    ModernBertForSequenceClassification(config).half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_modernbert(tmp_path_factory.mktemp("modernbert"))


@needs_torch
def test_the_published_layout_is_recognised_and_cut_at_2048_tokens(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names >= {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert "model.onnx" not in names
    assert EncoderGrade(folder).window_tokens == 2_048


@needs_torch
def test_grades_are_those_of_transformers(folder: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    plain = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = make_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    long = "cat ratio " * 3_000
    texts = ["cat dog sun", "lagrangian sheaf cohort", long]
    found = EncoderGrade(folder).grade_published(texts)
    for text, grades in zip(texts, found, strict=True):
        ids = tokenizer.encode(text).ids
        cut = ids if len(ids) <= 2_048 else [*ids[:2_047], ids[-1]]
        with torch.inference_mode():
            logits = plain(input_ids=torch.tensor([cut])).logits
        assert grades == pytest.approx(torch.softmax(logits.double(), -1)[0].numpy(), abs=1e-4)


@needs_torch
def test_a_score_is_the_same_bits_whatever_its_neighbours(folder: Path) -> None:
    model = EncoderGrade(folder)
    texts = ["cat " * count for count in (1, 20, 31, 60, 100, 300)] + ["sheaf dog " * 40]
    alone = [model.grade_windows([text], **ALL).grades[0].tobytes() for text in texts]
    for order in (range(7), range(6, -1, -1), (3, 0, 6)):
        together = model.grade_windows([texts[i] for i in order], **ALL).grades
        assert [row.tobytes() for row in together] == [alone[i] for i in order]


@needs_torch
def test_weights_that_are_missing_are_not_drawn_at_random(folder: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (broken / name).write_bytes((folder / name).read_bytes())
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: w for name, w in weights.items() if not name.startswith("classifier")}, broken / "model.safetensors"
    )
    with pytest.raises(ArtifactError, match=r"lacks the weights classifier"):
        EncoderGrade(broken)
    (broken / "model.safetensors").write_bytes(b"none")
    with pytest.raises(ArtifactError, match="is not a readable encoder"):
        EncoderGrade(broken)


def test_where_both_models_lie_the_onnx_one_is_read(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path)
    (folder / "model.safetensors").write_bytes(b"none")
    assert not np.isnan(EncoderGrade(folder).grade_published(["cat"])).any()


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
def test_without_torch_the_error_says_what_to_install(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path)
    (folder / "model.onnx").unlink()
    (folder / "model.safetensors").write_bytes(b"none")
    assert json.loads((folder / "config.json").read_text())["id2label"]["0"] == "K5"
    with pytest.raises(ArtifactError) as caught:
        EncoderGrade(folder)
    assert caught.value.hint == "Install it: pip install 'primer-curation[gpu]'."
