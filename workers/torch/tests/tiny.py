"""Tiny random models of every family that is served, written as checkpoints."""

from __future__ import annotations

import glob
import os
import shutil
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    PreTrainedTokenizerFast,
)
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

VOCAB = 96
# The same ids in all families: image, video, start, end.
IMAGE, VIDEO, START, END = 90, 91, 92, 93

TEXT = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
TOKENS = {
    "image_token_id": IMAGE,
    "video_token_id": VIDEO,
    "vision_start_token_id": START,
    "vision_end_token_id": END,
}


def _configs() -> dict[str, dict[str, Any]]:
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
    interleaved = {**rope, "mrope_interleaved": True}
    qwen_vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 2,
        "out_hidden_size": 32,
        "patch_size": 4,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }
    siglip = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 16,
        "patch_size": 4,
    }
    llama = {**TEXT, "model_type": "llama"}
    return {
        "qwen2": {**TEXT, "tie_word_embeddings": True},
        "qwen3": {**TEXT, "head_dim": 8, "tie_word_embeddings": False},
        "qwen2_5_vl": {
            **TOKENS,
            "text_config": {**TEXT, "rope_scaling": rope, "rope_parameters": rope},
            "vision_config": {**qwen_vision, "window_size": 16, "fullatt_block_indexes": [1]},
            "tie_word_embeddings": True,
        },
        "qwen3_vl": {
            **TOKENS,
            "text_config": {
                **TEXT,
                "head_dim": 8,
                "rope_scaling": interleaved,
                "rope_parameters": interleaved,
            },
            "vision_config": {
                **qwen_vision,
                "num_position_embeddings": 64,
                "deepstack_visual_indexes": [0, 1],
            },
            "tie_word_embeddings": False,
        },
        "internvl": {
            "image_token_id": IMAGE,
            "vision_start_token_id": START,
            "vision_end_token_id": END,
            "text_config": {**TEXT, "model_type": "qwen2"},
            "vision_config": {**siglip, "image_size": [16, 16], "patch_size": [4, 4]},
            "image_seq_length": 4,
            "downsample_ratio": 0.5,
        },
        "idefics3": {
            "image_token_id": IMAGE,
            "vision_start_token_id": START,
            "text_config": llama,
            "vision_config": siglip,
            "scale_factor": 2,
        },
        "smolvlm": {
            "image_token_id": IMAGE,
            "vision_start_token_id": START,
            "text_config": llama,
            "vision_config": siglip,
            "scale_factor": 2,
        },
    }


FAMILIES = tuple(_configs())
WITH_IMAGES = tuple(name for name in FAMILIES if name not in ("qwen2", "qwen3"))


def write_tiny(kind: str, directory: str, seed: int = 0) -> str:
    """Writes a random checkpoint of a family, and returns its directory."""
    given = _configs()[kind]
    config = AutoConfig.for_model(kind, **given)
    torch.manual_seed(seed)
    auto = AutoModelForCausalLM if kind in ("qwen2", "qwen3") else AutoModelForImageTextToText
    model = auto.from_config(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Norms and biases too, so that no gradient or decay is hidden by a constant.
            noise = torch.randn_like(parameter)
            parameter.add_(noise * (0.02 if parameter.ndim > 1 else 0.1))
            if "lambda" in name:
                parameter.fill_(0.3)
    model.save_pretrained(directory)
    words = {f"w{i}": i for i in range(VOCAB)}
    words = {word: i for word, i in words.items() if i not in (IMAGE, VIDEO, START, END, 1)}
    special = {"<image>": IMAGE, "<video>": VIDEO, "<start>": START, "<end>": END, "<eos>": 1}
    tokenizer = Tokenizer(WordLevel({**words, **special}, unk_token="w2"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<eos>", unk_token="w2"
    ).save_pretrained(directory)
    processor = _processor(kind)
    if processor is not None:
        processor.save_pretrained(directory)
    with open(os.path.join(directory, "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write("{% for message in messages %}{{ message.content }}{% endfor %}")
    return directory


def write_float64(directory: str, copy: str) -> str:
    """Writes a checkpoint again with every tensor in float64, and returns its directory."""
    shutil.copytree(directory, copy)
    for path in glob.glob(os.path.join(copy, "*.safetensors")):
        wide = {name: one.double() for name, one in load_file(path).items()}
        save_file(wide, path, metadata={"format": "pt"})
    return copy


def _processor(kind: str) -> Any:
    if kind in ("qwen2_5_vl", "qwen3_vl"):
        return Qwen2VLImageProcessorPil(
            patch_size=4,
            merge_size=2,
            temporal_patch_size=2,
            size={"shortest_edge": 64, "longest_edge": 4096},
        )
    if kind == "internvl":
        return GotOcr2ImageProcessorPil(
            size={"height": 16, "width": 16}, min_patches=1, max_patches=4
        )
    if kind in ("idefics3", "smolvlm"):
        return Idefics3ImageProcessorPil(
            size={"longest_edge": 32}, max_image_size={"longest_edge": 16}
        )
    return None
