"""InternVL and Idefics3/SmolVLM: images as square tiles of one size, positions as of text."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..errors import UserError
from .family import Decoding, Features, Layout, Pixels, opens_after, token_id

# Tokens that may stand between the marker before a tile and its placeholders: the tile's name.
LONGEST_NAME = 16


class Tiles:
    """What both families share: a tower of fixed size."""

    has_images = True
    axes = 1

    def __init__(self, config: Any, processor: Any) -> None:
        vision = config.vision_config
        self.processor = getattr(processor, "image_processor", processor)
        self.tokenizer = getattr(processor, "tokenizer", None)
        self.patch = _side(vision.patch_size)
        self.side = _side(vision.image_size) // self.patch
        self.image_token = config.image_token_id
        self.tile_tokens = self._tokens_per_tile(config)

    def _tokens_per_tile(self, config: Any) -> int:
        raise NotImplementedError

    def _tiles(self, image: Any) -> torch.Tensor:
        raise NotImplementedError

    def read(self, image: Any) -> Pixels:
        if self.processor is None:
            raise UserError(
                "The checkpoint has no image processor; send prepared patches instead.",
                code="no-processor",
            )
        values = self._tiles(image)
        height, width = (side // self.patch for side in values.shape[-2:])
        if (height, width) != (self.side, self.side):
            raise UserError(
                f"The checkpoint's processor makes tiles of {height}×{width} patches; its tower "
                f"takes {self.side}×{self.side}. Set the processor's tile size to the tower's.",
                code="tile-size",
            )
        count = len(values) * self.tile_tokens
        return Pixels(values, Layout(height, width, len(values), count))

    def accept(self, patches: torch.Tensor, layout: Layout) -> Pixels:
        side, patch, tiles = self.side, self.patch, layout.grids
        if (layout.grid_height, layout.grid_width) != (side, side):
            raise UserError(
                f"A tile must have {side}×{side} patches, got "
                f"{layout.grid_height}×{layout.grid_width}.",
                field="gridHeight",
            )
        length = 3 * patch * patch
        if tuple(patches.shape) != (tiles * side * side, length):
            raise UserError(
                f"patches must be [{tiles * side * side}, {length}], got {list(patches.shape)}.",
                field="patches",
            )
        if layout.token_count != tiles * self.tile_tokens:
            raise UserError(
                f"{tiles} tiles make {tiles * self.tile_tokens} placeholders, tokenCount is "
                f"{layout.token_count}.",
                field="tokenCount",
            )
        grid = patches.reshape(tiles, side, side, 3, patch, patch).permute(0, 3, 1, 4, 2, 5)
        return Pixels(grid.reshape(tiles, 3, side * patch, side * patch).contiguous(), layout)

    def smallest(self) -> Pixels:
        extent = self.side * self.patch
        layout = Layout(self.side, self.side, 1, self.tile_tokens)
        return Pixels(torch.zeros(1, 3, extent, extent), layout)

    def placeholder(self, layout: Layout) -> int:
        return self.image_token

    def spread(self, model: nn.Module, layout: Layout) -> torch.Tensor | None:
        return None

    def _values(self, model: nn.Module, images: list[Pixels]) -> torch.Tensor:
        device = next(model.parameters()).device
        return torch.cat([one.values for one in images]).to(device)


class InternVL(Tiles):
    """All tiles of an image between one pair of markers; each frame of a video between its own."""

    def __init__(self, config: Any, processor: Any) -> None:
        super().__init__(config, processor)
        self.start = token_id(config, self.tokenizer, ("vision_start_token_id",), "<img>")
        self.end = token_id(config, self.tokenizer, ("vision_end_token_id",), "</img>")

    def _tokens_per_tile(self, config: Any) -> int:
        return int((self.side * config.downsample_ratio) ** 2)

    def _tiles(self, image: Any) -> torch.Tensor:
        made = self.processor(images=[image], crop_to_patches=True, return_tensors="pt")
        return made["pixel_values"].float()

    def runs(self, layout: Layout) -> list[int]:
        if layout.is_video:
            return [layout.token_count // layout.grids] * layout.grids
        return [layout.token_count]

    def opens(self, tokens: list[int], start: int) -> bool:
        return opens_after(tokens, start, self.start)

    def closes(self, tokens: list[int], end: int) -> bool:
        return end < len(tokens) and tokens[end] == self.end

    def features(self, model: nn.Module, images: list[Pixels]) -> Features:
        values = self._values(model, images)
        made = model.model.get_image_features(pixel_values=values, return_dict=True)
        return Features(made.pooler_output.flatten(0, 1))

    def decode(self, model: nn.Module, given: Decoding) -> torch.Tensor:
        return model.model.language_model(
            inputs_embeds=given.embeds,
            position_ids=given.positions[0],
            attention_mask=given.mask,
            past_key_values=given.cache,
            use_cache=given.cache is not None,
        ).last_hidden_state


class Idefics3(Tiles):
    """Each tile after a marker and its name; what follows is the next marker or a line break."""

    def __init__(self, config: Any, processor: Any) -> None:
        super().__init__(config, processor)
        found = token_id(
            config, self.tokenizer, ("vision_start_token_id",), "<fake_token_around_image>"
        )
        self.start = self.image_token - 1 if found is None else found

    def _tokens_per_tile(self, config: Any) -> int:
        return self.side**2 // config.scale_factor**2

    def _tiles(self, image: Any) -> torch.Tensor:
        made = self.processor(images=[[image]], return_tensors="pt")
        return made["pixel_values"][0].float()

    def runs(self, layout: Layout) -> list[int]:
        return [layout.token_count // layout.grids] * layout.grids

    def opens(self, tokens: list[int], start: int) -> bool:
        for i in range(start - 1, max(0, start - 1 - LONGEST_NAME) - 1, -1):
            if tokens[i] == self.start:
                return i < start - 1
            if tokens[i] == self.image_token:
                return False
        return False

    def closes(self, tokens: list[int], end: int) -> bool:
        return end < len(tokens) and tokens[end] != self.image_token

    def features(self, model: nn.Module, images: list[Pixels]) -> Features:
        """Features without the model's own entry, which drops tiles whose values are all 0."""
        inner = model.model
        values = self._values(model, images).to(inner.dtype)
        mask = torch.ones(len(values), self.side, self.side, dtype=torch.bool, device=values.device)
        seen = inner.vision_model(pixel_values=values, patch_attention_mask=mask, return_dict=True)
        return Features(inner.connector(seen.last_hidden_state).flatten(0, 1))

    def decode(self, model: nn.Module, given: Decoding) -> torch.Tensor:
        return model.model.text_model(
            inputs_embeds=given.embeds,
            position_ids=given.positions[0],
            attention_mask=given.mask,
            past_key_values=given.cache,
            use_cache=given.cache is not None,
        ).last_hidden_state


def _side(value: Any) -> int:
    return int(value[0]) if isinstance(value, (list, tuple)) else int(value)
