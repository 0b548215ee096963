"""The actor of one process: starts it on its node, keeps what it prints, says how it is."""

from __future__ import annotations

import collections
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from . import guard

# Printed bytes that wait for the supervisor; older ones are dropped, and said to be.
MOST_KEPT = 4 << 20
LONGEST_LINE = 16 << 10
# A port that an earlier start has just left may be taken for moments.
PORT_SECONDS = 10.0


class Process:
    """One process, on the node where the actor is. Methods run at a time: `max_concurrency`."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._lines: collections.deque[str] = collections.deque()
        self._kept = 0
        self._dropped = 0
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None

    def place(self, host: str, port: int, others: int) -> dict[str, Any]:
        """The node with its address, a port that is free there, and more free ports.

        A port other than 0 that is in use is `None`.
        """
        import ray

        return {
            "node": ray.get_runtime_context().get_node_id(),
            "ip": ray.util.get_node_ip_address(),
            "port": _free_port(host, port),
            "others": [_free_port("", 0) for _ in range(others)],
        }

    def start(self, command: list[str], variables: dict[str, str], grace: float) -> int | None:
        """Starts the command; the number of its process, or None if it could not be started."""
        command = [part.replace("{python}", sys.executable) for part in command]
        numbers, number_fd = os.pipe()
        self._child = subprocess.Popen(
            [sys.executable, guard.__file__, str(grace), str(number_fd), "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(number_fd,),
            env={**os.environ, "PYTHONUNBUFFERED": "1", **variables},
            # A group of its own, so that it can be ended whole.
            start_new_session=True,
        )
        os.close(number_fd)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        with os.fdopen(numbers) as pipe:
            text = pipe.readline().strip()
        self._pid = int(text) if text else None
        return self._pid

    def poll(self) -> dict[str, Any]:
        """What it printed since the last call, and its exit code once it ended."""
        child = self._child
        code = None if child is None else child.poll()
        if code is not None and self._reader is not None:
            # What it left may hold its output open; the rest of its own is there by now.
            self._reader.join(timeout=1.0)
        with self._lock:
            lines, dropped = list(self._lines), self._dropped
            self._lines.clear()
            self._kept, self._dropped = 0, 0
        if dropped:
            lines.insert(0, f"… {dropped} lines were not kept: they came too fast.")
        return {"code": code, "pid": self._pid, "lines": lines}

    def stop(self, seconds: float) -> None:
        """Ends it: SIGTERM, and SIGKILL for all of its group after `seconds`."""
        child = self._child
        if child is None:
            return
        child.terminate()
        until = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()

    def _read(self) -> None:
        assert self._child is not None and self._child.stdout is not None
        for raw in iter(lambda: self._child.stdout.readline(LONGEST_LINE), b""):
            line = raw.decode(errors="replace").rstrip("\n")
            with self._lock:
                self._lines.append(line)
                self._kept += len(line) + 1
                while self._kept > MOST_KEPT:
                    self._kept -= len(self._lines.popleft()) + 1
                    self._dropped += 1


def _free_port(host: str, port: int) -> int | None:
    until = time.monotonic() + (PORT_SECONDS if port else 0)
    while True:
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                free.bind((host, port))
                return free.getsockname()[1]
            except OSError:
                if time.monotonic() >= until:
                    return None
        time.sleep(0.2)
