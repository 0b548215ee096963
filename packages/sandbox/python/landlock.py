"""Landlock: a session reads the libraries, writes its own directory, and reaches nothing else.

Works without any right and inside containers that allow no namespaces. The kernel says what it
knows (its ABI): files from 1 (Linux 5.13), renaming between directories from 2, truncating from 3,
TCP from 4 (6.7), device ioctls from 5, signals and abstract sockets from 6 (6.12).
"""

import ctypes
import os

# The same numbers on all architectures.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
ALL_OF_FIRST = (1 << 13) - 1
READ = EXECUTE | READ_FILE | READ_DIR
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
TCP = 3  # binding and connecting; no rule allows any
SCOPES = 3  # abstract sockets and signals stay among those with the same rules


class Attributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi(libc):
    """The version of Landlock here; 0 without."""
    if libc is None:
        return 0
    null = ctypes.c_void_p(None)
    return max(0, libc.syscall(CREATE_RULESET, null, ctypes.c_size_t(0), VERSION_FLAG))


class Rules:
    """A file descriptor of the kernel's rules on what may be read and written."""

    def __init__(self, libc, version):
        self.libc = libc
        handled = ALL_OF_FIRST
        for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
            handled |= right if version >= since else 0
        self.handled = handled
        attributes = Attributes(handled, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
        # Kernels refuse attributes that are longer than what they know.
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        made = libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
        self.number = self._checked(made)

    def allow_reading(self, path):
        self._allow(path, READ)

    def allow_writing(self, path):
        # Everything but making device files, which no session may anyway.
        self._allow(path, self.handled & ~(MAKE_CHAR | MAKE_BLOCK | EXECUTE | IOCTL_DEV))

    def allow_device(self, path):
        self._allow(path, READ_FILE | WRITE_FILE | TRUNCATE)

    def _allow(self, path, access):
        try:
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # what is not there needs no right
        try:
            is_directory = os.path.isdir(path)
            access &= self.handled if is_directory else self.handled & FOR_FILES
            rule = PathBeneath(access, parent)
            done = self.libc.syscall(
                ADD_RULE, self.number, RULE_PATH_BENEATH, ctypes.byref(rule), 0
            )
            self._checked(done)
        finally:
            os.close(parent)

    def apply(self):
        """For good, for this process and all its children. Needs no_new_privs."""
        self._checked(self.libc.syscall(RESTRICT_SELF, self.number, 0))

    def close(self):
        os.close(self.number)

    @staticmethod
    def _checked(result):
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"landlock: {os.strerror(number)}")
        return result
