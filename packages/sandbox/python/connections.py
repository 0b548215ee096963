"""The channel of a guest that its host connects to: one connection after the other.

A connection does not survive that the machine is saved and copied; the socket that listens does. So each
copy gets a connection of its own, which starts with a line from the host (JSON: `seconds` since 1970 and
`entropy` in hexadecimal) and the answer to it: `{"ready": true}`, or `{"error": …}`.
"""

import json
import socket
import threading

from renewal import renew

HOST = 2  # the host's address (CID), as seen from a guest
GREETING_SECONDS = 10
GREETING_BYTES = 4096


class Connections:
    def __init__(self, listener):
        self.listener = listener
        self.connection = None
        self.is_there = threading.Condition()
        # Whatever was saved, was saved after the server had said its first words.
        self.was_ready = False

    def take(self, size):
        """The next message of the host; waits for a host as long as it takes."""
        while True:
            connection = self.connection or self.accept()
            try:
                chunk = connection.recv(size)
            except OSError:  # the machine was saved meanwhile
                chunk = b""
            if chunk:
                return chunk
            self.drop(connection)

    def give(self, chunk):
        with self.is_there:
            self.is_there.wait_for(lambda: self.connection is not None)
            connection = self.connection
        self.was_ready = True
        try:
            connection.sendall(chunk)
        except OSError:  # noticed where it is read, too
            self.drop(connection)

    def accept(self):
        while True:
            connection, address = self.listener.accept()
            if self.listener.family == socket.AF_UNIX or address[0] == HOST:
                if self.greet(connection):
                    with self.is_there:
                        self.connection = connection
                        self.is_there.notify_all()
                    return connection
            connection.close()

    def greet(self, connection):
        """False where the host went away, said something else, or this copy cannot be renewed."""
        try:
            connection.settimeout(GREETING_SECONDS)
            greeting = json.loads(read_line(connection))
            seconds, entropy = float(greeting["seconds"]), bytes.fromhex(greeting["entropy"])
            if self.was_ready:
                renew(seconds, entropy)
            connection.sendall(b'{"ready": true}\n')
            connection.settimeout(None)
            return True
        except (OSError, ValueError, KeyError, TypeError) as error:
            try:
                connection.sendall(json.dumps({"error": f"{error!r}"}).encode() + b"\n")
            except OSError:
                pass
            return False

    def drop(self, connection):
        with self.is_there:
            if self.connection is connection:
                self.connection = None
        connection.close()


def read_line(connection):
    """One byte at a time, since what follows is not ours; the line is short and comes once."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) >= GREETING_BYTES:
            raise ValueError("the greeting ended early" if not byte else "the greeting is too long")
        line += byte
    return line
