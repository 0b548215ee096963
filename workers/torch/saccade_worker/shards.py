"""Sharding by FSDP2, and whole tensors from and to their shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import (
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from torch.distributed.tensor import DTensor
from transformers.modeling_layers import GradientCheckpointingLayer

from .group import Ranks
from .scorer import Scorer


def shard(scorer: Scorer, ranks: Ranks, dtype: torch.dtype) -> None:
    """Shards a scorer: each block, the value head, and the rest. Sums of gradients are f32."""
    mesh = ranks.mesh
    policy = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32)
    for module in reversed(list(scorer.modules())):
        if isinstance(module, GradientCheckpointingLayer):
            fully_shard(module, mesh=mesh, mp_policy=policy, reshard_after_forward=True)
    if scorer.value_head is not None:
        exact = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.float32)
        fully_shard(scorer.value_head, mesh=mesh, mp_policy=exact, reshard_after_forward=True)
    # FSDP keeps what a root gathered for its backward. A forward without one would leave the
    # weights of that time to the forwards after a step or a load.
    fully_shard(scorer, mesh=mesh, mp_policy=policy, reshard_after_forward=True)
    assert isinstance(scorer, FSDPModule)
    register_fsdp_forward_method(scorer, "step")
    register_fsdp_forward_method(scorer, "own_logits")


def local(tensor: torch.Tensor) -> torch.Tensor:
    """This rank's part of a tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def like(part: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """A part as a tensor that is sharded as a parameter is."""
    if not isinstance(parameter, DTensor):
        return part
    return DTensor.from_local(
        part,
        parameter.device_mesh,
        parameter.placements,
        shape=parameter.shape,
        stride=parameter.stride(),
        run_check=False,
    )


def whole(ranks: Ranks, tensors: Iterable[tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Whole tensors in memory of rank 0; the other ranks take part and get none."""
    found = {}
    for name, tensor in tensors:
        full = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
        if ranks.rank == 0:
            # Also on the CPU, full_tensor of one rank may be the shard itself.
            found[name] = full.detach().to("cpu", copy=True)
        del full
    return found


def spread(ranks: Ranks, parameter: torch.Tensor, full: torch.Tensor | None) -> None:
    """Writes rank 0's whole tensor into the shards of a parameter."""
    shape, device = tuple(parameter.shape), ranks.device
    if ranks.rank == 0:
        assert full is not None
        sent = full.to(device=device, dtype=parameter.dtype).contiguous()
    else:
        sent = torch.empty(shape, dtype=parameter.dtype, device=device)
    if ranks.world > 1:
        dist.broadcast(sent, src=0)
    own = local(parameter)
    if not isinstance(parameter, DTensor) or ranks.world == 1:
        own.copy_(sent)
        return
    # FSDP shards rows as torch.chunk does: ranks beyond the last chunk have none.
    parts = torch.chunk(sent, ranks.world, dim=0)
    if ranks.rank < len(parts):
        own.copy_(parts[ranks.rank])


def checkpointed(module: nn.Module) -> Iterator[nn.Module]:
    """The blocks whose activations can be made again."""
    for one in module.modules():
        if isinstance(one, GradientCheckpointingLayer):
            yield one
