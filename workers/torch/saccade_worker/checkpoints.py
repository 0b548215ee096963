"""Checkpoints: Hugging Face's layout or peft's, the optimizer's state beside, sums of all."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import shutil
from collections.abc import Generator
from typing import Any

import torch
from huggingface_hub import save_torch_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers.core_model_loading import revert_weight_conversion

from .adapters import merged_weights
from .base import load_model
from .errors import Refused, ServerFault, UserError
from .group import share
from .learner import Learner
from .shards import spread, whole
from .valuehead import FILE as VALUE_HEAD
from .valuehead import read_value_head, write_value_head

SUMS = "SHA256SUMS"
STATE = "optimizer.safetensors"
NUMBERS = "optimizer.json"
ADAPTER = "adapter_model.safetensors"
# Files of the base that are written anew, or belong to other weights.
OWN = (".safetensors", ".bin", ".pt", ".pth", ".index.json", ".gguf", ".h5", ".msgpack")
NOT_COPIED = {"config.json", SUMS, NUMBERS, "adapter_config.json", "README.md"}


def save(learner: Learner, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
    """Writes weights to a directory, all of it or nothing."""
    directory = shared["directory"]
    merged = bool(shared["merged"]) and learner.peft is not None
    yield
    ranks = learner.ranks
    source = learner.scorer.named_parameters() if merged else learner.named()
    tensors = whole(ranks, source)
    moments: dict[str, torch.Tensor] = {}
    if shared["optimizer"]:
        moments = whole(ranks, learner.optimizer.moments())
    if ranks.rank != 0:
        return None
    partial = f"{directory}.partial-{os.getpid()}"
    try:
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        _write_weights(learner, partial, tensors, merged)
        if shared["optimizer"]:
            _write_optimizer(learner, partial, tensors, moments)
        sha256 = _write_sums(partial)
        _replace(partial, directory)
    except Exception as error:  # No collective comes after this, so that all go on.
        shutil.rmtree(partial, ignore_errors=True)
        # Files of tensors have an error of their own for a full disk.
        is_disk = isinstance(error, OSError) or "No space left" in str(error)
        code = "disk" if is_disk else None
        raise ServerFault(f"{directory} could not be written: {error}.", code=code) from error
    return {"directory": directory, "sha256": sha256, "version": learner.version}


def load(learner: Learner, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
    """Reads what `save` wrote: weights, or an adapter; with `optimizer` its state and version."""
    directory, with_optimizer = shared["directory"], shared["optimizer"]
    sha256 = None
    found: dict[str, torch.Tensor] = {}
    state: dict[str, torch.Tensor] = {}
    numbers: dict[str, Any] = {}
    if learner.ranks.rank == 0:
        sha256 = check_sums(directory)
        found = _read_weights(learner, directory)
        if with_optimizer:
            state, numbers = _read_optimizer(learner, directory)
            found.update(
                {
                    name.removeprefix("master."): one
                    for name, one in state.items()
                    if name.startswith("master.")
                }
            )
    yield
    ranks = learner.ranks
    numbers = share(ranks, numbers)
    names = share(ranks, list(found))
    with torch.no_grad():
        for name in names:
            spread(ranks, learner.trained[name], found.get(name))
        if with_optimizer:
            for name, moment in learner.optimizer.restore(numbers["steps"]):
                spread(ranks, moment, state.get(name))
            learner.version = int(numbers["version"])
    learner.optimizer.clear()
    learner.forwards.clear()
    return {"version": learner.version, "sha256": sha256}


def stored_weights(learner: Learner, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensors of parameters under the names that files give them."""
    if learner.peft is not None:
        return {learner.parameter_name(name): tensor for name, tensor in tensors.items()}
    own = {n: one for n, one in tensors.items() if n.startswith("value_head.")}
    plain = {learner.parameter_name(n): one for n, one in tensors.items() if n not in own}
    return {**revert_weight_conversion(learner.hf, plain), **own}


def check_sums(directory: str) -> str | None:
    """Checks every file; what `save` gave. @raises UserError naming the first damaged one"""
    path = os.path.join(directory, SUMS)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        text = file.read()
        for line in text.splitlines():
            digest, name = line.split("  ", 1)
            if not os.path.exists(os.path.join(directory, name)):
                raise UserError(f"{directory} lacks {name}.", field="path", code="damaged")
            if _sha256(os.path.join(directory, name)) != digest:
                raise UserError(
                    f"{name} in {directory} is damaged: its sum is not that of {SUMS}.",
                    field="path",
                    code="damaged",
                )
    return hashlib.sha256(text.encode()).hexdigest()


