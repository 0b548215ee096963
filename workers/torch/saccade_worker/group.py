"""The processes of a worker: rank 0 orders, all carry out, and refusals are told in time.

An operation is a generator. Up to its one `yield` it prepares, alone on its rank; then all ranks
tell each other whether they can go on; what comes after may use collectives. So no rank waits for
one that has refused. An error after the `yield` that is no `WorkerError` ends the process, and with
it the group: its ranks cannot agree any more on where they are.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from .errors import ServerFault, WorkerError

Operation = Callable[[Any, Any], Generator[None, None, Any]]

# Exit code of a process whose group is lost.
LOST = 70


@dataclass(frozen=True)
class Ranks:
    """This process among the others."""

    rank: int
    world: int
    # Turn among the processes of this machine, and the number of turns.
    local_order: int
    turns: int
    device: torch.device
    mesh: DeviceMesh
    control: Any


def open_group(device: str, timeout_seconds: float) -> Ranks:
    """Joins the group that the environment describes, or makes one of this process alone."""
    uses_cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    rank = int(os.environ.get("RANK", "0"))
    world = int(os.environ.get("WORLD_SIZE", "1"))
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    # Where a launcher shows each process its own GPU alone, all have device 0.
    order = int(os.environ.get("LOCAL_ORDER", str(local_rank)))
    local_world = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    timeout = timedelta(seconds=timeout_seconds)
    backend = "cpu:gloo,cuda:nccl" if uses_cuda else "gloo"
    if uses_cuda:
        torch.cuda.set_device(local_rank)
    if world > 1:
        dist.init_process_group(backend, timeout=timeout)
    else:
        dist.init_process_group(
            backend, store=dist.HashStore(), rank=0, world_size=1, timeout=timeout
        )
    place = torch.device("cuda", local_rank) if uses_cuda else torch.device("cpu")
    mesh = init_device_mesh(place.type, (world,), mesh_dim_names=("shard",))
    control = dist.new_group(backend="gloo", timeout=timeout)
    # Machines may have different numbers of processes; turns are as many on all.
    turns: list[Any] = [None] * world
    dist.all_gather_object(turns, local_world, group=control)
    return Ranks(rank, world, order, max(turns), place, mesh, control)


class Group:
    """Carries out operations on all ranks."""

    def __init__(self, ranks: Ranks, operations: dict[str, Operation]) -> None:
        self.ranks = ranks
        self._operations = operations
        self._launcher = os.getppid()

    def call(self, name: str, shared: Any, per_rank: list[Any] | None = None) -> Any:
        """Carries out an operation from rank 0 and returns its result there.

        @raises WorkerError if a rank refuses it
        """
        orders = [
            (name, shared, None if per_rank is None else per_rank[rank])
            for rank in range(self.ranks.world)
        ]
        self._scatter(orders)
        return self._perform(*orders[0])

    def beat(self) -> None:
        """Shows that all ranks live; a lost one, or a lost launcher, ends this process."""
        if "TORCHELASTIC_RUN_ID" in os.environ and os.getppid() != self._launcher:
            print("saccade-worker: torchrun is gone; this group ends.", file=sys.stderr, flush=True)
            os._exit(LOST)
        if self.ranks.world > 1:
            self._scatter([("beat", None, None)] * self.ranks.world)

    def dismiss(self) -> None:
        """Ends the other ranks."""
        if self.ranks.world > 1:
            self._scatter([("leave", None, None)] * self.ranks.world)

    def follow(self) -> None:
        """Carries out what rank 0 orders, until it dismisses."""
        while True:
            name, shared, mine = self._receive()
            if name == "leave":
                return
            if name == "beat":
                continue
            try:
                self._perform(name, shared, mine)
            except WorkerError:
                continue  # Rank 0 has it too, and answers.

    def _scatter(self, orders: list[Any]) -> None:
        if self.ranks.world == 1:
            return
        with lost_on_error("orders"):
            dist.scatter_object_list([None], orders, src=0, group=self.ranks.control)

    def _receive(self) -> Any:
        with lost_on_error("orders"):
            received: list[Any] = [None]
            dist.scatter_object_list(received, None, src=0, group=self.ranks.control)
            return received[0]

    def _perform(self, name: str, shared: Any, mine: Any) -> Any:
        steps = self._operations[name](shared, mine)
        error = None
        try:
            next(steps)
        except WorkerError as refused:
            error = refused
        except Exception as failed:
            traceback.print_exc()
            error = ServerFault(f"{name} failed on rank {self.ranks.rank}: {failed}")
        errors = self._tell(error)
        first = next((one for one in errors if one is not None), None)
        if first is not None:
            steps.close()
            raise first
        with lost_on_error(name):
            try:
                next(steps)
            except StopIteration as done:
                return done.value
        raise AssertionError(f"{name} yields more than once")

    def _tell(self, error: WorkerError | None) -> list[WorkerError | None]:
        if self.ranks.world == 1:
            return [error]
        errors: list[WorkerError | None] = [None] * self.ranks.world
        with lost_on_error("agreement"):
            dist.all_gather_object(errors, error, group=self.ranks.control)
        return errors


class lost_on_error:  # noqa: N801 - reads as the statement it is used in
    """Ends the process at an error that is no `WorkerError`."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if error is None or isinstance(error, (WorkerError, StopIteration)):
            return False
        if not isinstance(error, Exception):
            return False
        traceback.print_exception(kind, error, trace)
        print(f"saccade-worker: {self._what} failed; this group ends.", file=sys.stderr, flush=True)
        os._exit(LOST)


def gather(ranks: Ranks, value: Any) -> list[Any]:
    """Values of all ranks on rank 0, nothing on the others."""
    if ranks.world == 1:
        return [value]
    gathered: list[Any] | None = [None] * ranks.world if ranks.rank == 0 else None
    dist.gather_object(value, gathered, dst=0, group=ranks.control)
    return gathered or []


def share(ranks: Ranks, value: Any) -> Any:
    """Rank 0's value on all ranks."""
    if ranks.world == 1:
        return value
    held = [value]
    dist.broadcast_object_list(held, src=0, group=ranks.control)
    return held[0]


def in_turn(ranks: Ranks, act: Callable[[], Any]) -> Any:
    """Acts on one process of a machine after another, so that large copies do not add up.

    An error of one rank is raised on all.
    """
    result, error = None, None
    for turn in range(ranks.turns):
        if turn == ranks.local_order:
            try:
                result = act()
            except Exception as failed:  # Told after all had their turn.
                error = failed
        if ranks.world > 1:
            dist.barrier(group=ranks.control)
    if ranks.world > 1:
        errors: list[Any] = [None] * ranks.world
        dist.all_gather_object(errors, error, group=ranks.control)
        error = next((one for one in errors if one is not None), None)
    if error is not None:
        raise error
    return result
