"""Qwen2.5-VL and Qwen3-VL: images of any size as merged patches, three axes of positions."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..errors import UserError
from .family import Decoding, Features, Layout, Pixels, opens_after, token_id


class Qwen25VL:
    """Positions and features of Qwen2.5-VL: a video is one run of placeholders."""

    has_images = True
    axes = 3

    def __init__(self, config: Any, processor: Any) -> None:
        vision = config.vision_config
        self.processor = getattr(processor, "image_processor", processor)
        tokenizer = getattr(processor, "tokenizer", None)
        self.merge = vision.spatial_merge_size
        self.patch_length = 3 * vision.temporal_patch_size * vision.patch_size**2
        self.image_token = config.image_token_id
        self.video_token = config.video_token_id
        self.start = token_id(config, tokenizer, ("vision_start_token_id",), "<|vision_start|>")
        self.end = token_id(config, tokenizer, ("vision_end_token_id",), "<|vision_end|>")
        self._spreads: dict[Layout, torch.Tensor] = {}

    def read(self, image: Any) -> Pixels:
        if self.processor is None:
            raise UserError(
                "The checkpoint has no image processor; send prepared patches instead.",
                code="no-processor",
            )
        made = self.processor(images=[image], return_tensors="pt")
        _, height, width = (int(side) for side in made["image_grid_thw"][0])
        count = height * width // self.merge**2
        return Pixels(made["pixel_values"].float(), Layout(height, width, 1, count))

    def accept(self, patches: torch.Tensor, layout: Layout) -> Pixels:
        rows = layout.grids * layout.grid_height * layout.grid_width
        if tuple(patches.shape) != (rows, self.patch_length):
            raise UserError(
                f"patches must be [{rows}, {self.patch_length}], got {list(patches.shape)}.",
                field="patches",
            )
        if layout.grid_height % self.merge or layout.grid_width % self.merge:
            raise UserError(
                f"A grid of {layout.grid_height}×{layout.grid_width} patches does not divide into "
                f"units of {self.merge}×{self.merge}.",
                field="gridHeight",
            )
        count = rows // self.merge**2
        if layout.token_count != count:
            raise UserError(
                f"The grids make {count} placeholders, tokenCount is {layout.token_count}.",
                field="tokenCount",
            )
        return Pixels(patches, layout)

    def smallest(self) -> Pixels:
        layout = Layout(self.merge, self.merge, 1, 1)
        return Pixels(torch.zeros(self.merge**2, self.patch_length), layout)

    def runs(self, layout: Layout) -> list[int]:
        return [layout.token_count]

    def placeholder(self, layout: Layout) -> int:
        return self.video_token if layout.is_video else self.image_token

    def opens(self, tokens: list[int], start: int) -> bool:
        return opens_after(tokens, start, self.start)

    def closes(self, tokens: list[int], end: int) -> bool:
        return end < len(tokens) and tokens[end] == self.end

    def spread(self, model: nn.Module, layout: Layout) -> torch.Tensor | None:
        """The architecture's own positions of a run and of one text token after it."""
        known = self._spreads.get(layout)
        if known is None:
            known = self._spreads[layout] = self._ask(model, layout)
        return known

    def _ask(self, model: nn.Module, layout: Layout) -> torch.Tensor:
        (count,) = set(self.runs(layout))
        kind = 2 if layout.is_video else 1
        types = torch.tensor([[kind] * count + [0]], dtype=torch.int32)
        grid = self._run_grid(layout)
        given: dict[str, Any] = {"video_grid_thw" if layout.is_video else "image_grid_thw": grid}
        if layout.seconds_per_grid is not None:
            given["second_per_grid_ts"] = torch.tensor([layout.seconds_per_grid])
        ids = torch.zeros(1, count + 1, dtype=torch.long)
        positions, _ = model.model.get_rope_index(ids, mm_token_type_ids=types, **given)
        return positions[:, 0]

    def _run_grid(self, layout: Layout) -> torch.Tensor:
        return torch.tensor([[layout.grids, layout.grid_height, layout.grid_width]])

    def features(self, model: nn.Module, images: list[Pixels]) -> Features:
        device = next(model.parameters()).device
        grids = torch.cat([self._grids(one.layout) for one in images]).to(device)
        values = torch.cat([one.values for one in images]).to(device)
        return self._tower(model, values, grids)

    def _grids(self, layout: Layout) -> torch.Tensor:
        return torch.tensor([[layout.grids, layout.grid_height, layout.grid_width]])

    def _tower(self, model: nn.Module, values: torch.Tensor, grids: torch.Tensor) -> Features:
        made = model.model.get_image_features(values, grids, return_dict=True)
        return Features(torch.cat(made.pooler_output))

    def decode(self, model: nn.Module, given: Decoding) -> torch.Tensor:
        return model.model.language_model(
            inputs_embeds=given.embeds,
            position_ids=given.positions,
            attention_mask=given.mask,
            past_key_values=given.cache,
            use_cache=given.cache is not None,
        ).last_hidden_state


class Qwen3VL(Qwen25VL):
    """Qwen3-VL: each moment of a video is a run of its own, and features go into later layers."""

    def runs(self, layout: Layout) -> list[int]:
        return [layout.token_count // layout.grids] * layout.grids

    def _run_grid(self, layout: Layout) -> torch.Tensor:
        return torch.tensor([[1, layout.grid_height, layout.grid_width]])

    def _tower(self, model: nn.Module, values: torch.Tensor, grids: torch.Tensor) -> Features:
        made = model.model.get_image_features(values, grids, return_dict=True)
        levels = tuple(torch.cat(level) for level in made.deepstack_features)
        return Features(torch.cat(made.pooler_output), levels)

    def decode(self, model: nn.Module, given: Decoding) -> torch.Tensor:
        visual = torch.zeros(given.embeds.shape[:2], dtype=torch.bool, device=given.embeds.device)
        visual[0, given.places] = True
        added = {}
        if len(given.places) > 0:
            added = {
                "visual_pos_masks": visual,
                "deepstack_visual_embeds": list(given.levels),
            }
        return model.model.language_model(
            inputs_embeds=given.embeds,
            position_ids=given.positions,
            attention_mask=given.mask,
            past_key_values=given.cache,
            use_cache=given.cache is not None,
            **added,
        ).last_hidden_state
