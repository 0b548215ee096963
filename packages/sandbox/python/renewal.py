"""Gives a copy of a saved machine randomness and a clock of its own.

All copies of one snapshot have the same state of the kernel's random numbers, and the time at which it
was taken. gVisor takes both from its host, so there is nothing to renew where there is no device.
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


def renew():
    """Raises OSError where a device is there and does not work: no copy is to run without."""
    if os.path.exists(HARDWARE_RANDOM):
        renew_randomness()
    if os.path.exists(HARDWARE_CLOCK):
        renew_clock()


def renew_randomness():
    with open(HARDWARE_RANDOM, "rb", buffering=0) as device:
        entropy = b""
        while len(entropy) < ENTROPY_BYTES:
            entropy += device.read(ENTROPY_BYTES - len(entropy))
    pool = os.open("/dev/urandom", os.O_WRONLY)
    try:
        # Bits of entropy, bytes, and these.
        fcntl.ioctl(pool, ADD_ENTROPY, struct.pack("ii", 8 * len(entropy), len(entropy)) + entropy)
        # Else the generator goes on from the old state until its next turn, minutes later.
        fcntl.ioctl(pool, RESEED)
    finally:
        os.close(pool)


def renew_clock():
    clock = os.open(HARDWARE_CLOCK, os.O_RDONLY)
    try:
        second, minute, hour, day, month, year, *_ = struct.unpack(
            "9i", fcntl.ioctl(clock, READ_CLOCK, bytes(36))
        )
    finally:
        os.close(clock)
    utc = datetime.timezone.utc
    now = datetime.datetime(1900 + year, month + 1, day, hour, minute, second, tzinfo=utc)
    time.clock_settime(time.CLOCK_REALTIME, now.timestamp())
