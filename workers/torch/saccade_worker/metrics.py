"""The worker's numbers in the text format of Prometheus."""

from __future__ import annotations

import resource
import sys
from typing import Any


def exposition(health: dict[str, Any]) -> str:
    """Health as Prometheus reads it; the numbers are those of rank 0."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Kilobytes on Linux, bytes on macOS.
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    rows = (
        (
            "saccade_worker_version",
            "gauge",
            "Optimizer steps of the newest model",
            health["version"],
        ),
        ("saccade_worker_requests_pending", "gauge", "Requests in the queue", health["pending"]),
        ("saccade_worker_ranks", "gauge", "Processes of the group", health["world_size"]),
        (
            "saccade_worker_draining",
            "gauge",
            "1 while nothing new is taken",
            int(health["status"] == "draining"),
        ),
        (
            "saccade_worker_cpu_seconds_total",
            "counter",
            "Processor time of rank 0",
            round(used.ru_utime + used.ru_stime, 3),
        ),
        ("saccade_worker_peak_memory_bytes", "gauge", "Largest resident size of rank 0", peak),
    )
    return "".join(
        f"# HELP {name} {about}\n# TYPE {name} {kind}\n{name} {value}\n"
        for name, kind, about, value in rows
    )
