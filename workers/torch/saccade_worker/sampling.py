"""Samples continuations, token by token, with exact log-probs: plain, for checks and evaluation.

It runs the decoder that scoring runs, with its positions and features, so that prompts may hold
sampled placeholders, which `generate` of transformers refuses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache

from .errors import UserError
from .forest import Packed
from .group import share
from .learner import Learner, Work


@dataclass
class Stops:
    """What ends a sequence besides its length."""

    tokens: frozenset[int]
    texts: tuple[str, ...]
    tokenizer: Any

    def ends(self, tokens: list[int]) -> bool:
        if tokens[-1] in self.tokens:
            return True
        if not self.texts:
            return False
        # A stop string ends with the last token, which a few tokens before it complete.
        tail = self.tokenizer.decode(tokens[-64:], skip_special_tokens=False)
        return any(text in tail for text in self.texts)


def stops_of(given: Any, end_tokens: frozenset[int], tokenizer: Any) -> Stops:
    """Reads `stop`: texts, tokens, or nothing. @raises UserError for texts without a tokenizer"""
    values = [given] if isinstance(given, str) else (given or [])
    texts = tuple(one for one in values if isinstance(one, str))
    if texts and tokenizer is None:
        raise UserError(
            "The checkpoint has no tokenizer, so stop must be token ids.",
            field="sampling_params.stop",
        )
    ids = frozenset(one for one in values if isinstance(one, int))
    return Stops(ids | end_tokens, texts, tokenizer)


def truncated(logits: np.ndarray, temperature: float, top_k: int, top_p: float) -> np.ndarray:
    """[V] f64 log-probs of the distribution that is sampled from; −∞ for what is left out."""
    scaled = logits.astype(np.float64) / (temperature if temperature > 0 else 1.0)
    order = np.argsort(-scaled, kind="stable")
    kept = np.ones(len(scaled), dtype=bool)
    if top_k > 0:
        kept[order[top_k:]] = False
    logprobs = _normalized(np.where(kept, scaled, -np.inf))
    if top_p < 1:
        mass = np.cumsum(np.exp(logprobs[order]))
        # The smallest set of the most likely tokens whose mass reaches top_p.
        kept[order[1:][mass[:-1] >= top_p]] = False
        logprobs = _normalized(np.where(kept, scaled, -np.inf))
    return logprobs


def _normalized(scaled: np.ndarray) -> np.ndarray:
    top = scaled.max()
    return scaled - (top + np.log(np.exp(scaled - top).sum()))


def draw(logprobs: np.ndarray, temperature: float, random: np.random.Generator) -> int:
    """A token: the most likely one at temperature 0, else by the inverse of the distribution."""
    if temperature == 0:
        return int(logprobs.argmax())
    mass = np.cumsum(np.exp(logprobs))
    found = int(np.searchsorted(mass, random.random() * mass[-1], side="right"))
    return min(found, int(np.flatnonzero(np.isfinite(logprobs))[-1]))


def sample(learner: Learner, shared: dict[str, Any], work: Work) -> Generator[None, None, Any]:
    """Continues one prompt several times."""
    (packed,) = learner.prepare(work)
    yield
    count, limit = shared["num_samples"], shared["max_tokens"]
    temperature = shared["temperature"]
    ranks = learner.ranks
    with learner.weights(shared["weights"]) as scorer, torch.no_grad():
        prompt_logprobs = None
        if shared["prompt_logprobs"]:
            prompt_logprobs = scorer(packed, 1.0).logprobs.cpu().numpy()
        sequences: list[list[int]] = [[] for _ in range(count)]
        logprobs: list[list[float]] = [[] for _ in range(count)]
        reasons = ["length"] * count
        if limit == 0:
            return _answer(sequences, logprobs, reasons, prompt_logprobs)
        streams = [np.random.default_rng([shared["seed"], number]) for number in range(count)]
        cache: Any = DynamicCache(config=learner.base.config.get_text_config())
        logits = scorer.step(packed, cache)
        if count > 1:
            cache.batch_repeat_interleave(count)
            logits = logits.expand(count, -1)
        position = packed.next_position
        total = packed.ids.shape[1]
        alive = set(range(count))
        for step in range(limit):
            tokens = [0] * count
            if ranks.rank == 0:
                values = logits.cpu().numpy()
                for number in sorted(alive):
                    known = truncated(values[number], temperature, shared["top_k"], shared["top_p"])
                    token = draw(known, temperature, streams[number])
                    tokens[number] = token
                    sequences[number].append(token)
                    logprobs[number].append(float(known[token]))
                    if shared["stops"].ends(sequences[number]):
                        reasons[number] = "stop"
                        alive.discard(number)
            # One rank decides: devices may differ in the last bit, and then in the token.
            tokens, alive = share(ranks, (tokens, alive))
            if not alive or step + 1 == limit:
                break
            total += 1
            following = _following(learner, packed, tokens, position + step, total)
            logits = scorer.step(following, cache)
    return _answer(sequences, logprobs, reasons, prompt_logprobs)


def _following(
    learner: Learner, packed: Packed, tokens: list[int], position: int, total: int
) -> Packed:
    """One more token of each sequence."""
    device, count = learner.ranks.device, len(tokens)
    axes = packed.positions.shape[0]
    seen = torch.ones(count, 1, 1, total, dtype=torch.bool, device=device)
    mask: Any = seen
    if isinstance(packed.mask, dict):
        window = learner.base.config.get_text_config().sliding_window
        near = seen.clone()
        near[..., : max(0, total - window)] = False
        mask = {"full_attention": seen, "sliding_attention": near}
    return dataclasses.replace(
        packed,
        ids=torch.tensor(tokens, device=device)[:, None],
        positions=torch.full((axes, count, 1), position, device=device),
        mask=mask,
        places=packed.places[:0],
        images=[],
        needs_vision=False,
    )


def _answer(
    sequences: list[list[int]],
    logprobs: list[list[float]],
    reasons: list[str],
    prompt_logprobs: np.ndarray | None,
) -> dict[str, Any]:
    found = [
        {"tokens": tokens, "logprobs": probs, "stop_reason": reason}
        for tokens, probs, reason in zip(sequences, logprobs, reasons, strict=True)
    ]
    answer: dict[str, Any] = {"type": "sample", "sequences": found}
    if prompt_logprobs is not None:
        answer["prompt_logprobs"] = [None, *(float(one) for one in prompt_logprobs)]
    return answer
