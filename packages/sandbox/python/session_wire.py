"""The messages between the supervisor and one session: a request, its reply, and nothing else.

A session's process has three things that lead outside: a pipe from which it reads requests, a pipe
to which it writes one short record for each, and memory in which it leaves what the record
describes. Code can write to all of them. So the supervisor expects one reply of certain kinds to one
request, reads no more than such a record at a time, and copies what is in the memory without
looking at it. Anything else ends the session, and only that.

A reply's memory holds a JSON header, the lengths of its blobs as uint32, and the blobs. All numbers
are little-endian.
"""

import os
import struct
from json import dumps, loads

import shared_memory

# Number of the request, bytes of its header, bytes of header and body together.
REQUEST = struct.Struct("<III")
# Kind, number of the request, bytes of header, blobs, bytes in all.
REPLY = struct.Struct("<IIIII")
OPENED, FAILED, REFUSED, RESULT, DIED = 1, 2, 3, 4, 5
NAMES = {OPENED: "opened", FAILED: "failed", REFUSED: "refused", RESULT: "result", DIED: "died"}
# The first request says what the session is to be like.
START = 0
# With the record and a prefix it fits a frame to Node.
MAX_REPLY_BYTES = 64 * 1024 * 1024 - 64 * 1024
MAX_HEADER_BYTES = 16 * 1024 * 1024
LENGTH_BYTES = 4

# Before any submitted code, whose patches of `os` are not to stop us.
_read, _write = os.read, os.write


class BrokenReply(Exception):
    """The session wrote something that is not the reply that was due; its text follows "by"."""


class ReplyReader:
    """Decides what of the bytes that a session writes is a reply. Holds less than one record."""

    def __init__(self):
        self.data = b""
        self.number = START
        self.kinds = ()

    def expect(self, number, kinds):
        """From now on one reply of these kinds is due."""
        self.number, self.kinds = number, kinds

    @property
    def is_due(self):
        return bool(self.kinds)

    def take(self, chunk):
        """The record and the bytes it describes, or None while it is not whole. Raises BrokenReply."""
        data = self.data + chunk
        if data and not self.kinds:
            raise BrokenReply("writing where nothing was asked")
        if len(data) > REPLY.size:
            raise BrokenReply("writing more than one reply")
        if len(data) < REPLY.size:
            self.data = data
            return None
        self.data = b""
        kind, number, header_bytes, blob_count, size = REPLY.unpack(data)
        if kind not in self.kinds:
            due = " or ".join(NAMES[one] for one in self.kinds)
            raise BrokenReply(f"writing a reply of kind {kind} where {due} was due")
        if number != self.number:
            raise BrokenReply(f"replying to request {number} instead of {self.number}")
        if size > MAX_REPLY_BYTES:
            raise BrokenReply(f"writing a reply of {size} bytes, more than {MAX_REPLY_BYTES}")
        if not 2 <= header_bytes <= MAX_HEADER_BYTES:
            raise BrokenReply(f"writing a header of {header_bytes} bytes")
        if header_bytes + LENGTH_BYTES * blob_count > size:
            raise BrokenReply("writing a header that is longer than its reply")
        self.kinds = ()
        return data, size


class SessionSide:
    """The session's own end; `memory` is closed when it is mapped."""

    def __init__(self, requests, replies, memory):
        self.requests = requests
        self.replies = replies
        self.view = shared_memory.map_whole(memory, MAX_REPLY_BYTES)
        os.close(memory)
        # The request that is to be replied to.
        self.number = START

    def next(self):
        """The header (None without one) and the body of the next request; None at the end."""
        prefix = self.read(REQUEST.size)
        if prefix is None:
            return None
        self.number, header_bytes, size = REQUEST.unpack(prefix)
        data = self.read(size)
        if data is None:
            return None
        header = loads(data[:header_bytes]) if header_bytes else None
        return header, data[header_bytes:]

    def read(self, size):
        parts = []
        while size > 0:
            part = _read(self.requests, size)
            if not part:
                return None
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def reply(self, kind, header, blobs=()):
        """Raises ValueError for what does not fit."""
        text = dumps(header).encode()
        lengths = struct.pack(f"<{len(blobs)}I", *map(len, blobs))
        at = 0
        for part in (text, lengths, *blobs):
            self.view[at : at + len(part)] = part
            at += len(part)
        _write(self.replies, REPLY.pack(kind, self.number, len(text), len(blobs), at))

    def close(self):
        os.close(self.requests)
        os.close(self.replies)


def encode_request(number, header, body=b""):
    text = b"" if header is None else dumps(header).encode()
    return b"".join((REQUEST.pack(number, len(text), len(text) + len(body)), text, body))
