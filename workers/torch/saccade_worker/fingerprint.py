"""A checksum of weights that is cheap to compare, and the accumulated gradient for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from typing import Any

import torch

from .checkpoints import stored_weights
from .errors import UserError
from .learner import Learner
from .shards import like, local, whole

# Elements of each tensor that count.
SAMPLED = 64


def checksum_of(tensors: dict[str, torch.Tensor]) -> str:
    """SHA-256 over names, shapes and up to 64 evenly spaced elements of each tensor."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        shape = ",".join(str(side) for side in tensor.shape)
        digest.update(f"{name}\n{shape}\n".encode())
        count = tensor.numel()
        indices = sorted({i * count // SAMPLED for i in range(SAMPLED)}) if count > 0 else []
        flat = tensor.reshape(-1)[torch.tensor(indices, dtype=torch.long)]
        digest.update(flat.float().numpy().astype("<f4").tobytes())
    return digest.hexdigest()


def checksum(learner: Learner, shared: Any, mine: None) -> Generator[None, None, Any]:
    """The checksum of what `save_weights` would write."""
    yield
    tensors = whole(learner.ranks, learner.named())
    if learner.ranks.rank != 0:
        return None
    stored = stored_weights(learner, tensors)
    if learner.peft is None:
        dtype = learner.recipe.compute
        heads = {name for name in stored if name.startswith("value_head.")}
        stored = {n: one if n in heads else one.to(dtype) for n, one in stored.items()}
    return {"version": learner.version, "checksum": checksum_of(stored)}


def gradients(learner: Learner, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
    """The accumulated gradient by stored name; parameters without one are absent."""
    yield
    parts = (
        (name, like(local(one.grad), one))
        for name, one in learner.trained.items()
        if one.grad is not None
    )
    tensors = whole(learner.ranks, parts)
    if learner.ranks.rank != 0:
        return None
    stored = stored_weights(learner, tensors)
    wanted = shared["names"]
    if wanted is not None:
        unknown = [name for name in wanted if name not in stored]
        if unknown:
            raise UserError(f'"{unknown[0]}" has no gradient here.', field="names")
        stored = {name: stored[name] for name in wanted}
    found = {name: one.float().numpy() for name, one in stored.items()}
    return {"gradients": found, "version": learner.version}
