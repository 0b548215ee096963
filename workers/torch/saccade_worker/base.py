"""The checkpoint a worker serves: its files, configuration, tokenizer and family."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoImageProcessor, AutoTokenizer

from .errors import Refused
from .families import family_of, model_class
from .families.family import Family

HANDLED_LAYERS = {"full_attention", "sliding_attention"}


@dataclass(frozen=True)
class Base:
    """What all models of a worker start from."""

    name: str
    directory: str
    config: Any
    family: Family
    tokenizer: Any
    end_tokens: frozenset[int]

    @property
    def vocab_size(self) -> int:
        return int(self.config.get_text_config().vocab_size)

    @property
    def most_tokens(self) -> int:
        return int(getattr(self.config.get_text_config(), "max_position_embeddings", 1 << 20))


@dataclass(frozen=True)
class _Processor:
    image_processor: Any
    tokenizer: Any


def open_base(name: str, image_backend: str) -> Base:
    """Opens a directory, or a checkpoint of a hub. @raises Refused if it cannot be served"""
    directory = name
    if not os.path.isdir(name):
        from huggingface_hub import snapshot_download

        directory = snapshot_download(name)
    config = AutoConfig.from_pretrained(directory)
    text = config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or [])
    if kinds - HANDLED_LAYERS:
        raise Refused(
            f'Models of type "{config.model_type}" have layers of kind '
            f"{', '.join(sorted(kinds - HANDLED_LAYERS))}: a state that runs through the row "
            "cannot branch with a tree mask. Served are layers with attention alone."
        )
    tokenizer = _tokenizer(directory)
    processor = _Processor(_image_processor(directory, config, image_backend), tokenizer)
    family = family_of(config, processor)
    return Base(name, directory, config, family, tokenizer, _ends(directory, config, tokenizer))


def load_model(base: Base, directory: str, dtype: torch.dtype) -> nn.Module:
    """Loads weights into the memory of this process. @raises Refused if some are missing"""
    model, info = model_class(base.config).from_pretrained(
        directory, dtype=dtype, attn_implementation="sdpa", output_loading_info=True
    )
    missing = sorted(info.get("missing_keys") or [])
    if missing:
        raise Refused(
            f"{directory} lacks {len(missing)} weights of its configuration, the first is "
            f"{missing[0]}. They would be random; take a complete checkpoint."
        )
    model.eval()
    return model


def _tokenizer(directory: str) -> Any:
    names = ("tokenizer.json", "tokenizer_config.json", "vocab.json")
    if not any(os.path.exists(os.path.join(directory, one)) for one in names):
        return None
    return AutoTokenizer.from_pretrained(directory)


def _image_processor(directory: str, config: Any, backend: str) -> Any:
    if not hasattr(config, "vision_config"):
        return None
    names = ("preprocessor_config.json", "processor_config.json")
    if not any(os.path.exists(os.path.join(directory, one)) for one in names):
        return None
    return AutoImageProcessor.from_pretrained(directory, backend=backend)


def _ends(directory: str, config: Any, tokenizer: Any) -> frozenset[int]:
    from transformers import GenerationConfig

    found: list[Any] = [config.get_text_config().eos_token_id]
    if os.path.exists(os.path.join(directory, "generation_config.json")):
        found = [GenerationConfig.from_pretrained(directory).eos_token_id]
    elif tokenizer is not None:
        found.append(tokenizer.eos_token_id)
    flat = [one for ends in found for one in (ends if isinstance(ends, list) else [ends])]
    return frozenset(one for one in flat if isinstance(one, int))
