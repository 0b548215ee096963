"""Memory that processes share by descriptor, of a fixed size: no name, nothing on a disk, on Linux.

What one process writes, the others read from the descriptor in pieces; the memory is charged to the
process that wrote it, and so to its session.
"""

import ctypes
import fcntl
import os
import sys

PROT_READ_WRITE = 3
MAP_SHARED = 1
MAP_FAILED = ctypes.c_void_p(-1).value
# Leaves the size and gives back the pages.
PUNCH_HOLE = 1 | 2

# Looked up here: in each session's process a lookup would write to a dozen pages.
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
    *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
)
_fallocate = getattr(_libc, "fallocate", None)
if _fallocate is not None:
    _fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)


def _made(name):
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    import tempfile  # not above: it loads `random`, which must come after `fork_hooks`

    number, path = tempfile.mkstemp()
    os.unlink(path)
    return number


def _seal(number, is_constant=False):
    if sys.platform == "linux":
        seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
        fcntl.fcntl(number, fcntl.F_ADD_SEALS, seals | (fcntl.F_SEAL_WRITE if is_constant else 0))


def create(name, size):
    """The descriptor of `size` zeros, which nobody can make longer or shorter on Linux."""
    number = _made(name)
    try:
        os.ftruncate(number, size)
        _seal(number)
    except OSError:
        os.close(number)
        raise
    return number


def create_constant(name, data):
    """The descriptor of a copy of `data`, which nobody can change on Linux."""
    number = _made(name)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(number, left) :]
        _seal(number, is_constant=True)
    except OSError:
        os.close(number)
        raise
    return number


def map_whole(number, size):
    """The memory behind a descriptor, to read and write. Lasts as long as the process."""
    address = _libc.mmap(None, size, PROT_READ_WRITE, MAP_SHARED, number, 0)
    if address == MAP_FAILED:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")


def read_whole(number):
    """All bytes behind a descriptor, wherever those who share it stand."""
    size = os.fstat(number).st_size
    data = os.pread(number, size, 0)
    if len(data) != size:
        raise OSError(f"{len(data)} of {size} bytes could be read")
    return data


def give_back(number, size):
    """The first `size` bytes become zeros that take no memory."""
    if _fallocate is not None:
        _fallocate(number, PUNCH_HOLE, 0, size)
