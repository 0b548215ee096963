"""The named losses: token sums, and their gradients by log-prob."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .errors import UserError

NEEDS: dict[str, tuple[str, ...]] = {
    "cross_entropy": ("weights",),
    "importance_sampling": ("logprobs", "advantages"),
    "ppo": ("logprobs", "advantages"),
    "cispo": ("logprobs", "advantages"),
    "dro": ("logprobs", "advantages"),
}
SETTINGS: dict[str, dict[str, float]] = {
    "cross_entropy": {},
    "importance_sampling": {},
    "ppo": {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2},
    "cispo": {"clip_low_threshold": 0.0, "clip_high_threshold": 4.0},
    "dro": {"beta": 0.05},
}


@dataclass(frozen=True)
class LossInputs:
    """What a loss needs of each of N targets; None where it was not given."""

    weights: torch.Tensor | None
    logprobs: torch.Tensor | None
    advantages: torch.Tensor | None


def read_settings(name: str, given: dict[str, float] | None) -> dict[str, float]:
    """A loss's settings. @raises UserError if one is unknown"""
    known = SETTINGS[name]
    for key in given or {}:
        if key not in known:
            listed = ", ".join(known) or "none"
            raise UserError(
                f'{name} has no setting "{key}"; it has {listed}.', field=f"loss_fn_config.{key}"
            )
    return {**known, **(given or {})}


def token_losses(
    name: str, logprobs: torch.Tensor, inputs: LossInputs, settings: dict[str, float]
) -> torch.Tensor:
    """[N] the loss of each token; the loss of a batch is their sum.

    With r = exp(lp − q) of log-probs lp and those q at sampling, advantages A and weights w:

    cross_entropy −w·lp · importance_sampling −r·A · ppo −min(r·A, clip(r)·A) ·
    cispo −sg(clip(r))·A·lp · dro −(A·lp − ½β(lp − q)²), the last four times w where it is given.
    """
    if name == "cross_entropy":
        assert inputs.weights is not None
        return -inputs.weights * logprobs
    assert inputs.logprobs is not None
    assert inputs.advantages is not None
    advantages = inputs.advantages
    difference = logprobs - inputs.logprobs
    if name == "dro":
        losses = -(advantages * logprobs - 0.5 * settings["beta"] * difference**2)
    else:
        ratio = difference.exp()
        if name == "importance_sampling":
            losses = -ratio * advantages
        else:
            clipped = ratio.clamp(settings["clip_low_threshold"], settings["clip_high_threshold"])
            if name == "ppo":
                losses = -torch.minimum(ratio * advantages, clipped * advantages)
            else:
                losses = -clipped.detach() * advantages * logprobs
    return losses if inputs.weights is None else losses * inputs.weights
