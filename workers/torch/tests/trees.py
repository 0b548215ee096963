"""Forests for tests, with images and sampled placeholders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saccade_worker.bodies import Forest

from .local import Local, forest_of, markup, png
from .tiny import IMAGE, START, VIDEO, WITH_IMAGES

# What a model may sample: placeholders and markers among words.
ANSWERS = [[10, 11, 12, 13], [20, IMAGE, 22, VIDEO, START, 24], [30, 31]]


@dataclass
class Group:
    """A prompt with images, and answers to it."""

    prompt: list[int]
    images: list[tuple[str, int]]
    answers: list[list[int]]

    def packed(self, start: int = 0, root: int = 0) -> tuple[list, list[int], list[int]]:
        """Segments, rows and targets: one root, a child for each answer."""
        segments = [(self.prompt, -1, self.images)]
        rows, targets = [], []
        at = start + len(self.prompt)
        for answer in self.answers:
            segments.append((answer, root, []))
            rows.append(start + len(self.prompt) - 1)
            rows.extend(range(at, at + len(answer) - 1))
            targets.extend(answer)
            at += len(answer)
        return segments, rows, targets

    def forest(self) -> Forest:
        return forest_of(*self.packed())

    def alone(self) -> list[Forest]:
        """One row per trajectory."""
        first = len(self.prompt) - 1
        return [
            forest_of(
                [(self.prompt + answer, -1, self.images)],
                list(range(first, first + len(answer))),
                answer,
            )
            for answer in self.answers
        ]


def group_of(local: Local, seeds: list[int], is_adjacent: bool = False) -> Group:
    """A group; without images where the family has none."""
    prompt, images = [3, 4, 5], []
    if local.base.config.model_type in WITH_IMAGES:
        for seed in seeds:
            sha256 = local.put(png(seed, 24 + 8 * (seed % 3), 16 + 8 * (seed % 2)))
            prompt += markup(local, sha256) + ([] if is_adjacent else [7])
            images.append((sha256, local.tokens_of(sha256)))
    return Group([*prompt, 8, 9], images, ANSWERS)


def forest_of_groups(groups: list[Group]) -> Forest:
    """Several groups in one forest."""
    segments, rows, targets = [], [], []
    at = 0
    for group in groups:
        own, own_rows, own_targets = group.packed(at, len(segments))
        segments += own
        rows += own_rows
        targets += own_targets
        at += sum(len(tokens) for tokens, _, _ in own)
    return forest_of(segments, rows, targets)


def assert_same_gradients(
    got: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: float = 1e-5
) -> float:
    """Compares tensor by tensor, relative to each tensor's largest element; the worst difference.

    A bias of keys has gradient 0 in exact arithmetic: what rounding leaves of it is measured
    against a hundred-thousandth of the largest element of all.
    """
    assert set(got) == set(expected)
    largest = max(float(np.abs(one).max()) for one in expected.values())
    worst = 0.0
    for name, one in expected.items():
        scale = max(float(np.abs(one).max()), 1e-5 * largest)
        difference = float(np.abs(got[name] - one).max()) / scale
        assert difference <= tolerance, f"{name} differs by {difference:.2g}"
        worst = max(worst, difference)
    return worst
