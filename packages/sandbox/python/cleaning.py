"""Ends and removes what sessions without mounts of their own leave behind, by processes of their users.

A tree can be made so that removing it takes long. So nobody waits for that: a cleaner has its time, after
which the kernel ends it; the place in which the session was is used again when it is empty.
"""

import os
import signal

import guard
from removal import remove_tree

# One cleaner's time. Code can make files about as fast as they go, for as long as it may run.
CLEANER_SECONDS = 30
# The kernel ends a cleaner that does not look at its clock.
WATCHDOG_SECONDS = CLEANER_SECONDS + 5


class Cleaners:
    def __init__(self, config):
        self.folder = os.path.join(config["scratch"], "sessions")
        self.owns_users = config["ownsUsers"]
        # Running cleaners by process: (session that they clean up after, end to report then).
        self.running = {}
        # Sessions that are over, whose files are not gone yet.
        self.left = []

    def start(self, session, end, others=()):
        """Has a process end and remove what the session left, and the names `others` beside it.

        False where the kernel refuses one.
        """
        try:
            pid = os.fork()
        except OSError:
            return False
        if pid != 0:
            self.running[pid] = (session, end)
            return True
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(WATCHDOG_SECONDS)
            if session.uid is not None:
                self._end_processes(session.uid)
            for path in (session.scratch, *(os.path.join(self.folder, name) for name in others)):
                remove_tree(path, CLEANER_SECONDS)
        finally:
            os._exit(0)

    def _end_processes(self, uid):
        """Everything of this user, in one call of the kernel's that no fork gets around."""
        if not self.owns_users:
            return
        pid = os.fork()
        if pid == 0:
            try:
                guard.drop_to(uid)
                os.kill(-1, signal.SIGKILL)  # all but this process
            finally:
                os._exit(0)
        os.waitpid(pid, 0)

    def is_clean(self, session):
        """Whether its directory is gone, or could be removed because it was empty."""
        try:
            os.rmdir(session.scratch)
        except OSError:
            return False
        return True

    def strangers(self, known):
        """Names beside the directories of the `known` sessions: one that was renamed."""
        own = {os.path.basename(session.scratch) for session in known}
        try:
            return [name for name in os.listdir(self.folder) if name not in own]
        except OSError:
            return []
