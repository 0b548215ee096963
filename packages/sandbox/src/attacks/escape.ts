/** Attacks on the walls: files, network, other processes, the kernel. */
import { type Attack, everywhere, isolatedOnly } from './attack.ts';

const files: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'a file of the host',
    code: 'attempt("file", lambda: open(HOST_FILE).read())',
    expected: isolatedOnly('refused'),
  },
  {
    name: 'a file of the host through a symbolic link',
    code: 'os.symlink(HOST_FILE, "link")\nattempt("link", lambda: open("link").read())',
    expected: isolatedOnly('refused'),
  },
  {
    name: 'a hard link to a file of the host',
    code: 'attempt("link", lambda: os.link(HOST_FILE, "hard"))',
    expected: { ...everywhere('refused'), processAsUser: 'untried' },
  },
  {
    name: '/etc/passwd and the folder of all homes',
    code: 'attempt("users", lambda: open("/etc/passwd").read())\nattempt("homes", lambda: os.listdir("/home"))',
    expected: isolatedOnly('refused'),
  },
  {
    name: 'files outside its directory written',
    code: `
for place in ("..", "/tmp", "/var/tmp", "/dev/shm", "/run", os.path.dirname(np.__file__)):
    def write():
        path = os.path.join(place, f"saccade-attack-{os.getpid()}")
        open(path, "w").close()
        os.unlink(path)
    attempt(place, write)`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'device files made and opened',
    code: `
attempt("make", lambda: os.mknod("null", 0o20666, os.makedev(1, 3)))
for path in ("/dev/kvm", "/dev/kmsg", "/dev/mem", "/dev/fuse", "/dev/loop0"):
    attempt(path, lambda: os.close(os.open(path, os.O_RDWR)))`,
    // gVisor lets anybody make one; none of the machine's devices is behind it.
    expected: { ...isolatedOnly('refused', 'untried'), gvisor: 'open' },
  },
  {
    name: 'names with newlines, 255 bytes, and pipes in its directory',
    code: 'open("a\\nb", "w").close()\nopen("x" * 255, "w").close()\nos.mkfifo("pipe")',
    expected: everywhere('harmless'),
  },
  {
    name: 'kernel settings written',
    code: 'attempt("sysctl", lambda: os.close(os.open("/proc/sys/vm/overcommit_memory", os.O_WRONLY)))',
    expected: everywhere('refused'),
  },
  {
    name: 'control groups written',
    code: `
for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
    attempt(root, lambda: os.close(os.open(root + "/cgroup.procs", os.O_WRONLY)))`,
    expected: everywhere('refused'),
  },
  {
    name: 'open files of the server',
    code: `
found = []
for number in range(5, 400):
    try: found.append((number, os.fstat(number).st_mode))
    except OSError: pass
print("REACHED" if found else "refused", found)`,
    expected: everywhere('refused'),
  },
  {
    name: 'the environment of Node',
    code: 'print("REACHED" if "SACCADE_ATTACK_SECRET" in os.environ else "refused")',
    expected: everywhere('refused'),
  },
  {
    name: 'the environment of other processes',
    code: `
for pid in (1, SERVER, VICTIM, "self/../1"):
    def read():
        text = open(f"/proc/{pid}/environ", "rb").read()
        if str(pid) == str(os.getpid()): raise OSError("its own")
        return len(text)
    attempt(pid, read)`,
    expected: everywhere('refused'),
  },
];

