"""Gradients are linear and signed, scores follow the temperature, steps are those of torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModelForCausalLM

from saccade_worker.bodies import LoraConfig
from saccade_worker.errors import UserError
from saccade_worker.optimizer import StepSettings

from .local import Local, forest_of
from .trees import assert_same_gradients, group_of

TOKENS = [3, 4, 5, 6, 7, 8, 9, 10]


def gradient_of(model: Local, weights: np.ndarray, repeats: int = 1) -> dict[str, np.ndarray]:
    """The gradient of −Σ w·lp of one sequence."""
    model.clear()
    forest = forest_of([(TOKENS, -1, [])], list(range(7)), TOKENS[1:])
    for number in range(repeats):
        model.forward(forest, f"r{number}")
        model.backward(f"r{number}", logprobs=-weights.astype(np.float32))
    return model.gradients()


@pytest.mark.parametrize("recipe", [{}, {"lora": LoraConfig(rank=4, seed=3)}])
def test_cross_entropy_is_linear_signed_and_additive(local, recipe):
    model = local("qwen2", **recipe)
    w = np.array([1, 0.5, -1, 2, 0, 0.25, 1])
    once = gradient_of(model, w)
    scaled = {name: 2 * one for name, one in once.items()}
    assert_same_gradients(gradient_of(model, 2 * w), scaled)
    negated = {name: -one for name, one in once.items()}
    assert_same_gradients(gradient_of(model, -w), negated)
    assert_same_gradients(gradient_of(model, w, repeats=2), scaled)
    parts = [np.where(np.arange(7) < 3, w, 0), np.where(np.arange(7) < 3, 0, w)]
    halves = [gradient_of(model, part) for part in parts]
    assert_same_gradients({n: halves[0][n] + halves[1][n] for n in once}, once, 3e-5)


def test_weights_of_zero_leave_no_gradient(local):
    for kind in ("qwen2", "qwen2_5_vl"):
        gradients = gradient_of(local(kind), np.zeros(7))
        assert all(not one.any() for one in gradients.values())


def test_entropy_and_values_have_gradients_of_their_own(local):
    model = local("qwen2", value_head=True)
    forest = forest_of([(TOKENS, -1, [])], list(range(7)), TOKENS[1:])
    model.forward(forest)
    model.backward(
        logprobs=np.zeros(7, np.float32),
        entropy=np.ones(7, np.float32),
        values=np.arange(7, dtype=np.float32),
    )
    got = model.gradients()
    hf = AutoModelForCausalLM.from_pretrained(model.base.directory, dtype=torch.float32)
    out = hf(input_ids=torch.tensor([TOKENS[:7]]), output_hidden_states=True)
    logprobs = torch.log_softmax(out.logits[0], -1)
    (-(logprobs.exp() * logprobs).sum(-1)).sum().backward()
    expected = {name: one.grad.numpy() for name, one in hf.named_parameters()}
    hidden = out.hidden_states[-1][0].detach().numpy()
    expected["value_head.weight"] = (np.arange(7)[:, None] * hidden).sum(0, keepdims=True)
    expected["value_head.bias"] = np.array([21.0])
    assert_same_gradients(got, expected, 3e-5)


@pytest.mark.parametrize("temperature", [0.5, 1.7])
def test_scores_are_those_of_the_tempered_distribution(local, temperature):
    model = local("qwen3")
    forest = forest_of([(TOKENS, -1, [])], list(range(7)), TOKENS[1:])
    got = model.forward(forest, temperature=temperature, squares=True)
    hf = AutoModelForCausalLM.from_pretrained(model.base.directory, dtype=torch.float32)
    with torch.no_grad():
        logits = hf(input_ids=torch.tensor([TOKENS[:7]])).logits[0].double()
    logprobs = torch.log_softmax(logits / temperature, -1)
    at = torch.tensor(TOKENS[1:])[:, None]
    np.testing.assert_allclose(got["logprobs"], logprobs.gather(1, at)[:, 0], atol=1e-5)
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    np.testing.assert_allclose(got["entropy"], entropy, atol=1e-5)
    np.testing.assert_allclose(got["sum_squared_probs"], (logprobs.exp() ** 2).sum(-1), atol=1e-6)


def test_a_row_without_a_target_scores_zero_and_has_no_gradient(local):
    model = local("qwen2", value_head=True)
    rows, targets = list(range(7)), list(TOKENS[1:])
    targets[2] = -1
    got = model.forward(forest_of([(TOKENS, -1, [])], rows, targets), squares=True)
    for name in ("logprobs", "entropy", "sum_squared_probs"):
        assert got[name][2] == 0
        assert (got[name][[0, 1, 3]] != 0).all()
    only = np.zeros(7, np.float32)
    only[2] = 1
    model.backward(logprobs=only, entropy=only)
    assert all(not one.any() for one in model.gradients().values())


@pytest.mark.parametrize("decays", ["all", "matrices"])
@pytest.mark.parametrize("max_norm", [0.0, 0.7])
def test_steps_are_those_of_torch(tiny, decays, max_norm):
    model = Local(tiny("qwen2"))
    copies = {name: nn.Parameter(one) for name, one in model.learner.snapshot().items()}
    matrices = [one for one in copies.values() if one.ndim > 1]
    vectors = [one for one in copies.values() if one.ndim == 1]
    adamw = torch.optim.AdamW([{"params": matrices}, {"params": vectors}], lr=0.0)
    w = np.array([1, 0.5, -1, 2, 0, 0.25, 1], dtype=np.float32)
    for number in range(3):
        settings = StepSettings(
            1e-2 / (number + 1), 0.8, 0.9 + number / 100, 1e-6, 0.1, max_norm, decays
        )
        gradients = gradient_of(model, w * (number + 1))
        made = model.group.call("step", {"model": "m", "settings": settings})
        for name, one in copies.items():
            one.grad = torch.from_numpy(gradients[name.removeprefix("hf.")].copy())
        norm = torch.nn.utils.clip_grad_norm_(copies.values(), max_norm or 1e30)
        for group, decay in zip(adamw.param_groups, (0.1, 0.1), strict=True):
            group["lr"], group["eps"] = settings.learning_rate, settings.eps
            group["betas"], group["weight_decay"] = (settings.beta1, settings.beta2), decay
        if decays == "matrices":
            adamw.param_groups[1]["weight_decay"] = 0.0
        adamw.step()
        assert made["grad_norm"] == pytest.approx(float(norm), rel=1e-6)
        assert made["version"] == number + 1
    for name, one in model.learner.snapshot().items():
        expected = copies[name].detach()
        assert float((one - expected).abs().max()) <= 1e-6, name


def test_a_gradient_that_is_not_finite_skips_the_step(tiny):
    model = Local(tiny("qwen2"))
    plain = StepSettings(1e-2, 0.9, 0.95, 1e-8, 0.1, 1.0)
    gradient_of(model, np.ones(7))
    model.group.call("step", {"model": "m", "settings": plain})
    before = model.learner.snapshot()
    moments = [one.full_tensor().clone() for _, one in model.learner.optimizer.moments()]
    gradient_of(model, np.array([1, 1, np.inf, 1, 1, 1, 1]))
    made = model.group.call("step", {"model": "m", "settings": plain})
    assert made["is_skipped"]
    assert made["version"] == 2
    assert all(torch.equal(one, before[name]) for name, one in model.learner.snapshot().items())
    after = [one.full_tensor() for _, one in model.learner.optimizer.moments()]
    assert all(torch.equal(a, b) for a, b in zip(moments, after, strict=True))
    # The gradient is gone: there is nothing to step by.
    with pytest.raises(UserError, match="no gradient"):
        model.group.call("step", {"model": "m", "settings": plain})


@pytest.mark.parametrize("recipe", [{}, {"lora": LoraConfig(rank=4, seed=3)}, {"dtype": "bf16"}])
def test_a_forward_between_a_backward_and_a_step_changes_nothing_later(tiny, recipe):
    forest = forest_of([(TOKENS, -1, [])], list(range(7)), TOKENS[1:])
    settings = StepSettings(0.05, 0.9, 0.95, 1e-8, 0.0, 0.0)
    scores = []
    for looks in (False, True):
        model = Local(tiny("qwen2"), value_head=True, **recipe)
        for _ in range(2):
            gradient_of(model, np.ones(7))
            if looks:
                model.forward(forest, "look")
                model.forward(forest, "look", weights="reference") if "lora" in recipe else None
            model.group.call("step", {"model": "m", "settings": settings})
        first = model.forward(forest)["logprobs"]
        np.testing.assert_array_equal(first, model.forward(forest)["logprobs"])
        scores.append(first)
    np.testing.assert_array_equal(scores[0], scores[1])


def test_the_adapter_is_one_and_the_reference_is_without_it(tiny):
    lora = LoraConfig(rank=4, seed=1, train_unembed=False)
    model = Local(tiny("qwen3_vl"), lora=lora)
    group = group_of(model, [1])
    at_start = model.forward(group.forest())["logprobs"]
    base = model.forward(group.forest(), weights="reference")["logprobs"]
    np.testing.assert_array_equal(at_start, base)
    model.forward(group.forest())
    model.backward(logprobs=np.ones(12, np.float32))
    names = set(model.gradients())
    assert all(".lora_" in name for name in names)
    assert not any("visual" in name or "lm_head" in name for name in names)
    settings = StepSettings(0.1, 0.9, 0.95, 1e-8, 0.0, 0.0)
    for _ in range(2):
        model.forward(group.forest())
        model.backward(logprobs=np.ones(12, np.float32))
        model.group.call("step", {"model": "m", "settings": settings})
    moved = model.forward(group.forest())["logprobs"]
    assert np.abs(moved - base).max() > 1e-3
    after = model.forward(group.forest(), weights="reference")["logprobs"]
    np.testing.assert_array_equal(after, base)


def test_a_full_model_keeps_a_reference_where_it_was_asked_for(tiny, local):
    model = Local(tiny("qwen2"), reference=True)
    forest = forest_of([(TOKENS, -1, [])], list(range(7)), TOKENS[1:])
    before = model.forward(forest)["logprobs"]
    gradient_of(model, np.ones(7))
    settings = StepSettings(0.05, 0.9, 0.95, 1e-8, 0.0, 0.0)
    model.group.call("step", {"model": "m", "settings": settings})
    reference = model.forward(forest, weights="reference")["logprobs"]
    np.testing.assert_array_equal(reference, before)
    assert np.abs(model.forward(forest)["logprobs"] - before).max() > 1e-3
    with pytest.raises(UserError, match="no reference"):
        local("qwen2").forward(forest, weights="reference")


@pytest.mark.parametrize("kind", ["qwen2_5_vl", "qwen3_vl", "internvl"])
def test_activations_made_again_change_no_gradient(local, kind):
    plain, again = local(kind), local(kind, recompute=True)
    found = []
    for model in (plain, again):
        group = group_of(model, [1, 2])
        model.forward(group.forest())
        model.backward(logprobs=np.linspace(-1, 1, 12).astype(np.float32))
        found.append(model.gradients())
    assert_same_gradients(found[1], found[0])


@pytest.mark.parametrize("recipe", [{}, {"lora": LoraConfig(rank=4, seed=3)}])
def test_bf16_stays_near_f32_and_trains_f32_weights(local, recipe):
    exact, near = local("qwen2_5_vl", **recipe), local("qwen2_5_vl", dtype="bf16", **recipe)
    scores, found = [], []
    for model in (exact, near):
        group = group_of(model, [1])
        scores.append(model.forward(group.forest())["logprobs"])
        model.backward(logprobs=np.linspace(-1, 1, 12).astype(np.float32))
        found.append(model.gradients())
    assert 0 < np.abs(scores[1] - scores[0]).max() < 0.1
    norms = [sum(float((one**2).sum()) for one in each.values()) ** 0.5 for each in found]
    assert norms[1] == pytest.approx(norms[0], rel=0.05)
    assert all(one.dtype == torch.float32 for one in near.learner.trained.values())


def test_targets_that_name_no_layer_are_refused(tiny):
    with pytest.raises(UserError, match="names no linear layer"):
        Local(tiny("qwen2"), lora=LoraConfig(rank=2, targets=["nothing"]))
