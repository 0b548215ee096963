"""From blobs to what a vision tower takes: encoded images, or patches prepared elsewhere."""

from __future__ import annotations

import io
import json
import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from . import bodies
from .blobs import Blob
from .errors import UserError
from .families.family import Family, Layout, Pixels
from .wire import BINARY, read_tensors


class _Video(BaseModel):
    model_config = ConfigDict(extra="ignore")

    secondsPerGrid: float | None = None  # noqa: N815


class _Prepared(BaseModel):
    """Fields of a prepared image, beside its patches."""

    model_config = ConfigDict(extra="ignore")

    gridHeight: int = Field(ge=1)  # noqa: N815
    gridWidth: int = Field(ge=1)  # noqa: N815
    tokenCount: int = Field(ge=1)  # noqa: N815
    grids: int = Field(default=1, ge=1)
    video: _Video | None = None


class Images:
    """Prepares images, and keeps the last of them, up to a number of bytes."""

    def __init__(self, family: Family, most_bytes: int) -> None:
        self._family = family
        self._most = most_bytes
        self._held = 0
        self._kept: OrderedDict[str, Pixels] = OrderedDict()
        self._lock = threading.Lock()

    def layout(self, blob: Blob) -> Layout:
        """The placeholders an image needs."""
        return self.prepare(blob).layout

    def prepare(self, blob: Blob) -> Pixels:
        """What the vision tower takes. @raises UserError if the bytes are no such image"""
        with self._lock:
            known = self._kept.get(blob.sha256)
            if known is not None:
                self._kept.move_to_end(blob.sha256)
                return known
        made = self._prepared(blob) if blob.kind == BINARY else self._decoded(blob)
        with self._lock:
            if blob.sha256 not in self._kept:
                self._kept[blob.sha256] = made
                self._held += made.values.nbytes
            while self._held > self._most and len(self._kept) > 1:
                self._held -= self._kept.popitem(last=False)[1].values.nbytes
        return made

    def _decoded(self, blob: Blob) -> Pixels:
        try:
            image = Image.open(io.BytesIO(blob.raw), formats=["PNG", "JPEG"])
            image.load()
        except Exception as error:  # Pillow raises many kinds for damaged files.
            raise UserError(
                f"Image {blob.sha256} is no PNG or JPEG: {error}.", code="bad-image"
            ) from error
        try:
            return self._family.read(image.convert("RGB"))
        except ValueError as error:
            raise UserError(
                f"The checkpoint's processor refuses image {blob.sha256}, {image.width}×"
                f"{image.height} pixels: {error}.",
                code="bad-image",
            ) from error

    def _prepared(self, blob: Blob) -> Pixels:
        tensors, metadata = read_tensors(blob.raw)
        patches = tensors.get("patches")
        if patches is None or patches.ndim != 2 or patches.dtype != np.float32:
            raise UserError(
                'A prepared image must hold "patches", a float32 matrix.', code="bad-image"
            )
        if not np.isfinite(patches).all():
            raise UserError("The patches of a prepared image must be finite.", code="bad-image")
        given: Any
        try:
            given = json.loads(metadata.get("body", "{}"))
        except ValueError as error:
            raise UserError(f"The metadata of a prepared image is no JSON: {error}.") from error
        about = bodies.read(_Prepared, given)
        layout = Layout(
            about.gridHeight,
            about.gridWidth,
            about.grids,
            about.tokenCount,
            about.video is not None,
            about.video.secondsPerGrid if about.video else None,
        )
        return self._family.accept(torch.from_numpy(patches.copy()), layout)
