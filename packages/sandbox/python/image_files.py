"""Image files that code saved, or whose names it printed, shown as images after it ran.

The files are the code's: names may mean anything, and the file under one may change at any time. So
only regular files below the session's directory are opened, each folder on the way without following
links; what was opened is looked at again, read once, up to a limit, and only decoded pixels go on.
"""

import functools
import hashlib
import os
import re
import stat
import time
import zlib
from io import BytesIO
from os.path import join

from PIL import Image

import provenance

ENDING = r"\.(?:png|jpe?g|webp|bmp|gif)"
IS_IMAGE = re.compile(ENDING + r"\Z", re.IGNORECASE)
# A whole name with spaces in it: between quotes, or after the words that announce it.
QUOTED = re.compile(rf"""(["'`])([^"'`]*?{ENDING})\1""", re.IGNORECASE)
ANNOUNCED = re.compile(
    rf"\b(?:saved|writing) (?:to|as)[:\s]\s*(.{{1,255}}?{ENDING})(?!\w)", re.IGNORECASE
)
BETWEEN_WORDS = re.compile(r"""[\s"'`(),:;=<>[\]]+""")
# No decoder that starts a program (EPS) or is seldom used.
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF")
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting for the other end of a pipe.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Names that are looked up after one execution at most: more than anybody reads.
MOST_NAMES = 1000
MOST_NAME_LENGTH = 1024
# Saved images whose origin is remembered.
MOST_ORIGINS = 1000
# As in `snapshot`: a file this young may change and look the same.
YOUNG_NS = 20_000_000


