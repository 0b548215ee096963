"""Named losses against their formulas in float64, and against autograd through the model."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from saccade_worker.errors import UserError
from saccade_worker.losses import NEEDS, LossInputs, read_settings, token_losses

from .trees import assert_same_gradients, group_of

LP = [-0.5, -1.0, -2.0, -0.1, -3.0, -1.5]
Q = [-0.9, -0.8, -2.5, -0.1, -1.0, -1.4]
A = [1.0, -2.0, 0.5, -0.3, -1.0, 0.0]
W = [1.0, 0.5, -2.0, 0.0, 3.0, 1.0]


def by_hand(name: str, lp: float, q: float, a: float, w: float) -> tuple[float, float]:
    """The loss of one token with default settings, and its derivative by lp."""
    r = math.exp(lp - q)
    if name == "cross_entropy":
        return -w * lp, -w
    if name == "importance_sampling":
        return -w * r * a, -w * r * a
    if name == "ppo":
        clipped = min(max(r, 0.8), 1.2)
        is_clipped = clipped * a < r * a
        return -w * min(r * a, clipped * a), 0.0 if is_clipped else -w * r * a
    if name == "cispo":
        clipped = min(max(r, 0.0), 4.0)
        return -w * clipped * a * lp, -w * clipped * a
    return -w * (a * lp - 0.5 * 0.05 * (lp - q) ** 2), -w * (a - 0.05 * (lp - q))


@pytest.mark.parametrize("name", NEEDS)
def test_a_loss_is_its_formula(name):
    lp = torch.tensor(LP, dtype=torch.float64, requires_grad=True)
    inputs = LossInputs(*(torch.tensor(one, dtype=torch.float64) for one in (W, Q, A)))
    losses = token_losses(name, lp, inputs, read_settings(name, None))
    losses.sum().backward()
    for i in range(len(LP)):
        loss, slope = by_hand(name, LP[i], Q[i], A[i], W[i])
        assert losses[i].item() == pytest.approx(loss, abs=1e-14)
        assert lp.grad[i].item() == pytest.approx(slope, abs=1e-14)


@pytest.mark.parametrize("name", NEEDS)
def test_a_named_loss_is_the_custom_loss_with_its_gradient(local, name):
    model = local("qwen2_5_vl")
    group = group_of(model, [1])
    forest = group.forest()
    random = np.random.default_rng(3)
    lp = model.forward(forest)["logprobs"].astype(np.float64)
    q = lp + random.normal(0, 0.3, len(lp))
    inputs = {
        "weights": random.normal(0, 1, len(lp)).astype(np.float32),
        "logprobs": q.astype(np.float32),
        "advantages": random.normal(0, 1, len(lp)).astype(np.float32),
    }
    by_token = [
        by_hand(name, lp[i], *(float(inputs[n][i]) for n in ("logprobs", "advantages", "weights")))
        for i in range(len(lp))
    ]
    model.backward(logprobs=np.array([slope for _, slope in by_token], dtype=np.float32))
    custom = model.gradients()
    model.clear()
    batch = model.reader.forest(forest, "forest")
    shared = {
        "model": "m",
        "temperature": 1.0,
        "squares": False,
        "count": batch.count,
        "loss": name,
        "settings": read_settings(name, None),
        "inputs": inputs,
    }
    made = model.group.call("forward_backward", shared, model.reader.work(batch, 1, 8192))
    assert_same_gradients(model.gradients(), custom)
    assert made["loss"] == pytest.approx(sum(loss for loss, _ in by_token), rel=1e-5)


def test_settings_are_honored_and_unknown_ones_refused():
    settings = read_settings("ppo", {"clip_high_threshold": 1.05})
    lp = torch.zeros(1)
    inputs = LossInputs(None, torch.tensor([-0.5]), torch.tensor([2.0]))
    assert token_losses("ppo", lp, inputs, settings).item() == pytest.approx(-2.1)
    with pytest.raises(UserError, match="clip_low_threshold"):
        read_settings("ppo", {"epsilon": 0.1})
