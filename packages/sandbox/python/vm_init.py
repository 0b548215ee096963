"""The first process of a micro-VM: loads the kernel's modules, mounts the disk, becomes the server's.

Runs from the archive that the kernel unpacks at its start, with the few modules of Python in there.
Its arguments are the size of the file system for the server's files, in bytes, and, where the channel
is a socket of the guest (virtio-vsock) and no device, the port to listen on.
"""

import ctypes
import json
import os
import socket
import sys
import time

FINIT_MODULE = {"x86_64": 313, "aarch64": 273}
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_MOVE = 1, 2, 4, 8, 8192
ROOT = "/disk"
DEVICE_SECONDS = 20
# Devices that sessions may use, and those that only root may use.
OPEN_DEVICES = ("null", "zero", "full", "random", "urandom")
OWN_DEVICES = ("hwrng", "rtc0")

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def checked(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind, flags=0, options=""):
    os.makedirs(target, exist_ok=True) if target.startswith(("/proc", "/dev")) else None
    texts = (text.encode() for text in (source, target, kind))
    done = libc.mount(*texts, ctypes.c_ulong(flags), options.encode())
    checked(done, f"mounting {target}")


def load(path):
    number = os.open(path, os.O_RDONLY)
    try:
        done = libc.syscall(FINIT_MODULE[os.uname().machine], number, b"", 0)
        if done < 0 and ctypes.get_errno() == 17:  # built into this kernel
            return
        checked(done, f"loading {path}")
    finally:
        os.close(number)


def device(start, end=""):
    """The first device with such a name, once there is one."""
    late = time.monotonic() + DEVICE_SECONDS
    while time.monotonic() < late:
        for name in sorted(os.listdir("/dev")):
            if name.startswith(start) and name.endswith(end):
                return f"/dev/{name}"
        time.sleep(0.01)
    raise FileNotFoundError(f"/dev/{start}*{end} did not appear")


def make_devices(channel):
    """A folder of devices with those alone that somebody needs; `channel` is None for a socket."""
    folder = f"{ROOT}/dev"
    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=65536")
    os.umask(0)
    devices = {f"/dev/{name}": f"/dev/{name}" for name in (*OPEN_DEVICES, *OWN_DEVICES)}
    if channel is not None:
        devices[channel] = device("vport", "p1")
    for name, source in devices.items():
        if os.path.exists(source):
            mode = 0o666 if os.path.basename(name) in OPEN_DEVICES else 0o600
            os.mknod(ROOT + name, 0o020000 | mode, os.stat(source).st_rdev)
    os.umask(0o022)
    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NOEXEC | 32 | MS_RDONLY, "")  # remount


def make_groups(groups):
    """Control groups of memory below `groups`, for the server to make one in for each session."""
    base = os.path.dirname(groups)
    mount("cgroup2", ROOT + base, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.mkdir(ROOT + groups)
    for folder in (base, groups):
        with open(f"{ROOT}{folder}/cgroup.subtree_control", "w") as file:
            file.write("+memory")


def make_folders(boot, scratch_bytes):
    memory = MS_NOSUID | MS_NODEV
    mount("tmpfs", f"{ROOT}/tmp", "tmpfs", memory, "mode=0755,size=65536")
    os.makedirs(ROOT + boot["mountPoint"], mode=0o755)
    os.mkdir(ROOT + boot["scratch"])
    options = f"mode=0711,size={scratch_bytes}"
    mount("tmpfs", ROOT + boot["scratch"], "tmpfs", memory, options)
    mount("tmpfs", f"{ROOT}/tmp", "tmpfs", memory | 32 | MS_RDONLY, "")  # remount


def listen(port):
    """The number of a socket that the next program inherits, and the host can connect to."""
    listener = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    listener.bind((socket.VMADDR_CID_ANY, port))
    listener.listen()
    listener.set_inheritable(True)
    return listener.detach()


def main():
    mount("devtmpfs", "/dev", "devtmpfs")
    with open("/boot.json") as file:
        boot = json.load(file)
    port = int(sys.argv[2]) if len(sys.argv) > 2 else None
    for path in boot["modules"] + (boot["vsockModules"] if port is not None else []):
        load(path)
    mount(device("vda"), ROOT, "erofs", MS_RDONLY | MS_NODEV | MS_NOSUID)
    mount("proc", f"{ROOT}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    make_devices(boot["channel"] if port is None else None)
    make_groups(boot["groups"])
    make_folders(boot, int(sys.argv[1]))
    os.chdir(ROOT)
    texts = (text.encode() for text in (".", "/", ""))
    checked(libc.mount(*texts, ctypes.c_ulong(MS_MOVE), None), "moving the root")
    os.chroot(".")
    os.chdir("/tmp")
    command = boot["command"]
    if port is not None:
        listener = f"listener:{listen(port)}"
        command = [listener if part == boot["channel"] else part for part in command]
    os.execve(command[0], command, boot["environment"])


main()
