"""The supervisor's end of what leads to a session: two one-way pipes, and memory for its replies."""

import os
import selectors

import shared_memory
from channel import Outbox
from session_wire import (
    FAILED,
    MAX_REPLY_BYTES,
    OPENED,
    REFUSED,
    REPLY,
    START,
    ReplyReader,
    encode_request,
)


class SessionLink:
    """Raises OSError where there are no more descriptors."""

    def __init__(self):
        self.is_watched = self.is_writing = False
        self.selector = None
        self.theirs = self.ours = ()
        ours, theirs = [], []
        try:
            taken, given = os.pipe()
            ours.append(given)
            theirs.append(taken)
            taken, given = os.pipe()
            ours.append(taken)
            theirs.append(given)
            ours.append(shared_memory.create("reply", MAX_REPLY_BYTES))
        except OSError:
            close_all((*ours, *theirs))
            raise
        self.requests, self.replies, self.memory = self.ours = ours
        self.theirs = theirs
        os.set_blocking(self.requests, False)
        os.set_blocking(self.replies, False)
        self.outbox = Outbox(lambda data: os.write(self.requests, data))
        self.reader = ReplyReader()
        # Number of the last request.
        self.number = START

    @property
    def given(self):
        """The descriptors that the session's process needs, in order."""
        return (*self.theirs, self.memory)

    def close_theirs(self):
        close_all(self.theirs)
        self.theirs = ()

    def close(self):
        self.unwatch()
        self.outbox.clear()
        close_all((*self.theirs, *self.ours))
        self.theirs = self.ours = ()

    # --- requests ---

    def start(self, header):
        self.reader.expect(START, (OPENED, FAILED, REFUSED))
        self.outbox.push(encode_request(START, header))

    def execute(self, code, kinds):
        """False where a reply is still due."""
        if self.reader.is_due:
            return False
        self.number += 1
        self.reader.expect(self.number, kinds)
        self.outbox.push(encode_request(self.number, None, code))
        self.update_events()
        return True

    # --- replies ---

    def read(self):
        """
        (whether there may be more, the reply). A reply is the record, and how many bytes in the
        session's memory it describes; None while there is no whole one. Raises BrokenReply.
        """
        try:
            # One byte more than is ever due, to see that there are more.
            data = os.read(self.replies, REPLY.size + 1)
        except (BlockingIOError, InterruptedError):
            return True, None
        except OSError:
            return False, None
        if not data:
            return False, None
        return True, self.reader.take(data)

    # --- events ---

    def watch(self, selector, data):
        """Whoever calls `select` gets `data` where there is something to do."""
        self.selector, self.data = selector, data
        selector.register(self.replies, selectors.EVENT_READ, data)
        self.is_watched = True
        self.update_events()

    def update_events(self):
        if not self.is_watched or self.is_writing == bool(self.outbox.queue):
            return
        self.is_writing = not self.is_writing
        if self.is_writing:
            self.selector.register(self.requests, selectors.EVENT_WRITE, self.data)
        else:
            self.selector.unregister(self.requests)

    def unwatch(self):
        if self.is_watched:
            self.selector.unregister(self.replies)
            if self.is_writing:
                self.selector.unregister(self.requests)
        self.is_watched = self.is_writing = False


def close_all(numbers):
    for number in numbers:
        os.close(number)
