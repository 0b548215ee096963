"""The order of a model's requests: contiguous numbers, each of them carried out once."""

from __future__ import annotations

from collections import OrderedDict

from .errors import Conflict, Gone

# Numbers whose bodies are remembered; older ones cannot be told from others and are refused.
REMEMBERED = 4096


class Sequence:
    """Numbers of one model."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._taken: OrderedDict[int, tuple[str, str]] = OrderedDict()

    def replay(self, seq_id: int | None, digest: str) -> str | None:
        """The request that has this number already, if its bytes are the same.

        @raises Conflict if the number is ahead of the next one, or its bytes were others
        """
        if seq_id is None:
            return None
        if self._next is None:
            if seq_id not in (0, 1):
                raise Conflict(
                    f"The first seq_id must be 0 or 1, got {seq_id}.",
                    field="seq_id",
                    code="sequence-gap",
                    expected=0,
                )
            return None
        if seq_id > self._next:
            raise Conflict(
                f"seq_id {seq_id} comes after a gap; the next is {self._next}.",
                field="seq_id",
                code="sequence-gap",
                expected=self._next,
            )
        if seq_id == self._next:
            return None
        known = self._taken.get(seq_id)
        if known is None:
            first = next(iter(self._taken), self._next)
            if seq_id < first and (self._next - first) < REMEMBERED:
                raise Conflict(
                    f"seq_id {seq_id} is before the first one, {first}.",
                    field="seq_id",
                    code="sequence-conflict",
                    expected=self._next,
                )
            raise Gone(f"seq_id {seq_id} was carried out long ago; the next is {self._next}.")
        if known[0] != digest:
            raise Conflict(
                f"seq_id {seq_id} was another request; the next is {self._next}.",
                field="seq_id",
                code="sequence-conflict",
                expected=self._next,
            )
        return known[1]

    def take(self, seq_id: int | None, digest: str, request_id: str) -> None:
        """Gives a number to a request that was accepted."""
        if seq_id is None:
            return
        self._next = seq_id + 1
        self._taken[seq_id] = (digest, request_id)
        while len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)
