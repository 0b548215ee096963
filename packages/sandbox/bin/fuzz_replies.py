"""Gives records by the million to what decodes them in the supervisor: `fuzz_replies.py COUNT SEED`.

Prints how many were taken, refused and not whole yet. Fails where the decoder raises anything else,
takes a reply that was not due, or holds more than one record.
"""

import os
import random
import sys
import tracemalloc
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))

from session_wire import (
    DIED,
    FAILED,
    MAX_HEADER_BYTES,
    MAX_REPLY_BYTES,
    OPENED,
    REFUSED,
    REPLY,
    RESULT,
    BrokenReply,
    ReplyReader,
)

EDGES = (0, 1, 2, 20, 2**16, MAX_HEADER_BYTES, MAX_REPLY_BYTES, 2**31, 2**32 - 1)
DUE = ((), (OPENED, FAILED, REFUSED), (RESULT,), (RESULT, DIED))


def record(dice):
    """A good record, often with fields changed, and often cut, doubled or spoiled."""
    header = dice.randrange(2, 5000)
    blobs = dice.randrange(4)
    fields = [dice.randrange(1, 6), 1, header, blobs, header + 4 * blobs + dice.randrange(9)]
    for _ in range(dice.choice((0, 0, 0, 1, 1, 2, 3))):
        at = dice.randrange(5)
        fields[at] = min(2**32 - 1, max(0, dice.choice((*EDGES, fields[at] - 1, fields[at] + 1))))
    data = bytearray(REPLY.pack(*fields))
    way = dice.randrange(12)
    if way == 0:
        data = data[: dice.randrange(len(data) + 1)]
    elif way == 1:
        data += data[: dice.randrange(len(data) + 1)]
    elif way == 2:
        data[dice.randrange(len(data))] = dice.randrange(256)
    elif way == 3:
        data = bytearray(dice.randbytes(dice.randrange(40)))
    return bytes(data)


def is_good(data, kinds):
    if len(data) != REPLY.size or not kinds:
        return False
    kind, number, header, blobs, size = REPLY.unpack(data)
    fits = 2 <= header <= MAX_HEADER_BYTES and header + 4 * blobs <= size <= MAX_REPLY_BYTES
    return kind in kinds and number == 1 and fits


def try_one(dice):
    reader = ReplyReader()
    kinds = dice.choice(DUE)
    if kinds:
        reader.expect(1, kinds)
    data = record(dice)
    left, told = data, None
    while left:
        size = dice.randrange(1, REPLY.size + 2)
        try:
            told = reader.take(left[:size])
        except BrokenReply:
            assert not is_good(data, kinds), f"refused {data.hex()} where {kinds} were due"
            return "refused"
        left = left[size:]
        assert len(reader.data) < REPLY.size, "holds more than a record"
        if told is not None:
            break
    if told is None:
        assert not is_good(data, kinds), f"did not take {data.hex()}"
        return "not whole"
    assert is_good(data[:REPLY.size], kinds), f"took {data.hex()} where {kinds} were due"
    assert not reader.is_due
    return "taken"


def main(count, seed):
    dice = random.Random(seed)
    ends = Counter(try_one(dice) for _ in range(count // 10))
    tracemalloc.start()
    ends += Counter(try_one(dice) for _ in range(count // 100))
    before, _ = tracemalloc.get_traced_memory()
    ends += Counter(try_one(dice) for _ in range(count // 100))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 1 << 16, f"{after - before} bytes are left"
    ends += Counter(try_one(dice) for _ in range(count - sum(ends.values())))
    print(*(f"{name}: {number}" for name, number in sorted(ends.items())), sep=", ")


main(int(sys.argv[1]), int(sys.argv[2]))
