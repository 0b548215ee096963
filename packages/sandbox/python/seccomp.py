"""A filter of system calls, written as kernel instructions: what no session needs is refused.

Refused calls fail with EPERM, so that code sees an error and goes on; calls of another architecture
(32 bit, x32) end the process, because their numbers mean other things. Numbers are from Linux's
`unistd` headers.
"""

import ctypes
import os
import struct
import sys

# name: (x86_64, aarch64); None where the architecture has no such call.
REFUSED = {
    # Other processes' memory and state.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # Mounts and namespaces.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # Files by handle get around directories; quotas, accounting and watches are the system's.
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # Large parts of the kernel with a history of holes.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # The machine itself.
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "ioperm": (173, None),
    "iopl": (172, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "personality": (135, 92),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # Network of every kind. io_uring, which could make sockets too, is above.
    "socket": (41, 198),
    # Memory and queues that would outlive the session.
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
CLONE = (56, 220)
CLONE3 = (435, 435)
SOCKETPAIR = (53, 199)
IOCTL = (16, 29)

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32 = 0x4000_0000
# CLONE_NEW* without NEWTIME, which `clone` cannot ask for.
NEW_NAMESPACES = 0x7E02_0000
AF_UNIX = 1
# Typing into the terminal that one was started from.
TIOCSTI = 0x5412
TIOCLINUX = 0x541C

EPERM, ENOSYS = 1, 38
ALLOW = 0x7FFF_0000
ERRNO = 0x0005_0000
KILL_PROCESS = 0x8000_0000

# Offsets into struct seccomp_data; arguments are 64 bit, low half first.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
EQUAL, AT_LEAST, ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP | BPF_JEQ, BPF_JGE, BPF_JSET with a constant
RETURN = 0x06

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2


def program(machine):
    """The filter for an architecture as bytes, or None for one we have no numbers of."""
    known = ARCHITECTURES.get(machine)
    if known is None or sys.byteorder != "little":
        return None
    column, architecture = known
    code = []

    def add(operation, value, if_true=0, if_false=0):
        code.append(struct.pack("<HBBI", operation, if_true, if_false, value))

    def when(numbers, *checks):
        """`checks` where the call is one of `numbers`; they must leave the accumulator or return."""
        add(LOAD, NUMBER)
        add(EQUAL, numbers[column], 0, len(checks))
        code.extend(struct.pack("<HBBI", *check) for check in checks)

    def load_argument(index):
        return (LOAD, 0, 0, ARGUMENTS + 8 * index)

    refuse = (RETURN, 0, 0, ERRNO | EPERM)
    add(LOAD, ARCHITECTURE)
    add(EQUAL, architecture, 1, 0)
    add(RETURN, KILL_PROCESS)
    add(LOAD, NUMBER)
    if machine == "x86_64":
        add(AT_LEAST, X32, 0, 1)
        add(RETURN, KILL_PROCESS)
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            add(EQUAL, number, 0, 1)
            add(RETURN, ERRNO | EPERM)
    # Its flags are behind a pointer, which a filter cannot follow; the C library then uses clone.
    when(CLONE3, (RETURN, 0, 0, ERRNO | ENOSYS))
    when(CLONE, load_argument(0), (ANY_BIT, 0, 1, NEW_NAMESPACES), refuse)
    when(SOCKETPAIR, load_argument(0), (EQUAL, 1, 0, AF_UNIX), refuse)
    when(IOCTL, load_argument(1), (EQUAL, 1, 0, TIOCSTI), (EQUAL, 0, 1, TIOCLINUX), refuse)
    add(RETURN, ALLOW)
    return b"".join(code)


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Filter:
    """Made once in the server; `apply` is for good, for the process and all its children."""

    def __init__(self, libc):
        self.libc = libc
        code = program(os.uname().machine) if libc is not None else None
        self.code = None if code is None else ctypes.create_string_buffer(code, len(code))

    @property
    def is_known(self):
        return self.code is not None

    def apply(self):
        """Needs no_new_privs. Raises OSError where the kernel has no filters."""
        address = ctypes.cast(self.code, ctypes.c_void_p)
        held = Program(len(self.code) // 8, address)
        zero = ctypes.c_ulong(0)
        mode = ctypes.c_ulong(SECCOMP_MODE_FILTER)
        if self.libc.prctl(PR_SET_SECCOMP, mode, ctypes.byref(held), zero, zero) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"seccomp: {os.strerror(number)}")
