"""The server: loads the libraries once, then has one process forked per session on Node's orders.

It speaks frames (wire.py) with Node on the socket whose number is its argument and ends when that
socket does. This process watches; its child, the nursery, has the libraries and forks. Neither runs
submitted code.
"""

import os
import resource
import selectors
import signal
import socket
import sys

import guard
import wire
from channel import Channel
from held_inputs import HeldInputs
from nursery_link import start_nursery
from processes import reserve
from supervisor import Supervisor

# Results wait in the sessions, not here, while Node does not read.
MAX_PENDING_BYTES = 32 * 1024 * 1024


class Server:
    def __init__(self, sock, config, nursery):
        self.node = Channel(sock)
        self.nursery = nursery
        self.selector = selectors.DefaultSelector()
        # While Node does not read, only Node, the ends of children and the clock are listened to.
        self.narrow = selectors.DefaultSelector()
        self.wake_in, self.wake_out = socket.socketpair()
        self.wake_in.setblocking(False)
        self.wake_out.setblocking(False)
        signal.set_wakeup_fd(self.wake_out.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.node_events = selectors.EVENT_READ
        for selector in (self.selector, self.narrow):
            selector.register(sock, self.node_events, self.node)
            selector.register(self.wake_in, selectors.EVENT_READ, self.wake_in)
        self.inputs = HeldInputs()
        self.supervisor = Supervisor(config, nursery, self.inputs, self.selector, self.node)

    def tell(self, header):
        self.node.push(wire.encode(0, header))

    def serve(self):
        """Runs until Node hangs up; raises NurseryEnded if the nursery does."""
        supervisor = self.supervisor
        while True:
            crowded = self.node.pending > MAX_PENDING_BYTES
            selector = self.narrow if crowded else self.selector
            for key, events in selector.select(supervisor.seconds_to_deadline()):
                if key.data is self.wake_in:
                    self.drain_wakeups()
                elif key.data is not self.node:
                    supervisor.serve(key.data)
                elif events & selectors.EVENT_READ:
                    if not self.node.fill():
                        return
                    while (frame := self.node.buffer.take()) is not None:
                        self.obey(*frame)
            supervisor.reap()
            supervisor.enforce_deadlines()
            self.node.flush()
            self.update_node_events()

    def update_node_events(self):
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.node.queue else 0)
        if wanted != self.node_events:
            self.node_events = wanted
            for selector in (self.selector, self.narrow):
                selector.modify(self.node.sock, wanted, self.node)

    def drain_wakeups(self):
        try:
            while self.wake_in.recv(4096):
                pass
        except BlockingIOError:
            pass

    def obey(self, number, header_length, body):
        """Does what a frame of Node's says."""
        header, blobs = wire.decode(body, header_length)
        kind = header["type"]
        if kind == "execute":
            self.supervisor.execute(number, blobs[0])
        elif kind == "open":
            self.supervisor.open(number, header)
        elif kind == "close":
            self.supervisor.close(number)
        elif kind == "ping":
            self.tell({"type": "pong", "id": header["id"]})
        elif kind == "hold":
            if header["kind"] == "video":
                self.nursery.prepare_videos()
            self.inputs.hold(header["kind"], header["id"], blobs[0])
        elif kind == "drop":
            self.inputs.drop(header["kind"], header["id"])


def main():
    os.umask(0o022)
    try:
        os.setsid()  # Ctrl-C in the terminal is Node's to handle
    except OSError:
        pass
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    sock = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(sock.fileno(), False)
    reserve()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    frame = wire.read_blocking(sock, wire.FrameBuffer())
    if frame is None:
        return
    config, _ = wire.decode(frame[2], frame[1])
    os.makedirs(config["scratch"], mode=0o711, exist_ok=True)
    guard.protect_server()
    if config["uidBase"] is not None:
        os.setgroups([])
    nursery = start_nursery(config)
    server = Server(sock, config, nursery)
    server.tell(nursery.ready)
    try:
        server.serve()
    finally:
        server.supervisor.shut_down()


main()
