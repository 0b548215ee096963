"""The module that FSDP shards: model, head and the selection of rows in one forward."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from .families.family import Decoding, Family
from .forest import Packed

# Rows of logits at a time; [512, 151936] f32 is 311 MB.
CHUNK = 512


class Scored(NamedTuple):
    """Scores of the M rows that have a target; values of all N rows.

    A tuple, so that FSDP finds the tensors whose gradients begin the backward.
    """

    logprobs: torch.Tensor
    entropy: torch.Tensor
    squares: torch.Tensor | None
    values: torch.Tensor | None


class Scorer(nn.Module):
    """Scores packed rows. Every use of its parameters goes through `forward` or `step`."""

    def __init__(self, hf: nn.Module, family: Family, value_head: nn.Linear | None) -> None:
        super().__init__()
        self.hf = hf
        self.value_head = value_head
        self.family = family

    def forward(self, packed: Packed, temperature: float, wants_squares: bool = False) -> Scored:
        hidden = self.hidden(packed)[0].index_select(0, packed.rows)
        values = None
        if self.value_head is not None:
            values = self.value_head(hidden.float()).sum(-1)
        chosen = hidden.index_select(0, packed.valid)
        targets = packed.targets.index_select(0, packed.valid)
        parts = [
            self._score(chosen[i : i + CHUNK], targets[i : i + CHUNK], temperature, wants_squares)
            for i in range(0, max(1, len(chosen)), CHUNK)
        ]
        logprobs, entropy, squares = (torch.cat(one) for one in zip(*parts, strict=True))
        return Scored(logprobs, entropy, squares if wants_squares else None, values)

    def hidden(self, packed: Packed, cache: object = None) -> torch.Tensor:
        """[1, T, D] hidden states. Features go to their places; ids there are never looked at."""
        embeds = self.hf.get_input_embeddings()(packed.ids)
        levels: tuple[torch.Tensor, ...] = ()
        if packed.images:
            made = self.family.features(self.hf, packed.images)
            rows = made.rows.to(embeds.dtype)
            embeds = embeds.index_copy(1, packed.places, rows[None])
            levels = made.levels
        elif packed.needs_vision:
            # Another rank encodes images now: the same collectives run here, and add nothing.
            made = self.family.features(self.hf, [self.family.smallest()])
            for part in (made.rows, *made.levels):
                embeds = embeds + 0 * part.sum().to(embeds.dtype)
        return self.family.decode(
            self.hf, Decoding(embeds, packed.positions, packed.mask, packed.places, levels, cache)
        )

    def step(self, packed: Packed, cache: object) -> torch.Tensor:
        """[B, V] f32 logits after each sequence's last token; keys and values go to the cache."""
        return self.logits(self.hidden(packed, cache)[:, -1])

    def own_logits(self, ids: torch.Tensor) -> torch.Tensor:
        """[B, T, V] logits as transformers' own forward gives them, of text alone."""
        return self.hf(input_ids=ids, use_cache=False).logits.float()

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[N, V] f32 logits, summed in f32 also where weights are bf16."""
        head = self.hf.get_output_embeddings()
        if type(head) is nn.Linear:
            bias = None if head.bias is None else head.bias.float()
            return F.linear(hidden.float(), head.weight.float(), bias)
        return head(hidden).float()

    def _score(
        self, hidden: torch.Tensor, targets: torch.Tensor, temperature: float, squares: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        def run(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
            logits = self.logits(rows) / temperature
            lse = torch.logsumexp(logits, dim=-1)
            probs = (logits - lse[:, None]).exp()
            logprobs = logits.gather(1, targets[:, None])[:, 0] - lse
            entropy = lse - (probs * logits).sum(-1)
            summed = (probs.detach() ** 2).sum(-1) if squares else lse.detach()
            return logprobs, entropy, summed

        if torch.is_grad_enabled():
            # Logits are made again in the backward, so that those of one chunk live at a time.
            return checkpoint(run, hidden, use_reentrant=False, determinism_check="none")
        return run(hidden)
