/** Attacks on the list of system calls: calls that are not on it, and arguments that are not allowed. */
import { type Attack, everywhere, isolatedOnly } from './attack.ts';

/**
 * `closed`: the kernel refuses the call whatever its arguments. An error that depends on them (a bad
 * address, say) means that the call was taken.
 */
const closed = `
def closed(name, action, allowed=(errno.EPERM, errno.ENOSYS)):
    try:
        value = action()
    except OSError as error:
        print("refused" if error.errno in allowed else "REACHED", name, error)
    else:
        print("REACHED", name, value)
OTHERS = [pid for pid in (SERVER, os.getppid(), VICTIM) if pid > 0]
room = ctypes.create_string_buffer(256)
`;

const cases: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'numbers of calls that there are not yet',
    code: `
for number in (*range(457, 1000), 4095, 0x3fff_ffff):
    closed(number, lambda: call(number, number, -1, 0, 0, 0, 0, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'limits, priorities and schedulers of others',
    code: `
class Pair(ctypes.Structure):
    _fields_ = (("soft", ctypes.c_uint64), ("hard", ctypes.c_uint64))
for pid in OTHERS:
    for kind in (0, 4, 7):
        closed("read", lambda: call(302, 261, pid, kind, None, ctypes.byref(Pair())))
    closed("affinity", lambda: call(203, 122, pid, 8, ctypes.byref(ctypes.c_uint64(1))))
    closed("idle", lambda: call(144, 119, pid, 5, ctypes.byref(ctypes.c_int(0))))
    closed("batch", lambda: call(144, 119, pid, 3, ctypes.byref(ctypes.c_int(0))))
    closed("parameters", lambda: call(142, 118, pid, ctypes.byref(ctypes.c_int(0))))
    closed("attributes", lambda: call(314, 274, pid, room, 0))
    closed("nice", lambda: os.setpriority(os.PRIO_PROCESS, pid, 0))
    closed("input and output", lambda: call(251, 30, 1, pid, 3 << 13))
