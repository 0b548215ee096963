"""Measures, before a model is served, that it honors a tree mask and explicit positions."""

from __future__ import annotations

import numpy as np
import torch

from .errors import Refused
from .forest import Segment, Tree, pack
from .learner import Learner

LENGTH = 6
# f32 sums differ by the order of keys; bf16 has 8 bits.
TOLERANCE = {torch.float32: 2e-3, torch.bfloat16: 0.35}


def check_model(learner: Learner) -> None:
    """Scores a forest of two branches, its paths as rows, and a row by transformers' own forward.

    @raises Refused if they differ by more than rounding
    """
    vocab = learner.base.vocab_size
    ids = (np.arange(3 * LENGTH) * 7919 + 13) % vocab
    root, left, right = (ids[i * LENGTH : (i + 1) * LENGTH].astype(np.int64) for i in range(3))
    branched = _tree([(root, -1), (left, 0), (right, 0)], 2 * LENGTH, right)
    straight = _tree([(np.concatenate([root, right]), -1)], LENGTH, right)
    row = torch.from_numpy(np.concatenate([root, right]))[None].to(learner.ranks.device)
    with torch.no_grad():
        packed, alone = (_score(learner, tree) for tree in (branched, straight))
        logits = learner.scorer.own_logits(row)[0, LENGTH:-1]
        own = torch.log_softmax(logits.float(), -1).gather(1, row[0, LENGTH + 1 :, None])[:, 0]
    bound = TOLERANCE[learner.recipe.compute]
    for what, other in (("one row per path", alone), ("transformers' own forward", own)):
        difference = float((packed - other).abs().max())
        if not difference <= bound:
            raise Refused(
                f'Models of type "{learner.base.config.model_type}" are not scored right as a '
                f"forest: log-probs differ from {what} by {difference:.3g}, more than {bound}. "
                "Its decoder does not honor an explicit mask and positions, or changes logits "
                "after the head."
            )


def _tree(segments: list[tuple[np.ndarray, int]], first: int, scored: np.ndarray) -> Tree:
    """A tree whose last segment's tokens, but for its first, are scored."""
    rows = np.arange(first, first + len(scored) - 1)
    parts = tuple(Segment(tokens, parent) for tokens, parent in segments)
    return Tree(parts, rows, scored[1:], np.arange(len(rows)))


def _score(learner: Learner, tree: Tree) -> torch.Tensor:
    base = learner.base
    row = pack([tree], base.family, learner.hf, {}, False, learner.ranks.device)
    return learner.scorer(row, 1.0).logprobs
