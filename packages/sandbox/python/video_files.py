"""Video files of the fork server: each once on disk, mapped by the processes of its sessions.

A map costs a session nothing, however long the video is, and lets it read and nothing else. It is made
before the session's walls go up: behind them it does not see the file.
"""

import gc
import mmap
import os

import pages


class VideoFiles:
    def __init__(self, scratch):
        self.folder = os.path.join(scratch, "videos")
        self.is_ready = False

    def path(self, key):
        return os.path.join(self.folder, f"v{key}")

    def add(self, key, data):
        """Keeps a video; what to tell Node of it."""
        try:
            self.make_ready()
            with open(self.path(key), "wb") as file:
                file.write(data)
            os.chmod(self.path(key), 0o444)
        except OSError as error:
            self.drop(key)
            return {"type": "video", "id": key, "bytes": 0, "message": str(error)}
        return {"type": "video", "id": key, "bytes": len(data)}

    def drop(self, key):
        """Sessions that have the video keep it."""
        remove(self.path(key))

    def make_ready(self):
        """Loads PyAV before the first session with a video, so that none has to.

        Not at the start: importing takes 40 ms, and servers of pictures would fork the slower for it.
        """
        if self.is_ready:
            return
        self.is_ready = True
        os.makedirs(self.folder, mode=0o711, exist_ok=True)
        try:
            import av  # noqa: F401  (sessions find it loaded)
        except ImportError:
            return  # opening a video says so
        gc.freeze()
        pages.gather_pages()


def mapped(paths):
    """The files' bytes by their videos' names."""
    return {name: map_file(path) for name, path in paths.items()}


def map_file(path):
    """A file's bytes, read-only, with a place of their own in each process."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""  # which cannot be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass
