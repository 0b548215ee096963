"""Sessions as processes: their records, and how to find and end them."""

import os
import signal


class Session:
    def __init__(self, number, slot, uid, scratch, mode, repairs):
        self.number = number
        # What an execution leaves behind: persistent, transactional or fresh.
        self.mode = mode
        # Mistakes that are put right.
        self.repairs = repairs
        self.slot = slot
        self.uid = uid
        self.scratch = scratch
        # Paths of its videos' files, by name.
        self.videos = {}
        self.pid = 0
        self.channel = None
        # Why it was ended by us: close, timeout, protocol, exit.
        self.cause = None
        # What the selector watches for; 0 when it watches no more.
        self.events = 0


class Start:
    """What a forked child needs to become a session."""

    def __init__(self, session, sock, config, images, process_limit, server_pid):
        self.mode = session.mode
        self.repairs = session.repairs
        # What is returned besides what code shows; the server sets it.
        self.capture = {}
        self.uid = session.uid
        self.scratch = session.scratch
        self.sock = sock
        self.config = config
        self.images = images
        self.videos = session.videos
        self.process_limit = process_limit
        self.server_pid = server_pid


def ended_child():
    """The number of a child that has ended and is still to be waited for, or None."""
    try:
        info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if info is None else info.si_pid


def children():
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def kill_tree(pid):
    """The process, and its group where it leads one."""
    kill_group(pid)
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
