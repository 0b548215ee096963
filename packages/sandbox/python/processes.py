"""Sessions as processes: their records, and how to find and end them."""

import os
import signal
import socket

# A session's socket gets this number, so that everything above it can be closed.
SESSION_FD = 3


class Session:
    def __init__(self, number, slot, uid, scratch, mode):
        self.number = number
        # What an execution leaves behind: persistent, transactional or fresh.
        self.mode = mode
        self.slot = slot
        self.uid = uid
        self.scratch = scratch
        # Its control group, where memory is limited by session.
        self.group = None
        self.pid = 0
        self.channel = None
        # Why it was ended by us: close, timeout, protocol, exit.
        self.cause = None
        # What the selector watches for; 0 when it watches no more.
        self.events = 0


def session_directory(config, number, has_namespaces):
    """Where the session finds itself; with mounts of their own, all see the same place."""
    if has_namespaces:
        return config["mountPoint"]
    return os.path.join(config["scratch"], "sessions", f"s{number}")


class Start:
    """What a forked child needs to become a session."""

    def __init__(self, request, uid, sock, images, videos, process_limit, server_pid):
        self.mode = request["mode"]
        self.repairs = request["repairs"]
        # What is returned besides what code shows.
        self.capture = request["capture"]
        self.uid = uid
        self.scratch = request["place"]
        self.sock = sock
        self.images = images
        # Paths of its videos' files, by name.
        self.videos = videos
        self.process_limit = process_limit
        self.server_pid = server_pid


def keep_only(sock, kept):
    """Closes all descriptors above the standard ones but `kept` (None: none) and `sock`; gives its socket."""
    os.dup2(sock, SESSION_FD, inheritable=False)
    last = os.sysconf("SC_OPEN_MAX")
    if kept is None:
        os.closerange(SESSION_FD + 1, last)
    else:
        os.closerange(SESSION_FD + 1, kept)
        os.closerange(kept + 1, last)
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, SESSION_FD)


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
