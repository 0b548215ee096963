"""Forks the sessions' processes, and holds what they share: libraries and the prepared worker.

It does next to nothing else. After every fork each page that is written to is copied, here as in the
child, and large pages fall apart; so whoever forks should run little code. Sessions become children of
the supervisor's process, which watches them (`CLONE_PARENT`).

Whatever this process has ever read, each later session could find in its own memory. So it reads
orders of a fixed size, numbers alone, and passes descriptors on: names, images, videos and code
reach a session through those, behind its walls.
"""

import fork_hooks  # first: it watches for what the libraries register

import gc
import os
import signal
import sys

import guard
import pages
import video_files
import wire
from confinement import Confinement
from control_groups import MemoryGroups
from examination import examine
from memory_examination import examine_memory
from orders import PREPARE_VIDEOS, take_order
from preload import preload
from processes import Start, keep_only, session_directory
from shares import ShareGroups
from worker import Worker


class Nursery:
    def __init__(self, config, supervisor_pid, is_own_process=True):
        self.config = config
        self.supervisor_pid = supervisor_pid
        self.is_own_process = is_own_process
        self.uid_base = config["uidBase"]
        self.has_videos = False
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

    def prepare_videos(self):
        if not self.has_videos:
            self.has_videos = True
            video_files.load_libraries()

    def open(self, slot, number, video_count, descriptors):
        """The number of a new session's process, which never returns.

        Raises OSError where the kernel refuses. All else that can fail does in the new process, and is
        told from there.
        """
        uid = None if self.uid_base is None else self.uid_base + slot
        group, shares = self.groups.of(slot), self.shares.of(slot)
        pid = self.confinement.fork(uid, self.is_own_process, group, shares)
        if pid == 0:
            try:
                self.become_session(uid, number, video_count, descriptors)
            except BaseException:
                sys.__excepthook__(*sys.exc_info())
            finally:
                os._exit(1)
        return pid

    def become_session(self, uid, number, video_count, descriptors):
        os.setsid()
        if not self.is_own_process:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        requests, replies, *own = descriptors
        kept = self.confinement.kept_descriptor
        keep_only((requests, replies), own if kept is None else (*own, kept))
        os.dup2(1, 2)  # stdout is /dev/null; stderr was for the server's own troubles
        memory, *inputs = own
        border = len(inputs) - video_count
        place = session_directory(self.config, number, self.confinement.has_namespaces)
        limits = self.process_limit, self.supervisor_pid
        self.worker.run_session(Start(uid, place, memory, inputs[:border], inputs[border:], *limits))


def serve(sock, config, supervisor_pid):
    """The nursery's process: obeys the supervisor until it hangs up."""
    nursery = Nursery(config, supervisor_pid)
    sock.sendall(wire.encode(0, nursery.ready))
    while (order := take_order(sock)) is not None:
        slot, number, video_count, descriptors = order
        try:
            if slot == PREPARE_VIDEOS:
                nursery.prepare_videos()
                told = 0
            else:
                told = nursery.open(slot, number, video_count, descriptors)
        except OSError as error:
            told = -error.errno
        for descriptor in descriptors:
            os.close(descriptor)
        sock.sendall(wire.NUMBER.pack(told))
