"""The first process in a kernel of its own: starts the server and carries bytes between it and Node.

`bridge.py CHANNEL COMMAND…`: CHANNEL is the number of an open descriptor, the path of a device, or
`listener:` and the number of a socket that Node connects to. The command gets one end of a socket as
descriptor 3. Both directions wait in calls that block: these go on after the machine around them was
saved and started again, where gVisor's `epoll` stays silent.
"""

import os
import signal
import socket
import sys
import threading

from connections import Connections
from renewal import renew

SERVER_FD = 3
CHUNK_BYTES = 1 << 18


def open_channel(name):
    if not name.isdigit():
        return os.open(name, os.O_RDWR | os.O_CLOEXEC)
    channel = os.dup(int(name))
    # Programs that run here must not find the channel as their input.
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, int(name))
    return channel


def start(command, theirs):
    pid = os.fork()
    if pid == 0:
        os.dup2(theirs.fileno(), SERVER_FD, inheritable=True)
        os.execv(command[0], command)
    theirs.close()
    return pid


def carry(take, give, at_end):
    """Until there is nothing more to take, or nobody to give it to."""
    try:
        while chunk := take(CHUNK_BYTES):
            give(chunk)
    except OSError:
        pass
    finally:
        at_end()


def write_all(descriptor, chunk):
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Copy:
    """Renews the machine before the first bytes that come after the server was ready: whatever was
    saved, was saved between the two."""

    def __init__(self, channel):
        self.channel = channel
        self.is_due = False
        self.was_ready = False

    def take(self, size):
        chunk = os.read(self.channel, size)
        if self.is_due:
            self.is_due = False
            renew()
        return chunk

    def give(self, chunk):
        if not self.was_ready:
            self.was_ready = self.is_due = True
        write_all(self.channel, chunk)


def make_channel(name):
    kind, _, number = name.partition(":")
    if kind != "listener":
        return Copy(open_channel(name))
    listener = socket.socket(fileno=int(number))
    listener.set_inheritable(False)
    return Connections(listener)


def main():
    channel = make_channel(sys.argv[1])
    ours, theirs = socket.socketpair()
    server = start(sys.argv[2:], theirs)
    inward = (channel.take, ours.sendall, lambda: ours.shutdown(socket.SHUT_WR))
    outward = (ours.recv, channel.give, lambda: None)
    threads = [threading.Thread(target=carry, args=args, daemon=True) for args in (inward, outward)]
    for thread in threads:
        thread.start()
    # As the first process it is everybody's last parent.
    status = None
    while status is None:
        pid, ended = os.wait()
        status = ended if pid == server else None
    threads[1].join()
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


signal.signal(signal.SIGINT, signal.SIG_IGN)
main()