def _write_weights(
    learner: Learner, directory: str, tensors: dict[str, torch.Tensor], merged: bool
) -> None:
    dtype = learner.recipe.compute
    head = {n: one for n, one in tensors.items() if n.startswith("value_head.")}
    write_value_head(directory, head)
    plain = {n.removeprefix("hf."): one for n, one in tensors.items() if n not in head}
    if learner.peft is not None and not merged:
        adapter = {learner.parameter_name(f"hf.{n}"): one for n, one in plain.items()}
        save_file(_contiguous(adapter), os.path.join(directory, ADAPTER), {"format": "pt"})
        config = copy.copy(learner.peft.peft_config["default"])
        config.base_model_name_or_path = learner.base.name
        config.inference_mode = True
        config.save_pretrained(directory)
        return
    config = copy.deepcopy(learner.base.config)
    config.dtype = dtype
    config.architectures = [type(learner.hf).__name__]
    if merged:
        plain = merged_weights(learner.hf, plain, dtype)
        embed = next((n for n in plain if n.endswith("embed_tokens.weight")), None)
        if "lm_head.weight" in plain and embed is not None and config.tie_word_embeddings:
            # The head has an adapter of its own and is not the embedding any more.
            _untie(config)
    stored = revert_weight_conversion(learner.hf, plain)
    stored = {name: one.to(dtype) for name, one in stored.items()}
    save_torch_state_dict(_contiguous(stored), directory, max_shard_size="5GB")
    config.save_pretrained(directory)
    for name in sorted(os.listdir(learner.base.directory)):
        path = os.path.join(learner.base.directory, name)
        if os.path.isfile(path) and name not in NOT_COPIED and not name.endswith(OWN):
            shutil.copyfile(path, os.path.join(directory, name))


def _untie(config: Any) -> None:
    for one in (config, config.get_text_config()):
        one.tie_word_embeddings = False


def _write_optimizer(
    learner: Learner,
    directory: str,
    tensors: dict[str, torch.Tensor],
    moments: dict[str, torch.Tensor],
) -> None:
    state = dict(moments)
    if learner.peft is None and learner.recipe.compute != torch.float32:
        # The files hold what engines read; training goes on from these.
        state.update({f"master.{name}": tensors[name] for name in learner.trained})
    save_file(_contiguous(state), os.path.join(directory, STATE))
    numbers = {"version": learner.version, "steps": learner.optimizer.steps()}
    with open(os.path.join(directory, NUMBERS), "w", encoding="utf-8") as file:
        json.dump(numbers, file, indent=2)


def _contiguous(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: one.contiguous() for name, one in tensors.items()}


def _write_sums(directory: str) -> str:
    """Writes sums that `sha256sum -c` reads, makes all files durable; the sum of the sums."""
    lines = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        lines.append(f"{_sha256(path)}  {name}\n")
        _sync(path)
    text = "".join(lines)
    path = os.path.join(directory, SUMS)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    _sync(path)
    return hashlib.sha256(text.encode()).hexdigest()


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(partial: str, directory: str) -> None:
    old = f"{directory}.old-{os.getpid()}"
    if os.path.exists(directory):
        os.rename(directory, old)
    os.rename(partial, directory)
    _sync(os.path.dirname(directory))
    shutil.rmtree(old, ignore_errors=True)


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_weights(learner: Learner, directory: str) -> dict[str, torch.Tensor]:
    """Whole tensors of all trained parameters, by their names here."""
    if learner.peft is not None:
        found = _read_adapter(learner, directory)
    else:
        found = _read_whole(learner, directory)
    if learner.has_values:
        path = os.path.join(directory, VALUE_HEAD)
        if not os.path.exists(path):
            raise UserError(f"{directory} has no {VALUE_HEAD}.", field="path")
        hidden = int(learner.base.config.get_text_config().hidden_size)
        for name, tensor in read_value_head(path, hidden).items():
            found[f"value_head.{name}"] = tensor
    for name, parameter in learner.trained.items():
        tensor = found.get(name)
        if tensor is None or tensor.shape != parameter.shape:
            got = "none" if tensor is None else list(tensor.shape)
            raise UserError(
                f'{directory} is of another model: "{learner.parameter_name(name)}" must be '
                f"{list(parameter.shape)}, got {got}.",
                field="path",
            )
    return {name: found[name] for name in learner.trained}


def _read_adapter(learner: Learner, directory: str) -> dict[str, torch.Tensor]:
    path = os.path.join(directory, ADAPTER)
    if not os.path.exists(path):
        raise UserError(
            f"{directory} has no {ADAPTER}; this model trains an adapter.", field="path"
        )
    tensors = _load(path)
    by_stored = {learner.parameter_name(name): name for name in learner.trained}
    unknown = sorted(set(tensors) - set(by_stored))
    if unknown:
        raise UserError(
            f'{path} has "{unknown[0]}", which this adapter lacks: it adapts other layers.',
            field="path",
        )
    return {by_stored[name]: tensor for name, tensor in tensors.items()}


def _read_whole(learner: Learner, directory: str) -> dict[str, torch.Tensor]:
    if not os.path.exists(os.path.join(directory, "config.json")):
        raise UserError(f"{directory} has no config.json with whole weights.", field="path")
    try:
        model = load_model(learner.base, directory, torch.float32)
    except (Refused, OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(f"{directory} cannot be read: {error}", field="path") from error
    return {f"hf.{name}": one.detach() for name, one in model.named_parameters()}


def _read_optimizer(
    learner: Learner, directory: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    path = os.path.join(directory, NUMBERS)
    if not os.path.exists(path):
        raise UserError(
            f"{directory} has no {NUMBERS}; save with optimizer: true.", field="optimizer"
        )
    with open(path, encoding="utf-8") as file:
        numbers = json.load(file)
    state = _load(os.path.join(directory, STATE))
    for name in numbers["steps"]:
        parameter = learner.trained.get(name)
        for moment in (f"m.{name}", f"v.{name}"):
            if parameter is None or moment not in state or state[moment].shape != parameter.shape:
                raise UserError(
                    f'"{moment}" of {STATE} in {directory} does not fit this model.',
                    field="optimizer",
                )
    return state, numbers


def _load(path: str) -> dict[str, torch.Tensor]:
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} cannot be read: {error}.", field="path") from error
