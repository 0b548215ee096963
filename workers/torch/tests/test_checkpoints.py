"""What is saved comes back bit for bit, and other libraries read it."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

from saccade_worker.bodies import LoraConfig
from saccade_worker.errors import ServerFault, UserError
from saccade_worker.optimizer import StepSettings

from .local import Local, forest_of
from .tiny import WITH_IMAGES

TOKENS = [3, 4, 5, 6, 7, 8, 9, 10]
SETTINGS = StepSettings(1e-2, 0.9, 0.95, 1e-8, 0.1, 1.0)
RECIPES = [
    {},
    {"dtype": "bf16"},
    {"value_head": True},
    {"lora": LoraConfig(rank=4, seed=3)},
    {"lora": LoraConfig(rank=4, seed=3), "dtype": "bf16", "value_head": True},
]


def scores(model: Local) -> np.ndarray:
    forest = forest_of([(TOKENS, -1, [])], list(range(7)), TOKENS[1:])
    return model.forward(forest)["logprobs"]


def step(model: Local) -> None:
    scores(model)
    grads = {"logprobs": np.linspace(-1, 1, 7).astype(np.float32)}
    if model.learner.has_values:
        grads["values"] = np.linspace(1, 2, 7).astype(np.float32)
    model.backward(**grads)
    model.group.call("step", {"model": "m", "settings": SETTINGS})


def save(model: Local, directory: str, optimizer: bool = True, merged: bool = False) -> dict:
    shared = {"model": "m", "directory": directory, "optimizer": optimizer, "merged": merged}
    return model.group.call("save", shared)


def load(model: Local, directory: str, optimizer: bool = True) -> dict:
    return model.group.call("load", {"model": "m", "directory": directory, "optimizer": optimizer})


@pytest.mark.parametrize("recipe", RECIPES)
def test_training_goes_on_bit_for_bit_after_a_load(tiny, tmp_path, recipe):
    first = Local(tiny("qwen2"), **recipe)
    step(first)
    step(first)
    save(first, str(tmp_path / "a"))
    step(first)
    second = Local(tiny("qwen2"), **recipe)
    step(second)
    made = load(second, str(tmp_path / "a"))
    assert made["version"] == 2
    step(second)
    ours, theirs = first.learner.snapshot(), second.learner.snapshot()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    pairs = zip(first.learner.optimizer.moments(), second.learner.optimizer.moments(), strict=True)
    assert all(torch.equal(a.full_tensor(), b.full_tensor()) for (_, a), (_, b) in pairs)
    assert second.learner.version == 3


@pytest.mark.parametrize("recipe", RECIPES)
def test_scores_after_a_load_are_those_of_the_save(tiny, tmp_path, recipe):
    model = Local(tiny("qwen2"), **recipe)
    step(model)
    save(model, str(tmp_path / "a"))
    before, checksum = scores(model), model.group.call("checksum", {"model": "m"})
    step(model)
    assert np.abs(scores(model) - before).max() > 1e-4
    load(model, str(tmp_path / "a"))
    np.testing.assert_array_equal(scores(model), before)
    assert model.group.call("checksum", {"model": "m"}) == checksum


@pytest.mark.parametrize("kind", ["qwen3", "qwen2_5_vl", "qwen3_vl", "internvl", "idefics3"])
def test_transformers_opens_a_checkpoint_with_the_same_scores(tiny, tmp_path, kind):
    model = Local(tiny(kind))
    step(model)
    save(model, str(tmp_path / "a"), optimizer=False)
    auto = AutoModelForCausalLM if kind == "qwen3" else AutoModelForImageTextToText
    hf, info = auto.from_pretrained(tmp_path / "a", dtype=torch.float32, output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    with torch.no_grad():
        logits = hf(input_ids=torch.tensor([TOKENS])).logits[0, :7]
    expected = torch.log_softmax(logits, -1).gather(1, torch.tensor(TOKENS)[1:, None])[:, 0]
    np.testing.assert_allclose(scores(model), expected, atol=1e-6)
    assert AutoTokenizer.from_pretrained(tmp_path / "a")("w3 w4")["input_ids"] == [3, 4]
    own, written = (set(os.listdir(one)) for one in (tiny(kind), tmp_path / "a"))
    assert own <= written


@pytest.mark.parametrize("kind", ["qwen2", "qwen3_vl"])
def test_peft_opens_an_adapter_with_the_same_logits(tiny, tmp_path, kind):
    model = Local(tiny(kind), lora=LoraConfig(rank=4, alpha=8, seed=3))
    step(model)
    step(model)
    save(model, str(tmp_path / "adapter"))
    save(model, str(tmp_path / "merged"), optimizer=False, merged=True)
    auto = AutoModelForCausalLM if kind == "qwen2" else AutoModelForImageTextToText
    base = auto.from_pretrained(tiny(kind), dtype=torch.float32)
    adapted = PeftModel.from_pretrained(base, str(tmp_path / "adapter"))
    merged = auto.from_pretrained(tmp_path / "merged", dtype=torch.float32)
    ids = torch.tensor([TOKENS])
    for hf in (adapted, merged):
        with torch.no_grad():
            logits = hf(input_ids=ids).logits[0, :7]
        expected = torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])[:, 0]
        np.testing.assert_allclose(scores(model), expected, atol=2e-6)
    base_scores = Local(tiny(kind))
    assert np.abs(scores(base_scores) - scores(model)).max() > 1e-3


@pytest.mark.parametrize("kind", WITH_IMAGES)
def test_peft_opens_an_adapter_of_the_merger(tiny, tmp_path, kind):
    # Layers in a list have numbers for names, as blocks of the tower do.
    merger = r".*\.(merger|deepstack_merger_list|multi_modal_projector|connector)\..*"
    model = Local(tiny(kind), lora=LoraConfig(rank=2, seed=3, targets=[merger]))
    save(model, str(tmp_path / "adapter"))
    base = AutoModelForImageTextToText.from_pretrained(tiny(kind), dtype=torch.float32)
    adapted = PeftModel.from_pretrained(base, str(tmp_path / "adapter"))
    trained = {name for name, _ in adapted.named_parameters() if "lora_" in name}
    assert len(trained) == len(model.learner.snapshot())


def test_a_damaged_checkpoint_is_refused_and_nothing_changes(tiny, tmp_path):
    model = Local(tiny("qwen2"))
    step(model)
    save(model, str(tmp_path / "a"))
    before = model.learner.snapshot()
    path = tmp_path / "a" / "model.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-5] ^= 1
    path.write_bytes(raw)
    with pytest.raises(UserError, match="damaged"):
        load(model, str(tmp_path / "a"))
    path.unlink()
    with pytest.raises(UserError, match="lacks"):
        load(model, str(tmp_path / "a"))
    after = model.learner.snapshot()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_weights_of_another_model_are_refused(tiny, tmp_path):
    full, adapter = Local(tiny("qwen2")), Local(tiny("qwen2"), lora=LoraConfig(rank=4))
    save(full, str(tmp_path / "full"), optimizer=False)
    save(adapter, str(tmp_path / "adapter"), optimizer=False)
    with pytest.raises(UserError, match="adapter"):
        load(adapter, str(tmp_path / "full"), optimizer=False)
    with pytest.raises(UserError, match=r"config\.json"):
        load(full, str(tmp_path / "adapter"), optimizer=False)
    with pytest.raises(UserError, match="optimizer: true"):
        load(full, str(tmp_path / "full"), optimizer=True)


def test_a_full_disk_leaves_the_old_checkpoint_whole(tiny, tmp_path, monkeypatch):
    model = Local(tiny("qwen2"))
    save(model, str(tmp_path / "a"), optimizer=False)
    before = (tmp_path / "a" / "SHA256SUMS").read_text()
    step(model)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("saccade_worker.checkpoints.save_torch_state_dict", full)
    with pytest.raises(ServerFault, match="No space left"):
        save(model, str(tmp_path / "a"), optimizer=False)
    monkeypatch.undo()
    assert (tmp_path / "a" / "SHA256SUMS").read_text() == before
    assert sorted(os.listdir(tmp_path)) == ["a"]
    save(model, str(tmp_path / "a"), optimizer=False)
    assert (tmp_path / "a" / "SHA256SUMS").read_text() != before


def test_the_adapter_says_what_it_adapts(tiny, tmp_path):
    model = Local(tiny("internvl"), lora=LoraConfig(rank=2, train_unembed=False))
    save(model, str(tmp_path / "a"), optimizer=False)
    config = json.loads((tmp_path / "a" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == tiny("internvl")
    # The vision tower has layers of the same names, which are not adapted.
    names = list(load_file(tmp_path / "a" / "adapter_model.safetensors"))
    assert len(names) == 2 * 3 * 7
    assert all(".language_model." in name for name in names)
    assert {"q_proj", "k_proj", "v_proj"}.isdisjoint(config["target_modules"])
