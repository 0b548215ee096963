"""The state outside of its memory that a failed execution may have changed: files and places in open files.

Contents are kept in the session's memory. A file is read again only when its number, size or times
have changed, so an execution that touches no file costs one look at the directory.
"""

import errno
import os
import stat
import time

# File times advance in steps of up to 10 ms; a file this young may change and look the same.
YOUNG_NS = 20_000_000


class Entry:
    def __init__(self, info, content, is_young):
        self.signature = signature_of(info)
        self.mode = info.st_mode
        self.times = (info.st_atime_ns, info.st_mtime_ns)
        self.content = content
        self.is_young = is_young

    def matches(self, info):
        return not self.is_young and self.signature == signature_of(info)


def signature_of(info):
    # The time of the last change to a file's data or name cannot be set by its owner.
    if stat.S_ISDIR(info.st_mode):
        return (info.st_ino, info.st_mode)
    return (info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


class Snapshot:
    """The files below `root` as they were at the last `take`."""

    def __init__(self, root, limit):
        self.root = root
        self.limit = limit
        self.entries = {}

    def take(self):
        """Raises OSError, and keeps the last snapshot, where there is more than the limit."""
        now = time.time_ns()
        entries = {}
        total = 0
        for path, info in self._walk():
            total += info.st_size
            if total > self.limit:
                text = f"the session's files hold more than {self.limit} bytes"
                raise OSError(errno.EDQUOT, text)
            old = self.entries.get(path)
            if old is not None and old.matches(info):
                entries[path] = old
                continue
            is_young = now - info.st_ctime_ns < YOUNG_NS
            entries[path] = Entry(info, self._read(path, info), is_young)
        self.entries = entries

    def restore(self):
        found = dict(self._walk())
        # Children come after their directory, so backwards they are removed before it.
        for path in reversed(list(found)):
            entry = self.entries.get(path)
            if entry is None or stat.S_IFMT(entry.mode) != stat.S_IFMT(found[path].st_mode):
                self._remove(path, found[path])
                del found[path]
        for path, entry in self.entries.items():
            info = found.get(path)
            if info is None or not entry.matches(info):
                self._write(path, entry, info is not None)
        self._mark_restored()

    def _mark_restored(self):
        now = time.time_ns()
        for path, info in self._walk():
            entry = self.entries[path]
            is_young = now - info.st_ctime_ns < YOUNG_NS
            self.entries[path] = Entry(info, entry.content, is_young)

    def _walk(self):
        """(path, status) of everything below the root, a directory before what is in it."""
        pending = [self.root]
        while pending:
            try:
                with os.scandir(pending.pop()) as found:
                    listed = list(found)
            except OSError:
                continue  # closed by its mode; what is in it cannot be kept
            for item in listed:
                try:
                    info = item.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(info.st_mode):
                    pending.append(item.path)
                yield item.path, info

    @staticmethod
    def _read(path, info):
        if stat.S_ISREG(info.st_mode):
            with open(path, "rb", opener=no_follow) as file:
                return file.read()
        if stat.S_ISLNK(info.st_mode):
            return os.readlink(path)
        return None

    @staticmethod
    def _remove(path, info):
        (os.rmdir if stat.S_ISDIR(info.st_mode) else os.unlink)(path)

    @staticmethod
    def _write(path, entry, exists):
        kind = entry.mode
        if stat.S_ISDIR(kind):
            if not exists:
                os.mkdir(path, stat.S_IMODE(kind))
            set_mode(path, kind)
            return
        if stat.S_ISLNK(kind):
            if exists:
                os.unlink(path)
            os.symlink(entry.content, path)
            return
        if stat.S_ISFIFO(kind):
            if not exists:
                os.mkfifo(path, stat.S_IMODE(kind))
            return
        if not stat.S_ISREG(kind):
            return
        # In place, so that open files and hard links go on meaning this one.
        with open(path, "wb", opener=no_follow) as file:
            file.write(entry.content)
        set_mode(path, kind, entry.times)


def set_mode(path, mode, times=None):
    """Where the filter of system calls refuses it, no execution has changed a mode either."""
    try:
        os.chmod(path, stat.S_IMODE(mode))
        if times is not None:
            os.utime(path, ns=times)
    except PermissionError:
        pass


def no_follow(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW, 0o644)


def places(limit):
    """Where reading and writing stand in each open file: parent and child share it after a fork."""
    found = {}
    for number in range(4, limit):
        try:
            found[number] = os.lseek(number, 0, os.SEEK_CUR)
        except OSError:
            pass  # not open, or not a file
    return found


def go_back(found):
    for number, place in found.items():
        try:
            os.lseek(number, place, os.SEEK_SET)
        except OSError:
            pass