for which in (os.PRIO_PGRP, os.PRIO_USER): closed("all", lambda: os.setpriority(which, 0, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'the CPU time of the server limited',
    code: `
import resource
for pid in OTHERS: attempt(pid, lambda: resource.prlimit(pid, resource.RLIMIT_CPU))`,
    expected: everywhere('refused'),
  },
  {
    name: 'modes, owners and times of files of the host',
    code: `
attempt("mode", lambda: os.chmod(HOST_FILE, 0o644))
attempt("times", lambda: os.utime(HOST_FILE))
attempt("owner", lambda: os.chown(HOST_FILE, os.getuid(), -1))
attempt("new call", lambda: call(452, 452, -100, HOST_FILE.encode(), 0o644, 0))
attempt("attribute", lambda: os.setxattr(HOST_FILE, "user.saccade", b"1"))
attempt("folder", lambda: os.chmod(os.path.dirname(HOST_FILE), 0o755))`,
    expected: { ...everywhere('refused'), processAsUser: 'open' },
  },
  {
    name: 'modes and times of files of the host through descriptors',
    code: `
def at(name, change):
    def run():
        number = os.open(HOST_FILE, os.O_PATH)
        try: return change(number)
        finally: os.close(number)
    attempt(name, run)
at("proc", lambda n: os.chmod(f"/proc/self/fd/{n}", 0o644))
at("proc, times", lambda n: os.utime(f"/proc/self/fd/{n}"))
at("empty path", lambda n: call(452, 452, n, b"", 0o644, 0x1000))
at("owner", lambda n: call(260, 54, n, b"", os.getuid(), -1, 0x1000))
at("times", lambda n: call(280, 88, n, b"", None, 0x1000))
at("attribute", lambda n: os.setxattr(f"/proc/self/fd/{n}", "user.saccade", b"1"))`,
    expected: { ...everywhere('refused'), processAsUser: 'open' },
  },
  {
    name: 'datagrams to a socket of the host',
    code: `
import socket
def send(kind, how):
    ends = socket.socketpair(socket.AF_UNIX, kind)
    how(ends[0])
def connect(sock):
    sock.connect(HOST_POST)
    sock.send(b"out")
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, socket.SOCK_STREAM):
    attempt("connect", lambda: send(kind, connect))
    attempt("sendto", lambda: send(kind, lambda sock: sock.sendto(b"out", HOST_POST)))
    attempt("sendmsg", lambda: send(kind, lambda sock: sock.sendmsg([b"out"], [], 0, HOST_POST)))
    attempt("bind", lambda: send(kind, lambda sock: sock.bind("\\0saccade-bound")))`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'pairs of sockets of other families, and credentials of others',
    code: `
import socket, struct
for family in (2, 10, 16, 30, 40):
    attempt(family, lambda: call(53, 199, family, 1, 0, room))
a, b = socket.socketpair()
b.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
for pid in OTHERS:
    if pid == os.getpid(): continue
    attempt("credentials", lambda: a.sendmsg([b"x"], [(socket.SOL_SOCKET, 2, struct.pack("iii", pid, 0, 0))]))`,
    expected: isolatedOnly('refused', 'refused'),
  },
  {
    name: 'descriptors of others',
    code: `
for pid in OTHERS:
    def steal():
        handle = os.pidfd_open(pid)
        try: return call(438, 438, handle, 0, 0)
        finally: os.close(handle)
    attempt(pid, steal)
    attempt("signal", lambda: call(424, 424, os.pidfd_open(pid), 0, None, 0) if pid != os.getpid() else 1 / 0)
closed("any", lambda: call(438, 438, -1, 0, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'memory and state of others by calls that write, advise, release and compare',
    code: `
for pid in OTHERS:
    closed("write", lambda: call(311, 271, pid, None, 0, None, 0, 0))
    closed("compare", lambda: call(312, 272, pid, os.getpid(), 0, 0, 0))
    closed("locks", lambda: call(274, 100, pid, room, room))
    closed("queue", lambda: call(129, 138, pid, 0, room))
    closed("queue to a thread", lambda: call(297, 240, pid, pid, 0, room))
    closed("pages", lambda: call(279, 239, pid, 0, None, None, None, 0))
closed("advise", lambda: call(440, 440, -1, None, 0, 0, 0))
closed("release", lambda: call(448, 448, -1, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'children for the server, and traced ones (clone)',
    code: `
for flag in (0x8000, 0x2000, 0x8000_8000):
    def clone():
        pid = call(56, 220, flag | 17, None, None, None, None)
        if pid == 0: os._exit(0)
        return pid
    closed(hex(flag), clone)
for size in (64, 88, 4096):
    closed("clone3", lambda: call(435, 435, (ctypes.c_uint64 * 512)(0, 0, 0, 0, 17), size))`,
    expected: everywhere('refused'),
  },
  {
    name: 'each kind of namespace',
    code: `
for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    closed(hex(flag), lambda: call(272, 97, flag))
    def clone():
        pid = call(56, 220, flag | 17, None, None, None, None)
        if pid == 0: os._exit(0)
        return pid
    if flag != 0x80: closed("clone " + hex(flag), clone)
closed("setns", lambda: call(308, 268, -1, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'mounts listed and shown',
    code: `
closed("statmount", lambda: call(457, 457, room, room, 256, 0))
closed("listmount", lambda: call(458, 458, room, room, 8, 0))
for number in (428, 429, 430, 431, 432, 433, 442): closed(number, lambda: call(number, number, -1, 0, 0, 0, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'memory that nobody counts',
    code: `
closed("memfd", lambda: os.memfd_create("x"))
closed("memfd_secret", lambda: call(447, 447, 0))
closed("mlock", lambda: call(149, 228, room, 4096))
closed("mlock2", lambda: call(325, 284, room, 4096, 1))
closed("semaphores", lambda: call(64, 190, 0, 4, 0o1600))
closed("messages", lambda: call(68, 186, 0, 0o1600))
closed("queue", lambda: call(240, 180, b"saccade", 0o102, 0o600, None))
open("own", "w").close()
closed("attribute", lambda: os.setxattr("own", "user.x", bytes(60_000)))
with open("own") as own: closed("attribute of a descriptor", lambda: os.setxattr(own.fileno(), "user.x", b"1"))`,
    expected: everywhere('refused'),
  },
  {
    name: 'watches on files of the host',
    code: `
closed("inotify", lambda: call(294, 26, 0))
closed("watch", lambda: call(254, 27, 0, HOST_FILE.encode(), 2))
closed("fanotify", lambda: call(300, 262, 0x200, 0))
closed("mark", lambda: call(301, 263, -1, 1, 2, -100, HOST_FILE.encode()))
import fcntl
folder = os.open(".", os.O_RDONLY)
closed("notify", lambda: fcntl.fcntl(folder, 1026, 2), (errno.EINVAL,))
closed("lease", lambda: fcntl.fcntl(folder, 1024, 0), (errno.EINVAL,))`,
    expected: everywhere('refused'),
  },
  {
    name: 'files by handle',
    code: `
closed("handle", lambda: call(303, 264, -100, HOST_FILE.encode(), room, room, 0))
closed("open", lambda: call(304, 265, -100, room, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'a file of the host by /proc/self/fd, run or read',
    code: `
def reopened(how):
    number = os.open(HOST_FILE, os.O_PATH)
    try: return how(number)
    finally: os.close(number)
attempt("read", lambda: reopened(lambda n: open(f"/proc/self/fd/{n}").read()))
attempt("thread", lambda: reopened(lambda n: open(f"/proc/thread-self/fd/{n}").read()))
attempt("map", lambda: reopened(lambda n: __import__("mmap").mmap(n, 0, prot=1)))
attempt("copy", lambda: reopened(lambda n: os.copy_file_range(n, os.open("x", os.O_RDWR | os.O_CREAT), 9)))
closed("openat2", lambda: call(437, 437, -100, HOST_FILE.encode(), room, 24))
closed("execveat", lambda: call(322, 281, -1, b"", None, None, 0x1000))`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'rings, keys, programs, events and page faults of the kernel',
    code: `
for x86, arm in ((425, 425), (426, 426), (427, 427), (248, 217), (249, 218), (250, 219), (321, 280),
                 (298, 241), (323, 282), (317, 277), (275, 76), (276, 77), (278, 75)):
    closed(x86, lambda: call(x86, arm, -1, None, None, None, None))`,
    expected: everywhere('refused'),
  },
  {
    name: 'settings of the process that only the server needs (prctl)',
    code: `
# Dumpable, keeping capabilities, filters, a tracer, its own map, ambient capabilities, speculation.
for option, value in ((4, 1), (8, 1), (22, 1), (28, 1), (24, 0), (0x59616d61, -1), (35, 1), (47, 2), (53, 0), (59, 1)):
    closed(option, lambda: call(157, 167, option, value, 0, 0, 0), (errno.EINVAL,))
    closed(option, lambda: call(157, 167, option | 1 << 32, value, 0, 0, 0), (errno.EINVAL,))`,
    expected: everywhere('refused'),
  },
  {
    name: 'requests to drivers and file systems (ioctl)',
    code: `
import fcntl
open("own", "w").close()
own = os.open("own", os.O_RDWR)
requests = (0x5412, 0x541c, 0x8901, 0x8902, 0x5452, 0x40086602, 0x401c5820, 0x40049409, 0xc0185879, 0x5000940e,
            0x541d, 0x540e, 0xb701, 0x8004b70d)
for request in requests:
    for hidden in (0, 1 << 32):
        closed(hex(request), lambda: call(16, 29, own, ctypes.c_ulong(request | hidden), room), (errno.ENOTTY,))`,
    expected: everywhere('refused'),
  },
  {
    name: 'signals by the input of others (fcntl)',
    code: `
import fcntl, signal
a, b = os.pipe()
for command, value in ((8, OTHERS[0] if OTHERS else 1), (10, signal.SIGKILL), (15, 0), (1033, 1)):
    closed(command, lambda: call(72, 25, a, command, value), (errno.EINVAL,))`,
    expected: everywhere('refused'),
  },
  {
    name: 'arguments whose upper half is to hide them',
    code: `
high = 1 << 40
closed("sendto", lambda: call(44, 206, 0, room, 1, 0, ctypes.c_ulong(high), 16))
closed("socketpair", lambda: call(53, 199, ctypes.c_ulong(high | 2), 1, 0, room))
closed("kind", lambda: call(53, 199, 1, ctypes.c_ulong(high | 2), 0, room))
for pid in OTHERS: closed("limits", lambda: call(302, 261, ctypes.c_ulong(high | pid), 0, None, room))
closed("clone", lambda: call(56, 220, ctypes.c_ulong(high | 0x10000011), None, None, None, None))
closed("mknod", lambda: call(133, 33, b"x", ctypes.c_ulong(high | 0o20666), 0x103))`,
    expected: isolatedOnly('refused', 'untried'),
  },
  {
    name: 'devices and sockets as files',
    code: `
for kind in (0o020000, 0o060000, 0o140000):
    closed(oct(kind), lambda: os.mknod("node", kind | 0o666, os.makedev(1, 3)))
    closed("at", lambda: os.mknod("node", kind | 0o666, os.makedev(1, 3), dir_fd=os.open(".", os.O_RDONLY)))`,
    expected: everywhere('refused'),
  },
  {
    name: 'other users, capabilities, personalities, filters of its own',
    code: `
for x86, arm in ((105, 146), (106, 144), (113, 145), (114, 143), (117, 147), (119, 149), (122, 151), (123, 152),
                 (116, 159), (126, 91), (135, 92), (317, 277), (162, 81), (306, 267), (161, 51)):
    closed(x86, lambda: call(x86, arm, 1, None, None))`,
    expected: everywhere('refused'),
  },
  {
    // Less deep on a machine that is too busy, where the time limit would end it: what is attacked is the removal.
    name: 'a directory 3,000 deep',
    code: `
from time import monotonic
end = monotonic() + 3
try:
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
        if monotonic() > end: break
except OSError: pass`,
    expected: everywhere('harmless'),
  },
  {
    name: 'directories of mode 000, names that are no text',
    code: `
os.makedirs("a/b/c")
for name in (b"\\xff", b"a\\nb", b"x" * 255): open(b"a/" + name, "w").close()
try:
    for path in ("a/b/c", "a/b", "a", "."): os.chmod(path, 0)
except PermissionError: pass`,
    expected: everywhere('harmless'),
  },
];

export const callAttacks: readonly Attack[] = cases.map((attack) => ({
  ...attack,
  code: closed + attack.code,
  group: 'escape',
}));
