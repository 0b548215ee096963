"""The fork server: loads the libraries once, then forks one process per session on Node's orders.

It speaks frames (wire.py) with Node on the socket whose number is its argument and ends when that
socket does. It never runs submitted code: a forked child returns from `serve` and becomes a worker.
"""

import gc
import io
import os
import resource
import selectors
import signal
import socket
import sys

import guard
import wire
import worker
from channel import Channel
from confinement import Confinement
from examination import examine
from preload import preload
from supervisor import Supervisor
from video_files import VideoFiles

# Results wait in the sessions, not here, while Node does not read.
MAX_PENDING_BYTES = 32 * 1024 * 1024


class Server:
    def __init__(self, sock, config, confinement):
        self.node = Channel(sock)
        self.images = {}
        self.videos = VideoFiles(config["scratch"])
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
        self.supervisor = Supervisor(
            config, confinement, self.selector, self.tell, self.node.push
        )

    def tell(self, header):
        self.node.push(wire.encode(0, header))

    def serve(self):
        """Runs until Node hangs up (then None), or, in a forked child, returns its Start."""
        supervisor = self.supervisor
        while True:
            crowded = self.node.pending > MAX_PENDING_BYTES
            selector = self.narrow if crowded else self.selector
            for key, events in selector.select(supervisor.seconds_to_deadline()):
                if key.data is self.wake_in:
                    self.drain_wakeups()
                elif key.data is not self.node:
                    supervisor.serve(key.data, events)
                elif events & selectors.EVENT_READ:
                    if not self.node.fill():
                        supervisor.shut_down()
                        return None
                    while (frame := self.node.buffer.take()) is not None:
                        start = self.obey(*frame)
                        if start is not None:
                            return start
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
        """Does what a frame of Node's says; a Start in the child that `open` makes."""
        header, blobs = wire.decode(body, header_length)
        kind = header["type"]
        if kind == "execute":
            self.supervisor.execute(number, header_length, body)
        elif kind == "open":
            return self.open(number, header)
        elif kind == "close":
            self.supervisor.close(number)
        elif kind == "image":
            self.load_image(header["id"], blobs[0])
        elif kind == "dropImage":
            self.images.pop(header["id"], None)
        elif kind == "video":
            self.tell(self.videos.add(header["id"], blobs[0]))
        elif kind == "dropVideo":
            self.videos.drop(header["id"])
        elif kind == "ping":
            self.tell({"type": "pong", "id": header["id"]})
        return None

    def open(self, number, header):
        images = []
        for entry in header["images"]:
            image = self.images.get(entry["id"])
            if image is None:
                self.supervisor.refuse(number, f"the picture {entry['name']} could not be read")
                return None
            images.append((entry["name"], image))
        videos = {entry["name"]: self.videos.path(entry["id"]) for entry in header["videos"]}
        start = self.supervisor.open(
            number, images, videos, header["mode"], header["repairs"]
        )
        if start is not None:
            start.capture = header["capture"]
            # The rest of letting go, in the child: other sessions' pictures, Node's socket.
            self.images.clear()
            for sock in (self.node.sock, self.wake_in, self.wake_out):
                sock.detach()
            for selector in (self.selector, self.narrow):
                # Now, while its number is nobody else's: collected later, it would close a file of
                # the code's that has got the same number.
                try:
                    selector.close()
                except OSError:
                    pass
            self.node = self.selector = self.narrow = None
        return start

    def load_image(self, key, encoded):
        """Decodes once what many sessions will share (copy on write)."""
        from PIL import Image

        try:
            image = Image.open(io.BytesIO(encoded))
            image.load()
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            self.tell({"type": "image", "id": key, "bytes": 0, "message": message})
            return
        self.images[key] = image
        size = len(encoded) + image.width * image.height * len(image.getbands())
        self.tell({"type": "image", "id": key, "bytes": size})


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
    frame = wire.read_blocking(sock, wire.FrameBuffer())
    if frame is None:
        return
    config, _ = wire.decode(frame[2], frame[1])
    os.makedirs(config["scratch"], mode=0o711, exist_ok=True)
    guard.protect_server()
    if config["uidBase"] is not None:
        os.setgroups([])
    guard.give_back_blocks(guard.SERVER_BLOCK)
    template, capture, libraries = preload(config)
    confinement = Confinement(config)
    limit = guard.process_limit(config, confinement.has_namespaces)
    report = examine(config, confinement, limit)
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    gc.collect()
    gc.freeze()
    guard.gather_pages()
    server = Server(sock, config, confinement)
    version = sys.version.split()[0]
    server.tell({"type": "ready", "python": version, "libraries": libraries, "report": report})
    start = server.serve()
    if start is not None:
        del server
        worker.run(start, template, capture, confinement)


main()
