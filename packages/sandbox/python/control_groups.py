"""Control groups: the memory of all processes of a session, and of its files in memory, as one sum.

Node makes the folder, outside of any isolation, and removes it. Here each slot gets a group in it, when
it is first used: sessions that come after one another share it, so opening one makes no directory.
"""

import os
import re

# Files of a group: the limit, the same with swap, the sum now, and what the kernel had to end.
LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
SWAP_LIMIT = {1: "memory.memsw.limit_in_bytes", 2: "memory.swap.max"}
USAGE = {1: "memory.usage_in_bytes", 2: "memory.current"}
EVENTS = {1: "memory.oom_control", 2: "memory.events"}
KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)


class Group:
    """One group, with a limit in bytes. Raises OSError where the kernel refuses it."""

    def __init__(self, path, version, limit):
        os.makedirs(path, exist_ok=True)
        self.path = path
        self.version = version
        self.set_limit(limit)
        self.events = os.open(os.path.join(path, EVENTS[version]), os.O_RDONLY)
        # Version 1: opened here, because a session's process may not; the kernel asks who opened it.
        # `tasks` takes the caller alone and so waits for nobody: 0.05 ms, `cgroup.procs` 60.
        self.tasks = os.open(os.path.join(path, "tasks"), os.O_WRONLY) if version == 1 else None
        # Version 2 has only `cgroup.procs`: there, `clone` makes the process in the group.
        self.directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if version == 2 else None
        # The last reading, and the number in it: processes that the kernel ended for the limit.
        self.reading, self.kills = b"", 0
        self.was_hit()

    def set_limit(self, size):
        if self.version == 1:
            # The sum with swap is never below the limit without. Kernels without swap lack the file.
            self._write(SWAP_LIMIT, "-1", optional=True)
            self._write(LIMIT, size)
            self._write(SWAP_LIMIT, size, optional=True)
        else:
            self._write(LIMIT, size)
            self._write(SWAP_LIMIT, 0, optional=True)

    def _write(self, files, value, optional=False):
        try:
            with open(os.path.join(self.path, files[self.version]), "w") as file:
                file.write(str(value))
        except FileNotFoundError:
            if not optional:
                raise

    def join(self):
        """In a freshly forked process, before it takes memory of its own."""
        if self.tasks is not None:
            os.write(self.tasks, b"0")

    def usage(self):
        with open(os.path.join(self.path, USAGE[self.version])) as file:
            return int(file.read())

    def was_hit(self):
        """Whether the kernel ended a process for the limit since this was last asked."""
        reading = os.pread(self.events, 512, 0)
        if reading == self.reading:  # asked for every result
            return False
        found = KILLS.search(reading)
        if found is None:
            raise OSError("the kernel does not count what it ends (it does from Linux 4.13)")
        before, self.kills, self.reading = self.kills, int(found[1]), reading
        return self.kills > before

    def remove(self):
        """Where nobody is left in it; Node removes the others."""
        for number in (self.events, self.tasks, self.directory):
            if number is not None:
                os.close(number)
        try:
            os.rmdir(self.path)
        except OSError:
            pass


class MemoryGroups:
    """The groups of all slots; none where `obstacle` says why."""

    def __init__(self, config):
        place = config["memoryGroups"]
        self.folder = place.get("folder")
        self.version = place.get("version")
        self.obstacle = place.get("obstacle")
        self.limit = int(config["limits"]["sessionMemoryBytes"])
        self.groups = {}

    def give_up(self, obstacle):
        """Sessions are limited by process alone from now on."""
        self.folder, self.obstacle = None, obstacle

    def make(self, name, limit):
        return Group(os.path.join(self.folder, name), self.version, limit)

    def of(self, slot):
        """The slot's group, for a new session; None where there are no groups."""
        if self.folder is None:
            return None
        group = self.groups.get(slot)
        if group is None:
            group = self.groups[slot] = self.make(f"s{slot}", self.limit)
        else:
            group.was_hit()  # what the last session did is not this one's
        return group
