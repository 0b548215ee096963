"""From requests to trees: segments with their images placed, all checks made."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .base import Base
from .blobs import Blob, Blobs
from .bodies import Chunk, Datum, Forest, LossInputs, ModelInput
from .errors import TooLarge, UserError
from .families.family import Layout, Run
from .forest import Placed, Segment, Tree
from .images import Images
from .learner import Work
from .losses import NEEDS
from .placement import find_runs
from .planning import plan_rows


@dataclass
class Batch:
    """Trees to score, N rows in all, and the images that are pinned for them."""

    trees: list[Tree] = field(default_factory=list)
    count: int = 0
    # Rows of each datum, where the request was one of data.
    lengths: list[int] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)


class Reader:
    """Reads batches. Each image of one is pinned until `release`."""

    def __init__(self, base: Base, blobs: Blobs, images: Images, most_tokens: int) -> None:
        self._base = base
        self._blobs = blobs
        self._images = images
        self._most_tokens = most_tokens

    def forest(self, forest: Forest, at: str) -> Batch:
        """A forest. @raises UserError naming the field that is wrong"""
        lengths = [segment.length for segment in forest.segments]
        tokens, rows, targets = forest.tokens, forest.rows, forest.targets
        if sum(lengths) != len(tokens):
            raise UserError(
                f"{at}.tokens: segments have {sum(lengths)} tokens in all, got {len(tokens)}.",
                field=f"{at}.tokens",
            )
        if len(rows) != len(targets):
            raise UserError(
                f"{at}.targets: expected {len(rows)}, one a row, got {len(targets)}.",
                field=f"{at}.targets",
            )
        self._expect_tokens(tokens, f"{at}.tokens", 0)
        self._expect_tokens(targets, f"{at}.targets", -1)
        outside = rows[(rows < 0) | (rows >= len(tokens))]
        if len(outside) > 0:
            raise UserError(
                f"{at}.rows: expected indices from 0 to {len(tokens) - 1}, got {outside[0]}.",
                field=f"{at}.rows",
            )
        self._expect_order([segment.parent for segment in forest.segments], lengths, at)
        wanted = [image.sha256 for segment in forest.segments for image in segment.images]
        batch = Batch(count=len(rows))
        self._pin(batch, wanted)
        try:
            starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
            segments = []
            for number, segment in enumerate(forest.segments):
                own = tokens[starts[number] : starts[number + 1]]
                where = f"{at}.segments.{number}"
                layouts = [
                    self._layout(image.sha256, image.expected_tokens, f"{where}.images.{i}")
                    for i, image in enumerate(segment.images)
                ]
                placed: list[Placed] = []
                if layouts:
                    found = find_runs(self._base.family, own.tolist(), layouts, where)
                    placed = [
                        Placed(image.sha256, tuple(runs))
                        for image, runs in zip(segment.images, found, strict=True)
                    ]
                segments.append(Segment(own, segment.parent, tuple(placed)))
            batch.trees = _trees(segments, starts, rows, targets)
            self._expect_room(batch)
        except BaseException:
            self.release(batch)
            raise
        return batch

    def data(self, data: list[Datum], at: str) -> tuple[Batch, dict[str, np.ndarray | None]]:
        """Sequences, and what a loss needs of all of them, one after another."""
        batch = Batch()
        inputs: dict[str, list[np.ndarray | None]] = {
            name: [] for name in ("weights", "logprobs", "advantages")
        }
        for number, datum in enumerate(data):
            where = f"{at}.data.{number}"
            try:
                segment = self.prompt(datum.model_input, f"{where}.model_input", batch)
                length = len(segment.tokens)
                given = datum.loss_fn_inputs
                for name in ("target_tokens", *inputs):
                    value = getattr(given, name)
                    if value is not None and len(value) != length:
                        raise UserError(
                            f"{where}.loss_fn_inputs.{name}: expected {length} values, one a "
                            f"position with images counted, got {len(value)}.",
                            field=f"{where}.loss_fn_inputs.{name}",
                        )
                if given.target_tokens is None:
                    raise UserError(
                        f"{where}.loss_fn_inputs.target_tokens is missing.",
                        field=f"{where}.loss_fn_inputs.target_tokens",
                    )
                self._expect_tokens(given.target_tokens, f"{where}.target_tokens", -1)
            except BaseException:
                self.release(batch)
                raise
            rows = np.arange(length)
            batch.trees.append(Tree((segment,), rows, given.target_tokens, batch.count + rows))
            batch.count += length
            batch.lengths.append(length)
            for name, values in inputs.items():
                values.append(getattr(given, name))
        try:
            self._expect_room(batch)
        except BaseException:
            self.release(batch)
            raise
        return batch, {
            name: _joined(values, batch.lengths, 1.0 if name == "weights" else None)
            for name, values in inputs.items()
        }

    def prompt(self, given: ModelInput, at: str, batch: Batch) -> Segment:
        """Chunks as one segment; images stand where their chunks do."""
        tokens: list[np.ndarray] = []
        placed: list[Placed] = []
        length = 0
        for number, chunk in enumerate(given.chunks):
            where = f"{at}.chunks.{number}"
            if chunk.type == "encoded_text":
                if chunk.tokens is None:
                    raise UserError(f"{where}.tokens is missing.", field=f"{where}.tokens")
                self._expect_tokens(chunk.tokens, f"{where}.tokens", 0)
                part = chunk.tokens
            else:
                sha256 = self._image(chunk, where, batch)
                layout = self._layout(sha256, chunk.expected_tokens, where)
                runs = self._base.family.runs(layout)
                if len(runs) != 1:
                    raise UserError(
                        f"{where}: this image has {len(runs)} runs of placeholders with names "
                        "between them, which a chunk cannot express. Send a forest instead.",
                        field=where,
                        code="tiled-chunk",
                    )
                placeholder = self._base.family.placeholder(layout)
                part = np.full(runs[0], placeholder, dtype=np.int64)
                placed.append(Placed(sha256, (Run(length, runs[0]),)))
            tokens.append(part)
            length += len(part)
        if length == 0:
            raise UserError(f"{at}.chunks: expected at least one token.", field=f"{at}.chunks")
        return Segment(np.concatenate(tokens), -1, tuple(placed))

    def release(self, batch: Batch) -> None:
        """Lets go of a batch's images."""
        for sha256 in batch.pinned:
            self._blobs.unpin([sha256])
        batch.pinned = []

    def work(self, batch: Batch, ranks: int, row_tokens: int) -> list[Work]:
        """Divides a batch among ranks."""
        trees = batch.trees
        plan = plan_rows([tree.token_count for tree in trees], ranks, row_tokens)
        needs = [
            any(trees[tree].images for rank in range(ranks) for tree in plan.rows[rank][step])
            for step in range(plan.steps)
        ]
        shares = []
        for rows in plan.rows:
            own = [[trees[tree] for tree in members] for members in rows]
            names = {image for row in own for tree in row for image in tree.images}
            blobs: dict[str, Blob] = {name: self._blobs.get(name) for name in sorted(names)}
            shares.append(Work(own, needs, blobs))
        return shares

    def _image(self, chunk: Chunk, at: str, batch: Batch) -> str:
        if chunk.type == "image_asset_pointer":
            raise UserError(
                f"{at}: image_asset_pointer is not read here. Send the image's bytes.", field=at
            )
        if chunk.type == "image_ref":
            if chunk.sha256 is None:
                raise UserError(f"{at}.sha256 is missing.", field=f"{at}.sha256")
            self._pin(batch, [chunk.sha256])
            return chunk.sha256
        if chunk.format not in ("png", "jpeg"):
            raise UserError(
                f"{at}.format: expected png or jpeg, got {chunk.format}.", field=f"{at}.format"
            )
        raw = _bytes(chunk.data, at)
        sha256 = hashlib.sha256(raw).hexdigest()
        self._blobs.put(sha256, f"image/{chunk.format}", raw)
        self._pin(batch, [sha256])
        return sha256

    def _pin(self, batch: Batch, wanted: Sequence[str]) -> None:
        unique = list(dict.fromkeys(wanted))
        self._blobs.pin(unique)
        batch.pinned.extend(unique)

    def _layout(self, sha256: str, expected: int | None, at: str) -> Layout:
        try:
            layout = self._blobs.layout(sha256, self._images.layout)
        except UserError as error:
            raise UserError(f"{at}: {error.message}", field=at, code=error.code) from error
        if expected is not None and expected != layout.token_count:
            raise UserError(
                f"{at}.expected_tokens: this image has {layout.token_count} placeholders here, the "
                f"request expects {expected}. Use the same processor settings on both sides.",
                field=f"{at}.expected_tokens",
                code="expected-tokens",
            )
        return layout

    def _expect_tokens(self, tokens: np.ndarray, at: str, least: int) -> None:
        vocab = self._base.vocab_size
        outside = tokens[(tokens < least) | (tokens >= vocab)]
        if len(outside) > 0:
            raise UserError(
                f"{at}: expected ids from {least} to {vocab - 1}, got {outside[0]}.", field=at
            )

    def _expect_order(self, parents: list[int], lengths: list[int], at: str) -> None:
        path: list[int] = []
        for number, parent in enumerate(parents):
            while path and path[-1] != parent:
                path.pop()
            if parent >= 0 and not path:
                raise UserError(
                    f"{at}.segments.{number}.parent: {parent} is no earlier segment on the way of "
                    "a depth-first pre-order.",
                    field=f"{at}.segments.{number}.parent",
                )
            path.append(number)

    def _expect_room(self, batch: Batch) -> None:
        largest = max((tree.token_count for tree in batch.trees), default=0)
        if largest > self._most_tokens:
            raise TooLarge(
                f"A tree may have {self._most_tokens} tokens here, the largest has {largest}. "
                "Split the group, or start the worker with a larger --max-tokens.",
                code="too-many-tokens",
            )


