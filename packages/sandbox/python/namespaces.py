"""Namespaces of a session's own: its users, processes, mounts, IPC and network are nobody else's.

The session's process is forked straight into them by one `clone`, so they cost no second fork. In
them it is process 1: when it ends, the kernel ends all it has started, and its files go with its
mount.
"""

import ctypes
import os

CLONE = {"x86_64": 56, "aarch64": 220}
# Where aarch64 has its thread-local storage, x86_64 has the address of the child's number.
LAST_TWO_SWAPPED = {"x86_64": False, "aarch64": True}
SIGCHLD = 17
NEWNS, NEWIPC, NEWUSER = 0x0002_0000, 0x0800_0000, 0x1000_0000
NEWPID, NEWNET = 0x2000_0000, 0x4000_0000
OWN = NEWNS | NEWIPC | NEWUSER | NEWPID
# The new process becomes a child of our parent.
PARENT = 0x0000_8000
CHILD_SETTID, CHILD_CLEARTID = 0x0100_0000, 0x0020_0000
PR_GET_TID_ADDRESS = 40
MS_NOSUID, MS_NODEV = 2, 4
# The one call that makes a process in a control group; the number is the same on all machines.
CLONE3, INTO_CGROUP = 435, 0x2_0000_0000
DAC_OVERRIDE = 1 << 1
# The id of a session's user and group inside: the same on every machine.
INSIDE = 1000


class CloneArguments(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            *("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size"),
            *("tls", "set_tid", "set_tid_size", "cgroup"),
        )
    )


class Cloner:
    """`fork` with flags. Holds the interpreter's lock as `os.fork` does."""

    def __init__(self):
        self.libc = ctypes.PyDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        machine = os.uname().machine
        self.number = CLONE.get(machine)
        self.is_swapped = LAST_TWO_SWAPPED.get(machine, False)
        # The C library keeps a thread's number; the kernel writes the child's there, as in fork.
        self.place = ctypes.c_void_p()
        zero = ctypes.c_ulong(0)
        found = self.libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(self.place), zero, zero, zero)
        self.is_usable = self.number is not None and found == 0
        # Looked up once, here: a lookup writes to more pages than the call.
        python = ctypes.pythonapi
        self.before = python.PyOS_BeforeFork
        self.after_in_child = python.PyOS_AfterFork_Child
        self.after_in_parent = python.PyOS_AfterFork_Parent

    def fork(self, flags, directory=None):
        """As `os.fork`; into the control group whose open directory is given. Raises OSError where
        the kernel refuses."""
        null = ctypes.c_void_p(None)
        last = (null, self.place) if self.is_swapped else (self.place, null)
        flags |= CHILD_SETTID | CHILD_CLEARTID
        if directory is None:
            number, arguments = self.number, (ctypes.c_ulong(flags | SIGCHLD), null, null, *last)
        else:
            wanted = CloneArguments(
                flags=flags | INTO_CGROUP,
                child_tid=self.place.value,
                # A parent's child has the parent's; to say so is an error.
                exit_signal=0 if flags & PARENT else SIGCHLD,
                cgroup=directory,
            )
            size = ctypes.c_size_t(ctypes.sizeof(wanted))
            number, arguments = CLONE3, (ctypes.byref(wanted), size)
        self.before()
        pid = self.libc.syscall(ctypes.c_long(number), *arguments)
        if pid == 0:
            self.after_in_child()
            return 0
        number = ctypes.get_errno()
        self.after_in_parent()
        if pid < 0:
            raise OSError(number, f"new namespaces: {os.strerror(number)}")
        return pid


def become(uid, gid):
    """In the child: `uid`, as it is called outside, is the only user there is, and not root."""
    # Without groups to drop the kernel takes a map from us.
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{INSIDE} {uid} 1"),
        ("gid_map", f"{INSIDE} {gid} 1"),
    ):
        number = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(number, text.encode())
        os.close(number)
    os.setresgid(INSIDE, INSIDE, INSIDE)
    os.setresuid(INSIDE, INSIDE, INSIDE)


def mount_memory(libc, path, size, files):
    """A file system in memory with room for `size` bytes in `files` files."""
    options = f"size={size},nr_inodes={files},mode=0700".encode()
    flags = ctypes.c_ulong(MS_NOSUID | MS_NODEV)
    if libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mounting {path}: {os.strerror(number)}")


class CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def override_files(libc):
    """Takes up the right to all files, which who was root and became another user keeps in reserve."""
    header = CapabilityHeader(0x2008_0522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    if libc.capget(ctypes.byref(header), ctypes.byref(sets)) == 0:
        sets[0] |= sets[1] & DAC_OVERRIDE
        libc.capset(ctypes.byref(header), ctypes.byref(sets))


def drop_capabilities(libc):
    """Gives up what the owner of namespaces may do in them."""
    header = CapabilityHeader(0x2008_0522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if libc.capset(ctypes.byref(header), ctypes.byref(nothing)) != 0:
        raise OSError(ctypes.get_errno(), "capset")
