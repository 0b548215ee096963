/** Attacks on what leads from a session to the server: its two pipes and the memory for its replies. */
import { type Attack, everywhere } from './attack.ts';

/** Python that writes replies as the session's own process does; `link` is its end of all three. */
const forgery = `
import json, signal, struct, threading
OPENED, FAILED, REFUSED, RESULT, DIED = 1, 2, 3, 4, 5
def own_link():
    frame = sys._getframe()
    while frame is not None:
        link = getattr(frame.f_locals.get("self"), "link", None)
        if link is not None: return link
        frame = frame.f_back
link = own_link()
fine = {"kind": "ok", "stdout": "", "stderr": "", "images": [], "error": None, "truncated": [],
    "wallMs": 1, "cpuMs": 1, "maxRssKb": 1}
def record(kind=RESULT, number=None, header=None, blobs=0, size=None, text=None):
    text = json.dumps(fine if header is None else header).encode() if text is None else text
    link.view[:len(text)] = text
    number = link.number if number is None else number
    return struct.pack("<IIIII", kind, number, len(text), blobs, len(text) if size is None else size)
def send(*arguments, **named):
    os.write(4, record(*arguments, **named))
def old_frame(header):
    text = json.dumps(header).encode()
    return struct.pack("<III", len(text), 0, len(text)) + text
def write_old(header):
    for number in (3, 4):
        try: os.write(number, old_frame(header))
        except OSError: pass
`;

interface Case {
  readonly name: string;
  readonly code: string;
  readonly expected?: Attack['expected'];
  readonly isBomb?: boolean;
}

const hostile = '{"toString": 1, "valueOf": 1}';

const cases: readonly Case[] = [
  {
    name: 'a failed start with a message that is no text',
    code: `write_old({"type": "openFailed", "message": ${hostile}})\nsend(FAILED, header={"message": ${hostile}})\ntime.sleep(30)`,
  },
  {
    name: 'a failed start, then exit 0, to look like our failure',
    code: 'write_old({"type": "openFailed", "message": "x"})\nsend(FAILED, header={"message": "x"})\nos._exit(0)',
  },
  {
    name: 'an input refused after the start',
    code: 'send(REFUSED, header={"image": 0, "message": "x"})\ntime.sleep(30)',
  },
  {
    name: 'a second start, to have no deadline any more',
    code: 'write_old({"type": "opened"})\nsend(OPENED, header={"cpuMs": 0})\ntime.sleep(30)',
    isBomb: true,
  },
  {
    name: 'an execution that died, where none can',
    code: `
send(DIED, header={"cause": "exit", "signal": 0, "exitCode": 0, "wallMs": 1, "cpuMs": 1, "maxRssKb": 1})
time.sleep(30)`,
  },
  {
    name: 'words of the server: ended, memory, refused, pong',
    code: `
for word in ("ended", "memory", "refused", "pong"):
    write_old({"type": word, "session": 1, "message": "x", "cause": "close", "signal": 0})
time.sleep(30)`,
  },
  {
    name: 'a reply of a kind that there is not',
    code: 'send(99)\ntime.sleep(30)',
  },
  {
    name: 'the reply to an earlier request',
    code: 'send(OPENED, number=0, header={"cpuMs": 0})\nsend(number=link.number - 1)\ntime.sleep(30)',
  },
  {
    name: 'the reply to a later request',
    code: 'send(number=link.number + 1)\ntime.sleep(30)',
  },
  {
    name: 'two replies in one write',
    code: 'os.write(4, record() * 2)\ntime.sleep(30)',
  },
  {
    name: 'half a record, and nothing more',
    code: 'os.write(4, record()[:10])\ntime.sleep(30)',
    isBomb: true,
  },
  {
    name: 'records from eight processes at once, byte by byte',
    code: `
data = record()[7:] + record()[:7]
for _ in range(7):
    try:
        if os.fork() == 0: break
    except OSError: pass
while True:
    for byte in data: os.write(4, bytes([byte]))`,
  },
  {
    name: 'a flood of noise on the pipe for replies',
    code: 'while True: os.write(4, os.urandom(4096))',
  },
  {
    name: 'a header of 4 GiB',
    code: 'os.write(4, struct.pack("<IIIII", RESULT, link.number, 2**32 - 1, 0, 2**32 - 1))\ntime.sleep(30)',
  },
  {
    name: 'a header longer than its reply',
    code: 'os.write(4, struct.pack("<IIIII", RESULT, link.number, 1000, 0, 10))\ntime.sleep(30)',
  },
  {
    name: 'four billion blobs',
    code: 'send(blobs=2**32 - 1)\ntime.sleep(30)',
  },
  {
    name: 'a million blobs of nothing',
    code: 'link.view[:8_000_000] = bytes(8_000_000)\nsend(blobs=1_000_000, size=8_000_000)\ntime.sleep(30)',
  },
  {
    name: 'lengths of blobs that do not fit',
    code: `
text = json.dumps({**fine, "images": [{"source": "image"}]}).encode()
send(text=text + struct.pack("<I", 2**31), blobs=1)
time.sleep(30)`,
  },
  {
    name: 'a header of 20 MiB of zeros in a list',
    code: 'send(text=b\'{"blobs":[\' + b"0," * (10 << 20) + b"0]}")\ntime.sleep(30)',
  },
  {
    name: 'a header nested 100 000 deep',
    code: 'send(text=b\'{"stdout":\' + b"[" * 100_000 + b"]" * 100_000 + b"}")\ntime.sleep(30)',
  },
  {
    name: 'fields with the names of prototypes',
    code: 'send(header={"__proto__": fine, "constructor": {"prototype": fine}})\ntime.sleep(30)',
  },
  {
    name: 'numbers past all numbers',
    code: 'send(text=json.dumps(fine).replace(\'"wallMs": 1\', \'"wallMs": 1e999\').encode())\ntime.sleep(30)',
  },
  {
    name: 'an outcome of ours: infraError',
    code: 'send(header={**fine, "kind": "infraError"})\ntime.sleep(30)',
  },
  {
    name: 'the pipes closed',
    code: 'os.close(4)\nos.close(3)',
  },
  {
    name: 'the pipe for replies exchanged for another',
    code: 'os.dup2(1, 4)',
    isBomb: true,
  },
  {
    name: 'the memory for replies unmapped',
    code: 'libc.munmap(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(link.view))), 4096)',
  },
  {
    name: 'all of the memory for replies, without room for it',
    code: 'held = bytes(link.view[:1])\nfor at in range(0, len(link.view), 1 << 20): link.view[at:at + 10] = b"x" * 10',
    expected: everywhere('harmless'),
  },
  {
    name: 'the pipe for requests written, the one for replies read',
    code: 'attempt("write", lambda: os.write(3, b"x" * 12))\nattempt("read", lambda: os.read(4, 1))',
    expected: everywhere('refused'),
  },
  {
    name: 'signals to the server by events of the pipes',
    code: `
import fcntl
for number in (3, 4):
    for step in ((fcntl.F_SETSIG, signal.SIGKILL), (fcntl.F_SETOWN, SERVER), (fcntl.F_SETFL, os.O_ASYNC)):
        try: fcntl.fcntl(number, *step)
        except OSError: pass`,
    expected: everywhere('harmless'),
  },
];

export const replyAttacks: readonly Attack[] = cases.map(
  ({ code, expected = everywhere('stopped'), ...rest }) => ({
    ...rest,
    expected,
    group: 'replies',
    code: `${forgery}\n${code}`,
  }),
);