def read_loss_inputs(given: LossInputs, count: int, at: str) -> dict[str, np.ndarray | None]:
    """What a loss needs of a forest's rows."""
    found: dict[str, np.ndarray | None] = {}
    for name in ("weights", "logprobs", "advantages"):
        value = getattr(given, name)
        if value is not None and len(value) != count:
            raise UserError(
                f"{at}.{name}: expected {count} values, one a row, got {len(value)}.",
                field=f"{at}.{name}",
            )
        found[name] = value
    return found


def expect_loss_inputs(name: str, inputs: dict[str, np.ndarray | None], at: str) -> None:
    """@raises UserError if a loss lacks an input"""
    for needed in NEEDS[name]:
        if inputs[needed] is None:
            raise UserError(
                f"{at}: {name} needs {', '.join(NEEDS[name])}; {needed} is missing.",
                field=f"{at}.{needed}",
            )


def _joined(
    values: list[np.ndarray | None], lengths: list[int], default: float | None
) -> np.ndarray | None:
    if all(one is None for one in values):
        return None
    if default is None and any(one is None for one in values):
        return None
    filled = [
        np.full(length, default, dtype=np.float32) if one is None else one
        for one, length in zip(values, lengths, strict=True)
    ]
    return np.concatenate(filled) if filled else np.zeros(0, dtype=np.float32)


def _trees(
    segments: list[Segment], starts: np.ndarray, rows: np.ndarray, targets: np.ndarray
) -> list[Tree]:
    """Cuts a forest at its roots."""
    roots = [number for number, segment in enumerate(segments) if segment.parent < 0]
    trees = []
    for first, after in zip(roots, [*roots[1:], len(segments)], strict=True):
        begin, end = int(starts[first]), int(starts[after])
        slots = np.flatnonzero((rows >= begin) & (rows < end))
        own = tuple(
            Segment(one.tokens, -1 if one.parent < 0 else one.parent - first, one.images)
            for one in segments[first:after]
        )
        if end > begin:
            trees.append(Tree(own, rows[slots] - begin, targets[slots], slots))
    return trees


def _bytes(data: Any, at: str) -> bytes:
    if isinstance(data, np.ndarray):
        return data.astype(np.uint8).tobytes()
    if not isinstance(data, str):
        raise UserError(f"{at}.data: expected base64 text.", field=f"{at}.data")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UserError(f"{at}.data is no base64: {error}.", field=f"{at}.data") from error