class ImageFiles:
    """`wanted` are the session's capture options; `root` is its directory."""

    def __init__(self, wanted, capture, root):
        self.capture = capture
        self.root = os.path.realpath(root)
        info = os.stat(self.root)
        self.identity = (info.st_dev, info.st_ino)
        self.takes_printed = wanted.get("printedFiles", False)
        self.takes_saved = wanted.get("savedFiles", False)
        self.hides_names = wanted.get("hidesNames", False)
        self.excepted = {os.path.normpath(name) for name in wanted.get("exceptFiles", ())}
        # Digests of the inputs' pixels: an input that is saved unchanged shows nothing new.
        self.known = set()
        # Where the pixels of saved files come from, by device and number, with size and time.
        self.origins = {}
        # Saved files before the execution, by path: status, and a checksum while they are young.
        self.before = {}
        # Files looked at in this execution, and whether they were images.
        self.taken = {}
        self.lookups = 0

    def install(self):
        """Follows images through the files they are saved to and opened from."""
        files, save, open_image = self, Image.Image.save, Image.open

        @functools.wraps(save)
        def followed_save(image, fp, *args, **kwargs):
            save(image, fp, *args, **kwargs)
            files.note(fp, provenance.of(image))

        @functools.wraps(open_image)
        def followed_open(fp, *args, **kwargs):
            image = open_image(fp, *args, **kwargs)
            if isinstance(fp, (str, bytes, os.PathLike)):
                files.mark(image, fp)
            return image

        Image.Image.save, Image.open = followed_save, followed_open

    def know(self, image):
        if self.excepted:
            self.known.add(digest(image))

    def begin(self):
        self.taken = dict.fromkeys(self.excepted, False)
        if not self.takes_saved:
            return
        now = time.time_ns()
        self.before = {}
        for path, info in self.walk():
            is_young = now - info.st_mtime_ns < YOUNG_NS
            self.before[path] = (status(info), self.checksum(path) if is_young else None)

    def collect(self):
        """After code that ran to its end: shows what it printed and saved, each file once."""
        if self.takes_printed:
            text = self.capture.stdout.text()
            kept = self.take_printed(text)
            if self.hides_names and kept != text:
                self.capture.stdout.data = bytearray(kept.encode())
        if self.takes_saved:
            changed = [
                (info.st_mtime_ns, path)
                for path, info in self.walk()
                if self.is_changed(path, info)
            ]
            for _, path in sorted(changed):
                self.take(path)

    # --- printed names ---

    def take_printed(self, text):
        """The text without the lines that are nothing but the name of an image that was taken."""
        kept = []
        self.lookups = 0
        for line in text.split("\n"):
            whole, *parts = names_in(line)
            path = self.find(whole)
            if path is not None:
                if self.take(path):
                    continue
                parts = []
            for part in parts:
                inner = self.find(part)
                if inner is not None:
                    self.take(inner)
            kept.append(line)
        return "\n".join(kept)

    def find(self, name):
        """The file's path in the session's directory: as printed, else by its last part; or None."""
        if not IS_IMAGE.search(name) or len(name) > MOST_NAME_LENGTH or "\0" in name:
            return None
        self.lookups += 1
        if self.lookups > MOST_NAMES:
            self.capture.lost_images = True
            return None
        try:
            here = os.getcwd()
        except OSError:
            here = self.root
        last = os.path.basename(name)
        for place in (join(here, name), join(here, last), join(self.root, last)):
            path = os.path.relpath(os.path.normpath(place), self.root)
            if path.startswith("../"):
                continue
            try:
                if stat.S_ISREG(os.lstat(join(self.root, path)).st_mode):
                    return path
            except (OSError, ValueError):
                pass
        return None

    # --- saved files ---

    def walk(self):
        """(path, status) of the image files in the session's directory, as many as it may have."""
        left = self.capture.limits["files"]
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(join(self.root, folder)) as entries:
                    for entry in entries:
                        left -= 1
                        if left < 0:
                            return
                        path = join(folder, entry.name)
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(path)
                        elif IS_IMAGE.search(path) and entry.is_file(follow_symlinks=False):
                            yield path, entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone, or closed by its mode

    def is_changed(self, path, info):
        """Whether the file was written in this execution."""
        known, checksum = self.before.get(path, (None, None))
        if known != status(info):
            return True
        return checksum is not None and checksum != self.checksum(path)

    def checksum(self, path):
        return zlib.crc32(self.read(path) or b"")

    # --- one file ---

    def take(self, path):
        """Shows the file, at most once; False where that fails, but not for their number."""
        if path not in self.taken:
            self.taken[path] = self.show(path)
        return self.taken[path]

    def show(self, path):
        capture = self.capture
        if capture.is_full:
            capture.lost_images = True
            return True
        try:
            data = self.read(path)
            if data is None:
                return False
            image = Image.open(BytesIO(data), formats=FORMATS)
            if not capture.has_room_for(*image.size):  # before its pixels are made
                capture.lost_images = True
                return False
            image.load()
            if self.known and digest(image) in self.known:
                return False
            self.mark(image, join(self.root, path))
            return capture.add(image, "file", shown_name(path))
        except (MemoryError, Image.DecompressionBombError, Image.DecompressionBombWarning):
            capture.lost_images = True
            return False
        except Exception:
            return False  # no image, whatever its decoder stumbled over

    def read(self, path):
        """The bytes of a regular file below the session's directory; None if it is anything else."""
        most = self.capture.limits["fileBytes"]
        try:
            folder = os.open(self.root, FOLDER)
            try:
                info = os.fstat(folder)
                if (info.st_dev, info.st_ino) != self.identity:
                    return None
                *folders, name = path.split("/")
                for step in folders:
                    inner = os.open(step, FOLDER, dir_fd=folder)
                    os.close(folder)
                    folder = inner
                # Devices may do something when they are opened.
                if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    return None
                number = os.open(name, FILE, dir_fd=folder)
            finally:
                os.close(folder)
            with open(number, "rb") as file:
                if not stat.S_ISREG(os.fstat(number).st_mode):
                    return None
                data = file.read(most + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= most else None

    # --- origins ---

    def note(self, fp, origin):
        if not isinstance(fp, (str, bytes, os.PathLike)):
            return
        try:
            info = os.stat(fp)
        except (OSError, ValueError):
            return
        key = (info.st_dev, info.st_ino)
        self.origins.pop(key, None)
        if origin is not None:
            self.origins[key] = (info.st_size, info.st_mtime_ns, origin)
        while len(self.origins) > MOST_ORIGINS:
            del self.origins[next(iter(self.origins))]

    def mark(self, image, path):
        """Gives an image the origin of the one that was saved there, if the file is still it."""
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return
        size, written, origin = self.origins.get((info.st_dev, info.st_ino), (None, None, None))
        if (size, written) == (info.st_size, info.st_mtime_ns):
            setattr(image, provenance.ORIGIN, origin)


def digest(image):
    """A digest of size and pixels, whatever the file's name and format."""
    plain = image if image.mode == "RGB" else image.convert("RGB")
    return hashlib.blake2b(plain.tobytes(), digest_size=16, salt=b"%d" % plain.width).digest()


def status(info):
    return (info.st_ino, info.st_size, info.st_mtime_ns)


def names_in(line):
    """The parts of a line that may be the name of an image file: all of it, then parts in order."""
    whole = line.strip().strip("\"'`")
    parts = [match.group(2) for match in QUOTED.finditer(line)]
    parts += [match.group(1).strip("\"'`") for match in ANNOUNCED.finditer(line)]
    parts += [word.rstrip(".") for word in BETWEEN_WORDS.split(line)]
    return [whole, *(part for part in dict.fromkeys(parts) if IS_IMAGE.search(part))]


def shown_name(path):
    """The name as text, for the outcome; what cannot be shown is replaced."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in text)[-MOST_NAME_LENGTH:]
