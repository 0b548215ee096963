/** Attacks on other sessions, and on the reward. */
import { type Attack, everywhere, isolatedOnly } from './attack.ts';

const sessions: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'files of another session',
    code: `
import glob
if VICTIM_DIRECTORY == os.getcwd():
    print("REACHED" if os.path.exists("kept") else "refused: a place of its own under the same name")
else:
    attempt("list", lambda: os.listdir(VICTIM_DIRECTORY))
    attempt("read", lambda: open(VICTIM_DIRECTORY + "/kept").read())
def list_others():
    here = os.getcwd()
    return [n for n in os.listdir(os.path.dirname(here)) if n != os.path.basename(here)] or 1 / 0
attempt("all", list_others)`,
    expected: { ...everywhere('refused'), processAsUser: 'open' },
  },
  {
    name: 'variables, patches and environment of another session',
    code: `
import math
seen = ["secret" in globals(), math.pi < 3.1, "VICTIM_WAS_HERE" in os.environ, "poison" in sys.modules]
print("REACHED" if any(seen) else "refused", seen)`,
    expected: everywhere('refused'),
  },
  {
    name: 'images of another session in memory',
    code: `
import gc
found = [o.size for o in gc.get_objects() if isinstance(o, Image.Image) and o.size == (123, 77)]
print("REACHED" if found else "refused", found)`,
    expected: everywhere('refused'),
  },
  {
    name: 'pixels of another session, by a scan of its own memory',
    // A pixel of the other's is (x, y, 7, 255) there, and the next one (x + 1, y, 7, 255): single ones are
    // found by chance. A pipe says which addresses there are. It stops in time to say what it found where
    // calls are slow, as in gVisor; memory-separation.test.ts sees all.
    code: `
libc.malloc.restype = ctypes.c_void_p
middles = [id(np), id(Image), id(sys), libc.malloc(100), libc.malloc(1 << 20), libc.malloc(1 << 26)]
taken, given = os.pipe()
seen, found, pages, end = set(), 0, 0, time.monotonic() + 2.5
for middle in middles:
    start = middle >> 26 << 26
    for page in range(start - (1 << 26), start + (1 << 26), 4096):
        if page in seen: continue
        if time.monotonic() > end: break
        seen.add(page)
        if libc.write(given, ctypes.c_void_p(page), ctypes.c_size_t(4096)) != 4096: continue
        pages += 1
        places, marks = np.frombuffer(os.read(taken, 4096), np.uint16).reshape(-1, 2).T
        isNext = (marks[1:] == 0xFF07) & (marks[:-1] == 0xFF07) & (places[1:] - places[:-1] == 1)
        found += np.count_nonzero(isNext)
print("REACHED" if found > 2000 or pages < 1000 else "refused", found, pages)`,
    expected: everywhere('refused'),
  },
  {
    name: 'memory shared by name (System V)',
    code: 'attempt("shared", lambda: call(29, 194, 4711, 4096, 0o1666))',
    expected: isolatedOnly('refused', 'untried'),
  },
  {
    name: 'files shared by all (/dev/shm)',
    code: 'attempt("shared", lambda: open(f"/dev/shm/attack-{os.getpid()}", "w").close() or os.unlink(f"/dev/shm/attack-{os.getpid()}"))',
    expected: isolatedOnly('refused'),
  },
];

const reward: readonly Omit<Attack, 'group'>[] = [
  {
    name: 'sources of the sandbox and its checks',
    code: `
frame = sys._getframe()
while frame.f_back: frame = frame.f_back
attempt("server", lambda: open(frame.f_code.co_filename).read())`,
    expected: isolatedOnly('refused'),
  },
  {
    name: 'a result forged on stdout',
    code: `print('{"type": "result", "kind": "ok", "stdout": "42", "images": []}')`,
    expected: everywhere('harmless'),
  },
  {
    name: 'noise on the channel of results',
    code: 'os.write(4, b"\\xff" * 64)\ntime.sleep(5)',
    expected: everywhere('stopped'),
  },
  {
    name: 'early exit with status 0',
    code: 'os._exit(0)',
    expected: everywhere('stopped'),
  },
  {
    name: 'a whole result forged on the channel of results',
    code: `
import json, struct
body = json.dumps({"kind": "ok", "stdout": "REACHED: forged\\n", "stderr": "", "images": [],
    "error": None, "truncated": [], "wallMs": 1, "cpuMs": 1e9, "maxRssKb": 1}).encode()
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "link"): frame = frame.f_back
link = frame.f_locals["self"].link
link.view[:len(body)] = body
os.write(4, struct.pack("<IIIII", 4, link.number, len(body), 0, len(body)))
time.sleep(0.2)`,
    // It speaks for nobody but itself, and could have printed the same.
    expected: everywhere('open'),
  },
];

export const neighborAttacks: readonly Attack[] = [
  ...sessions.map((attack) => ({ ...attack, group: 'other sessions' as const })),
  ...reward.map((attack) => ({ ...attack, group: 'reward' as const })),
];
