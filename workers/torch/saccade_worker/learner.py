"""One trained model on one rank: its shards, its optimizer, and the forwards it may go back on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from .adapters import add_adapter, peft_name, without_adapter
from .base import Base, load_model
from .blobs import Blob
from .bodies import LoraConfig
from .errors import UserError
from .forest import Packed, Tree, pack
from .group import Ranks, in_turn
from .images import Images
from .optimizer import Optimizer
from .scorer import Scorer
from .shards import checkpointed, local, shard
from .valuehead import open_value_head


@dataclass(frozen=True)
class Recipe:
    """How a model is made."""

    lora: LoraConfig | None
    dtype: str
    value_head: bool
    reference: bool
    recompute: bool

    @property
    def compute(self) -> torch.dtype:
        return torch.bfloat16 if self.dtype == "bf16" else torch.float32


@dataclass(frozen=True)
class Work:
    """Rows of one rank: trees, whether any rank has images in that row, and the images."""

    rows: list[list[Tree]]
    needs_vision: list[bool]
    blobs: dict[str, Blob]


class Learner:
    """A model that is trained."""

    def __init__(self, base: Base, recipe: Recipe, ranks: Ranks, images: Images) -> None:
        self.base = base
        self.recipe = recipe
        self.ranks = ranks
        self.images = images
        self.version = 0
        self.forwards: dict[str, tuple[Work, float]] = {}
        # A base that never moves is stored as it is computed with; what is trained stays f32.
        is_frozen = recipe.lora is not None
        stored = recipe.compute if is_frozen else torch.float32
        hf = in_turn(ranks, lambda: load_model(base, base.directory, stored))
        self.hf = hf
        self.peft = None
        if recipe.lora is not None:
            self.peft = add_adapter(hf, recipe.lora)
        head = open_value_head(base) if recipe.value_head else None
        self.scorer = Scorer(hf, base.family, head)
        hf.config.use_cache = False
        if recipe.recompute:
            hf.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        shard(self.scorer, ranks, recipe.compute)
        self.scorer.to(ranks.device)
        self.trained: dict[str, nn.Parameter] = {
            name: one for name, one in self.scorer.named_parameters() if one.requires_grad
        }
        self.optimizer = Optimizer(self.trained, ranks)
        self._reference: Scorer | None = None
        if recipe.reference and recipe.lora is None:
            self._reference = self._frozen_copy()

    def _frozen_copy(self) -> Scorer:
        compute = self.recipe.compute
        hf = in_turn(self.ranks, lambda: load_model(self.base, self.base.directory, compute))
        hf.requires_grad_(False)
        scorer = Scorer(hf, self.base.family, None)
        shard(scorer, self.ranks, compute)
        return scorer.to(self.ranks.device)

    @property
    def has_reference(self) -> bool:
        return self.peft is not None or self._reference is not None

    @property
    def has_values(self) -> bool:
        return self.scorer.value_head is not None

    def parameter_name(self, name: str) -> str:
        """The name under which a parameter is written, but for conversions of transformers."""
        if name.startswith("value_head."):
            return name
        return peft_name(name) if self.peft is not None else name.removeprefix("hf.")

    def prepare(self, work: Work) -> list[Packed]:
        """Packs the rows of this rank. @raises UserError if an image is none"""
        pixels = {sha256: self.images.prepare(blob) for sha256, blob in work.blobs.items()}
        return [
            pack(trees, self.base.family, self.hf, pixels, needs_vision, self.ranks.device)
            for trees, needs_vision in zip(work.rows, work.needs_vision, strict=True)
        ]

    @contextmanager
    def weights(self, which: str) -> Iterator[Scorer]:
        """The scorer of the trained weights, or of those that training began with."""
        if which == "policy":
            yield self.scorer
        elif self.peft is not None:
            with without_adapter(self.hf):
                yield self.scorer
        elif self._reference is not None:
            yield self._reference
        else:
            raise UserError(
                "This model keeps no reference weights. Create it with reference: true.",
                field="weights",
                code="no-reference",
            )

    @contextmanager
    def gradients(self) -> Iterator[None]:
        """Gradients on, and activations made again in the backward where that was asked for."""
        blocks = list(checkpointed(self.hf)) if self.recipe.recompute else []
        for block in blocks:
            block.training = True
        try:
            with torch.enable_grad():
                yield
        finally:
            for block in blocks:
                block.training = False

    def named(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Parameters that belong to the model's files: the adapter's alone where there is one."""
        for name, parameter in self.scorer.named_parameters():
            if self.peft is None or name in self.trained:
                yield name, parameter

    def snapshot(self) -> dict[str, torch.Tensor]:
        """Copies of this rank's trained shards."""
        return {name: local(one).detach().clone() for name, one in self.trained.items()}

    @torch.no_grad()
    def restore(self, snapshot: dict[str, torch.Tensor]) -> None:
        for name, part in snapshot.items():
            local(self.trained[name]).copy_(part)
