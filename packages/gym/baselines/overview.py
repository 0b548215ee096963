"""How much of `needle` can be read without a look; `overview.mjs` calls it.

    overview.py DIR [--epochs N]

DIR has for each split the overviews [N, 112, 112, 3], the looks at the digit [N, 28, 28, 3], and one
line of facts a task: its answer, and the middles of its cards in the overview, the digit's first.
Four classifiers of the digit are trained on one split and count right answers on the other. The
first is told where the digit is, which no overview tells: more than any policy without a look has.
The next two see the overview only. The last one sees the look, so that a low number of the others
is not the classifiers' fault. Exits with 1 if one without the look is right too often.
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

OVERVIEW, LOOK = 112, 28
# A cell of the table in the overview: the card's 14×14 pixels, and the table around it.
CELL = 28
DIGITS = 10
# Share of right answers below which we say that the overview does not show the digit.
LIMIT = 0.4


def load(directory: Path, split: str) -> dict:
    facts = [json.loads(line) for line in (directory / f"{split}.jsonl").read_text().splitlines()]
    n = len(facts)

    def images_of(kind: str, side: int) -> torch.Tensor:
        pixels = np.fromfile(directory / f"{split}.{kind}", np.uint8)[: n * side * side * 3]
        return torch.from_numpy(pixels.reshape(n, side, side, 3)).permute(0, 3, 1, 2).contiguous()

    overviews = images_of("overviews", OVERVIEW)
    # [N, 16, 3, 28, 28], row by row.
    cells = overviews.unfold(2, CELL, CELL).unfold(3, CELL, CELL).flatten(2, 3).transpose(1, 2)
    columns = OVERVIEW // CELL
    places = [[int(y // CELL) * columns + int(x // CELL) for x, y in f["cards"]] for f in facts]
    return {
        "overview": overviews,
        "cells": cells,
        "place": torch.tensor([digit for digit, *_ in places]),
        "count": max(map(len, places)),
        "look": images_of("looks", LOOK),
        "answer": torch.tensor([fact["answer"] for fact in facts]),
    }


def bluest(split: dict) -> torch.Tensor:
    """The cells with cards, found in the overview alone: cards are blue, the table is not."""
    brightness = split["cells"][:, :, 2].float().mean((2, 3))
    return brightness.topk(split["count"]).indices


class Standard(nn.Module):
    """Bytes to mean 0 and about deviation 1, place by place as in the training split."""

    def __init__(self, pixels: torch.Tensor):
        super().__init__()
        sample = pixels[:4000].float()
        self.mean, self.deviation = sample.mean(0), sample.std(0) + 1

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return (pixels.float() - self.mean) / self.deviation


def convolutions(pixels: torch.Tensor, classes: int, halvings: int, stride: int = 1) -> nn.Module:
    """Two convolutions, and one more each time the sides are halved."""
    layers: list[nn.Module] = [Standard(pixels)]
    channels, side = pixels.shape[1], pixels.shape[2] // stride
    for level in range(halvings + 1):
        if level > 0:
            layers.append(nn.MaxPool2d(2))
            side //= 2
        for i in range(2 if level == 0 else 1):
            first = level == 0 and i == 0
            layers.append(nn.Conv2d(channels, 32, 3, stride if first else 1, padding=1))
            layers += [nn.BatchNorm2d(32), nn.GELU()]
            channels = 32
    layers += [nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * side**2, 128), nn.GELU()]
    return nn.Sequential(*layers, nn.Linear(128, classes))


def fit(net: nn.Module, x: torch.Tensor, y: torch.Tensor, epochs: int, rate: float = 3e-3) -> None:
    optimizer = torch.optim.AdamW(net.parameters(), rate, weight_decay=0.05)
    batches = max(1, len(x) // 128)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * batches)
    net.train()
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).chunk(batches)[:batches]:
            loss = F.cross_entropy(net(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()


@torch.no_grad()
def logits(net: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.cat([net(part) for part in x.split(500)])


def read_image(train, held_out, answers, epochs: int, halvings: int, stride: int = 1):
    """The digit in each held-out image."""
    net = convolutions(train, DIGITS, halvings, stride)
    fit(net, train, answers, epochs)
    return logits(net, held_out).argmax(-1)


def read_cards(train: dict, held_out: dict, epochs: int):
    """Each card alone shows a digit or none; Bayes' rule joins the cards, of which one has one."""
    found, found_held_out = bluest(train), bluest(held_out)
    tasks = torch.arange(len(found))[:, None]
    cards = train["cells"][tasks, found].flatten(0, 1)
    is_digit = found == train["place"][:, None]
    labels = torch.where(is_digit, train["answer"][:, None], DIGITS).flatten()
    net = convolutions(cards, DIGITS + 1, 1)
    fit(net, cards, labels, epochs)
    tasks = torch.arange(len(found_held_out))[:, None]
    each = logits(net, held_out["cells"][tasks, found_held_out].flatten(0, 1)).log_softmax(-1)
    each = each.unflatten(0, found_held_out.shape)
    return (each[..., :DIGITS] - each[..., DIGITS:]).logsumexp(1).argmax(-1)


class LogSumExp(nn.Module):
    """A digit is in the image if it is in any of its cells."""

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return scores.flatten(2).logsumexp(2)


def read_whole(train, held_out, answers, epochs: int):
    """The same network on each cell, cut as a policy's patches are; it has to find the cards."""
    layers = [nn.Conv2d(3, 256, CELL, CELL), nn.BatchNorm2d(256), nn.GELU()]
    layers += [nn.Conv2d(256, 128, 1), nn.BatchNorm2d(128), nn.GELU(), nn.Conv2d(128, DIGITS, 1)]
    net = nn.Sequential(Standard(train), *layers, LogSumExp())
    fit(net, train, answers, epochs)
    return logits(net, held_out).argmax(-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    train, held_out = (load(arguments.directory, split) for split in ("train", "heldOut"))
    answers, epochs = train["answer"], arguments.epochs
    right = held_out["answer"]
    print(f"{len(answers)} tasks to train on, {len(right)} held out; chance is 10 %", flush=True)

    failures = 0

    def report(what: str, given: torch.Tensor, limit: float = 1) -> None:
        nonlocal failures
        share = (given == right).double().mean().item()
        error = (share * (1 - share) / len(right)) ** 0.5
        failures += share > limit
        word = "FAIL" if share > limit else "ok"
        bound = f", at most {limit:.0%} wanted" if limit < 1 else ""
        print(f"{word:<4}  {what:<33} {share:6.1%} ± {error:.1%}{bound}", flush=True)

    def digit_cells(split: dict) -> torch.Tensor:
        return split["cells"][torch.arange(len(split["place"])), split["place"]]

    told = digit_cells(train), digit_cells(held_out)
    report("overview, told the digit's place", read_image(*told, answers, epochs, 1), LIMIT)
    cards = read_cards(train, held_out, max(1, epochs // 2))
    report("overview alone, card by card", cards, LIMIT)
    whole = train["overview"], held_out["overview"]
    report("overview alone, as one image", read_whole(*whole, answers, 2 * epochs), LIMIT)
    look = train["look"], held_out["look"]
    report("a look at the digit", read_image(*look, answers, max(1, epochs // 3), 2, stride=2))
    sys.exit(1 if failures > 0 else 0)


main()
