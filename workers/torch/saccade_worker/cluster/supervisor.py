"""Starts the parts of a cluster on Ray, keeps them running, and writes down how they are."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import ray
from ray.util.placement_group import placement_group, remove_placement_group

from .files import Log, started_at, targets, write_json
from .part import Part
from .plan import Plan

WRITE_SECONDS = 0.5


class Supervisor:
    """A cluster of one plan, from its start to its end."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._parts: list[Part] = []
        self._groups: list[Any] = []
        self._ending = threading.Event()
        self._began = time.time()
        self._ray: dict[str, Any] = {"version": ray.__version__, "address": plan.address}
        self._targets: Any = None
        self._was_up = False

    def run(self) -> int:
        """Runs until a signal; the exit code."""
        self._listen()
        self._write("starting")
        try:
            self._open_ray()
            self._open_groups()
        except Exception as error:  # Whatever Ray says; the reader is a person.
            self._write("failed", _first_line(error))
            self._close()
            return 1
        for part in self._parts:
            part.start()
        while not self._ending.wait(WRITE_SECONDS):
            self._write(self._phase())
        self._write("ending")
        self._close()
        self._write("ended")
        return 0

    def _listen(self) -> None:
        """Ends by a signal; Ray puts a handler of its own in the place of others'."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._ending.set())

    def _phase(self) -> str:
        states = [part.state for part in self._parts]
        if "failed" in states:
            return "failed"
        if all(state == "healthy" for state in states):
            self._was_up = True
            return "up"
        return "degraded" if self._was_up else "starting"

    def _open_ray(self) -> None:
        plan = self._plan
        # Ray runs its workers at niceness 15; a rank that waits for the processor holds up others.
        os.environ.setdefault("RAY_worker_niceness", "0")
        # Without GPUs of its own a process still sees what the machine has, as without Ray.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        here = {"num_cpus": plan.cpus, "num_gpus": plan.gpus} if plan.address is None else {}
        context = ray.init(
            address=plan.address or "local",
            namespace="saccade",
            log_to_driver=False,
            include_dashboard=False,
            **here,
        )
        self._listen()
        self._ray["address"] = context.address_info["gcs_address"]
        self._ray["session"] = context.address_info["session_dir"]

    def _open_groups(self) -> None:
        plan = self._plan
        for name in dict.fromkeys(part.group for part in plan.parts):
            members = [part for part in plan.parts if part.group == name]
            bundles = [part.bundle for part in members for _ in range(part.ranks)]
            group = placement_group(bundles, plan.strategies[name], name=f"{plan.name}-{name}")
            self._groups.append(group)
            first = 0
            for part in members:
                log = Log(os.path.join(plan.directory, "logs", f"{part.name}.log"))
                indices = list(range(first, first + part.ranks))
                self._parts.append(Part(plan, part, indices, group, log))
                first += part.ranks

    def _close(self) -> None:
        for part in self._parts:
            part.end()
        for part in self._parts:
            while not part.has_ended(WRITE_SECONDS):
                self._write("ending")
        if ray.is_initialized():
            for group in self._groups:
                remove_placement_group(group)
            ray.shutdown()

    def _write(self, phase: str, reason: str | None = None) -> None:
        plan = self._plan
        parts = [part.describe() for part in self._parts]
        if phase == "failed" and reason is None:
            bad = next(part for part in parts if part["state"] == "failed")
            reason = f"{bad['name']} {bad['reason']}"
        write_json(
            os.path.join(plan.directory, "state.json"),
            {
                "format": 1,
                "id": plan.id,
                "name": plan.name,
                "phase": phase,
                "reason": reason,
                "began": self._began,
                "written": time.time(),
                "supervisor": {"pid": os.getpid(), "started": started_at(os.getpid())},
                "ray": self._ray,
                "parts": parts,
            },
        )
        now = targets(plan.name, parts)
        if now != self._targets:
            self._targets = now
            write_json(os.path.join(plan.directory, "prometheus.json"), now)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"Ray: {lines[0] if lines else type(error).__name__}"
