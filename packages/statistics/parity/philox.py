"""Saccade's random numbers, written from Salmon et al. 2011 and not from our code.

scipy draws resamples from a numpy Generator; `Drawn` is one that returns what Saccade would draw, so
both resample the same clusters and the results can be compared digit by digit.
"""
import numpy as np

MASK = 0xFFFFFFFF


def philox4x32(counter, key):
    c = list(counter)
    k = list(key)
    for _ in range(10):
        p0 = 0xD2511F53 * c[0]
        p1 = 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


# Known answers of Random123 (kat_vectors, philox4x32 10).
assert philox4x32([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox4x32([MASK] * 4, [MASK] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def fnv1a(text):
    value = 0x811C9DC5
    for byte in text.encode("utf-16-le"):
        value = ((value ^ byte) * 0x01000193) & MASK
    return value


def words(seed, name):
    """The stream of 32-bit words at the address (seed, name)."""
    address = philox4x32([fnv1a(name), 1, 0, 0], [seed & MASK, 0x5ACC5ACC])
    counter = 0
    while True:
        block = [counter & MASK, counter >> 32, address[2], address[3]]
        yield from philox4x32(block, address[:2])
        counter += 1


class Drawn(np.random.Generator):
    """A Generator of numpy whose integers come from Saccade's stream."""

    def __init__(self, seed, name):
        super().__init__(np.random.PCG64(0))
        self.stream = words(seed, name)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        assert low == 0 and high is not None and not endpoint
        count = int(np.prod(size))
        drawn = [int(next(self.stream) / 2**32 * high) for _ in range(count)]
        return np.array(drawn, dtype=dtype).reshape(size)
