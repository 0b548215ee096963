"""Images by hash: a bounded store; those of requests in flight are kept."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .errors import Capacity, Conflict, TooLarge, UnsupportedMedia, UserError
from .families.family import Layout
from .wire import BINARY, media_type

KINDS = ("image/png", "image/jpeg", BINARY)


@dataclass(frozen=True)
class Blob:
    """An image as it came, and what it becomes."""

    sha256: str
    kind: str
    raw: bytes


class Blobs:
    """Blobs of at most a number of bytes, the least recently used leaving first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._blobs: OrderedDict[str, Blob] = OrderedDict()
        self._layouts: dict[str, Layout] = {}
        self._pins: dict[str, int] = {}
        self._lock = threading.RLock()

    def put(self, sha256: str, content_type: str | None, raw: bytes) -> None:
        """Stores a blob. @raises UserError if the bytes have another hash"""
        kind = media_type(content_type)
        if kind not in KINDS:
            raise UnsupportedMedia(f"Blobs are {', '.join(KINDS)}, got {kind}.")
        actual = hashlib.sha256(raw).hexdigest()
        if actual != sha256:
            raise UserError(
                f"The bytes have the hash {actual}, the address says {sha256}.", code="wrong-hash"
            )
        if len(raw) > self._most:
            raise TooLarge(f"A blob may have {self._most} bytes, got {len(raw)}.")
        with self._lock:
            if sha256 in self._blobs:
                self._blobs.move_to_end(sha256)
                return
            self._make_room(len(raw))
            self._blobs[sha256] = Blob(sha256, kind, raw)
            self._held += len(raw)

    def missing(self, wanted: Iterable[str]) -> list[str]:
        """The blobs of these that are not here; those that are count as used."""
        with self._lock:
            unique = list(dict.fromkeys(wanted))
            for sha256 in unique:
                if sha256 in self._blobs:
                    self._blobs.move_to_end(sha256)
            return [sha256 for sha256 in unique if sha256 not in self._blobs]

    def pin(self, wanted: Iterable[str]) -> None:
        """Keeps blobs until they are unpinned. @raises Conflict if some are missing"""
        with self._lock:
            unique = list(dict.fromkeys(wanted))
            missing = self.missing(unique)
            if missing:
                raise Conflict(
                    f"{len(missing)} images are not here. Put them to blobs/<sha256> and send the "
                    "same request again.",
                    code="missing-blobs",
                    missing=missing,
                )
            for sha256 in unique:
                self._pins[sha256] = self._pins.get(sha256, 0) + 1

    def unpin(self, held: Iterable[str]) -> None:
        with self._lock:
            for sha256 in dict.fromkeys(held):
                left = self._pins.get(sha256, 0) - 1
                if left > 0:
                    self._pins[sha256] = left
                else:
                    self._pins.pop(sha256, None)

    def get(self, sha256: str) -> Blob:
        with self._lock:
            return self._blobs[sha256]

    def layout(self, sha256: str, read: Callable[[Blob], Layout]) -> Layout:
        """The layout of a pinned blob, read once."""
        with self._lock:
            known = self._layouts.get(sha256)
            blob = self._blobs[sha256]
        if known is None:
            known = read(blob)
            with self._lock:
                self._layouts[sha256] = known
        return known

    def _make_room(self, size: int) -> None:
        for sha256 in [one for one in self._blobs if one not in self._pins]:
            if self._held + size <= self._most:
                return
            self._held -= len(self._blobs.pop(sha256).raw)
            self._layouts.pop(sha256, None)
        if self._held + size > self._most:
            raise Capacity(
                "The store of images is full of images in use. Wait for requests in flight, or "
                "start the worker with a larger --blob-bytes.",
                code="blobs-full",
            )
