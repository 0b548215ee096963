"""Starts a worker as Ray actors in a placement group: one actor a rank, HTTP at rank 0.

    python examples/ray_worker.py --ranks 2 -- --model DIR --port 8760
    python examples/ray_worker.py --ranks 8 --gpus 1 -- --model Qwen/Qwen3-VL-8B-Instruct

What comes after `--` are options of saccade_worker. With --address it joins a running cluster;
without, Ray starts on this machine. The group lives as long as this process: submit it as a Ray
job for long runs. It ends with exit code 1 as soon as one rank does, for a supervisor to retry.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys

import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy


class Rank:
    """One process of the group."""

    def place(self) -> tuple[str, str, int]:
        """The node, its address, and a port that is free there."""
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        return ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address(), port

    def serve(self, variables: dict[str, str], options: list[str]) -> int:
        """Runs the worker in this process until it ends."""
        os.environ.update(variables)
        from saccade_worker.run import run
        from saccade_worker.settings import read_settings

        return run(read_settings(options))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=1, help="processes of the group")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs of each")
    parser.add_argument("--cpus", type=float, default=1, help="CPUs of each")
    parser.add_argument("--address", help="a running cluster, such as auto")
    parser.add_argument("options", nargs="*", help="options of saccade_worker, after --")
    given = parser.parse_args()
    # Ray writes what actors print to this process's output, which may be a file.
    sys.stdout.reconfigure(line_buffering=True)
    # Ray runs its workers at niceness 15; a rank that waits for the processor holds up all others.
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(address=given.address, log_to_driver=True, include_dashboard=False)
    bundle = {"CPU": given.cpus, **({"GPU": given.gpus} if given.gpus else {})}
    group = placement_group([bundle] * given.ranks, strategy="PACK")
    ray.get(group.ready())
    # Signals end a worker in its own main thread, which an actor keeps busy; it is killed instead.
    kind = ray.remote(num_cpus=given.cpus, num_gpus=given.gpus)(Rank)
    actors = [
        kind.options(
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                group, placement_group_bundle_index=rank
            )
        ).remote()
        for rank in range(given.ranks)
    ]
    try:
        places = ray.get([actor.place.remote() for actor in actors])
        # Ranks of a node follow one another, as FSDP's mesh expects.
        order = sorted(range(given.ranks), key=lambda rank: (places[rank][0], rank))
        nodes = [places[rank][0] for rank in order]
        _, address, port = places[order[0]]
        running = []
        for rank, actor in enumerate(order):
            node = nodes[rank]
            variables = {
                "RANK": str(rank),
                "WORLD_SIZE": str(given.ranks),
                "LOCAL_WORLD_SIZE": str(nodes.count(node)),
                # Ray shows each actor its own GPUs alone, so that the first is always its own.
                "LOCAL_RANK": "0" if given.gpus else str(nodes[:rank].count(node)),
                "LOCAL_ORDER": str(nodes[:rank].count(node)),
                "MASTER_ADDR": address,
                "MASTER_PORT": str(port),
            }
            running.append(actors[actor].serve.remote(variables, given.options))
        (first, *_), _ = ray.wait(running, num_returns=1)
        return int(ray.get(first))
    except ray.exceptions.RayError as error:
        print(f"A rank was lost: {error}", file=sys.stderr)
        return 1
    finally:
        for actor in actors:
            ray.kill(actor)
        remove_placement_group(group)


if __name__ == "__main__":
    sys.exit(main())
