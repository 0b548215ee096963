"""How an architecture sees images and positions: the part of a model that differs by family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn


@dataclass(frozen=True)
class Layout:
    """The grids of patches of an image or a video, and the placeholders that stand for them."""

    grid_height: int
    grid_width: int
    grids: int
    token_count: int
    is_video: bool = False
    seconds_per_grid: float | None = None


@dataclass(frozen=True)
class Pixels:
    """An image prepared for the vision tower."""

    values: torch.Tensor
    layout: Layout


@dataclass(frozen=True)
class Run:
    """Placeholders that follow one another: [start, start + count) of a sequence."""

    start: int
    count: int


@dataclass(frozen=True)
class Features:
    """[E, D] one row a placeholder, and what later layers add at the same places, [E, D] each."""

    rows: torch.Tensor
    levels: tuple[torch.Tensor, ...] = ()


@dataclass(frozen=True)
class Decoding:
    """What a decoder takes: [1, T, D] embeddings, positions, the mask, features by place."""

    embeds: torch.Tensor
    positions: torch.Tensor
    mask: Any
    places: torch.Tensor
    levels: tuple[torch.Tensor, ...]
    cache: Any = None


class Family(Protocol):
    """One architecture. Its methods take the transformers model itself."""

    has_images: bool
    axes: int

    def read(self, image: Any) -> Pixels:
        """Prepares a decoded image with the checkpoint's own processor."""

    def accept(self, patches: torch.Tensor, layout: Layout) -> Pixels:
        """Takes patches that were prepared elsewhere."""

    def smallest(self) -> Pixels:
        """The smallest image the tower takes, of zeros."""

    def runs(self, layout: Layout) -> list[int]:
        """Placeholders of an image as runs: the count of each, in order."""

    def placeholder(self, layout: Layout) -> int:
        """The token in the place of an image's features."""

    def opens(self, tokens: list[int], start: int) -> bool:
        """Whether placeholders that start at an index have a marker before them."""

    def closes(self, tokens: list[int], end: int) -> bool:
        """Whether placeholders that end before an index have a marker after them."""

    def spread(self, model: nn.Module, layout: Layout) -> torch.Tensor | None:
        """[axes, count + 1] positions of a run and of the token after it; None: as text."""

    def features(self, model: nn.Module, images: list[Pixels]) -> Features:
        """Features of images, in order."""

    def decode(self, model: nn.Module, given: Decoding) -> torch.Tensor:
        """[1, T, D] hidden states after the final norm."""


def opens_after(tokens: list[int], start: int, marker: int | None) -> bool:
    """Whether the token before an index is a marker."""
    return start > 0 and tokens[start - 1] == marker


def token_id(config: Any, tokenizer: Any, names: tuple[str, ...], text: str) -> int | None:
    """A special token by the configuration's fields, or by its text."""
    for name in names:
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    if tokenizer is None:
        return None
    value = tokenizer.convert_tokens_to_ids(text)
    return value if isinstance(value, int) and value != tokenizer.unk_token_id else None
