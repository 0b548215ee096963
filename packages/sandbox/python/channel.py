"""Bytes that wait to be written to a non-blocking descriptor, and the socket to Node."""

import os
from collections import deque

import shared_memory
import wire

# Read at once of what lies in a session's memory.
PIECE_BYTES = 1 << 18
# One for all channels: room for every read would be mapped, touched and unmapped each time.
_chunk = memoryview(bytearray(PIECE_BYTES))


class Stretch:
    """The first bytes behind a descriptor, its own, which are read only when there is room for them."""

    def __init__(self, number, size):
        self.number = number
        self.size = size
        self.at = 0

    def next(self):
        """The next piece; empty at the end. What cannot be read any more is zeros."""
        left = min(PIECE_BYTES, self.size - self.at)
        piece = os.pread(self.number, left, self.at).ljust(left, b"\0") if left else b""
        self.at += len(piece)
        return piece

    def close(self):
        shared_memory.give_back(self.number, self.size)
        os.close(self.number)


class Outbox:
    """`write` takes a piece of data, and says how much of it went."""

    def __init__(self, write):
        self.write = write
        self.queue = deque()
        # Bytes that are held here; what still lies in a session's memory does not count.
        self.pending = 0

    def push(self, data):
        self.queue.append(memoryview(data))
        self.pending += len(data)
        self.flush()

    def push_memory(self, number, size):
        """Sends the first `size` bytes of a session's memory, whose descriptor stays the caller's."""
        if size <= PIECE_BYTES:
            self.push(os.pread(number, size, 0).ljust(size, b"\0"))
            return
        self.queue.append(Stretch(os.dup(number), size))
        self.flush()

    def flush(self):
        while self.queue:
            head = self.queue[0]
            if isinstance(head, Stretch):
                piece = head.next()
                if not piece:
                    self.queue.popleft().close()
                    continue
                head = memoryview(piece)
                self.queue.appendleft(head)
                self.pending += len(head)
            try:
                sent = self.write(head)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # the other side is gone; its end is noticed where it is read
                self.clear()
                return
            self.pending -= sent
            if sent == len(head):
                self.queue.popleft()
            else:
                self.queue[0] = head[sent:]

    def clear(self):
        for one in self.queue:
            if isinstance(one, Stretch):
                one.close()
        self.queue.clear()
        self.pending = 0


class Channel(Outbox):
    """A non-blocking socket with frames coming in as well."""

    def __init__(self, sock):
        sock.setblocking(False)
        super().__init__(sock.send)
        self.sock = sock
        self.buffer = wire.FrameBuffer()

    def fill(self):
        """False at the end of the stream."""
        try:
            size = self.sock.recv_into(_chunk)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        self.buffer.feed(_chunk[:size])
        return size > 0
