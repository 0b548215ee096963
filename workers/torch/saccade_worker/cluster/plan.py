"""The plan of a cluster, as `saccade cluster up` writes it: parts, groups, limits."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PartPlan:
    """One part: a worker of some ranks, an engine, or a host of sandboxes."""

    name: str
    # The placement group that it belongs to: worker, engines, sandboxes.
    group: str
    ranks: int
    # What each rank takes of its node.
    bundle: dict[str, float]
    # `{python}`, `{host}` and `{port}` stand for what the node has.
    command: list[str]
    variables: dict[str, str]
    # 0: any free one, the same after a restart.
    port: int
    # Paths that are asked for its health and for its metrics.
    health: str
    metrics: str
    # Whether ranks find each other through torch's variables.
    is_distributed: bool = False


@dataclass(frozen=True)
class Limits:
    """Times in seconds, and counts."""

    placement_seconds: float
    start_seconds: float
    hang_seconds: float
    grace_seconds: float
    most_restarts: int


@dataclass(frozen=True)
class Plan:
    """A whole cluster."""

    id: str
    name: str
    directory: str
    # Where a running Ray is; None starts one here.
    address: str | None
    # Logical processors and GPUs of a Ray that is started here.
    cpus: float
    gpus: float
    # The address that parts listen on, and whether others reach them by the node's.
    host: str
    token: str | None
    strategies: dict[str, str]
    limits: Limits
    parts: list[PartPlan] = field(default_factory=list)


def read_plan(path: str) -> Plan:
    """Reads a plan; it was checked when it was written."""
    with open(path, encoding="utf-8") as file:
        value: dict[str, Any] = json.load(file)
    parts = [PartPlan(**part) for part in value.pop("parts")]
    return Plan(**{**value, "limits": Limits(**value["limits"]), "parts": parts})
