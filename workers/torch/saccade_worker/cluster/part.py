"""Keeps one part running: places it, starts it, watches it, and starts it again when it is lost."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import ray
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from .files import Log
from .plan import PartPlan, Plan
from .process import Process

LOOK_SECONDS = 0.5
PROBE_SECONDS = 2.0
ANSWER_SECONDS = 60.0
# A part that was healthy for this long is taken to be well: losses before it no longer count.
WELL_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 30.0
# Ranks of a group that has lost one wait in a collective, and have nothing to save.
LOST_GRACE_SECONDS = 3.0


class Lost(Exception):
    """The part is gone, or must go; the message is a clause."""


class Part:
    """One part of a cluster, with its placement group."""

    def __init__(self, plan: Plan, part: PartPlan, bundles: list[int], group: Any, log: Log):
        self._thread = threading.Thread(target=self._run, name=part.name, daemon=True)
        self._plan = plan
        self._part = part
        self._bundles = bundles
        self._group = group
        self.log = log
        self._ending = threading.Event()
        self._actors: list[Any] = []
        self._port = part.port
        self.state = "placing"
        self.since = time.time()
        self.reason: str | None = None
        self.url: str | None = None
        self.nodes: list[str] = []
        self.pids: list[int | None] = []
        self.restarts = 0
        self._was_healthy = False
        self._healthy_since: float | None = None

    def describe(self) -> dict[str, Any]:
        """The part as the state file has it."""
        part = self._part
        return {
            "name": part.name,
            "group": part.group,
            "ranks": part.ranks,
            "state": self.state,
            "since": self.since,
            "reason": self.reason,
            "url": self.url,
            "health": part.health,
            "metrics": part.metrics,
            "nodes": self.nodes,
            "pids": [pid for pid in self.pids if pid is not None],
            "restarts": self.restarts,
            "log": self.log.path,
            "lastLine": self.log.last[:400],
        }

    def start(self) -> None:
        """Begins to keep it running, in a thread."""
        self._thread.start()

    def end(self) -> None:
        """Asks for the end; `has_ended` says when it is there."""
        self._ending.set()

    def has_ended(self, seconds: float) -> bool:
        """Waits for the end, for so long at most; true for one that never began."""
        if self._thread.ident is not None:
            self._thread.join(timeout=seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        failures = 0
        while not self._ending.is_set():
            try:
                self._run_once()
            except Lost as lost:
                reason = str(lost)
            except Exception as error:  # Of Ray: a node that went, for one.
                reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:300]}"
            else:
                break
            was_well = (
                self._healthy_since is not None
                and time.monotonic() - self._healthy_since > WELL_SECONDS
            )
            failures = 1 if was_well else failures + 1
            self._note(f"{self._part.name} {reason}.")
            self._end_ranks(LOST_GRACE_SECONDS)
            if not self._was_healthy or failures > self._plan.limits.most_restarts:
                self._move("failed", reason)
                return
            self.restarts += 1
            self._move("restarting", reason)
            self._ending.wait(min(LONGEST_PAUSE_SECONDS, 0.5 * 2 ** (failures - 1)))
        self._end_ranks(self._plan.limits.grace_seconds)
        self._move("ended", self.reason)

    def _move(self, state: str, reason: str | None = None) -> None:
        if state != self.state:
            self.state, self.since = state, time.time()
        self.reason = reason

    def _note(self, line: str) -> None:
        self.log.note(line)

    def _run_once(self) -> None:
        self._move("placing", self.reason)
        self._await_group()
        if self._ending.is_set():
            return
        self._start()
        self._move("starting", self.reason)
        self._healthy_since = None
        started = time.monotonic()
        probed, silent_since = 0.0, started
        while not self._ending.wait(LOOK_SECONDS):
            self._look()
            now = time.monotonic()
            if now - probed < PROBE_SECONDS:
                continue
            probed = now
            fault = self._probe()
            if fault is None:
                silent_since = now
                self._was_healthy = True
                if self._healthy_since is None:
                    self._healthy_since = now
                    self._note(f"{self._part.name} is healthy at {self.url}.")
                self._move("healthy")
            elif self._healthy_since is None:
                most = self._plan.limits.start_seconds
                if now - started > most:
                    raise Lost(f"was not healthy within {most:g} s: {fault}")
            else:
                self._move("unhealthy", fault)
                most = self._plan.limits.hang_seconds
                if now - silent_since > most:
                    raise Lost(f"did not answer for {most:g} s: {fault}")

    def _await_group(self) -> None:
        most = self._plan.limits.placement_seconds
        ready = self._group.ready()
        until = time.monotonic() + most
        while not self._ending.is_set():
            done, _ = ray.wait([ready], timeout=1.0)
            if done:
                return
            if time.monotonic() > until:
                raise Lost(f"was not placed within {most:g} s: {self._needs()}")

    def _needs(self) -> str:
        amount = " and ".join(f"{count:g} {kind}" for kind, count in self._part.bundle.items())
        free = ray.available_resources()
        has = ", ".join(f"{free.get(kind, 0):g} {kind}" for kind in self._part.bundle)
        return f"it takes {amount} for each of {self._part.ranks}, and {has} are free"

    def _start(self) -> None:
        plan, part = self._plan, self._part
        kind = ray.remote(
            num_cpus=part.bundle.get("CPU", 0),
            num_gpus=part.bundle.get("GPU", 0),
            max_concurrency=4,
            max_restarts=0,
        )(Process)
        self._actors = [
            kind.options(
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    self._group, placement_group_bundle_index=bundle
                )
            ).remote()
            for bundle in self._bundles
        ]
        ports = [self._port] + [0] * (part.ranks - 1)
        places = ray.get(
            [
                actor.place.remote(plan.host, port, 1)
                for actor, port in zip(self._actors, ports, strict=True)
            ],
            timeout=plan.limits.start_seconds,
        )
        # Ranks of a node follow one another, as FSDP's mesh expects; the first one serves.
        first = places[0]["node"]
        order = sorted(
            range(part.ranks),
            key=lambda rank: (places[rank]["node"] != first, places[rank]["node"], rank),
        )
        self._actors = [self._actors[rank] for rank in order]
        places = [places[rank] for rank in order]
        port = places[0]["port"]
        if port is None:
            raise Lost(f"cannot have port {self._port} of {places[0]['ip']}: it is in use")
        # Clients keep the address: a part that comes back listens where it did.
        self._port = port
        self.nodes = [place["ip"] for place in places]
        seen = places[0]["ip"] if plan.host == "0.0.0.0" else plan.host
        self.url = f"http://{seen}:{port}"
        command = [
            piece.replace("{host}", plan.host).replace("{port}", str(port))
            for piece in part.command
        ]
        nodes = [place["node"] for place in places]
        running = []
        for rank, actor in enumerate(self._actors):
            variables = dict(part.variables)
            if part.is_distributed:
                variables |= _ranked(rank, nodes, places[0], "GPU" in part.bundle)
            running.append(actor.start.remote(command, variables, plan.limits.grace_seconds))
        self.pids = ray.get(running, timeout=plan.limits.start_seconds)
        self._note(f"{part.name} was started at {self.url}, restart {self.restarts}.")

    def _look(self) -> None:
        """Takes what was printed. @raises Lost if a rank has ended."""
        asked = [actor.poll.remote() for actor in self._actors]
        ended: list[str] = []
        for rank, each in enumerate(asked):
            name = f"rank {rank}" if self._part.ranks > 1 else "it"
            try:
                told = ray.get(each, timeout=ANSWER_SECONDS)
            except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError) as error:
                ended.append(f"lost {name}: {type(error).__name__}")
                continue
            prefix = f"[{rank}] " if self._part.ranks > 1 else ""
            self.log.write([prefix + line for line in told["lines"]])
            if told["code"] is not None:
                ended.append(_describe_end(name, told["code"]))
        if ended:
            raise Lost(ended[0])

    def _probe(self) -> str | None:
        """Why it is not healthy, as a clause; None if it is."""
        request = urllib.request.Request(f"{self.url}{self._part.health}")
        if self._plan.token is not None:
            request.add_header("authorization", f"Bearer {self._plan.token}")
        try:
            with _direct.open(request, timeout=PROBE_SECONDS) as answer:
                answer.read(1 << 16)
            return None
        except urllib.error.HTTPError as error:
            return f"{self._part.health} answers {error.code}"
        except OSError as error:
            cause = getattr(error, "reason", error)
            return f"{self._part.health} does not answer ({cause})"

    def _end_ranks(self, seconds: float) -> None:
        asked = [actor.stop.remote(seconds) for actor in self._actors]
        if asked:
            ray.wait(asked, num_returns=len(asked), timeout=seconds + 5)
        try:
            self._look()
        except Exception:  # They have ended: that is wanted.
            pass
        for actor in self._actors:
            ray.kill(actor)
        self._actors, self.pids = [], []


# Parts are of this cluster: no proxy lies between.
_direct: Callable[..., Any] = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _ranked(rank: int, nodes: list[str], first: dict[str, Any], has_gpus: bool) -> dict[str, str]:
    """torch's variables of a rank."""
    node = nodes[rank]
    local = nodes[:rank].count(node)
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(len(nodes)),
        "LOCAL_WORLD_SIZE": str(nodes.count(node)),
        # Ray shows each process its own GPUs alone, so that the first is always its own.
        "LOCAL_RANK": "0" if has_gpus else str(local),
        "LOCAL_ORDER": str(local),
        "MASTER_ADDR": first["ip"],
        "MASTER_PORT": str(first["others"][0]),
    }


def _describe_end(name: str, code: int) -> str:
    """How a process ended, as a clause; its guard passes signals on as shells do."""
    subject = "ended" if name == "it" else f"lost {name}, which ended"
    if code < 0:
        return f"{subject} by signal {-code}"
    return f"{subject} by signal {code - 128}" if code > 128 else f"{subject} with status {code}"
