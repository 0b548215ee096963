"""The system calls that sessions may make: a list of what the supported libraries need, and nothing else.

Made from recordings (`bin/record-calls.js`). Whatever is not on it fails as on a kernel that lacks
it, with ENOSYS, so that libraries fall back; so do the calls that new kernels bring. Numbers are from
Linux's `unistd` headers: (x86_64, aarch64), None where the architecture has no such call.
"""

EPERM, EINVAL, ENOTTY, ENOSYS = 1, 22, 25, 38

# All of these, with any arguments.
ALLOWED = {
    # Memory.
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "brk": (12, 214),
    "madvise": (28, 233),
    "msync": (26, 227),
    "membarrier": (324, 283),
    # Files by name. What may be named, Landlock and mounts say.
    "open": (2, None),
    "openat": (257, 56),
    "creat": (85, None),
    "close": (3, 57),
    "close_range": (436, 436),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "truncate": (76, 45),
    "statfs": (137, 43),
    "chdir": (80, 49),
    "getcwd": (79, 17),
    "umask": (95, 166),
    # Files that are open.
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "fstatfs": (138, 44),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "fadvise64": (221, 223),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "flock": (73, 32),
    "fchdir": (81, 50),
    "sendfile": (40, 71),
    "copy_file_range": (326, 285),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    # Extended attributes, for copies of files: read only.
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    # Pipes, and waiting for them.
    "pipe": (22, None),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    # Pairs of sockets that are connected from the start.
    "recvfrom": (45, 207),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "shutdown": (48, 210),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "getsockopt": (55, 209),
    "setsockopt": (54, 208),
    # Processes and threads.
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getpgid": (121, 155),
    "getpgrp": (111, None),
    "getsid": (124, 156),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "pidfd_open": (434, 434),
    "set_tid_address": (218, 96),
    "set_robust_list": (273, 99),
    "futex": (202, 98),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "restart_syscall": (219, 128),
    # Signals. Whom they reach, Landlock and the namespace say.
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "pause": (34, None),
    "alarm": (37, None),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    # Times.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    # Questions about itself and the machine.
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getgroups": (115, 158),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getpriority": (140, 141),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_getattr": (315, 275),
    "sched_get_priority_min": (147, 126),
    "sched_get_priority_max": (146, 125),
    "sched_rr_get_interval": (148, 127),
    "getcpu": (309, 168),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "getrandom": (318, 278),
    "setrlimit": (160, 164),
}


class OneOf:
    """The argument, or its bits in `mask`, is one of `values`. Kernels take 32 bits of it unless `is_wide`."""

    def __init__(self, argument, values, mask=None, is_wide=False, otherwise=EPERM):
        self.argument, self.values, self.mask = argument, values, mask
        self.is_wide, self.otherwise = is_wide, otherwise

    def accepts(self, value):
        value &= 0xFFFF_FFFF_FFFF_FFFF if self.is_wide else 0xFFFF_FFFF
        return (value if self.mask is None else value & self.mask) in self.values


class NoneOf:
    """The argument has none of these bits."""

    def __init__(self, argument, bits):
        self.argument, self.bits, self.otherwise = argument, bits, EPERM

    def accepts(self, value):
        return not value & self.bits


ITSELF = OneOf(0, (0,))
# CLONE_NEW* (without NEWTIME, which `clone` cannot ask for), PARENT, which would give the child to the
# server, and PTRACE.
REFUSED_FLAGS = 0x7E02_0000 | 0x8000 | 0x2000
AF_UNIX, SOCK_TYPES = 1, 0xF
# Neither can be sent elsewhere, as datagrams can.
STREAM, SEQPACKET = 1, 5
FILE_TYPES, REGULAR, FIFO = 0o170000, 0o100000, 0o010000

