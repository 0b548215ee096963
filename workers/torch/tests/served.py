"""A whole server in this process: HTTP in one thread, its work in another."""

from __future__ import annotations

import threading
import time

from saccade_worker.base import open_base
from saccade_worker.blobs import Blobs
from saccade_worker.group import Group
from saccade_worker.server import make_app, make_server
from saccade_worker.service import Service
from saccade_worker.settings import read_settings
from saccade_worker.worker import Worker

from .client import Client
from .local import ranks


class Served:
    """A server on a free port."""

    def __init__(self, directory: str, checkpoints: str, *arguments: str) -> None:
        self.checkpoints = checkpoints
        settings = read_settings(
            [
                *("--model", directory, "--port", "0", "--device", "cpu"),
                *("--checkpoints", checkpoints, "--expose-gradients", "--max-models", "3"),
                *arguments,
            ]
        )
        base = open_base(directory, "pil")
        self.worker = Worker(base, ranks(), 1 << 26)
        self.service = Service(base, settings, Blobs(settings.blob_bytes), self.worker.images)
        self._server = make_server(make_app(self.service, settings), settings)
        group = Group(ranks(), self.worker.operations())
        self._threads = [
            threading.Thread(target=self._server.run, daemon=True),
            threading.Thread(target=self.service.run, args=(group,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        scheme = "https" if settings.tls_cert else "http"
        self.url = f"{scheme}://127.0.0.1:{port}/api/v1"

    def client(self, token: str | None = None, binary: bool = True) -> Client:
        return Client(self.url, token, binary)

    def stop(self) -> None:
        self.service.drain()
        self._server.should_exit = True
        for thread in self._threads:
            thread.join(timeout=20)
