"""A non-blocking socket with frames coming in and a queue going out."""

import socket
from collections import deque

import wire

# One for all channels: room for every read would be mapped, touched and unmapped each time.
_chunk = memoryview(bytearray(1 << 18))


class Channel:
    def __init__(self, sock):
        sock.setblocking(False)
        self.sock = sock
        self.buffer = wire.FrameBuffer()
        self.queue = deque()
        self.pending = 0

    def push(self, data):
        self.queue.append(memoryview(data))
        self.pending += len(data)
        self.flush()

    def flush(self):
        while self.queue:
            head = self.queue[0]
            try:
                sent = self.sock.send(head)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # the other side is gone; its end is noticed where it is read
                self.queue.clear()
                self.pending = 0
                return
            self.pending -= sent
            if sent == len(head):
                self.queue.popleft()
            else:
                self.queue[0] = head[sent:]

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

    def has_more(self):
        try:
            return bool(self.sock.recv(1, socket.MSG_PEEK))
        except OSError:
            return False
