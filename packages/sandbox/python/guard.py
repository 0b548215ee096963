"""Limits that the kernel enforces on a process: its user, its resources, its end with its parent."""

import ctypes
import os
import re
import resource
import signal
import sys

import pages
import session_wire

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def prctl(option, value):
    """False where the system has no such call (macOS) or refuses it."""
    if libc is None:
        return False
    zero = ctypes.c_ulong(0)
    return libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero) == 0


def protect_server():
    """Hides the server's memory from its sessions and makes it inherit their orphans."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    try:  # when memory runs out the kernel takes a session before it takes Node
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass
    # Not dumpable: processes of the same user can neither trace this one nor open its memory.
    prctl(PR_SET_DUMPABLE, 0)


def drop_to(uid):
    """Leaves root for good; the kernel clears all capabilities with it."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def end_with_parent(parent):
    """This process is killed when its parent ends. `parent` is None where it cannot be seen."""
    # After the change of user, which clears it.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def limit(limits, process_limit):
    """The limits that hold for a session's process from beginning to end."""
    pages.give_back_blocks(pages.SESSION_BLOCK)
    hard = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits["fileBytes"]),
        (resource.RLIMIT_NOFILE, limits["openFiles"]),
        (resource.RLIMIT_NPROC, process_limit),
        (resource.RLIMIT_MEMLOCK, 0),
        # The memory for replies is mapped all the time, and no memory of the code's.
        (resource.RLIMIT_AS, limits["memoryBytes"] + session_wire.MAX_REPLY_BYTES),
    )
    for name, value in hard:
        ceiling = resource.getrlimit(name)[1]
        if ceiling != resource.RLIM_INFINITY:
            value = min(value, ceiling)
        try:
            resource.setrlimit(name, (value, value))
        except (OSError, ValueError):
            if sys.platform == "linux":
                raise


def limit_cpu(seconds, is_first):
    """Ends the process by SIGXCPU after `seconds` more of CPU time (rounded up to a whole one).

    Process 1 of a namespace has its own handler for it, which this must not undo.
    """
    if not is_first:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds + 0.999)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def process_limit(config, has_namespaces):
    """RLIMIT_NPROC of a session. The kernel counts by user; from Linux 5.14 by user namespace."""
    own = config["limits"]["processes"]
    if config["uidBase"] is not None or (has_namespaces and kernel_version() >= (5, 14)):
        return own
    others = same_user_tasks() + 256 if config["sharesUser"] else 8
    return others + config["maxSessions"] + own


def kernel_version():
    major, minor = re.match(r"(\d+)\.(\d+)", os.uname().release).groups()
    return int(major), int(minor)


def same_user_tasks():
    """Threads of this user now."""
    count = 0
    uid = os.getuid()
    try:
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                count += len(os.listdir(f"/proc/{entry.name}/task"))
    except OSError:
        pass
    return count
