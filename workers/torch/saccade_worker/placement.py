"""Where images stand among tokens, and the positions of all tokens."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from .errors import UserError
from .families.family import Family, Layout, Run


def find_runs(
    family: Family, tokens: list[int], layouts: Sequence[Layout], field: str
) -> list[list[Run]]:
    """Finds the placeholders of each image by the markers around them.

    A model may sample a placeholder: that is a token like any other. So placeholders are taken only
    between markers and in an image's exact number. Images may also follow one another with nothing
    between them; then the first has a marker before it, the last one after it.

    @raises UserError if an image has no placeholders
    """
    wanted = [(count, family.placeholder(one)) for one in layouts for count in family.runs(one)]

    def fits(index: int, start: int) -> bool:
        while index < len(wanted):
            count, placeholder = wanted[index]
            end = start + count
            if end > len(tokens) or any(token != placeholder for token in tokens[start:end]):
                return False
            if family.closes(tokens, end):
                return True
            index, start = index + 1, end
        return False

    starts: list[int] = []
    after = 0
    for index, (count, _) in enumerate(wanted):
        start = after
        if not (index > 0 and fits(index, after)):
            while start < len(tokens) and not (family.opens(tokens, start) and fits(index, start)):
                start += 1
        if start >= len(tokens):
            break
        starts.append(start)
        after = start + count
    found: list[list[Run]] = []
    taken = 0
    for number, layout in enumerate(layouts):
        counts = family.runs(layout)
        if taken + len(counts) > len(starts):
            raise UserError(
                f"{field}.images.{number}: the segment has no {layout.token_count} placeholders "
                "of this image between its vision markers. Send each image with the segment that "
                "holds its placeholders.",
                field=f"{field}.images.{number}",
                code="no-placeholders",
            )
        runs = zip(starts[taken:], counts, strict=False)
        found.append([Run(start, count) for start, count in runs])
        taken += len(counts)
    return found


def place(
    family: Family,
    model: nn.Module,
    length: int,
    images: Sequence[tuple[Layout, Sequence[Run]]],
    first: int,
) -> tuple[torch.Tensor, int]:
    """[axes, length] positions of a segment's tokens from `first` on, and the position after it.

    Text counts up on all axes. A run of placeholders takes what the architecture itself gives it,
    moved to where the run starts; so a path through a forest has the positions of the same tokens
    in one row.
    """
    positions = torch.empty(family.axes, length, dtype=torch.long)
    at, position = 0, first
    for layout, runs in images:
        spread = family.spread(model, layout)
        if spread is None:
            continue
        for run in runs:
            text = run.start - at
            positions[:, at : run.start] = torch.arange(position, position + text)
            position += text
            end = run.start + run.count
            positions[:, run.start : end] = spread[:, : run.count] + position
            position += int(spread[0, run.count])
            at = end
    positions[:, at:] = torch.arange(position, position + length - at)
    return positions, position + length - at
