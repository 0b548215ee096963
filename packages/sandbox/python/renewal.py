"""Gives a copy of a saved machine randomness and a clock of its own.

All copies of one snapshot have the same state of the kernel's random numbers, and the time at which it
was taken. gVisor takes both from its host, so there is nothing to renew where there is no device.
A host that connects to the guest sends both along.
"""

import datetime
import fcntl
import os
import struct
import time

HARDWARE_RANDOM, HARDWARE_CLOCK = "/dev/hwrng", "/dev/rtc0"
# From Linux's `random.h` and `rtc.h`.
ADD_ENTROPY, RESEED, READ_CLOCK = 0x4008_5203, 0x5207, 0x8024_7009
ENTROPY_BYTES = 64
# The kernel fetches bytes of the device in advance, 64 in its driver and 64 above it. Those are part of
# the snapshot, and the same in all its copies: as many and more are passed over.
STALE_BYTES = 256


def renew(seconds=None, entropy=b""):
    """`seconds` since 1970 and `entropy` are what the host sent; without, the devices give them.
    Raises OSError where a device is there and does not work: no copy is to run without."""
    if os.path.exists(HARDWARE_RANDOM):
        entropy += read_hardware_random()
    if entropy:
        add_entropy(entropy)
    if seconds is None and os.path.exists(HARDWARE_CLOCK):
        seconds = read_hardware_clock()
    if seconds is not None:
        set_clock(seconds)


def read_hardware_random():
    with open(HARDWARE_RANDOM, "rb", buffering=0) as device:
        found = b""
        while len(found) < STALE_BYTES + ENTROPY_BYTES:
            found += device.read(STALE_BYTES + ENTROPY_BYTES - len(found))
    return found[STALE_BYTES:]


def add_entropy(entropy):
    pool = os.open("/dev/urandom", os.O_WRONLY)
    try:
        # Bits of entropy, bytes, and these.
        fcntl.ioctl(pool, ADD_ENTROPY, struct.pack("ii", 8 * len(entropy), len(entropy)) + entropy)
        # Else the generator goes on from the old state until its next turn, minutes later.
        fcntl.ioctl(pool, RESEED)
    finally:
        os.close(pool)


def read_hardware_clock():
    clock = os.open(HARDWARE_CLOCK, os.O_RDONLY)
    try:
        second, minute, hour, day, month, year, *_ = struct.unpack(
            "9i", fcntl.ioctl(clock, READ_CLOCK, bytes(36))
        )
    finally:
        os.close(clock)
    utc = datetime.timezone.utc
    now = datetime.datetime(1900 + year, month + 1, day, hour, minute, second, tzinfo=utc)
    return now.timestamp()


def set_clock(seconds):
    time.clock_settime(time.CLOCK_REALTIME, seconds)
