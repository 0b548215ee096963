"""Removes a directory whatever code has made of it: deep, wide, closed, linked, mounted, or still growing.

Nothing recurses and nothing is followed. A directory that lies in another is first moved up, to beside
the outermost one; so two descriptors and the names of one reading are all that is held, however deep it
goes. All work is on descriptors: paths that are too long, or that code swaps for links meanwhile, play
no part. Also a program: `removal.py SECONDS PATH…`.
"""

import ctypes
import errno
import fcntl
import itertools
import os
import struct
import sys
import time

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_PATH") else DIRECTORY
# Names between looks at the clock.
BATCH = 256
# FS_IOC_GETFLAGS, FS_IOC_SETFLAGS; append-only and immutable.
GET_FLAGS, SET_FLAGS, FIXED = 0x8008_6601, 0x4008_6602, 0x30
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8


class OutOfTime(Exception):
    pass


class Removal:
    """One removal; `seconds` is the most it may take."""

    def __init__(self, seconds):
        self.give_up = time.monotonic() + seconds
        self.numbers = itertools.count()
        self.mark = f".removed-{os.getpid()}-{time.monotonic_ns():x}-".encode()

    def remove(self, path):
        """Whether nothing is left at `path`."""
        parent, name = os.path.split(os.path.abspath(os.fsencode(path)))
        try:
            holder = os.open(parent, DIRECTORY)
        except FileNotFoundError:
            return True
        try:
            return self._remove(holder, name)
        except (OutOfTime, OSError):
            return False
        finally:
            os.close(holder)

    def _remove(self, holder, name):
        while not self._unlink(holder, name, is_inside=False) and self.empty(holder, name):
            pass
        return not exists(holder, name)

    def empty(self, holder, name):
        """Removes what is in the directory `name` of `holder`; whether anything went."""
        root = open_closed(holder, name)
        if root is None:
            return False
        went = False
        try:
            while self._pass(root):
                went = True
        finally:
            os.close(root)
        return went

    def _pass(self, root):
        """One reading of the outermost directory; whether anything went."""
        went = False
        for name, is_directory in self._entries(root):
            if not is_directory and self._unlink(root, name):
                went = True
            else:
                went |= self._flatten(root, name)
        return went

    def _flatten(self, root, name):
        """Empties a directory in the outermost one: files go, directories move up beside it."""
        inner = open_closed(root, name)
        if inner is None:
            return self._unlink(root, name)
        went = False
        try:
            if os.fstat(inner).st_dev != os.fstat(root).st_dev:
                return unmount(root, name)
            for child, is_directory in self._entries(inner):
                if not is_directory and self._unlink(inner, child):
                    went = True
                else:
                    went |= self._move_up(inner, child, root)
        finally:
            os.close(inner)
        return self._unlink(root, name) or went

    def _move_up(self, inner, child, root):
        target = self.mark + b"%x" % next(self.numbers)
        for _ in range(2):
            try:
                os.rename(child, target, src_dir_fd=inner, dst_dir_fd=root)
                return True
            except FileNotFoundError:
                return True
            except OSError as error:
                if error.errno in (errno.EBUSY, errno.EXDEV):
                    return unmount(inner, child)
                # Moving a directory writes to it.
                opened = open_closed(inner, child)
                if opened is None:
                    return False
                os.close(opened)
                if error.errno == errno.EPERM:
                    loosen(inner, child)
        return False

    def _entries(self, directory):
        """(name as bytes, whether it is a directory) of an open one, in readings of bounded size."""
        with os.scandir(directory) as found:  # reads through a copy of the descriptor
            entries = iter(found)
            while True:
                if time.monotonic() > self.give_up:
                    raise OutOfTime
                batch = [
                    (os.fsencode(entry.name), entry.is_dir(follow_symlinks=False))
                    for entry in itertools.islice(entries, BATCH)
                ]
                if not batch:
                    return
                yield from batch

    @staticmethod
    def _unlink(holder, name, is_inside=True):
        """Whether a file, link or empty directory is gone; `is_inside` what is being removed."""
        for is_last in (False, True):
            try:
                try:
                    os.unlink(name, dir_fd=holder)
                except (IsADirectoryError, PermissionError):  # the latter on Darwin
                    os.rmdir(name, dir_fd=holder)
                return True
            except FileNotFoundError:
                return True
            except NotADirectoryError:
                pass
            except OSError as error:
                if error.errno == errno.EBUSY:
                    unmount(holder, name)
                elif error.errno not in (errno.EPERM, errno.EACCES):
                    return False
            if not is_last:  # its flags, or those of the directory around it, may be in the way
                loosen(holder, name)
                if is_inside:
                    loosen(holder, None)
        return False


def exists(holder, name):
    try:
        os.lstat(name, dir_fd=holder)
        return True
    except FileNotFoundError:
        return False


def open_closed(holder, name):
    """The directory, open, and to us however it was closed by its mode; None if it is none of ours."""
    try:
        place = os.open(name, PLACE | os.O_DIRECTORY, dir_fd=holder)
    except OSError:
        place = None
    if place is None:
        return None
    try:
        if os.fstat(place).st_mode & 0o700 != 0o700 and os.path.isdir("/proc/self/fd"):
            try:  # through the descriptor: the name could have become a link
                os.chmod(f"/proc/self/fd/{place}", 0o700)
            except OSError:
                pass
        return os.open(b".", DIRECTORY, dir_fd=place)
    except OSError:
        return None
    finally:
        os.close(place)


def loosen(holder, name):
    """Takes away flags by which not even root may remove a file; only root can have set them."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return
    try:
        how = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        number = os.dup(holder) if name is None else os.open(name, how, dir_fd=holder)
    except OSError:
        return
    try:
        flags = int.from_bytes(fcntl.ioctl(number, GET_FLAGS, bytes(8))[:4], sys.byteorder)
        if flags & FIXED:
            fcntl.ioctl(number, SET_FLAGS, struct.pack("q", flags & ~FIXED))
    except OSError:
        pass
    finally:
        os.close(number)


def unmount(holder, name):
    """Takes away what is mounted there, and leaves alone what is in it."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    path = b"/proc/self/fd/%d/%s" % (holder, name)
    return ctypes.CDLL(None).umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0


def remove_tree(path, seconds):
    """Whether nothing is left at `path`; takes `seconds` at most."""
    return Removal(seconds).remove(path)


def main():
    seconds, *paths = sys.argv[1:]
    is_clean = [remove_tree(path, float(seconds)) for path in paths]
    sys.exit(0 if all(is_clean) else 1)


if __name__ == "__main__":
    main()
