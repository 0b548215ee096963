"""Starts one process of a worker: rank 0 serves, the others follow."""

from __future__ import annotations

import dataclasses
import signal
import sys
import threading
import time
from typing import Any

import torch
import transformers

from .base import open_base
from .blobs import Blobs
from .errors import Refused
from .group import Group, open_group
from .server import make_app, make_server
from .service import Service
from .settings import Settings
from .worker import Worker

# Prepared images that each rank keeps.
IMAGE_BYTES = 1 << 30


def run(settings: Settings) -> int:
    """Serves until a signal ends it; the exit code."""
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    if settings.threads > 0:
        torch.set_num_threads(settings.threads)
    try:
        base = open_base(settings.model, settings.image_backend)
    except (Refused, OSError, ValueError) as error:
        print(f"saccade-worker: {settings.model} cannot be served: {error}", file=sys.stderr)
        return 2
    ranks = open_group(settings.device, settings.timeout_seconds)
    settings = dataclasses.replace(
        settings, world=ranks.world, uses_cuda=ranks.device.type == "cuda"
    )
    worker = Worker(base, ranks, IMAGE_BYTES)
    group = Group(ranks, worker.operations())
    if ranks.rank != 0:
        # Rank 0 is told to end, and dismisses the others.
        _on_signals(signal.SIG_IGN)
        group.follow()
        return 0
    service = Service(base, settings, Blobs(settings.blob_bytes), worker.images)
    server = make_server(make_app(service, settings), settings)
    _on_signals(lambda *_: service.drain())
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            print(
                f"saccade-worker: cannot listen on {settings.host}:{settings.port}.",
                file=sys.stderr,
            )
            group.dismiss()
            return 3
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    scheme = "https" if settings.tls_cert else "http"
    print(
        f"saccade-worker: {settings.model} on {ranks.world} × {ranks.device.type} at "
        f"{scheme}://{settings.host}:{port}/api/v1",
        flush=True,
    )
    service.run(group)
    # Results that were just finished can still be read.
    time.sleep(0.5)
    server.should_exit = True
    thread.join(timeout=10)
    group.dismiss()
    return 0


def _on_signals(act: Any) -> None:
    """Handles what ends a process; where another thread is the main one, its program does."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, act)
