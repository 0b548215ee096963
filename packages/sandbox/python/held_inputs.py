"""Encoded images and videos that the server holds for its sessions, as memory that nobody can change.

Only the supervisor's process has their bytes, and it never looks into them. A session gets the
descriptors of its own, and decodes behind its walls. The process that forks passes the descriptors
on and reads nothing, so that no session begins with a copy of what another one was given.
"""

import os

import shared_memory


class HeldInputs:
    def __init__(self):
        self.descriptors = {}
        self.failures = {}

    def hold(self, kind, key, data):
        try:
            self.descriptors[kind, key] = shared_memory.create_constant(kind, data)
        except OSError as error:
            self.failures[kind, key] = str(error)

    def drop(self, kind, key):
        """Sessions that have it keep it."""
        self.failures.pop((kind, key), None)
        number = self.descriptors.pop((kind, key), None)
        if number is not None:
            os.close(number)

    def of(self, kind, entries):
        """The descriptors of what an `open` names. Raises OSError for what is not held."""
        found = []
        for entry in entries:
            number = self.descriptors.get((kind, entry["id"]))
            if number is None:
                reason = self.failures.get((kind, entry["id"]), "it is not held")
                raise OSError(f"the {kind} {entry['name']} cannot be given: {reason}")
            found.append(number)
        return found
