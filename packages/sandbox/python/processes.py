"""Sessions as processes: their records, and how to find and end them."""

import os
import signal

# A session reads requests from the first and writes its replies to the second; the nursery and the
# server have their own sockets at the first.
REQUESTS_FD, REPLIES_FD = 3, 4


class Session:
    def __init__(self, number, slot, uid, scratch, mode):
        self.number = number
        # The state that an execution leaves behind: persistent, transactional or fresh.
        self.mode = mode
        self.slot = slot
        self.uid = uid
        self.scratch = scratch
        # Its control group, where memory is limited by session.
        self.group = None
        self.pid = 0
        self.link = None
        # Why it was ended by us: close, timeout, protocol, exit; and more words on that.
        self.cause = None
        self.reason = ""


def session_directory(config, number, has_namespaces):
    """Where the session finds itself; with mounts of their own, all see the same place."""
    if has_namespaces:
        return config["mountPoint"]
    return os.path.join(config["scratch"], "sessions", f"s{number}")


class Start:
    """The parameters by which a forked child becomes a session; it gets the rest once it is confined."""

    def __init__(self, uid, scratch, memory, images, videos, process_limit, server_pid):
        self.uid = uid
        self.scratch = scratch
        # Descriptors: of the memory for its replies, and of its inputs in the order of their names.
        self.memory = memory
        self.images = images
        self.videos = videos
        self.process_limit = process_limit
        self.server_pid = server_pid


def reserve():
    """Takes the number of the pipe for replies, so that nothing which is to be kept gets it."""
    os.dup2(0, REPLIES_FD, inheritable=False)


def keep_only(moved, kept=()):
    """Closes all descriptors above the standard ones but `kept` and `moved`, which get numbers from 3."""
    for place, number in enumerate(moved, REQUESTS_FD):
        os.dup2(number, place, inheritable=False)
    begin = REQUESTS_FD + len(moved)
    for number in sorted(kept):
        os.closerange(begin, number)
        begin = number + 1
    os.closerange(begin, os.sysconf("SC_OPEN_MAX"))


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