const processes: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'signals to the server, its parent and a session',
    code: `
for pid in (SERVER, os.getppid(), VICTIM):
    if pid in (0, os.getpid()): continue
    attempt(pid, lambda: os.kill(pid, 9))`,
    // With a process namespace of its own it has no numbers for others.
    expected: {
      ...everywhere('refused'),
      bubblewrap: 'harmless',
      gvisor: 'refused',
      processAsUser: 'untried',
    },
  },
  {
    name: 'a signal to everybody',
    code: 'os.kill(-1, 9)',
    expected: {
      bubblewrap: 'refused',
      landlock: 'harmless',
      process: 'harmless',
      processAsUser: 'untried',
    },
  },
  {
    name: 'tracing the server and a session',
    code: 'for pid in (SERVER, VICTIM, 1): attempt(pid, lambda: call(101, 117, 0x4206, pid, 0, 0))',
    expected: everywhere('refused'),
  },
  {
    name: 'memory of others by process_vm_readv',
    code: `
class Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))
buffer = ctypes.create_string_buffer(8)
here = Piece(ctypes.addressof(buffer), 8)
for pid in (SERVER, VICTIM):
    attempt(pid, lambda: call(310, 270, pid, ctypes.byref(here), 1, ctypes.byref(here), 1, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'memory of others by /proc',
    code: 'for pid in (1, SERVER, VICTIM): attempt(pid, lambda: open(f"/proc/{pid}/mem", "rb"))',
    expected: everywhere('refused'),
  },
  {
    name: 'becoming root',
    code: 'attempt("setuid", lambda: os.setuid(0))\nattempt("setgid", lambda: os.setgid(0))',
    expected: everywhere('refused'),
  },
  {
    name: 'programs with the owner’s rights',
    code: 'held = libc.prctl(39, 0, 0, 0, 0)\nprint("refused" if held == 1 else "REACHED")',
    expected: everywhere('refused'),
  },
  {
    name: 'another program, as root',
    code: `
import subprocess
said = subprocess.run(["/usr/bin/id", "-u"], capture_output=True).stdout
print("REACHED" if said.strip() == b"0" else "refused", said)`,
    expected: everywhere('refused'),
  },
  {
    name: 'typing into the terminal',
    code: `
import fcntl
attempt("open", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
attempt("type", lambda: fcntl.ioctl(0, 0x5412, b"x"))`,
    expected: everywhere('refused'),
  },
];

const network: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'a service of the host',
    code: `
import socket
attempt("connect", lambda: socket.create_connection(("127.0.0.1", HOST_PORT), timeout=1).close())`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'an abstract socket of the host',
    code: `
import socket
def connect():
    # Node 20 fills the name with zeros.
    name = ("\\0" + HOST_SOCKET).ljust(108 if NODE == 20 else 0, "\\0")
    with socket.socket(socket.AF_UNIX) as sock: sock.connect(name)
attempt("connect", connect)`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'names and the address of cloud metadata',
    code: `
import socket
attempt("name", lambda: socket.getaddrinfo("example.com", 80))
attempt("metadata", lambda: socket.create_connection(("169.254.169.254", 80), timeout=1))`,
    expected: isolatedOnly('refused', 'untried'),
  },
  {
    name: 'sockets of every kind',
    code: `
import socket
for family, kind in ((1, 1), (2, 1), (2, 2), (10, 1), (16, 3), (38, 5), (40, 1)):
    attempt(family, lambda: socket.socket(family, kind).close())`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'raw sockets',
    code: `
import socket
attempt("icmp", lambda: socket.socket(2, 3, 1).close())
attempt("packet", lambda: socket.socket(17, 3, 0).close())`,
    expected: everywhere('refused'),
  },
  {
    name: 'io_uring, which makes sockets past a filter',
    code: 'parameters = ctypes.create_string_buffer(120)\nattempt("ring", lambda: call(425, 425, 1, parameters))',
    expected: isolatedOnly('refused', 'untried'),
  },
];

const kernel: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'new namespaces by unshare, clone and clone3',
    code: `
for flag in (0x10000000, 0x20000, 0x40000000):
    attempt(flag, lambda: call(272, 97, flag))
def clone():
    if call(56, 220, 0x10000000 | 17, None, None, None, None) == 0: os._exit(0)
attempt("clone", clone)
arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17)
def clone3():
    if call(435, 435, arguments, 64) == 0: os._exit(0)
attempt("clone3", clone3)`,
    expected: isolatedOnly('refused', 'untried'),
  },
  {
    name: 'mount, chroot, setns',
    code: `
attempt("mount", lambda: call(165, 40, b"x", b"/tmp", b"tmpfs", 0, None))
attempt("new mount", lambda: call(430, 430, b"tmpfs", 0))
attempt("chroot", lambda: os.chroot("."))
attempt("setns", lambda: call(308, 268, 0, 0))`,
    expected: everywhere('refused'),
  },
  {
    name: 'keys, events, programs and page faults of the kernel',
    code: `
attempt("keyctl", lambda: call(250, 219, 0, ctypes.c_long(-3), 1))
attempt("perf", lambda: call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0))
attempt("bpf", lambda: call(321, 280, 0, ctypes.create_string_buffer(128), 128))
attempt("userfaultfd", lambda: call(323, 282, 0))`,
    expected: isolatedOnly('refused', 'untried'),
  },
  {
    name: 'system calls of another architecture (x32)',
    architecture: 'x64',
    code: 'attempt("x32", lambda: libc.syscall(ctypes.c_long(0x40000000 + 39)) < 0 and 1 / 0)',
    expected: isolatedOnly('stopped', 'untried'),
  },
  {
    name: 'system calls of another architecture (32 bit)',
    architecture: 'x64',
    code: `
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
number = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
print("REACHED" if number == os.getpid() else "refused", "int 0x80", number)`,
    // gVisor takes it for a call of 64 bits, through the same filter.
    expected: { ...isolatedOnly('stopped', 'untried'), gvisor: 'refused' },
  },
];

export const escapeAttacks: readonly Attack[] = [...files, ...processes, ...network, ...kernel].map(
  (attack) => ({ ...attack, group: 'escape' }),
);
