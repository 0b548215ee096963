"""Shares: each session as a whole gets as much processor time and disk as any other, however many processes.

Groups that have the same weight, which is what the kernel gives new ones. In version 2 of its interface
they are the groups that limit memory; in version 1 each controller has folders of its own.
"""

import os

from examination import user

# Files that a session must not be able to write.
WEIGHTS = ("cpu.shares", "cpu.weight", "blkio.bfq.weight", "blkio.weight", "io.weight", "tasks")


class ShareGroups:
    """Groups of all slots, by controller; `obstacles` say why there are none."""

    def __init__(self, config, memory):
        places = config["shareGroups"]
        self.folders = {name: place["folder"] for name, place in places.items() if "folder" in place}
        self.obstacles = {name: place["obstacle"] for name, place in places.items() if "obstacle" in place}
        # Those whose groups are the ones of memory.
        self.together = [name for name, place in places.items() if place.get("withMemory")]
        if memory.folder is None:
            for name in self.together:
                self.obstacles[name] = memory.obstacle
            self.together = []
        self.places = {}

    def of(self, slot):
        """Where a new session's process is to enter: descriptors of files that take its number."""
        if not self.folders:
            return ()
        found = self.places.get(slot)
        if found is None:
            found = self.places[slot] = [self.make(folder, f"s{slot}") for folder in self.folders.values()]
        return found

    @staticmethod
    def make(folder, name):
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        return os.open(os.path.join(path, "tasks"), os.O_WRONLY)

    def examine(self, config, confinement, process_limit):
        """The part of the report on shares; groups that sessions could change are given up."""
        for name in list(self.folders):
            try:
                obstacle = self._try(self.folders[name], config, confinement, process_limit)
            except OSError as error:
                obstacle = str(error)
            if obstacle is not None:
                del self.folders[name]
                self.obstacles[name] = f"Control groups share nothing here: {obstacle}."
        shared = {*self.folders, *self.together}
        report = {"sharesCpu": "cpu" in shared, "sharesIo": "io" in shared}
        if self.obstacles:
            report["sharesObstacles"] = self.obstacles
        return report

    def _try(self, folder, config, confinement, process_limit):
        place = self.make(folder, "examined")
        hold_in, hold = os.pipe()
        answer, answer_out = os.pipe()
        server, uid = os.getpid(), user(config, 0)
        pid = confinement.fork(uid, shares=(place,))
        if pid == 0:
            verdict = b"?"
            try:
                os.close(hold)
                confinement.enter(uid, os.path.join(config["scratch"], "sessions"), process_limit, server)
                verdict = b"1" if opens_any(os.path.join(folder, "examined")) else b"0"
            finally:
                os.write(answer_out, verdict)
                os.read(hold_in, 1)
                os._exit(0)
        for number in (hold_in, answer_out):
            os.close(number)
        try:
            verdict = os.read(answer, 1)
            with open(os.path.join(folder, "examined", "tasks")) as file:
                is_inside = str(pid) in file.read().split()
        finally:
            os.close(hold)
            os.close(answer)
            os.close(place)
            os.waitpid(pid, 0)
            os.rmdir(os.path.join(folder, "examined"))
        if verdict != b"0":
            return "code can change its own share" if verdict == b"1" else "a session does not start"
        return None if is_inside else "a session is not in its group"


def opens_any(folder):
    for name in WEIGHTS:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            return True
        except OSError:
            pass
    return False
