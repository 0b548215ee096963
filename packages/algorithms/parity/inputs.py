"""Random steps for the parity fixtures: ragged sequences, tool holes, groups of one, equal rewards,
extreme ratios.

All numbers are whole multiples of 1/256, so that both sides read exactly the same values, and they
come from Python's own generator, whose sequence does not depend on any library's version.
"""
import random

import torch

UNIT = 256
TOKEN_FIELDS = [
    "logprobs",
    "oldLogprobs",
    "rolloutLogprobs",
    "refLogprobs",
    "entropy",
    "sumSquaredProbs",
    "values",
    "currentValues",
]


def group_sizes(rng: random.Random, even: bool) -> list[int]:
    """`even`: groups of one size, as TRL has them; otherwise any, with a group of one."""
    if even:
        return rng.choice([[4, 4], [3, 3], [2, 2, 2], [6], [1, 1, 1, 1]])
    return rng.choice([[1, 3, 2], [4, 1], [2, 3, 1, 1], [3, 3], [5, 2]])


def random_input(
    seed: str, *, even: bool, holes: bool = True, empty: bool = True, smallest_group: int = 1
) -> dict:
    """One step; arrays of whole numbers in units of 1/256, `mask` a string of 0 and 1."""
    rng = random.Random(seed)
    sizes = group_sizes(rng, even)
    while min(sizes) < smallest_group:
        sizes = group_sizes(rng, even)
    groups = [g for g, size in enumerate(sizes) for _ in range(size)]
    lengths = [rng.randint(1, 7) for _ in groups]
    masks = []
    for length in lengths:
        own = [0 if holes and rng.random() < 0.2 else 1 for _ in range(length)]
        # Now and then a sequence without a token that trains.
        if holes and rng.random() < 0.06:
            own = [0] * length
        if not empty and not any(own):
            own[-1] = 1
        masks.append(own)
    if not any(map(any, masks)):
        masks[0][-1] = 1
    n = sum(lengths)
    old = [-rng.randint(8, 3 * UNIT) for _ in range(n)]

    def near(values: list[int], spread: int) -> list[int]:
        return [min(value + round(rng.gauss(0, spread)), -1) for value in values]

    logprobs = near(old, 90)
    for t in range(n):
        # Ratios around every clip, such as a dual clip of 3.
        if rng.random() < 0.15:
            logprobs[t] = min(old[t] + round(rng.gauss(0, 1.2 * UNIT)), -1)
        # Beyond every clamp there is: ratios of e^±6 and e^±25.
        if rng.random() < 0.05:
            gap = rng.choice([6, 25]) * UNIT
            if rng.random() < 0.5:
                old[t] = logprobs[t] - gap
            else:
                logprobs[t] = old[t] - gap
    rewards, accuracy = [], []
    for size in sizes:
        equal = rng.random() < 0.25
        own = [rng.randint(0, 3) * UNIT // 2 for _ in range(size)]
        own = [own[0]] * size if equal else own
        rewards += own
        accuracy += [UNIT if reward > UNIT // 2 else 0 for reward in own]
    # Neighbors that rarely differ much, and now and then do.
    rollout = near(old, 60)
    turn_counts = [rng.randint(1, min(length, 3)) for length in lengths]
    values = [rng.randint(-UNIT, UNIT) for _ in range(n)]
    steps = [round(rng.gauss(0, 150)) for _ in range(n)]
    # Exactly at a clip of ½ there is no one derivative.
    steps = [step + 1 if abs(step) == UNIT // 2 else step for step in steps]
    return {
        "lengths": lengths,
        "groups": groups,
        "mask": "".join(str(bit) for own in masks for bit in own),
        "rewards": rewards,
        "accuracy": accuracy,
        "greedy": [rng.randint(0, UNIT) for _ in sizes],
        "turnCounts": turn_counts,
        "turns": [
            min(i * count // length, count - 1)
            for length, count in zip(lengths, turn_counts)
            for i in range(length)
        ],
        "turnRewards": [-rng.randint(0, 1) * UNIT // 2 for _ in range(sum(turn_counts))],
        "logprobs": logprobs,
        "oldLogprobs": old,
        "rolloutLogprobs": rollout,
        "refLogprobs": near(old, 60),
        "entropy": [rng.randint(1, UNIT) for _ in range(n)],
        "sumSquaredProbs": [rng.randint(1, UNIT) for _ in range(n)],
        "values": values,
        "currentValues": [value + step for value, step in zip(values, steps)],
    }


class Batch:
    """The input as padded float64 tensors, [S, T], 0 in the padding."""

    def __init__(self, given: dict):
        self.lengths = given["lengths"]
        self.groups = given["groups"]
        self.size = len(self.lengths)
        self.given = given
        self.attention = self.padded([1.0] * sum(self.lengths))
        self.mask = self.padded([float(bit) for bit in given["mask"]])
        for field in TOKEN_FIELDS:
            setattr(self, field, self.padded([value / UNIT for value in given[field]]))
        self.turns = self.padded([float(turn) for turn in given["turns"]]).long()
        self.rewards = torch.tensor(given["rewards"]) / UNIT
        self.accuracy = torch.tensor(given["accuracy"]) / UNIT
        self.greedy = torch.tensor([given["greedy"][g] for g in self.groups]) / UNIT
        for field in ("logprobs", "entropy", "currentValues"):
            getattr(self, field).requires_grad_()

    def padded(self, flat: list[float]) -> torch.Tensor:
        rows = torch.zeros(len(self.lengths), max(self.lengths), dtype=torch.float64)
        start = 0
        for s, length in enumerate(self.lengths):
            rows[s, :length] = torch.tensor(flat[start : start + length], dtype=torch.float64)
            start += length
        return rows

    def flat(self, rows: torch.Tensor) -> list[float]:
        """[S, T] → the tokens that are there, to thirteen digits."""
        return [float(f"{x:.13g}") for s, n in enumerate(self.lengths) for x in rows[s, :n].tolist()]

    def members(self) -> list[list[int]]:
        return [
            [s for s, own in enumerate(self.groups) if own == group]
            for group in dict.fromkeys(self.groups)
        ]
