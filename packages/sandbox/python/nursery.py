"""Forks the sessions' processes, and holds what they share: libraries, pictures, the prepared worker.

It does next to nothing else. After every fork each page that is written to is copied, here as in the
child, and large pages fall apart; so whoever forks should run little code. Sessions become children of
the supervisor's process, which watches them (`CLONE_PARENT`).
"""

import fork_hooks  # first: it watches for what the libraries register

import gc
import io
import os
import signal
import socket
import sys

import guard
import pages
import wire
from confinement import Confinement
from control_groups import MemoryGroups
from examination import examine
from memory_examination import examine_memory
from preload import preload
from processes import Start, keep_only
from shares import ShareGroups
from video_files import VideoFiles
from worker import Worker


# Requests for sessions are shorter, pictures and videos longer.
REQUEST_BYTES = 4096


class Nursery:
    def __init__(self, config, supervisor_pid, is_own_process=True):
        self.supervisor_pid = supervisor_pid
        self.is_own_process = is_own_process
        self.uid_base = config["uidBase"]
        self.images = {}
        self.videos = VideoFiles(config["scratch"])
        template, capture, libraries = preload(config)
        self.confinement = Confinement(config)
        has_namespaces = self.confinement.has_namespaces
        self.process_limit = guard.process_limit(config, has_namespaces)
        report = examine(config, self.confinement, self.process_limit, supervisor_pid)
        self.groups = MemoryGroups(config)
        report.update(examine_memory(config, self.confinement, self.process_limit, self.groups))
        self.shares = ShareGroups(config, self.groups)
        report.update(self.shares.examine(config, self.confinement, self.process_limit))
        self.worker = Worker(config, template, capture, self.confinement)
        self.worker.rehearse()
        fork_hooks.stop_watching()
        gc.collect()
        gc.freeze()
        pages.gather_pages()
        pages.give_back_blocks(pages.SERVER_BLOCK)
        version = sys.version.split()[0]
        self.ready = {"type": "ready", "python": version, "libraries": libraries, "report": report}

    def obey(self, header, blobs):
        """Does what a frame about pictures or videos says; what to tell Node, if anything."""
        kind, key = header["type"], header["id"]
        if kind == "image":
            return self.load_image(key, blobs[0])
        if kind == "dropImage":
            self.images.pop(key, None)
        elif kind == "video":
            return self.videos.add(key, blobs[0])
        elif kind == "dropVideo":
            self.videos.drop(key)
        return None

    def load_image(self, key, encoded):
        """Decodes once what many sessions will share (copy on write)."""
        from PIL import Image

        try:
            image = Image.open(io.BytesIO(encoded))
            image.load()
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            return {"type": "image", "id": key, "bytes": 0, "message": message}
        self.images[key] = image
        size = len(encoded) + image.width * image.height * len(image.getbands())
        return {"type": "image", "id": key, "bytes": size}

    def open(self, slot, header_length, body, sock):
        """The number of a new session's process, which never returns; it speaks through descriptor `sock`.

        Raises OSError where the kernel refuses. All else that can fail does in the new process, and is
        told from there: what is read here, before the fork, is copied afterwards.
        """
        uid = None if self.uid_base is None else self.uid_base + slot
        group, shares = self.groups.of(slot), self.shares.of(slot)
        pid = self.confinement.fork(uid, self.is_own_process, group, shares)
        if pid == 0:
            try:
                self.become_session(uid, wire.decode(body, header_length)[0], sock)
            except BaseException:
                sys.__excepthook__(*sys.exc_info())
            finally:
                os._exit(1)
        return pid

    def become_session(self, uid, request, sock):
        os.setsid()
        if not self.is_own_process:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        images = [(entry["name"], self.images.get(entry["id"])) for entry in request["images"]]
        videos = {entry["name"]: self.videos.path(entry["id"]) for entry in request["videos"]}
        self.images = self.videos = None  # other sessions'
        kept = keep_only(sock, self.confinement.kept_descriptor)
        os.dup2(1, 2)  # stdout is /dev/null; stderr was for the server's own troubles
        start = Start(request, uid, kept, images, videos, self.process_limit, self.supervisor_pid)
        self.worker.run_session(start)


def serve(sock, config, supervisor_pid):
    """The nursery's process: obeys the supervisor until it hangs up."""
    nursery = Nursery(config, supervisor_pid)
    sock.sendall(wire.encode(0, nursery.ready))
    inbox = Inbox(sock)
    while (frame := inbox.next()) is not None:
        place, header_length, body = frame
        if place == 0:
            told = nursery.obey(*wire.decode(body, header_length))
            if told is not None:
                sock.sendall(wire.encode(0, told))
            continue
        descriptor = inbox.descriptors.pop()
        try:
            told = nursery.open(place - 1, header_length, body, descriptor)
        except OSError as error:
            told = -error.errno
        os.close(descriptor)
        sock.sendall(wire.NUMBER.pack(told))


class Inbox:
    """Frames of a blocking socket, and the descriptors that came with them."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = wire.FrameBuffer()
        self.chunk = memoryview(bytearray(1 << 16))
        self.room = socket.CMSG_SPACE(4)
        self.descriptors = []

    def next(self):
        """(session, header length, body), or None at the end."""
        while (frame := self.buffer.take()) is None:
            size, extras, _, _ = self.sock.recvmsg_into([self.chunk], self.room)
            for _, _, data in extras:
                self.descriptors.append(int.from_bytes(data[:4], sys.byteorder))
            if size == 0:
                return None
            self.buffer.feed(self.chunk[:size])
            if size > REQUEST_BYTES:  # no session is to find another one's picture here
                self.chunk[:size] = bytes(size)
        return frame
