"""What each rank carries out: the models it holds, and the operations on them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import torch

from .base import Base
from .checkpoints import load, save
from .errors import NotFound, Refused, UserError
from .fingerprint import checksum, gradients
from .group import Operation, Ranks
from .images import Images
from .learner import Learner, Recipe, Work
from .optimizer import StepSettings
from .publish_weights import send_nccl
from .sampling import sample
from .scoring import backward, forward, forward_backward
from .selfcheck import check_model


class Worker:
    """The models of one rank."""

    def __init__(self, base: Base, ranks: Ranks, image_bytes: int) -> None:
        self.base = base
        self.ranks = ranks
        self.images = Images(base.family, image_bytes)
        self.models: dict[str, Learner] = {}

    def operations(self) -> dict[str, Operation]:
        on = self._on
        return {
            "create": self.create,
            "unload": self.unload,
            "forward": on(forward),
            "backward": on(backward),
            "forward_backward": on(forward_backward),
            "step": on(step),
            "reset_optimizer": on(reset_optimizer),
            "save": on(save),
            "load": on(load),
            "checksum": on(checksum),
            "gradients": on(gradients),
            "sample": on(self.sample),
            "send_nccl": on(send_nccl),
        }

    def create(self, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
        """Makes a model from the base."""
        recipe: Recipe = shared["recipe"]
        try:
            learner = Learner(self.base, recipe, self.ranks, self.images)
        except Refused as refused:
            raise UserError(str(refused), code="unsupported-model") from refused
        yield
        try:
            check_model(learner)
        except Refused as refused:
            # All ranks computed the same, and refuse together.
            raise UserError(str(refused), code="unsupported-model") from refused
        self.models[shared["model"]] = learner
        return {
            "parameters": sum(one.numel() for one in learner.trained.values()),
            "tensors": len(learner.trained),
        }

    def unload(self, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
        """Frees a model."""
        yield
        self.models.pop(shared["model"], None)
        if self.ranks.device.type == "cuda":
            torch.cuda.empty_cache()

    def sample(
        self, learner: Learner, shared: dict[str, Any], work: Work
    ) -> Generator[None, None, Any]:
        """Samples with the weights of now, of a checkpoint, or of the base."""
        directory = shared["directory"]
        if directory is None:
            return (yield from sample(learner, shared, work))
        # The checkpoint stands in for the trained weights for as long as the request takes.
        steps = load(_Borrowed(learner), {"directory": directory, "optimizer": False}, None)
        next(steps)
        inner = sample(learner, shared, work)
        next(inner)
        yield
        before = learner.snapshot()
        try:
            _finish(steps)
            return _finish(inner)
        finally:
            learner.restore(before)

    def _on(self, act: Callable[..., Generator[None, None, Any]]) -> Operation:
        def run(shared: dict[str, Any], mine: Any) -> Generator[None, None, Any]:
            learner = self.models.get(shared["model"])
            if learner is None:
                raise NotFound(f"Model {shared['model']} is not loaded.", field="model_id")
            return (yield from act(learner, shared, mine))

        return run


class _Borrowed:
    """A learner whose weights are replaced for a while: its gradient and forwards stay."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.optimizer = _Untouched()
        self.forwards: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)


class _Untouched:
    def clear(self) -> None:
        """Leaves the gradient."""


def _finish(steps: Generator[None, None, Any]) -> Any:
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    raise AssertionError("an operation yields more than once")


def step(learner: Learner, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
    """Steps the weights by the accumulated gradient."""
    settings: StepSettings = shared["settings"]
    # Forwards belong to the weights they were made with.
    learner.forwards.clear()
    if not learner.optimizer.has_gradient:
        raise UserError(
            "There is no gradient: no backward came since the last step.", code="no-gradient"
        )
    yield
    norm, is_skipped = learner.optimizer.step(settings)
    learner.version += 1
    return {
        "metrics": {"grad_norm:mean": norm, "is_skipped:max": float(is_skipped)},
        "version": learner.version,
        "grad_norm": norm,
        "is_skipped": is_skipped,
    }


def reset_optimizer(
    learner: Learner, shared: dict[str, Any], mine: None
) -> Generator[None, None, Any]:
    """Forgets the moments."""
    yield
    learner.optimizer.reset()
    return {"version": learner.version}
