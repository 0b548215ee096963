"""Forests of tokens: trees as they are planned, sent to a rank, and packed into one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from .families.family import Family, Pixels, Run
from .placement import place


@dataclass(frozen=True)
class Placed:
    """An image of a segment: its blob, and where its placeholders stand in the segment."""

    sha256: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Segment:
    """Tokens that continue those of a parent, an earlier segment, or of none (−1)."""

    tokens: np.ndarray
    parent: int
    images: tuple[Placed, ...] = ()


@dataclass(frozen=True)
class Tree:
    """A root with its descendants in depth-first pre-order, and the rows of it to score."""

    segments: tuple[Segment, ...]
    rows: np.ndarray
    targets: np.ndarray
    # Where the scores go in the answer.
    slots: np.ndarray

    @property
    def token_count(self) -> int:
        return sum(len(segment.tokens) for segment in self.segments)

    @property
    def images(self) -> list[str]:
        return [image.sha256 for segment in self.segments for image in segment.images]


@dataclass(frozen=True)
class Packed:
    """Trees in one row, as the scorer takes it. T tokens, N rows of which M have a target."""

    ids: torch.Tensor
    positions: torch.Tensor
    mask: Any
    places: torch.Tensor
    images: list[Pixels]
    # Whether the vision tower must run although there is no image: another rank's runs.
    needs_vision: bool
    rows: torch.Tensor
    targets: torch.Tensor
    # [M] of N: rows whose target is not −1.
    valid: torch.Tensor
    slots: np.ndarray
    # Position of a token that would come after the last one.
    next_position: int


def subtree_ends(lengths: list[int], parents: list[int]) -> list[int]:
    """The packed index after each segment's last descendant."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
    ends = [int(starts[i + 1]) for i in range(len(lengths))]
    for i in range(len(lengths) - 1, -1, -1):
        if parents[i] >= 0:
            ends[parents[i]] = max(ends[parents[i]], ends[i])
    return ends


def tree_mask(lengths: list[int], parents: list[int], window: int | None = None) -> torch.Tensor:
    """[1, 1, T, T]: token q sees key k exactly if k ≤ q < the end of k's subtree.

    With a window, only keys at most window − 1 tokens before it on its path.
    """
    ends = subtree_ends(lengths, parents)
    per_token = torch.repeat_interleave(torch.tensor(ends), torch.tensor(lengths))
    q = torch.arange(len(per_token))
    mask = (q[None, :] <= q[:, None]) & (q[:, None] < per_token[None, :])
    if window is not None:
        depths, starts = [], []
        for length, parent in zip(lengths, parents, strict=True):
            starts.append(0 if parent < 0 else starts[parent] + lengths[parent])
            depths.append(torch.arange(starts[-1], starts[-1] + length))
        depth = torch.cat(depths) if depths else torch.zeros(0, dtype=torch.long)
        mask &= depth[:, None] - depth[None, :] < window
    return mask[None, None]


def pack(
    trees: list[Tree],
    family: Family,
    model: nn.Module,
    pixels: Mapping[str, Pixels],
    needs_vision: bool,
    device: torch.device,
) -> Packed:
    """Packs trees into one row; a rank without trees gets one token and nothing to score."""
    if not trees:
        empty = np.zeros(0, dtype=np.int64)
        trees = [Tree((Segment(np.zeros(1, dtype=np.int64), -1),), empty, empty, empty)]
    ids, positions, places, images = [], [], [], []
    lengths, parents, rows, targets, slots = [], [], [], [], []
    start = next_position = 0
    for tree in trees:
        base, first = len(lengths), start
        after: list[int] = []
        for segment in tree.segments:
            layouts = [(pixels[one.sha256].layout, one.runs) for one in segment.images]
            begin = 0 if segment.parent < 0 else after[segment.parent]
            length = len(segment.tokens)
            at, next_position = place(family, model, length, layouts, begin)
            after.append(next_position)
            ids.append(segment.tokens)
            positions.append(at)
            for image in segment.images:
                images.append(pixels[image.sha256])
                for run in image.runs:
                    places.append(np.arange(start + run.start, start + run.start + run.count))
            lengths.append(length)
            parents.append(-1 if segment.parent < 0 else base + segment.parent)
            start += length
        rows.append(tree.rows + first)
        targets.append(tree.targets)
        slots.append(tree.slots)
    all_targets = torch.from_numpy(np.concatenate(targets).astype(np.int64))

    def put(values: list[np.ndarray]) -> torch.Tensor:
        joined = np.concatenate(values) if values else np.zeros(0)
        return torch.from_numpy(joined.astype(np.int64)).to(device)

    return Packed(
        ids=put(ids)[None],
        positions=torch.cat(positions, dim=1)[:, None].to(device),
        mask=masks_for(model, lengths, parents, device),
        places=put(places),
        images=images,
        needs_vision=needs_vision,
        rows=put(rows),
        targets=all_targets.clamp(min=0).to(device),
        valid=torch.nonzero(all_targets >= 0)[:, 0].to(device),
        slots=np.concatenate(slots),
        next_position=next_position,
    )


def masks_for(
    model: nn.Module, lengths: list[int], parents: list[int], device: torch.device
) -> Any:
    """The mask a decoder takes: one, or one for each kind of its layers."""
    text = model.config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ["full_attention"])
    full = tree_mask(lengths, parents).to(device)
    if kinds == {"full_attention"}:
        return full
    window = tree_mask(lengths, parents, text.sliding_window).to(device)
    return {"full_attention": full, "sliding_attention": window}
