"""Videos as maps of their bytes: a map costs a session nothing, however long the video is, and lets
it read and nothing else. The memory behind it is one for all sessions that have the video.
"""

import gc
import mmap
import os

import pages


def load_libraries():
    """Loads PyAV before the first session with a video, so that none has to.

    Not at the start: importing takes 40 ms, and servers of images would fork the slower for it.
    """
    try:
        import av  # noqa: F401  (sessions find it loaded)
    except ImportError:
        return  # opening a video says so
    gc.freeze()
    pages.gather_pages()


def map_descriptor(number):
    """The bytes behind it, read-only."""
    if os.fstat(number).st_size == 0:
        return b""  # which cannot be mapped
    # Private, because gVisor, and Linux before 6.7, map no sealed memory as shared. It is read, so not copied.
    return mmap.mmap(number, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)


def map_file(path):
    """A file's bytes, read-only, with a place of their own in each process."""
    with open(path, "rb") as file:
        return map_descriptor(file.fileno())
