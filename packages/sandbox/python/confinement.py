"""The walls around one session, put up in the freshly forked process before any submitted code.

Which layers there are, Node's isolation says; which of them hold, `examination.py` finds out by
attacks. Order matters: namespaces and mounts first, then the user's limits, then Landlock (which
forbids mounts), last the filter of system calls (which forbids all of the above).
"""

import ctypes
import os
import signal

import copies
import fork_hooks
import guard
import landlock
import namespaces
import seccomp

# Readable where Landlock is the only wall between a session and the machine's files.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime"),
    # Libraries read the number of processors and the size of memory here.
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

# The C library's functions that a session's process needs, found in advance: in each process by itself
# finding one would write to a dozen pages.
CALLS = ("_exit", "capset", "mount", "prctl", "signal", "syscall")

# By default the kernel drops signals to process 1 of a namespace. For these the handler is the C
# library's `_exit`, so that they end a session as they end any process, with their number as status.
# Not the first three: these numbers are what programs really exit with.
ENDING_SIGNALS = frozenset((4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16, 24, 26, 27, 29, 30, 31))


class Confinement:
    def __init__(self, config):
        layers = config["layers"]
        self.libc = guard.libc
        for name in CALLS if self.libc is not None else ():
            getattr(self.libc, name)
        if self.libc is not None:
            self.libc.signal.restype = ctypes.c_void_p
        self.limits = config["limits"]
        self.own_uid, self.own_gid = os.getuid(), os.getgid()
        self.readable = (*SYSTEM, *config["readable"])
        self.sessions = os.path.join(config["scratch"], "sessions")
        os.makedirs(self.sessions, mode=0o711, exist_ok=True)
        self.abi = landlock.abi(self.libc) if "landlock" in layers else 0
        self.cloner = namespaces.Cloner() if self.libc is not None else None
        self.has_namespaces = False
        # Why there are no namespaces for each session, where they were asked for.
        self.obstacle = None
        self.mount_point = config["mountPoint"]
        # Places to hide from sessions that run as the server's own user, which could change them.
        self.places = [config["scratch"]]
        if config["memoryGroups"].get("folder") is not None:
            self.places.append(config["memoryGroups"]["folder"])
        shares = config["shareGroups"].values()
        self.places.extend(place["folder"] for place in shares if "folder" in place)
        if "namespaces" in layers and self.mount_point is not None:
            self.has_namespaces = True
            self.obstacle = self._try_namespaces(config["uidBase"])
            self.has_namespaces = self.obstacle is None
        # Where all sessions have the same path, they share the rules: for the directory around it,
        # because a rule for what a mount covers is none for the mount.
        self.rules = None
        if self.has_namespaces and self.abi:
            self.rules = self._make_rules(os.path.dirname(self.mount_point))
        self.filter = None
        if "seccomp" in layers:
            # Landlock says nothing of modes, owners and times, which belong to a file's owner.
            is_walled = "landlock" in layers
            owns_nothing = config["uidBase"] is not None or self.has_namespaces
            self.filter = seccomp.Filter(self.libc, not is_walled, not is_walled or owns_nothing)
            if is_walled and not owns_nothing:
                copies.forgive_refused_metadata()

    @property
    def kept_descriptor(self):
        """The descriptor that a session's process keeps when it closes all others."""
        return None if self.rules is None else self.rules.number

    def fork(self, uid, for_parent=False, group=None, shares=()):
        """As `os.fork`, into the session's namespaces, `group` and `shares` where it has some; without
        the libraries' hooks.

        The process is our parent's child instead of ours if it is `for_parent`.
        """
        with fork_hooks.no_hooks:
            pid = self._fork(uid, for_parent, None if group is None else group.directory)
        if pid == 0 and (group is not None or shares):
            try:
                if group is not None:
                    group.join()
                for tasks in shares:
                    os.write(tasks, b"0")
            except OSError:
                os._exit(1)  # rather none than one without its limit
        return pid

    def _fork(self, uid, for_parent, directory):
        flags = (namespaces.OWN if self.has_namespaces else 0) | (
            namespaces.PARENT if for_parent else 0
        )
        if flags == 0 and directory is None:
            return os.fork()
        if uid is None or not self.has_namespaces:
            return self.cloner.fork(flags, directory)
        # Whoever is the effective user owns the new user namespace and may name itself in it.
        os.setegid(uid)
        os.seteuid(uid)
        if directory is not None:
            namespaces.override_files(self.libc)  # the group is root's
        try:
            return self.cloner.fork(flags, directory)
        finally:
            if os.getpid() != 1:
                os.seteuid(0)
                os.setegid(0)

    def enter(self, uid, directory, process_limit, server_pid):
        """Turns a freshly forked process into a session's process."""
        if self.has_namespaces:
            self._settle(uid, directory)
        elif uid is not None:
            guard.drop_to(uid)
        guard.prctl(guard.PR_SET_NO_NEW_PRIVS, 1)
        guard.end_with_parent(None if self.has_namespaces else server_pid)
        guard.limit(self.limits, process_limit)
        if self.abi:
            rules = self.rules or self._make_rules(directory)
            rules.apply()
            rules.close()
        if self.filter is not None and self.filter.is_known:
            self.filter.apply()

    def limit_cpu(self, seconds):
        is_first = self.has_namespaces and os.getpid() == 1
        if is_first:
            self._end_by((signal.SIGXCPU,))
        guard.limit_cpu(seconds, is_first)

    def leave_first(self):
        """In a child of process 1, where signals mean what they mean everywhere."""
        if self.has_namespaces:
            for number in ENDING_SIGNALS:
                if signal.getsignal(number) == signal.SIG_DFL:
                    self.libc.signal(number, ctypes.c_void_p(0))

    def _settle(self, uid, directory):
        # A process that is not dumpable has its files in /proc owned by root.
        guard.prctl(guard.PR_SET_DUMPABLE, 1)
        user = (self.own_uid, self.own_gid) if uid is None else (uid, uid)
        namespaces.become(*user)
        limits = self.limits
        namespaces.mount_memory(self.libc, directory, limits["diskBytes"], limits["files"])
        # It shows the processes of the server's namespace; nothing here needs it.
        namespaces.mount_memory(self.libc, "/proc", 4096, 1)
        for place in () if uid is not None else self.places:
            namespaces.mount_memory(self.libc, place, 4096, 1)
        namespaces.drop_capabilities(self.libc)
        guard.prctl(guard.PR_SET_DUMPABLE, 0)
        self._end_by(ENDING_SIGNALS)

    def _end_by(self, signals):
        leave = ctypes.cast(self.libc._exit, ctypes.c_void_p)
        for number in signals:
            self.libc.signal(number, leave)

    def _make_rules(self, writable):
        rules = landlock.Rules(self.libc, self.abi)
        for path in self.readable:
            rules.allow_reading(path)
        for path in DEVICES:
            rules.allow_device(path)
        rules.allow_writing(writable)
        return rules

    def _try_namespaces(self, uid):
        """Why a session cannot have its own here; None if it can."""
        if not self.cloner.is_usable:
            return f"not known how to make them on {os.uname().machine}"
        read_end, write_end = os.pipe()
        try:
            pid = self.fork(uid)
        except OSError as error:
            os.close(read_end)
            os.close(write_end)
            return str(error)
        if pid == 0:
            try:
                self._settle(uid, self.mount_point)
            except BaseException as error:
                os.write(write_end, f"{type(error).__name__}: {error}".encode())
            os._exit(0)
        os.close(write_end)
        with open(read_end, "rb") as pipe:
            text = pipe.read()
        os.waitpid(pid, 0)
        return text.decode() or None
