"""One model in this process, without a server."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
from PIL import Image

from saccade_worker.base import Base, open_base
from saccade_worker.blobs import Blobs
from saccade_worker.bodies import Forest, ForestImage, ForestSegment
from saccade_worker.group import Group, Ranks, open_group
from saccade_worker.images import Images
from saccade_worker.learner import Learner, Recipe
from saccade_worker.reader import Reader
from saccade_worker.worker import Worker

from .tiny import END, IMAGE, START

_ranks: list[Ranks] = []


def ranks() -> Ranks:
    """This process as a group of one."""
    if not _ranks:
        _ranks.append(open_group("cpu", 60))
    return _ranks[0]


class Local:
    """A worker of one process, its operations called directly."""

    def __init__(self, directory: str, **recipe: Any) -> None:
        self.base: Base = open_base(directory, "pil")
        self.blobs = Blobs(1 << 26)
        self.worker = Worker(self.base, ranks(), 1 << 26)
        self.group = Group(ranks(), self.worker.operations())
        self.images: Images = self.worker.images
        self.reader = Reader(self.base, self.blobs, self.images, 4096)
        defaults: dict[str, Any] = {
            "lora": None,
            "dtype": "f32",
            "value_head": False,
            "reference": False,
            "recompute": False,
        }
        shared = {"model": "m", "recipe": Recipe(**{**defaults, **recipe})}
        self.group.call("create", shared)
        self.learner: Learner = self.worker.models["m"]

    def put(self, raw: bytes) -> str:
        sha256 = hashlib.sha256(raw).hexdigest()
        self.blobs.put(sha256, "image/png", raw)
        return sha256

    def tokens_of(self, sha256: str) -> int:
        return self.images.layout(self.blobs.get(sha256)).token_count

    def forward(self, forest: Forest, request_id: str = "f", **more: Any) -> dict[str, Any]:
        batch = self.reader.forest(forest, "forest")
        shared = {
            "model": "m",
            "request_id": request_id,
            "temperature": 1.0,
            "weights": "policy",
            "squares": False,
            "count": batch.count,
            "forget": [],
            **more,
        }
        work = self.reader.work(batch, 1, 8192)
        return self.group.call("forward", shared, work)

    def backward(self, data_ref: str = "f", **grads: np.ndarray) -> None:
        given = {"logprobs": None, "entropy": None, "values": None, **grads}
        self.group.call("backward", {"model": "m", "data_ref": data_ref, **given})

    def gradients(self) -> dict[str, np.ndarray]:
        return self.group.call("gradients", {"model": "m", "names": None})["gradients"]

    def clear(self) -> None:
        self.learner.optimizer.clear()


def png(seed: int, width: int = 24, height: int = 16) -> bytes:
    """A random image."""
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 255, (height, width, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


def forest_of(
    segments: list[tuple[list[int], int, list[tuple[str, int]]]],
    rows: list[int],
    targets: list[int],
) -> Forest:
    """A forest from (tokens, parent, [(sha256, expected_tokens)])."""
    return Forest(
        segments=[
            ForestSegment(
                length=len(tokens),
                parent=parent,
                images=[ForestImage(sha256=s, expected_tokens=n) for s, n in images],
            )
            for tokens, parent, images in segments
        ],
        tokens=np.array([t for tokens, _, _ in segments for t in tokens]),
        rows=np.array(rows),
        targets=np.array(targets),
    )


def markup(local: Local, sha256: str) -> list[int]:
    """An image's markers and placeholders as its family writes them."""
    layout = local.images.layout(local.blobs.get(sha256))
    runs = local.base.family.runs(layout)
    if local.base.config.model_type in ("idefics3", "smolvlm"):
        named = [[START, 20 + i % 5, *[IMAGE] * count] for i, count in enumerate(runs)]
        return [token for one in named for token in one] + [START]
    return [START, *[IMAGE] * sum(runs), END]
