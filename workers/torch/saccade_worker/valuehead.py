"""The value head: a linear layer beside the LM head, in a file of its own."""

from __future__ import annotations

import os

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from .base import Base
from .errors import UserError

FILE = "value_head.safetensors"


def open_value_head(base: Base) -> nn.Linear:
    """The head of a directory, or one that predicts 0 if it has none."""
    hidden = int(base.config.get_text_config().hidden_size)
    head = nn.Linear(hidden, 1)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    path = os.path.join(base.directory, FILE)
    if os.path.exists(path):
        for name, tensor in read_value_head(path, hidden).items():
            head.get_parameter(name).data.copy_(tensor)
    return head


def read_value_head(path: str, hidden: int) -> dict[str, torch.Tensor]:
    """Its tensors by their names in the module. @raises UserError if they do not fit"""
    tensors = load_file(path)
    shapes = {"weight": (1, hidden), "bias": (1,)}
    for name, shape in shapes.items():
        got = tensors.get(f"value_head.{name}")
        if got is None or tuple(got.shape) != shape:
            found = "none" if got is None else list(got.shape)
            raise UserError(
                f'"value_head.{name}" in {path} must be {list(shape)}, got {found}. '
                "Take the value head of the same model."
            )
    return {name: tensors[f"value_head.{name}"] for name in shapes}


def write_value_head(directory: str, tensors: dict[str, torch.Tensor]) -> None:
    """Writes tensors named `value_head.…`, if there are any."""
    if tensors:
        save_file(
            {name: one.float().contiguous() for name, one in tensors.items()},
            os.path.join(directory, FILE),
        )
