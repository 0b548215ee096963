"""Divides trees among ranks: rows of bounded length, as many on each rank."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """For each rank its rows, for each row the trees in it; rows without trees pad."""

    rows: list[list[list[int]]]

    @property
    def steps(self) -> int:
        """Rows of each rank."""
        return len(self.rows[0])


def plan_rows(token_counts: list[int], ranks: int, most_tokens: int) -> Plan:
    """Packs trees into rows of at most `most_tokens`, a longer tree alone, spread over all ranks.

    The same counts give the same plan.
    """
    order = sorted(range(len(token_counts)), key=lambda i: (-token_counts[i], i))
    largest = max(token_counts, default=1)
    share = -(-sum(token_counts) // ranks)
    limit = max(largest, min(most_tokens, share))
    bins: list[tuple[int, list[int]]] = []
    for tree in order:
        size = token_counts[tree]
        for number, (held, members) in enumerate(bins):
            if held + size <= limit:
                bins[number] = (held + size, [*members, tree])
                break
        else:
            bins.append((size, [tree]))
    steps = max(1, -(-len(bins) // ranks))
    loads = [0] * ranks
    rows: list[list[list[int]]] = [[] for _ in range(ranks)]
    for held, members in sorted(bins, key=lambda one: (-one[0], one[1])):
        free = [rank for rank in range(ranks) if len(rows[rank]) < steps]
        rank = min(free, key=lambda one: (loads[one], one))
        rows[rank].append(sorted(members))
        loads[rank] += held
    for own in rows:
        own.extend([] for _ in range(steps - len(own)))
    return Plan(rows)
