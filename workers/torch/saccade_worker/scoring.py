"""The operations that score and differentiate: forward, backward, and the named losses."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import torch

from .errors import Gone
from .forest import Packed
from .group import gather
from .learner import Learner, Work
from .losses import LossInputs, token_losses
from .scorer import Scored


def forward(learner: Learner, shared: dict[str, Any], work: Work) -> Generator[None, None, Any]:
    """Scores rows; keeps them for a backward under the request's id."""
    packed = learner.prepare(work)
    with learner.weights(shared["weights"]) as scorer:
        yield
        for request_id in shared["forget"]:
            learner.forwards.pop(request_id, None)
        if shared["weights"] == "policy":
            learner.forwards[shared["request_id"]] = (work, shared["temperature"])
        made = []
        with torch.no_grad():
            for row in packed:
                scored = scorer(row, shared["temperature"], shared["squares"])
                made.append(_numbers(row, scored))
    return _joined(learner, gather(learner.ranks, made), shared["count"])


def backward(learner: Learner, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
    """Adds Σ g·∂/∂θ of a forward's log-probs, entropies and values to the gradient."""
    known = learner.forwards.get(shared["data_ref"])
    if known is None:
        raise Gone(
            f"Forward {shared['data_ref']} is not kept: it is old, or the weights have moved "
            "since. Send the forward again.",
            field="data_ref",
            code="forgotten-forward",
        )
    work, temperature = known
    packed = learner.prepare(work)
    device = learner.ranks.device
    grads = {
        name: torch.from_numpy(shared[name]).to(device)
        for name in ("logprobs", "entropy", "values")
        if shared[name] is not None
    }
    yield
    for row in packed:
        slots = torch.from_numpy(row.slots).to(device)
        chosen = slots.index_select(0, row.valid)
        with learner.gradients():
            scored = learner.scorer(row, temperature)
            surrogate = (grads["logprobs"].index_select(0, chosen) * scored.logprobs).sum()
            if "entropy" in grads:
                surrogate = (
                    surrogate + (grads["entropy"].index_select(0, chosen) * scored.entropy).sum()
                )
            surrogate = surrogate + _value_part(scored, grads.get("values"), slots)
            _descend(learner, surrogate)
    return {"version": learner.version}


def forward_backward(
    learner: Learner, shared: dict[str, Any], work: Work
) -> Generator[None, None, Any]:
    """Scores rows and adds the gradient of a named loss, a sum over tokens."""
    packed = learner.prepare(work)
    device = learner.ranks.device
    given = {
        name: None if value is None else torch.from_numpy(value).to(device)
        for name, value in shared["inputs"].items()
    }
    yield
    made, total = [], 0.0
    for row in packed:
        slots = torch.from_numpy(row.slots).to(device)
        chosen = slots.index_select(0, row.valid)
        with learner.gradients():
            scored = learner.scorer(row, shared["temperature"], shared["squares"])
            inputs = LossInputs(
                **{
                    name: None if value is None else value.index_select(0, chosen)
                    for name, value in given.items()
                }
            )
            losses = token_losses(shared["loss"], scored.logprobs, inputs, shared["settings"])
            _descend(learner, losses.sum() + _value_part(scored, None, slots))
        total += float(losses.detach().double().sum())
        made.append(_numbers(row, scored))
    gathered = gather(learner.ranks, (made, total))
    answer = _joined(learner, [one for one, _ in gathered], shared["count"])
    return {**answer, "loss": sum(part for _, part in gathered)}


def _value_part(
    scored: Scored, grads: torch.Tensor | None, slots: torch.Tensor
) -> torch.Tensor | float:
    """Σ g·V. The head takes part in every backward, as FSDP expects, if with 0."""
    if scored.values is None:
        return 0.0
    if grads is None:
        return 0 * scored.values.sum()
    return (grads.index_select(0, slots) * scored.values).sum()


def _descend(learner: Learner, surrogate: torch.Tensor) -> None:
    # FSDP averages over ranks, and each has a part of the sum. Gloo cannot be told to sum.
    (surrogate * learner.ranks.world).backward()


def _numbers(row: Packed, scored: Scored) -> dict[str, np.ndarray]:
    valid = row.valid.cpu().numpy()
    made = {
        "slots": row.slots,
        "chosen": row.slots[valid],
        "logprobs": scored.logprobs.detach().cpu().numpy(),
        "entropy": scored.entropy.detach().cpu().numpy(),
    }
    if scored.squares is not None:
        made["sum_squared_probs"] = scored.squares.detach().cpu().numpy()
    if scored.values is not None:
        made["values"] = scored.values.detach().cpu().numpy()
    return made


def _joined(learner: Learner, ranks: list[Any], count: int) -> dict[str, Any]:
    """Scores in the order of the request; 0 where a row has no target."""
    answer: dict[str, Any] = {"version": learner.version}
    for made in (one for rows in ranks for one in rows):
        for name in ("logprobs", "entropy", "sum_squared_probs", "values"):
            if name in made:
                into = answer.setdefault(name, np.zeros(count, dtype=np.float32))
                into[made["slots" if name == "values" else "chosen"]] = made[name]
    return answer
