"""What the calls of a worker share: its parts, and requests that were checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .base import Base
from .blobs import Blobs
from .futures import Future
from .reader import Reader
from .registry import Registry
from .settings import Settings

Call = Callable[..., Any]


@dataclass(frozen=True)
class Prepared:
    """A request that was checked."""

    # Carries it out, on the main thread.
    act: Callable[[Future], Any]
    # Called when it is done, well or not.
    after: Callable[[], None] = lambda: None
    # Called when it has its place among the others.
    accepted: Callable[[Future], None] = lambda future: None


@dataclass(frozen=True)
class Context:
    """Parts of a server. `call` carries out an operation on all ranks."""

    base: Base
    settings: Settings
    blobs: Blobs
    reader: Reader
    registry: Registry
    call: Call
