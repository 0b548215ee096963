"""Results of requests: kept for a while, bounded in number and in bytes."""

from __future__ import annotations

import concurrent.futures
import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import Gone, ServerFault, WorkerError


@dataclass
class Future:
    """One request and, once it is done, its result or error."""

    request_id: str
    # Set once it is done; the result or the error is beside it.
    outcome: concurrent.futures.Future[None] = field(default_factory=concurrent.futures.Future)
    result: Any = None
    error: Exception | None = None
    finished: float | None = None
    size: int = 0
    was_read: bool = False

    def answer(self) -> Any:
        """The result as retrieve_future gives it."""
        self.was_read = True
        error = self.error
        if error is None:
            return self.result
        known = error if isinstance(error, WorkerError) else ServerFault(str(error))
        return {"type": "request_failed", **known.body()}


class Futures:
    """Futures by id. Finished ones leave after a time, or when too many came after them."""

    def __init__(
        self, keep_seconds: float = 600, keep_count: int = 256, most_bytes: int = 1 << 30
    ) -> None:
        self._keep_seconds = keep_seconds
        self._keep_count = keep_count
        self._most_bytes = most_bytes
        self._futures: OrderedDict[str, Future] = OrderedDict()
        self._lock = threading.Lock()

    def open(self) -> Future:
        future = Future(uuid.uuid4().hex)
        with self._lock:
            self._futures[future.request_id] = future
        return future

    def get(self, request_id: str) -> Future:
        """@raises Gone if it is not kept any more, or never was"""
        with self._lock:
            self._forget()
            future = self._futures.get(request_id)
        if future is None:
            raise Gone(
                f"Request {request_id} is not known. Its result is not kept any more, or another "
                "server took it.",
                field="request_id",
            )
        return future

    def finish(self, future: Future, result: Any = None, error: Exception | None = None) -> None:
        with self._lock:
            future.finished = time.monotonic()
            future.size = size_of(result)
            self._forget()
        future.result, future.error = result, error
        future.outcome.set_result(None)

    @property
    def pending(self) -> int:
        with self._lock:
            return sum(1 for one in self._futures.values() if one.finished is None)

    def _forget(self) -> None:
        now = time.monotonic()
        done = [one for one in self._futures.values() if one.finished is not None]
        done.sort(key=lambda one: one.finished or 0)
        held = sum(one.size for one in done)
        count = len(done)
        for one in done:
            is_old = now - (one.finished or now) > self._keep_seconds or count > self._keep_count
            if (is_old and one.was_read) or (held > self._most_bytes and count > 1):
                del self._futures[one.request_id]
                held -= one.size
                count -= 1
        # Unread results outlive their time, but not without end.
        unread = [one for one in done if one.request_id in self._futures]
        for one in unread[: max(0, len(unread) - 4 * self._keep_count)]:
            del self._futures[one.request_id]


def size_of(value: Any) -> int:
    """Bytes of the arrays in a result, and a few for each of its other parts."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(size_of(one) for one in value.values()) + 64
    if isinstance(value, (list, tuple)):
        return sum(size_of(one) for one in value) + 64
    return 16
