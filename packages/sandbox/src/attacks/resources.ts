/** Attacks on the machine's time, memory, disk and processes. */
import { type Attack, type Expectation, everywhere } from './attack.ts';

/** Limited for each session where it has a file system of its own. */
const ownDisk: Expectation = { bubblewrap: 'refused', landlock: 'open', process: 'open' };

/** Sizes fit `attackLimits`: every limit is passed, as little as that takes. */
const cases: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'fork bomb',
    code: 'while True:\n    try: os.fork()\n    except OSError: pass',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'thread bomb',
    code: `
import threading
started = 0
try:
    while started < 40:
        threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
        started += 1
except RuntimeError as error:
    print("refused after", started, error)
else:
    print("REACHED", started, "threads")`,
    expected: everywhere('refused'),
  },
  {
    name: 'memory, one process',
    code: 'data = bytearray(4 << 30)',
    expected: everywhere('stopped'),
  },
  {
    name: 'memory, many processes',
    code: `
def fill(sizes):
    """Children that hold memory, all at the same time."""
    children = []
    for size in sizes:
        question_in, question = os.pipe()
        answer, answer_out = os.pipe()
        if os.fork() == 0:
            held = b"x" * size
            os.write(answer_out, b"1")
            os.read(question_in, 1)
            os.write(answer_out, b"2")
            time.sleep(60)
        os.close(answer_out)
        os.close(question_in)
        os.read(answer, 1)
        children.append((question, answer))
    held = 0
    for question, answer in children:
        os.write(question, b"?")
        held += len(os.read(answer, 1))
    if held < len(sizes):
        raise MemoryError(f"{held} of {len(sizes)} are alive")
    return f"{sum(sizes) >> 20} MiB"
attempt("memory", lambda: fill([64 << 20] * 6))`,
    expected: everywhere('stopped'),
    needs: 'memory',
  },
  {
    name: 'memory and files together',
    code: `
def fill():
    held = b"x" * (246 << 20)
    for i in range(2):
        with open(f"f{i}", "wb") as file:
            file.write(bytes(7 << 20))
    return f"{len(held) >> 20} MiB and 14 MiB of files"
attempt("both", fill)`,
    // There, files are on a disk.
    expected: { bubblewrap: 'stopped', landlock: 'untried', process: 'untried' },
    needs: 'memory',
  },
  {
    name: 'memory, mmap',
    code: 'import mmap\nattempt("map", lambda: mmap.mmap(-1, 4 << 30))',
    expected: everywhere('refused'),
  },
  {
    name: 'memory, an array larger than all',
    code: 'data = np.ones((200_000, 200_000))',
    expected: everywhere('stopped'),
  },
  {
    name: 'disk filled by many files',
    code: `
def fill():
    for i in range(6):
        with open(f"f{i}", "wb") as file:
            file.write(bytes(4 << 20))
    return "24 MiB"
attempt("disk", fill)`,
    expected: ownDisk,
  },
  {
    name: 'one file past the limit',
    code: 'attempt("file", lambda: open("large", "wb").write(bytes(9 << 20)))',
    expected: everywhere('refused'),
  },
  {
    name: 'inodes filled',
    code: `
def fill():
    for i in range(300):
        open(f"n{i}", "w").close()
    return "300 files"
attempt("inodes", fill)`,
    // gVisor counts no files, only their bytes; the files are in the session's own kernel.
    expected: { ...ownDisk, gvisor: 'open' },
  },
  {
    name: 'endless loop',
    code: 'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'sleep past the limit',
    code: 'time.sleep(60)',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'SIGTERM, SIGALRM and SIGXCPU ignored',
    code: `
import signal
for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
time.sleep(60)`,
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'finalizer that never ends',
    code: 'class Late:\n    def __del__(self):\n        while True: pass\nLate()',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'timer and exit handler after the call',
    code: `
import atexit, threading
atexit.register(time.sleep, 60)
threading.Timer(0.05, lambda: sys.stdout.write("late")).start()`,
    expected: everywhere('harmless'),
  },
  {
    name: 'endless stdout',
    code: 'while True: print("x" * 1000)',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'endless stderr',
    code: 'while True: sys.stderr.write("x" * 1000)',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'one line of 64 MiB',
    code: 'print("x" * (64 << 20))',
    expected: everywhere('harmless'),
  },
  {
    name: 'bytes that are no text',
    code: 'sys.stdout.buffer.write(bytes(range(128, 256)) * 40)',
    expected: everywhere('harmless'),
  },
  {
    name: 'output after close',
    code: 'sys.stdout.close()\nprint("x")',
    expected: everywhere('refused'),
  },
  {
    name: 'children that nobody waits for',
    code: `
def breed():
    for _ in range(40):
        if os.fork() == 0:
            os._exit(0)
    return "40 zombies"
attempt("zombies", breed)`,
    expected: { ...everywhere('refused'), landlockAsUser: 'open', processAsUser: 'open' },
  },
  {
    name: 'daemon by double fork',
    code: `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
print("left")`,
    expected: everywhere('harmless'),
  },
  {
    name: '10 000 open files',
    code: 'attempt("files", lambda: [os.dup(0) for _ in range(10_000)])',
    expected: everywhere('refused'),
  },
  {
    name: 'image of 30 000 × 30 000',
    code: 'image = Image.new("RGB", (30_000, 30_000))',
    expected: everywhere('stopped'),
  },
  {
    name: 'PNG that unpacks to 400 megapixels',
    code: `
import io, struct, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
head = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 0, 0, 0, 0)
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000)))
attempt("bomb", lambda: Image.open(io.BytesIO(png)).load())`,
    expected: everywhere('refused'),
  },
  {
    name: 'recursion without end',
    code: 'def f(): f()\nattempt("recursion", f)',
    expected: everywhere('refused'),
  },
  {
    name: 'recursion past the stack',
    code: 'import pickle\nsys.setrecursionlimit(10**9)\ntop = []\nfor _ in range(300_000): top = [top]\nrepr(top)',
    expected: everywhere('stopped'),
  },
  {
    name: 'regular expression that never matches',
    code: 'import re\nre.match(r"(a+)+$", "a" * 60 + "b")',
    expected: everywhere('stopped'),
    isBomb: true,
  },
  {
    name: 'number with ten million digits as text',
    code: 'attempt("digits", lambda: str(1 << 40_000_000))',
    expected: everywhere('refused'),
  },
];

export const resourceAttacks: readonly Attack[] = cases.map((attack) => ({
  ...attack,
  group: 'resources',
}));
