"""The supervisor's orders to the nursery: numbers, and descriptors beside them. Never a tenant's data.

An order is the slot, the number of the session, and how many of the last descriptors are videos.
"""

import socket
import struct

ORDER = struct.Struct("<iII")
# In place of a slot: there will be videos.
PREPARE_VIDEOS = -1
# Descriptors of a session's link: requests, replies and their memory; its inputs come after.
LINK_DESCRIPTORS = 3
# The most descriptors that go with one piece of data; an order has twelve bytes.
MOST_DESCRIPTORS = 200


def send_order(sock, slot, number=0, video_count=0, descriptors=()):
    """Raises OSError."""
    data = ORDER.pack(slot, number, video_count)
    while len(descriptors) > MOST_DESCRIPTORS and len(data) > 1:
        socket.send_fds(sock, [data[:1]], descriptors[:MOST_DESCRIPTORS])
        data, descriptors = data[1:], descriptors[MOST_DESCRIPTORS:]
    socket.send_fds(sock, [data], descriptors)


def take_order(sock):
    """(slot, number of the session, how many videos, descriptors), or None at the end."""
    data, descriptors = b"", []
    room = socket.CMSG_SPACE(4 * MOST_DESCRIPTORS)
    while len(data) < ORDER.size:
        chunk, extras, _, _ = sock.recvmsg(ORDER.size - len(data), room)
        for _, _, numbers in extras:
            descriptors.extend(number for (number,) in struct.iter_unpack("=i", numbers))
        if not chunk:
            return None
        data += chunk
    return *ORDER.unpack(data), descriptors
