"""The guest's first process on a machine of ours: makes the socket that the kernel's would have, notes
what would change the kernel's clock and random numbers instead, and continues as `bridge.py`.

Arguments: path of the socket, file for the notes, `bridge.py`, its arguments (`@` is the socket).
"""

import json
import os
import runpy
import socket
import sys

path, notes, bridge, *arguments = sys.argv[1:]
sys.path.insert(0, os.path.dirname(bridge))

import renewal


def note(kind, value):
    with open(notes, "a") as file:
        file.write(json.dumps([kind, value]) + "\n")


renewal.HARDWARE_RANDOM = renewal.HARDWARE_CLOCK = "/nonexistent"
renewal.add_entropy = lambda entropy: note("entropy", entropy.hex())
renewal.set_clock = lambda seconds: note("seconds", seconds)
if os.path.exists(notes + ".fails"):

    def refuse(seconds):
        raise PermissionError("the clock of the copy cannot be set")

    renewal.set_clock = refuse

listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(path)
listener.listen()
listener.set_inheritable(True)
sys.argv = [bridge] + [f"listener:{listener.detach()}" if a == "@" else a for a in arguments]
runpy.run_path(bridge, run_name="__main__")