# Terminals: TCGETS, TIOCGPGRP, TIOCGWINSZ. All files: FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
REQUESTS = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# DUPFD, flags, locks (5 to 7; of open files 36 to 38), DUPFD_QUERY, DUPFD_CLOEXEC, sizes of pipes,
# GET_SEALS. Not SETOWN and SETSIG (signals to others), SETLEASE and NOTIFY (files of others).
FILE_COMMANDS = (*range(8), 36, 37, 38, 1027, 1030, 1031, 1032, 1034)
# PDEATHSIG (1, 2), GET_DUMPABLE, NAME (15, 16), GET_SECCOMP, CAPBSET_READ, TIMERSLACK (29, 30),
# CHILD_SUBREAPER (36, 37), NO_NEW_PRIVS (38, 39), GET_TID_ADDRESS, SVE_GET_VL, GET_AUXV, and the names
# that the C library gives its memory.
PROCESS_OPTIONS = (1, 2, 3, 15, 16, 21, 23, 29, 30, *range(36, 41), 51, 0x4155_5856, 0x5356_4D41)
# SET_GS, SET_FS, GET_FS, GET_GS; whether there are shadow stacks.
THREAD_REGISTERS = (0x1001, 0x1002, 0x1003, 0x1004, 0x3001)

# Allowed where the arguments are as said here. Pointers cannot be followed by a filter.
CHECKED = {
    "arch_prctl": ((158, None), OneOf(0, THREAD_REGISTERS, otherwise=EINVAL)),
    "clone": ((56, 220), NoneOf(0, REFUSED_FLAGS)),
    "fcntl": ((72, 25), OneOf(1, FILE_COMMANDS, otherwise=EINVAL)),
    "ioctl": ((16, 29), OneOf(1, REQUESTS, otherwise=ENOTTY)),
    "mknod": ((133, None), OneOf(1, (0, REGULAR, FIFO), mask=FILE_TYPES)),
    "mknodat": ((259, 33), OneOf(2, (0, REGULAR, FIFO), mask=FILE_TYPES)),
    "prctl": ((157, 167), OneOf(0, PROCESS_OPTIONS, otherwise=EINVAL)),
    "prlimit64": ((302, 261), ITSELF),
    "sched_setaffinity": ((203, 122), ITSELF),
    "sched_setattr": ((314, 274), ITSELF),
    "sched_setparam": ((142, 118), ITSELF),
    "sched_setscheduler": ((144, 119), ITSELF),
    "sendto": ((44, 206), OneOf(4, (0,), is_wide=True)),  # to nobody but the other end
    "setpriority": ((141, 140), OneOf(0, (0,)), OneOf(1, (0,))),
    "socketpair": ((53, 199), OneOf(0, (AF_UNIX,)), OneOf(1, (STREAM, SEQPACKET), mask=SOCK_TYPES)),
}

# What a file's owner may do with it whatever Landlock says: allowed where a session is a user of its own,
# or sees nothing of the machine's that can be written.
METADATA = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}

# Allowed where the tier promises no isolation of the network.
NETWORK = {
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendmmsg": (307, 269),
    "recvmmsg": (299, 243),
}

# Known, and refused with EPERM, so that code sees a right that it does not have.
REFUSED = {
    # Other processes' memory and state.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "get_robust_list": (274, 100),
    "ioprio_set": (251, 30),
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
    "statmount": (457, 457),
    "listmount": (458, 458),
    # Files by handle get around directories; quotas, accounting and watches are the system's.
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "lookup_dcookie": (212, 18),
    # Extended attributes, which hold memory of the kernel's that nobody counts.
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
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
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "seccomp": (317, 277),
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
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # Other users.
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "setgroups": (116, 159),
    "capset": (126, 91),
    # Memory and queues that nobody counts, or that would outlive the session.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mlock": (149, 228),
    "mlock2": (325, 284),
    "mlockall": (151, 230),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
}
# Not listed, and asked for all the same: the C library has another way where it gets ENOSYS. (The flags
# of clone3 are behind a pointer.)
FALLS_BACK = {
    "clone3": (435, 435),
}
# Of the checked ones, those whose arguments are free where the network is.
OF_NETWORK = ("sendto", "socketpair")
