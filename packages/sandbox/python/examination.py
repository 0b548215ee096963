"""Tries, as a session would, to reach what it must not; the results say what is isolated."""

import ctypes
import encodings.idna  # noqa: F401  (connecting loads it, when its file may be out of reach)
import json
import os
import signal
import socket
import stat
import time

import guard
from processes import session_directory

NEWUSER = 0x1000_0000
UNSHARE = {"x86_64": 272, "aarch64": 97}
IO_URING_SETUP = 425
PERSONALITY = {"x86_64": 135, "aarch64": 92}
PRLIMIT64 = {"x86_64": 302, "aarch64": 261}
PTRACE_SEIZE = 0x4206  # attaches without stopping


def examine(config, confinement, process_limit, supervisor):
    """Starts two sessions' processes, lets one attack the other and everything else."""
    victim, hold = _start_victim(config, confinement, process_limit)
    post = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    post_path = os.path.join(config["scratch"], "post")
    post.bind(post_path)
    os.chmod(post_path, 0o777)
    read_end, write_end = os.pipe()
    server = os.getpid()
    others = [victim, server, supervisor]
    directory = session_directory(config, "examined", confinement.has_namespaces)
    _make(confinement, config, directory)
    pid = confinement.fork(user(config, 1))
    if pid == 0:
        os.close(hold)
        try:
            confinement.enter(user(config, 1), directory, process_limit, server)
            report = _attack(config, others, directory, post_path)
        except BaseException as error:
            report = {"failure": f"{type(error).__name__}: {error}"}
        os.write(write_end, json.dumps(report).encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    os.close(hold)
    os.waitpid(victim, 0)
    post.close()
    os.unlink(post_path)
    report = json.loads(text) if text else {"failure": "the examining process died"}
    report["landlockAbi"] = confinement.abi
    report["hasNamespaces"] = confinement.has_namespaces
    report["bootId"] = _boot_id()
    if confinement.obstacle is not None:
        report["namespacesObstacle"] = confinement.obstacle
    return report


def _boot_id():
    """The number that the kernel gave itself at its start: tells kernels apart."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return "none"


def user(config, slot):
    return None if config["uidBase"] is None else config["uidBase"] + slot


def _make(confinement, config, directory):
    """As the supervisor makes a session's directory."""
    if confinement.has_namespaces:
        return
    os.makedirs(directory, mode=0o700, exist_ok=True)
    if config["uidBase"] is not None:
        os.chown(directory, user(config, 1), user(config, 1))


def _start_victim(config, confinement, process_limit):
    """A session's process with a file and an abstract socket; ends when `hold` is closed."""
    directory = session_directory(config, "victim", confinement.has_namespaces)
    if not confinement.has_namespaces:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        if config["uidBase"] is not None:
            os.chown(directory, user(config, 0), user(config, 0))
    ready_in, ready_out = os.pipe()
    hold_in, hold = os.pipe()
    server = os.getpid()
    pid = confinement.fork(user(config, 0))
    if pid == 0:
        os.close(hold)
        try:
            confinement.enter(user(config, 0), directory, process_limit, server)
            with open(os.path.join(directory, "secret"), "w") as file:
                file.write("secret")
        finally:
            os.write(ready_out, b"1")
            os.read(hold_in, 1)
            os._exit(0)
    os.close(ready_out)
    os.close(hold_in)
    os.read(ready_in, 1)
    os.close(ready_in)
    return pid, hold


def _attack(config, others, directory, post_path):
    victim_file = os.path.join(os.path.dirname(directory), "svictim", "secret")
    libc = ctypes.CDLL(None, use_errno=True)
    machine = os.uname().machine
    others = [pid for pid in others if _is_other(pid)]
    return {
        "uid": os.getuid(),
        "readsLibraries": _reads_libraries(),
        "seesHostFiles": opens(config["canaryFile"], os.O_RDONLY),
        "seesHostPaths": os.path.exists(config["canaryFile"]),
        "reachesNetwork": _connects(config["canaryPort"]),
        "makesSockets": _works(lambda: socket.socket(socket.AF_INET).close()),
        "sendsDatagrams": _works(lambda: _send_datagram(post_path)),
        "changesMetadata": _works(lambda: _touch(config["canaryFile"])),
        "makesUnlistedCalls": libc.syscall(PERSONALITY.get(machine, -1), 0xFFFF_FFFF) >= 0,
        "writesSystem": opens("/proc/sys/vm/overcommit_memory", os.O_WRONLY),
        "seesProcesses": any(os.path.exists(f"/proc/{pid}/stat") for pid in others),
        "signalsOthers": any(_works(lambda: os.kill(pid, 0)) for pid in others),
        "readsMemoryOfOthers": any(opens(f"/proc/{pid}/mem", os.O_RDONLY) for pid in others),
        "tracesOthers": any(libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0 for pid in others),
        "limitsOthers": any(_limits(libc, machine, pid) for pid in others),
        "readsFilesOfOthers": opens(victim_file, os.O_RDONLY),
        "makesIoUring": _io_uring(libc),
        "writesOutside": any(
            _writes(place)
            for place in (os.path.dirname(directory), config["scratch"], "/tmp", "/dev")
        ),
        "processLimit": _count_processes(config["limits"]["processes"] + 4),
        # Last, because it changes what the process is.
        "makesNamespaces": libc.syscall(UNSHARE.get(machine, -1), NEWUSER) == 0,
    }


def _is_other(pid):
    # In a process namespace of its own, a number may be the attacker's.
    return pid != os.getpid()


def _works(action):
    try:
        action()
        return True
    except OSError:
        return False


def opens(path, mode):
    return _works(lambda: os.close(os.open(path, mode)))


def _writes(place):
    path = os.path.join(place, f"saccade-{os.getpid()}")
    if not opens(path, os.O_WRONLY | os.O_CREAT):
        return False
    os.unlink(path)
    return True


def _send_datagram(path):
    with socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0] as sock:
        sock.connect(path)
        sock.send(b"x")


def _touch(path):
    """Sets a mode and times, to what they are."""
    info = os.stat(path)
    os.chmod(path, stat.S_IMODE(info.st_mode))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def _limits(libc, machine, pid):
    """Whether the limits of another process could be set: who may read them may."""
    found = (ctypes.c_uint64 * 2)()
    return libc.syscall(PRLIMIT64.get(machine, -1), pid, 0, None, ctypes.byref(found)) == 0


def _io_uring(libc):
    parameters = ctypes.create_string_buffer(120)
    number = libc.syscall(IO_URING_SETUP, 1, parameters)
    if number >= 0:
        os.close(number)
    return number >= 0


def _connects(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _count_processes(most):
    """How many processes this one can start, up to `most`."""
    started = []
    try:
        for _ in range(most):
            pid = os.fork()
            if pid == 0:
                guard.prctl(guard.PR_SET_PDEATHSIG, signal.SIGKILL)
                time.sleep(10)
                os._exit(0)
            started.append(pid)
    except OSError:
        pass
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(started)


def _reads_libraries():
    try:
        import numpy

        for library in (os, numpy):
            os.listdir(os.path.dirname(library.__file__))
        return True
    except OSError:
        return False
