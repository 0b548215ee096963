"""Decoders without vision: Qwen2, Qwen3, Llama and others that take embeddings and a mask."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..errors import UserError
from .family import Decoding, Features, Layout, Pixels


class Text:
    """A causal language model. Images are refused."""

    has_images = False
    axes = 1

    def __init__(self, config: Any, processor: Any) -> None:
        self.config = config

    def read(self, image: Any) -> Pixels:
        raise UserError("This model has no vision tower; send text alone.", code="no-images")

    def accept(self, patches: torch.Tensor, layout: Layout) -> Pixels:
        return self.read(patches)

    def smallest(self) -> Pixels:
        return self.read(None)

    def runs(self, layout: Layout) -> list[int]:
        return []

    def placeholder(self, layout: Layout) -> int:
        return -1

    def opens(self, tokens: list[int], start: int) -> bool:
        return False

    def closes(self, tokens: list[int], end: int) -> bool:
        return False

    def spread(self, model: nn.Module, layout: Layout) -> torch.Tensor | None:
        return None

    def features(self, model: nn.Module, images: list[Pixels]) -> Features:
        raise UserError("This model has no vision tower; send text alone.", code="no-images")

    def decode(self, model: nn.Module, given: Decoding) -> torch.Tensor:
        return model.get_decoder()(
            inputs_embeds=given.embeds,
            position_ids=given.positions[0],
            attention_mask=given.mask,
            past_key_values=given.cache,
            use_cache=given.cache is not None,
        ).last_hidden_state
