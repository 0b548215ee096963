"""Has the sessions' processes made and watches them: replies, deadlines, ends, leftovers.

What a session writes is code's word. `session_link` decides what of it is the reply that is due; that
goes on to Node as it is, and nothing else a session writes has any effect but its end.
"""

import os
import time

import wire
from cleaning import Cleaners
from confinement import ENDING_SIGNALS
from control_groups import MemoryGroups
from nursery_link import NurseryEnded
from processes import (
    Session,
    children,
    ended_child,
    kill_group,
    kill_tree,
    session_directory,
)
from removal import remove_tree
from session_link import SessionLink
from session_wire import DIED, RESULT, BrokenReply

OPEN_SECONDS = 20.0
SWEEP_SECONDS = 0.02
# A session that rolls back keeps its own time; it is ended where it does not.
HOLDER_SECONDS = 3.0


class Supervisor:
    """`node` is the channel to Node."""

    def __init__(self, config, nursery, inputs, selector, node):
        self.config = config
        self.nursery = nursery
        self.inputs = inputs
        report = nursery.ready["report"]
        self.has_namespaces = report["hasNamespaces"]
        self.groups = MemoryGroups(config)  # the nursery puts processes into them; here they are watched
        if not report["limitsMemory"]:
            self.groups.give_up(report["memoryObstacle"])
        self.selector = selector
        self.node = node
        self.sessions = {}
        self.by_pid = {}
        self.cleaners = Cleaners(config)
        self.deadlines = {}
        self.free_slots = list(range(config["maxSessions"] - 1, -1, -1))
        self.sweep_at = None

    def tell(self, header):
        """Speaks to Node for the server."""
        self.node.push(wire.encode(0, header))

    # --- start ---

    def open(self, number, header):
        """Has a process made, or says why there is none."""
        if self.cleaners.left and not self.cleaners.running:
            self.clean_up(self.cleaners.left.pop(), None)
        if not self.free_slots:
            self.refuse(number, "all session slots are taken")
            return
        slot = self.free_slots.pop()
        base = self.config["uidBase"]
        uid = None if base is None else base + slot
        place = session_directory(self.config, number, self.has_namespaces)
        session = Session(number, slot, uid, place, header["mode"])
        try:
            images = self.inputs.of("image", header["images"])
            videos = self.inputs.of("video", header["videos"])
            session.link = SessionLink()
            self.make_directory(session)
            session.group = self.groups.of(slot)
            given = (*session.link.given, *images, *videos)
            session.pid = self.nursery.open(slot, number, len(videos), given)
        except OSError as error:
            if session.link is not None:
                session.link.close()
            self.free_slots.append(slot)
            if not self.has_namespaces:
                self.cleaners.is_clean(session)
            self.refuse(number, str(error))
            return
        session.link.close_theirs()
        self.sessions[number] = session
        self.by_pid[session.pid] = session
        self.deadlines[number] = time.monotonic() + OPEN_SECONDS
        session.link.start({
            "mode": session.mode,
            "repairs": header["repairs"],
            "capture": header["capture"],
            "images": [entry["name"] for entry in header["images"]],
            "videos": [entry["name"] for entry in header["videos"]],
        })
        session.link.watch(self.selector, session)

    def make_directory(self, session):
        if self.has_namespaces:
            return  # it mounts its own
        os.mkdir(session.scratch, 0o700)
        if session.uid is not None:
            os.chown(session.scratch, session.uid, session.uid)

    def refuse(self, number, message):
        self.tell({"type": "refused", "session": number, "message": message})

    # --- life ---

    def execute(self, number, code):
        session = self.sessions.get(number)
        if session is None or session.cause is not None:
            return
        kinds = (RESULT,) if session.mode == "persistent" else (RESULT, DIED)
        if not session.link.execute(code, kinds):
            self.kill(session, "protocol", "running on after its last reply")
            return
        seconds = self.config["limits"]["wallSeconds"]
        if session.mode != "persistent":
            seconds += HOLDER_SECONDS
        self.deadlines[number] = time.monotonic() + seconds

    def serve(self, session):
        """There is something to read from it, or room to write to it."""
        session.link.outbox.flush()
        session.link.update_events()
        if session.link.is_watched and not self.read(session):
            session.link.unwatch()
            self.kill(session, "exit")  # it closed its pipe: nothing more can come of it

    def read(self, session):
        """Forwards the session's reply if it is there; False when there will be none."""
        if session.cause is not None:
            return False  # too late, whatever it says
        try:
            is_open, reply = session.link.read()
        except BrokenReply as error:
            self.kill(session, "protocol", str(error))
            return False
        if reply is not None:
            self.forward(session, *reply)
        return is_open

    def forward(self, session, record, size):
        """The reply that was due, to Node. Only this ends its time."""
        self.deadlines.pop(session.number, None)
        if self.was_hit(session):  # before what ended by it
            self.tell({"type": "memory", "session": session.number})
        self.node.push(wire.PREFIX.pack(len(record) + size, session.number, len(record)) + record)
        self.node.push_memory(session.link.memory, size)

    @staticmethod
    def was_hit(session):
        """Whether the kernel ended one of its processes for its memory since this was last asked."""
        return session.group is not None and session.group.was_hit()

    def close(self, number):
        session = self.sessions.get(number)
        if session is not None:
            self.kill(session, "close")

    def kill(self, session, cause, reason=""):
        if session.cause is None:
            session.cause, session.reason = cause, reason
        self.deadlines.pop(session.number, None)
        if session.pid in self.by_pid:
            kill_tree(session.pid)

    def seconds_to_deadline(self):
        times = list(self.deadlines.values())
        if self.sweep_at is not None:
            times.append(self.sweep_at)
        return max(0.0, min(times) - time.monotonic()) if times else None

    def enforce_deadlines(self):
        now = time.monotonic()
        for number in [number for number, time_ in self.deadlines.items() if time_ <= now]:
            session = self.sessions[number]
            # A result that only waited for us is no timeout.
            if session.link.is_watched and self.read(session) and number not in self.deadlines:
                continue
            self.kill(session, "timeout")
        if self.sweep_at is not None and self.sweep_at <= now:
            self.sweep()

    # --- end ---

    def reap(self):
        while (pid := ended_child()) is not None:
            if pid in self.by_pid:
                kill_group(pid)  # before it is waited for, so that its number is still its own
            _, status, usage = os.wait4(pid, 0)
            if pid in self.by_pid:
                self.finish(self.by_pid.pop(pid), status, usage)
            elif pid == self.nursery.pid:
                raise NurseryEnded("the nursery's process ended")
            elif pid in self.cleaners.running:
                self.end_cleaning(*self.cleaners.running.pop(pid))

    def finish(self, session, status, usage):
        if session.link.is_watched and session.link.reader.is_due:
            self.read(session)  # what it wrote before it ended counts
        session.link.close()
        self.deadlines.pop(session.number, None)
        if self.has_namespaces:
            # Its processes and its files ended with it.
            self.report_end(session, status, usage)
            return
        is_swept = self.sweep()
        if self.cleaners.is_clean(session) and is_swept:
            self.report_end(session, status, usage)
        else:
            self.clean_up(session, (status, usage))

    def clean_up(self, session, end):
        """Ends what it left running and removes its files, also where it gave its directory another name."""
        is_there = os.path.isdir(session.scratch) and not os.path.islink(session.scratch)
        others = () if is_there else self.strangers()
        if not self.cleaners.start(session, end, others):
            self.end_cleaning(session, end)

    def strangers(self):
        return self.cleaners.strangers([*self.sessions.values(), *self.cleaners.left])

    def end_cleaning(self, session, end):
        """Its place is free again when its files are gone; until then each start of a session has one more try."""
        is_clean = self.cleaners.is_clean(session) or not os.path.lexists(session.scratch)
        if end is not None:
            self.report_end(session, *end, frees_slot=is_clean)
        elif is_clean:
            self.free_slots.append(session.slot)
        if not is_clean:
            self.cleaners.left.append(session)

    def report_end(self, session, status, usage, frees_slot=True):
        if self.was_hit(session) and session.cause != "protocol":
            session.cause = "memory"
        del self.sessions[session.number]
        if frees_slot:
            self.free_slots.append(session.slot)
        self.tell({
            "type": "ended",
            "session": session.number,
            "cause": session.cause or "exit",
            "reason": session.reason,
            **self.end_of(status),
            "cpuMs": (usage.ru_utime + usage.ru_stime) * 1000,
            "maxRssKb": usage.ru_maxrss,
        })

    def end_of(self, status):
        """Process 1 of a namespace reports the signal that ended it as its status."""
        code = os.waitstatus_to_exitcode(status)
        if self.has_namespaces and code in ENDING_SIGNALS:
            code = -code
        return {"signal": max(0, -code), "exitCode": max(0, code)}

    def sweep(self):
        """Ends processes whose session is gone: as subreaper we are their parent now."""
        self.sweep_at = None
        known = self.by_pid.keys() | self.cleaners.running.keys() | {self.nursery.pid}
        strangers = [pid for pid in children() if pid not in known]
        for pid in strangers:
            kill_tree(pid)
        if strangers:
            self.sweep_at = time.monotonic() + SWEEP_SECONDS
        return not strangers

    def shut_down(self):
        """Leaves no process and no file, in about two seconds; what takes longer, Node has removed."""
        give_up = time.monotonic() + 1
        while time.monotonic() < give_up:
            for pid in {*self.by_pid, *children()}:
                kill_tree(pid)
            try:
                while os.wait4(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                break
            time.sleep(0.005)
        remove_tree(self.config["scratch"], 1)
