"""How the memory of the process that forks is laid out: a fork, and the end of what was forked, take time
for every page, and for a large page no more than for a small one.
"""

import ctypes
import mmap
import sys

MADV_COLLAPSE = 25
LARGE_PAGE = 2 * 1024 * 1024
# The size that the interpreter maps at once for small objects, and that of the largest of these.
ARENA_BYTES = 1024 * 1024
OBJECT_BYTES = 512
# The size of an empty bytes object, and a little more.
OBJECT_HEAD = 40
MOST_GAPS = 64
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
SERVER_BLOCK = 128 * 1024
SESSION_BLOCK = 32 * 1024 * 1024

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def give_back_blocks(smallest):
    """Memory of at least this many bytes goes back to the system when it is freed.

    Left alone, glibc keeps freed images in its heap; a fork copies the tables of every page that was
    ever touched, so the server would fork slower the more images it has held. Sessions that compute
    are better off with the pages they have.
    """
    if _libc is not None and hasattr(_libc, "mallopt"):
        _libc.mallopt(M_MMAP_THRESHOLD, smallest)
        _libc.mallopt(M_TRIM_THRESHOLD, 2 * smallest)


def keep_together(size):
    """Objects made from now on, up to `size` bytes of them, come to lie side by side.

    The interpreter maps a mebibyte whenever its objects need one, wherever there is room between the
    libraries that are loaded meanwhile: half of that could not be gathered. It is kept as long as one
    object in it lives; so it is filled here with objects, of which a few stay.
    """
    count = size // OBJECT_BYTES
    # Closes the gaps between what is mapped already.
    plugs = [mmap.mmap(-1, ARENA_BYTES) for _ in range(MOST_GAPS)]
    made = [None] * count  # at once: growing, it would be mapped between them
    for index in range(count):
        made[index] = bytes(OBJECT_BYTES - OBJECT_HEAD)
    for plug in plugs:
        plug.close()
    return made[:: ARENA_BYTES // OBJECT_BYTES // 4]


def gather_pages():
    """Moves this process's memory into large pages: forking and ending a child touches every page.

    With matplotlib loaded a fork and its end take half as long. Kernels before Linux 6.1 refuse,
    and nothing changes.
    """
    if _libc is None:
        return
    try:
        with open("/proc/self/maps") as maps:
            regions = [line.split() for line in maps]
    except OSError:
        return
    for span, mode, *rest in regions:
        is_anonymous = len(rest) == 3 or rest[-1] == "[heap]"
        if mode != "rw-p" or not is_anonymous:
            continue
        start, end = (int(edge, 16) for edge in span.split("-"))
        start = -(-start // LARGE_PAGE) * LARGE_PAGE
        for page in range(start, end - LARGE_PAGE + 1, LARGE_PAGE):
            _libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(LARGE_PAGE), MADV_COLLAPSE)
