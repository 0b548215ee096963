"""The supervisor's way to the nursery: one question at a time, each answered before the next."""

import os
import socket
import sys

import guard
import namespaces
import pages
import wire
from processes import keep_only

ANSWERED = ("image", "video")
# About what the small objects of the libraries take.
LIBRARIES_BYTES = 24 * 1024 * 1024


class NurseryEnded(Exception):
    """Without it there are no more sessions: the server is to end and be replaced."""


def start_nursery(config):
    """Call it before anything large is loaded here. Raises NurseryEnded if it does not become ready."""
    if config["forksWithin"] or not namespaces.Cloner().is_usable:
        return NurseryWithin(config)
    return NurseryLink(config)


class NurseryLink:
    """A process of its own, which forks on our behalf."""

    def __init__(self, config):
        self.sock, theirs = socket.socketpair()
        self.buffer = wire.FrameBuffer()
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            be_nursery(keep_only(theirs.detach(), None), config, supervisor)
        theirs.close()
        self.ready = self.hear()

    def hear(self):
        try:
            frame = wire.read_blocking(self.sock, self.buffer)
        except OSError as error:
            raise NurseryEnded(str(error)) from error
        if frame is None:
            raise NurseryEnded("the nursery's process ended")
        return wire.decode(frame[2], frame[1])[0]

    def say(self, data, descriptors=()):
        try:
            sent = socket.send_fds(self.sock, [data], descriptors)
            self.sock.sendall(memoryview(data)[sent:])
        except OSError as error:
            raise NurseryEnded(str(error)) from error

    def relay(self, header, body, header_length):
        """Passes on what a frame of Node's says of a picture or video; the answer, if there is one."""
        self.say(wire.PREFIX.pack(len(body), 0, header_length) + body)
        return self.hear() if header["type"] in ANSWERED else None

    def open(self, slot, request, sock):
        """The new process's number; raises OSError where the kernel refuses one."""
        self.say(wire.encode(slot + 1, request), [sock.fileno()])
        answer = self.sock.recv(wire.NUMBER.size, socket.MSG_WAITALL)
        if len(answer) < wire.NUMBER.size:
            raise NurseryEnded("the nursery's process ended")
        told = wire.NUMBER.unpack(answer)[0]
        if told < 0:
            raise OSError(-told, f"a new process: {os.strerror(-told)}")
        return told


def be_nursery(sock, config, supervisor):
    """In the forked process; never returns."""
    status = 1
    try:
        guard.end_with_parent(supervisor)
        kept = pages.keep_together(LIBRARIES_BYTES)  # noqa: F841  (while this process lives)
        # Only this process is to have the libraries.
        import nursery

        nursery.serve(sock, config, supervisor)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


class NurseryWithin:
    """The nursery in the supervisor's own process, where the system has no way to fork for a parent."""

    def __init__(self, config):
        import nursery

        self.nursery = nursery.Nursery(config, os.getpid(), is_own_process=False)
        self.ready = self.nursery.ready
        self.pid = None

    def relay(self, header, body, header_length):
        return self.nursery.obey(*wire.decode(body, header_length))

    def open(self, slot, request, sock):
        data = wire.encode(slot + 1, request)
        _, _, header_length = wire.PREFIX.unpack_from(data)
        return self.nursery.open(slot, header_length, data[wire.PREFIX.size :], sock.fileno())
