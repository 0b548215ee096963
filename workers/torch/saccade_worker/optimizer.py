"""AdamW over shards: torch's own, with the global norm, clipping and skipping around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn

from .bodies import AdamParams, OptimizerChoice
from .errors import UserError
from .group import Ranks
from .shards import like, local


@dataclass(frozen=True)
class StepSettings:
    """Settings of one step, all of which are honored."""

    learning_rate: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    max_norm: float
    decays: str = "all"


def settings_of(adam: AdamParams, choice: OptimizerChoice | None) -> StepSettings:
    """The settings of a request. @raises UserError if the optimizer is not AdamW"""
    if choice is not None and choice.name != "adamw":
        raise UserError(
            f'This worker steps with adamw, got "{choice.name}".',
            field="optimizer.name",
            code="unsupported-optimizer",
        )

    def chosen(own: float | None, given: float) -> float:
        return given if own is None else own

    own = choice or OptimizerChoice()
    return StepSettings(
        adam.learning_rate,
        chosen(own.beta1, adam.beta1),
        chosen(own.beta2, adam.beta2),
        chosen(own.eps, adam.eps),
        chosen(own.weightDecay, adam.weight_decay),
        chosen(own.maxGradNorm, adam.grad_clip_norm),
        own.decays,
    )


class Optimizer:
    """AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101) of a model's trained parameters."""

    def __init__(self, parameters: dict[str, nn.Parameter], ranks: Ranks) -> None:
        self._parameters = parameters
        self._ranks = ranks
        self.reset()

    def reset(self) -> None:
        """Forgets the moments."""
        # Steps are element by element, so that each rank steps its shards alone.
        self._shadows = {
            name: nn.Parameter(local(parameter).detach())
            for name, parameter in self._parameters.items()
        }
        matrices = [self._shadows[name] for name, one in self._parameters.items() if one.ndim > 1]
        others = [self._shadows[name] for name, one in self._parameters.items() if one.ndim <= 1]
        groups = [{"params": group} for group in (matrices, others) if group]
        self._is_matrix = [group is matrices for group in (matrices, others) if group]
        self._adamw = torch.optim.AdamW(groups, lr=0.0)

    @property
    def has_gradient(self) -> bool:
        return any(one.grad is not None for one in self._parameters.values())

    def clear(self) -> None:
        """Forgets the accumulated gradient."""
        for parameter in self._parameters.values():
            parameter.grad = None

    def step(self, settings: StepSettings) -> tuple[float, bool]:
        """Steps by the accumulated gradient and clears it: the norm before clipping, and whether
        the step was skipped because that is not finite."""
        grads = {
            name: local(one.grad) for name, one in self._parameters.items() if one.grad is not None
        }
        norm = self._norm(list(grads.values()))
        if not math.isfinite(norm):
            self.clear()
            return norm, True
        if settings.max_norm > 0:
            factor = min(1.0, settings.max_norm / (norm + 1e-6))
            for grad in grads.values():
                grad.mul_(factor)
        for name, shadow in self._shadows.items():
            shadow.data = local(self._parameters[name]).detach()
            grad = grads.get(name)
            shadow.grad = None if grad is None else grad.to(shadow.dtype)
        for group, is_matrix in zip(self._adamw.param_groups, self._is_matrix, strict=True):
            group["lr"] = settings.learning_rate
            group["betas"] = (settings.beta1, settings.beta2)
            group["eps"] = settings.eps
            decays = is_matrix or settings.decays == "all"
            group["weight_decay"] = settings.weight_decay if decays else 0.0
        self._adamw.step()
        for shadow in self._shadows.values():
            shadow.grad = None
        self.clear()
        return norm, False

    def _norm(self, grads: list[torch.Tensor]) -> float:
        total = torch.zeros((), dtype=torch.float64, device=self._ranks.device)
        for grad in grads:
            total += torch.linalg.vector_norm(grad, dtype=torch.float64) ** 2
        if self._ranks.world > 1:
            dist.all_reduce(total)
        return math.sqrt(total.item()) if math.isfinite(total.item()) else float("nan")

    def moments(self) -> list[tuple[str, torch.Tensor]]:
        """State as tensors that are sharded as their parameters, `m.<name>` and `v.<name>`."""
        found = []
        for name, shadow in self._shadows.items():
            state = self._adamw.state.get(shadow)
            if state:
                parameter = self._parameters[name]
                found.append((f"m.{name}", like(state["exp_avg"], parameter)))
                found.append((f"v.{name}", like(state["exp_avg_sq"], parameter)))
        return found

    def steps(self) -> dict[str, int]:
        """Steps that each parameter took."""
        return {
            name: int(self._adamw.state[shadow]["step"])
            for name, shadow in self._shadows.items()
            if self._adamw.state.get(shadow)
        }

    def restore(self, steps: dict[str, int]) -> list[tuple[str, torch.Tensor]]:
        """Opens empty moments of parameters that took steps; returns them as `moments` does."""
        self.reset()
        for name, count in steps.items():
            shadow = self._shadows[name]
            self._adamw.state[shadow] = {
                "step": torch.tensor(float(count)),
                "exp_avg": torch.zeros_like(shadow),
                "exp_avg_sq": torch.zeros_like(shadow),
            }
        return self.moments()
