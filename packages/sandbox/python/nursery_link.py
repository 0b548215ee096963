"""The supervisor's way to the nursery: one question at a time, each answered before the next."""

import os
import socket
import sys

import guard
import namespaces
import pages
import wire
from orders import PREPARE_VIDEOS, send_order
from processes import REQUESTS_FD, keep_only, reserve

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
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            keep_only((theirs.detach(),))
            reserve()
            be_nursery(socket.socket(fileno=REQUESTS_FD), config, supervisor)
        theirs.close()
        self.ready = self.hear()

    def hear(self):
        try:
            frame = wire.read_blocking(self.sock, wire.FrameBuffer())
        except OSError as error:
            raise NurseryEnded(str(error)) from error
        if frame is None:
            raise NurseryEnded("the nursery's process ended")
        return wire.decode(frame[2], frame[1])[0]

    def ask(self, *order):
        """The nursery's answer to an order."""
        try:
            send_order(self.sock, *order)
            answer = self.sock.recv(wire.NUMBER.size, socket.MSG_WAITALL)
        except OSError as error:
            raise NurseryEnded(str(error)) from error
        if len(answer) < wire.NUMBER.size:
            raise NurseryEnded("the nursery's process ended")
        return wire.NUMBER.unpack(answer)[0]

    def prepare_videos(self):
        self.ask(PREPARE_VIDEOS)

    def open(self, slot, number, video_count, descriptors):
        """The new process's number; raises OSError where the kernel refuses one."""
        told = self.ask(slot, number, video_count, descriptors)
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
    """The nursery in the supervisor's own process, where the system has no way to fork for a parent.

    There a session's memory begins as a copy of the supervisor's, with the inputs that it sends on.
    """

    def __init__(self, config):
        import nursery

        self.nursery = nursery.Nursery(config, os.getpid(), is_own_process=False)
        self.ready = self.nursery.ready
        self.pid = None

    def prepare_videos(self):
        self.nursery.prepare_videos()

    def open(self, slot, number, video_count, descriptors):
        return self.nursery.open(slot, number, video_count, descriptors)
