"""Executions that leave no trace unless they succeed: each runs in a fork of the session.

The session's process, the holder, forks and waits. After a success the child goes on as the holder
and the parent leaves; after a failure, a timeout or a crash the child is gone, and the parent goes on
with variables, figures and random state as they were. The first holder never leaves: in its
namespace it is process 1, and outside it is the one the server watches.
"""

import os
import random
import select
import signal
import sys
import time

import guard
from session_wire import DIED, RESULT
from snapshot import Snapshot, go_back, places

COMMITTED, FAILED = b"c", b"f"

# Before any submitted code: its patches of `random` are not to stop us.
random_state, set_random_state = random.getstate, random.setstate


class Transactions:
    """`keeps_success` is False where every execution starts from the session's beginning."""

    def __init__(self, worker, keeps_success):
        self.worker = worker
        self.keeps_success = keeps_success
        self.limits = worker.limits
        self.snapshot = Snapshot(os.getcwd(), self.limits["diskBytes"])
        self.snapshot.take()
        self.is_first = True
        adopts = guard.prctl(guard.PR_SET_CHILD_SUBREAPER, 1)
        # Where the first process does not become the parent of the later ones, it waits for their
        # last descriptor of this pipe (gVisor before 2023, macOS).
        self.lifeline = None if adopts else os.pipe()

    def serve(self):
        while (request := self.worker.link.next()) is not None:
            self.run(request[1].decode())
        os._exit(0)

    def run(self, code):
        """In the process that holds the session when it is over, this returns."""
        stands = places(self.limits["openFiles"])
        started, used = time.monotonic(), self.worker.cpu_ms()
        verdict_in, verdict_out = os.pipe()
        state = random_state()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(verdict_in)
            os.close(verdict_out)
            self.tell_death("fork", 0, 0, 0, str(error))
            return
        if pid == 0:
            os.close(verdict_in)
            set_random_state(state)  # `random` seeds itself anew in every fork
            self.attempt(code, verdict_out, used)
            return
        os.close(verdict_out)
        verdict = self.wait_for(pid, verdict_in)
        os.close(verdict_in)
        if verdict == COMMITTED:
            self.leave()
        self.end_all_of(pid, is_late=verdict is None)
        _, status, usage = os.wait4(pid, 0)
        go_back(stands)
        self.snapshot.restore()
        if verdict != FAILED:
            cause = "timeout" if verdict is None else "exit"
            wall = (time.monotonic() - started) * 1000
            self.tell_death(cause, status, wall, usage.ru_maxrss)

    def attempt(self, code, verdict, used):
        """In the child; returns if it is the session from now on."""
        os.setpgid(0, 0)
        worker = self.worker
        worker.confinement.leave_first()
        guard.prctl(guard.PR_SET_PDEATHSIG, signal.SIGKILL)
        worker.cpu_before = used
        result = worker.execute(code)
        is_kept = self.keeps_success and result["kind"] == "ok"
        if is_kept:
            try:
                self.snapshot.take()
            except (OSError, MemoryError) as error:
                is_kept = False
                result["kind"] = "exception"
                result["error"] = {
                    "type": type(error).__name__,
                    "message": str(error),
                    "traceback": f"{type(error).__name__}: {error}\n",
                }
        if not is_kept:
            result["rolledBack"] = True
            os.write(verdict, FAILED)
            worker.link.reply(RESULT, result, worker.capture.blobs)
            os._exit(0)
        # The parent's end is no longer ours.
        guard.prctl(guard.PR_SET_PDEATHSIG, 0)
        self.is_first = False
        os.write(verdict, COMMITTED)
        os.close(verdict)
        worker.link.reply(RESULT, result, worker.capture.blobs)

    def wait_for(self, pid, verdict):
        """The child's message; empty if it ended without one, None if none came in time."""
        watched = [verdict]
        try:
            watched.append(os.pidfd_open(pid))
        except (AttributeError, OSError):
            pass  # not every kernel has it (gVisor's): the end of the pipe tells as well
        try:
            ready = select.select(watched, [], [], self.limits["wallSeconds"])[0]
            if verdict in ready or self.has_word(verdict):
                return os.read(verdict, 1)
            return b"" if ready else None
        finally:
            for number in watched[1:]:
                os.close(number)

    @staticmethod
    def has_word(verdict):
        return bool(select.select([verdict], [], [], 0)[0])

    def end_all_of(self, pid, is_late):
        """Ends everything that the execution started, and the child itself once it has sent its result."""
        if is_late:
            os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        try:
            if self.worker.confinement.has_namespaces:
                os.kill(-1, signal.SIGKILL)  # all in the namespace but its first process and this
            else:
                os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass  # there was nobody left

    def leave(self):
        """The child is the session now. The first process waits for the last."""
        if not self.is_first:
            os._exit(0)
        self.worker.link.close()
        sys.stdout = sys.stderr = None
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        if self.lifeline is not None:
            ours, theirs = self.lifeline
            os.close(theirs)
            os.read(ours, 1)
        os._exit(0)

    def tell_death(self, cause, status, wall_ms, max_rss_kb, message=""):
        self.worker.link.reply(DIED, {
            "cause": cause,
            "message": message,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            "exitCode": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
            "wallMs": wall_ms,
            "cpuMs": self.worker.cpu_ms(),
            "maxRssKb": max_rss_kb,
        })
