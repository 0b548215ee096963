"""Frames between Node and a worker.

A frame is two little-endian uint32 (bytes after this prefix, bytes of header), a JSON header, then
binary blobs, back to back, whose lengths are `header["blobs"]`.
"""

import json
import struct

PREFIX = struct.Struct("<II")
MAX_HEADER_BYTES = 16 * 1024 * 1024
MAX_FRAME_BYTES = 512 * 1024 * 1024


class BrokenFrame(Exception):
    """The other side sent something that is no frame."""


def plain(value):
    """numpy's scalars and arrays as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a result may hold no {type(value).__name__}")


def encode(header, blobs=()):
    """Pieces of one frame.

    Raises ValueError for NaN, infinity or too much, TypeError for what JSON does not have.
    """
    header = {**header, "blobs": [len(blob) for blob in blobs]}
    text = json.dumps(header, default=plain, allow_nan=False).encode()
    length = len(text) + sum(header["blobs"])
    if len(text) > MAX_HEADER_BYTES or length > MAX_FRAME_BYTES:
        raise ValueError(f"a result of {length} bytes with {len(text)} of JSON is too large")
    return [PREFIX.pack(length, len(text)) + text, *blobs]


def read_exactly(stream, count):
    """`count` bytes, or None if the stream ends before."""
    parts = []
    while count > 0:
        part = stream.read(min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame(stream):
    """The header and the blobs of the next frame, or None at the end of the stream."""
    prefix = read_exactly(stream, PREFIX.size)
    if prefix is None:
        return None
    length, header_length = PREFIX.unpack(prefix)
    if length > MAX_FRAME_BYTES or header_length > min(length, MAX_HEADER_BYTES):
        raise BrokenFrame(f"a frame of {length} bytes with a header of {header_length}")
    body = read_exactly(stream, length)
    if body is None:
        return None
    header = json.loads(body[:header_length])
    blobs, offset = [], header_length
    for size in header["blobs"]:
        blobs.append(body[offset : offset + size])
        offset += size
    return header, blobs
