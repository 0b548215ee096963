"""Frames between Node, the fork server and the sessions; nothing is ever read from stdout.

A frame is three little-endian uint32 (bytes after this prefix, session, bytes of header), a JSON
header, then binary blobs, back to back, whose lengths are `header["blobs"]`. Session 0 is the
server itself. The server stamps the session of every frame it forwards, so that a session cannot
speak for another one or for the server.
"""

import struct
from json import dumps, loads

PREFIX = struct.Struct("<III")
NUMBER = struct.Struct("<i")
MAX_FRAME_BYTES = 64 * 1024 * 1024


class BrokenFrame(Exception):
    """The other side sent something that is no frame."""


def encode(session, header, blobs=()):
    if blobs:
        header["blobs"] = [len(blob) for blob in blobs]
    text = dumps(header).encode()
    length = len(text) + sum(len(blob) for blob in blobs)
    return b"".join((PREFIX.pack(length, session, len(text)), text, *blobs))


def decode(body, header_length):
    """The header and the blobs of one frame's body."""
    header = loads(body[:header_length])
    blobs = []
    offset = header_length
    for length in header.get("blobs", ()):
        blobs.append(body[offset : offset + length])
        offset += length
    return header, blobs


class FrameBuffer:
    """Bytes in, whole frames out: (session, header length, body)."""

    def __init__(self):
        self.data = bytearray()

    def feed(self, chunk):
        self.data += chunk

    def take(self):
        data = self.data
        if len(data) < PREFIX.size:
            return None
        length, session, header_length = PREFIX.unpack_from(data)
        if length > MAX_FRAME_BYTES or header_length > length:
            raise BrokenFrame(f"a frame of {length} bytes with a header of {header_length}")
        end = PREFIX.size + length
        if len(data) < end:
            return None
        body = bytes(memoryview(data)[PREFIX.size : end])
        del data[:end]
        return session, header_length, body


def read_blocking(sock, buffer):
    """The next frame of a blocking socket, or None at its end."""
    while True:
        frame = buffer.take()
        if frame is not None:
            return frame
        chunk = sock.recv(1 << 18)
        if not chunk:
            return None
        buffer.feed(chunk)
