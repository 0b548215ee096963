"""Low-rank adapters by peft: which layers, names on disk, and the base without them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from peft import LoraConfig as PeftConfig
from peft import get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import nn

from .bodies import LoraConfig
from .errors import UserError

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj", "out_proj")
MLP = ("gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2")
VISION = re.compile(r"(^|\.)(visual|vision_tower|vision_model|multi_modal_projector|connector)\.")
# Tinker's alpha where a request names none.
ALPHA = 32.0


def target_layers(model: nn.Module, config: LoraConfig) -> list[str]:
    """Names of the linear layers that get an adapter. @raises UserError if there are none"""
    linear = [name for name, one in model.named_modules() if isinstance(one, nn.Linear)]
    head = next((n for n in linear if model.get_submodule(n) is model.get_output_embeddings()), "")
    if config.targets is not None:
        chosen = set()
        for target in config.targets:
            found = _matching(linear, head, target)
            if not found:
                ends = ", ".join(sorted({name.rsplit(".", 1)[-1] for name in linear}))
                raise UserError(
                    f'lora_config.targets: "{target}" names no linear layer. Its ends: {ends}.',
                    field="lora_config.targets",
                )
            chosen.update(found)
        return [name for name in linear if name in chosen]
    language = [name for name in linear if not VISION.search(name) and name != head]
    ends = (ATTENTION if config.train_attn else ()) + (MLP if config.train_mlp else ())
    names = [name for name in language if name.rsplit(".", 1)[-1] in ends]
    if config.train_unembed and head:
        names.append(head)
    if not names:
        raise UserError(
            "lora_config adapts no layer. Set train_attn, train_mlp or train_unembed, or targets.",
            field="lora_config",
        )
    return names


def _matching(linear: list[str], head: str, target: str) -> list[str]:
    if target == "all-linear":
        return [name for name in linear if not VISION.search(name) and name != head]
    try:
        expression = re.compile(target)
    except re.error:
        expression = None
    return [
        name
        for name in linear
        if name == target
        or name.endswith(f".{target}")
        or (expression is not None and expression.fullmatch(name) is not None)
    ]


def add_adapter(model: nn.Module, config: LoraConfig) -> Any:
    """Adds an adapter in place, and returns peft's view of the model."""
    names = target_layers(model, config)
    ends = sorted({name.rsplit(".", 1)[-1] for name in names})
    # peft takes modules of any kind by their ends: "0" of a merger is a block of the tower too.
    by_end = [name for name, _ in model.named_modules() if name.rsplit(".", 1)[-1] in ends]
    torch.manual_seed(config.seed or 0)
    peft_config = PeftConfig(
        r=config.rank,
        lora_alpha=config.alpha if config.alpha is not None else ALPHA,
        # Ends of names are what engines expect; whole names where ends would name others too.
        target_modules=ends if sorted(by_end) == sorted(names) else names,
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
    )
    with warnings.catch_warnings():
        # peft warns that merging breaks a tied head; merged checkpoints here untie it.
        warnings.filterwarnings("ignore", message=".*tie_word_embeddings=True.*")
        return get_peft_model(model, peft_config, autocast_adapter_dtype=True)


def peft_name(name: str) -> str:
    """The name of an adapter's parameter in `adapter_model.safetensors`."""
    return f"base_model.model.{name.removeprefix('hf.')}".replace(".default.", ".")


@contextmanager
def without_adapter(model: nn.Module) -> Iterator[None]:
    """The base alone.

    peft's own switch also changes what requires a gradient, which FSDP reads only once.
    """
    layers = [one for one in model.modules() if isinstance(one, BaseTunerLayer)]
    for layer in layers:
        layer._disable_adapters = True
    try:
        yield
    finally:
        for layer in layers:
            layer._disable_adapters = False


def merged_weights(
    model: nn.Module, whole: dict[str, torch.Tensor], dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """Weights with the adapter added, under the names of a model without one: W + s·B·A in f32."""
    found = {}
    for name, tensor in whole.items():
        if ".lora_" not in name:
            found[name.replace(".base_layer.", ".")] = tensor.to(dtype)
    for name, module in model.named_modules():
        if isinstance(module, BaseTunerLayer) and "default" in getattr(module, "scaling", {}):
            base = whole[_stored_base(model, module, name, whole)].float()
            a = whole[f"{name}.lora_A.default.weight"].float()
            b = whole[f"{name}.lora_B.default.weight"].float()
            found[f"{name}.weight"] = (base + module.scaling["default"] * (b @ a)).to(dtype)
    return found


def _stored_base(model: nn.Module, module: Any, name: str, whole: dict[str, torch.Tensor]) -> str:
    """The name of an adapted layer's weight; of a tied head, the embedding's."""
    own = f"{name}.base_layer.weight"
    if own in whole:
        return own
    weight = module.base_layer.weight
    return next(other for other, one in model.named_parameters() if one is weight)
