"""Publishes weights to engines: files that they load, or broadcasts over NCCL."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Callable, Generator, Iterator
from typing import Any

import torch

from .checkpoints import stored_weights
from .engines import (
    Published,
    publish_disk,
    publish_lora,
    publish_sglang,
    served_version,
    stamp_version,
    world_size,
)
from .errors import ServerFault, UserError
from .learner import Learner
from .shards import whole

BY_DISK: dict[str, Callable[[str, Published], str | None]] = {
    "lora": publish_lora,
    "disk": publish_disk,
    "sglang-disk": publish_sglang,
}


def check_target(kind: str, has_adapter: bool, uses_cuda: bool) -> None:
    """@raises UserError if this worker cannot publish in this way"""
    if kind == "lora" and not has_adapter:
        raise UserError(
            "Only a model with an adapter publishes one. Use disk or nccl for whole weights.",
            field="target.kind",
            code="no-adapter",
        )
    if kind == "nccl":
        if importlib.util.find_spec("vllm") is None:
            raise UserError(
                "Publishing over NCCL needs vLLM's trainer client beside this worker: pip install "
                "vllm, or publish to a directory with kind disk or lora.",
                field="target.kind",
                code="no-vllm",
            )
        if not uses_cuda:
            raise UserError(
                "Publishing over NCCL needs a GPU in this worker. Use disk or lora.",
                field="target.kind",
                code="no-gpu",
            )


def publish_to(kind: str, urls: list[str], weights: Published) -> list[dict[str, Any]]:
    """Lets each engine load a directory. @raises ServerFault naming the first that fails"""
    return [{"url": url, "version": BY_DISK[kind](url, weights)} for url in urls]


def version_directory(directory: str, version: int) -> str:
    """Where a version of published weights lies."""
    return os.path.join(directory, f"version-{version:08d}")


def send_nccl(learner: Learner, shared: dict[str, Any], mine: None) -> Generator[None, None, Any]:
    """Broadcasts whole weights to vLLM servers, one after another.

    Written to vLLM's documentation (training/weight_transfer/nccl): trainer_init once per server
    and publication, then send_weights.
    """
    yield
    tensors = whole(learner.ranks, learner.named())
    if learner.ranks.rank != 0:
        return None
    dtype = learner.recipe.compute
    stored = stored_weights(learner, tensors)
    device = learner.ranks.device
    served = []
    for url in shared["urls"]:
        try:
            _broadcast(url, _Weights(stored, dtype, device))
            stamp_version(url, learner.version)
            served.append({"url": url, "version": served_version(url)})
        except ServerFault:
            raise
        except Exception as error:
            raise ServerFault(f"{url} did not take weights over NCCL: {error}.") from error
    return {"served": served, "version": learner.version}


class _Weights:
    """Whole tensors as vLLM's source reads them from a module."""

    def __init__(
        self, tensors: dict[str, torch.Tensor], dtype: torch.dtype, device: torch.device
    ) -> None:
        self._tensors = {
            name: one for name, one in tensors.items() if not name.startswith("value_head.")
        }
        self._dtype = dtype
        self._device = device

    def named_parameters(self) -> Iterator[tuple[str, torch.Tensor]]:
        for name, tensor in self._tensors.items():
            yield name, tensor.to(device=self._device, dtype=self._dtype)


def _broadcast(url: str, weights: _Weights) -> None:
    from vllm.distributed.weight_transfer import (
        HTTPVLLMWeightSyncClient,
        ModuleSource,
        WeightTransferTrainerFactory,
    )
    from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo

    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    engine = WeightTransferTrainerFactory.trainer_init(
        init_info=NCCLTrainerInitInfo(
            master_address=socket.gethostbyname(socket.gethostname()),
            master_port=port,
            world_size=1 + world_size(url),
            rank=0,
        ),
        client=HTTPVLLMWeightSyncClient(url),
        source=ModuleSource(weights),
    )
    engine.send_weights()
