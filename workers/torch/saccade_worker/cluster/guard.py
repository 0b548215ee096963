"""Runs one command and ends it with whoever started it, however that ends.

    python guard.py GRACE_SECONDS PID_FD -- COMMAND…

It needs nothing but the standard library, and starts as fast as Python does. Standard input is a
pipe that its owner never writes to: when the owner is gone, killed even, the pipe closes, and the
command gets SIGTERM, then SIGKILL. The number of the command's process is written to PID_FD.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    """Runs the command; its exit code, or 128 and the signal that ended it."""
    grace, pid_fd, dashes, *command = arguments
    assert dashes == "--" and command
    # Looked up before the fork: between fork and exec nothing may be imported.
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def die_with_me() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_me)
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}.", flush=True)
        return 127
    os.write(int(pid_fd), f"{child.pid}\n".encode())
    os.close(int(pid_fd))
    ending = threading.Lock()

    def end(*_: object) -> None:
        if ending.acquire(blocking=False):
            threading.Thread(target=_end, args=(child, float(grace)), daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)

    def watch_owner() -> None:
        while os.read(0, 4096):
            pass
        end()

    threading.Thread(target=watch_owner, daemon=True).start()
    code = child.wait()
    # Children that it left in this group go with it; they have its terminal and its log.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgid(0), signal.SIGTERM)
    return code if code >= 0 else 128 - code


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    child.terminate()
    until = time.monotonic() + grace
    while child.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    if child.poll() is None:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
