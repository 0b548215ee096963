/** The replies that a session can write, and how far they are believed: real and made-up ones. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fuzzLive, fuzzReplies, liveLimits } from './attacks/fuzz-replies.ts';
import { coordinateImage } from './contract.ts';
import { defaultLimits } from './limits.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { watchTurns } from './longest-turn.fixture.ts';
import { processesBelow } from './memory-scan.fixture.ts';
import { openSandbox, type SandboxOptions } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';
import { decodeReply } from './reply.ts';

const isSweep = process.env.SACCADE_SWEEP !== undefined;
const mebibyte = 2 ** 20;
let python = '';
const sandboxes: LocalSandbox[] = [];
/** With default limits, for all tests that need no others. */
let plain: LocalSandbox;

beforeAll(async () => {
  ({ python } = await ensurePython(join(import.meta.dirname, '../../../.cache/sandbox-venv')));
  plain = await openSandbox({ python, forbidden: [] });
}, 300_000);

afterAll(() => plain?.dispose());

afterEach(async () => {
  await Promise.all(sandboxes.splice(0).map((sandbox) => sandbox.dispose()));
});

async function open(options: SandboxOptions = {}): Promise<LocalSandbox> {
  const sandbox = await openSandbox({ python, forbidden: [], ...options });
  sandboxes.push(sandbox);
  return sandbox;
}

/** Python: `link` is the session's own end, `send` writes a record for what lies in its memory. */
const forgery = `
import json, os, struct, sys, threading, time
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "link"): frame = frame.f_back
link = frame.f_locals["self"].link
def send(kind, number, text, blobs=0):
    link.view[:len(text)] = text
    os.write(4, struct.pack("<IIIII", kind, number, len(text), blobs, len(text)))
def result(number, said):
    send(4, number, json.dumps({"kind": "ok", "stdout": said, "stderr": "", "images": [], "error": None,
        "truncated": [], "wallMs": 1, "cpuMs": 1, "maxRssKb": 1}).encode())
`;

/** Resident bytes of the processes of a server, without its sessions. */
function serverBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return sum + Number(pages) * 4096;
  }, 0);
}

describe('a session that writes its own replies', () => {
  it('speaks for one execution: what comes later ends it', async () => {
    const sandbox = await open({ limits: { wallSeconds: 3 } });
    for (const later of [
      'if os.fork() == 0:\n    time.sleep(0.1)\n    result(link.number, "late")\n    os._exit(0)',
      'threading.Timer(0.1, lambda: result(link.number + 1, "early")).start()',
      'threading.Timer(0.1, lambda: os.write(4, b"x")).start()',
    ]) {
      const session = await sandbox.open();
      expect((await session.execute(`${forgery}\n${later}\nprint(1)`)).stdout).toBe('1\n');
      await new Promise((wake) => setTimeout(wake, 400));
      expect(await session.execute('print(2)')).toMatchObject({ kind: 'crashed', stdout: '' });
      await session.dispose();
    }
    expect(sandbox.stats()).toMatchObject({ open: 0, restarts: 0, violations: 3 });
  });

  it('cannot repeat a reply, nor go past a deadline with one', async () => {
    const sandbox = await open({ limits: { wallSeconds: 1 } });
    const session = await sandbox.open();
    const early = `${forgery}\nresult(link.number, "forged")\ntime.sleep(600)`;
    expect((await session.execute(early)).stdout).toBe('forged');
    // It still runs the first code: the second waits for its own deadline, and no longer.
    expect((await session.execute('print(2)')).kind).toBe('timeout');
    await session.dispose();
    const other = await sandbox.open({ mode: 'transactional' });
    const twice = `${forgery}\nresult(link.number, "a")\nresult(link.number, "b")\ntime.sleep(30)`;
    await other.execute(twice);
    expect((await other.execute('print(3)')).kind).toBe('crashed');
    await other.dispose();
  });

  it('keeps Node responsive, whatever a header holds', async () => {
    const sandbox = plain;
    const before = process.memoryUsage().rss;
    for (const text of [
      `b'{"blobs":[' + b"0," * (10 << 20) + b"0]}"`,
      `b'{"blobs":[' + b"0," * (30 << 20) + b"0]}"`,
      'b"[" * (60 << 20)',
      `b'{"stdout":"' + b"x" * (60 << 20) + b'"}'`,
    ]) {
      const session = await sandbox.open();
      const longestTurn = watchTurns();
      const outcome = await session.execute(
        `${forgery}\nsend(4, link.number, ${text})\ntime.sleep(5)`,
      );
      expect(longestTurn()).toBeLessThan(2);
      expect(outcome).toMatchObject({ kind: 'crashed' });
      await session.dispose();
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * mebibyte);
    expect(sandbox.stats()).toMatchObject({ open: 0, restarts: 0 });
  });

  it('has its own memory for what waits to be sent: halves of large replies cost the server nothing', async (context) => {
    if (process.platform !== 'linux') return context.skip('resident sizes are read from /proc');
    const sandbox = await open({ maxRunning: 8, limits: { wallSeconds: 3 } });
    const own = processesBelow(sandbox.serverPid);
    const sessions = await Promise.all(Array.from({ length: 8 }, () => sandbox.open()));
    const before = serverBytes(own);
    const half = `${forgery}
for at in range(0, 63 << 20, 1 << 20): link.view[at:at + (1 << 20)] = b"x" * (1 << 20)
os.write(4, struct.pack("<IIIII", 4, link.number, 100, 0, len(link.view))[:19])
time.sleep(30)`;
    const running = sessions.map((session) => session.execute(half));
    await new Promise((wake) => setTimeout(wake, 2_000));
    expect(serverBytes(own) - before).toBeLessThan(32 * mebibyte);
    for (const outcome of await Promise.all(running)) expect(outcome.kind).toBe('timeout');
    await Promise.all(sessions.map((session) => session.dispose()));
  });

  it('is charged for what waits to be sent', async (context) => {
    const sandbox = await open({ limits: { sessionMemoryBytes: 128 * mebibyte } });
    if (sandbox.guarantees.memory !== 'session') return context.skip('there are no control groups');
    const session = await sandbox.open();
    const fill = `${forgery}
held = b"x" * (80 << 20)
for at in range(0, 63 << 20, 1 << 20): link.view[at:at + (1 << 20)] = b"x" * (1 << 20)`;
    expect((await session.execute(fill)).kind).toBe('memory');
    await session.dispose();
  });

  it('gets nothing of other sessions and no descriptor but its two pipes', async (context) => {
    if (process.platform !== 'linux') return context.skip('descriptors are listed on Linux');
    const sandbox = plain;
    const encoded = coordinateImage(20, 10);
    const images = Array.from({ length: 300 }, (_, index) => ({ name: `i${index}`, encoded }));
    const session = await sandbox.open({ images });
    const { stdout } = await session.execute(`
import os
found = []
for number in range(3, 4096):
    try: os.fstat(number)
    except OSError: continue
    found.append(number)
print(found, i0.size, i299.size)`);
    expect(stdout).toBe('[3, 4] (20, 10) (20, 10)\n');
    await session.dispose();
  });
});

describe('large results', () => {
  it('arrive whole, from several sessions at once', async () => {
    // Encoding takes its time where other programs run too.
    const sandbox = await open({ maxRunning: 4, limits: { wallSeconds: 60, cpuSeconds: 30 } });
    const draw = `
part = Image.fromarray(np.random.randint(0, 256, (1800, 1800, 3), dtype=np.uint8))
for _ in range(2): part.show()
print(part.getpixel((1799, 1799)))`;
    const outcomes = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const session = await sandbox.open();
        const outcome = await session.execute(draw);
        expect((await session.execute('print("after")')).stdout).toBe('after\n');
        await session.dispose();
        return outcome;
      }),
    );
    const [first] = outcomes;
    for (const { kind, images, stdout } of outcomes) {
      expect([kind, images.length, stdout]).toEqual(['ok', 2, first?.stdout]);
      for (const { png } of images) {
        expect(png.length).toBeGreaterThan(9 * mebibyte);
        expect(Buffer.compare(png, first?.images[0]?.png ?? new Uint8Array())).toBe(0);
      }
    }
  });

  it('of errors with endless names are cut, not broken', async () => {
    const sandbox = plain;
    const session = await sandbox.open();
    const outcome = await session.execute('raise type("E" * 5_000_000, (Exception,), {})("no")');
    expect(outcome).toMatchObject({ kind: 'exception', error: { message: 'no' } });
    expect((await session.execute('print(1)')).kind).toBe('ok');
    await session.dispose();
  });
});

if (!isSweep) {
  console.info('Less than half of the replies changed by chance: `npm run sweep` tries all.');
}

describe('replies that were changed by chance', () => {
  it('are decoded in Node without a throw, and never become an infraError', async () => {
    const { failures, ends, grownBytes } = await fuzzReplies({
      count: isSweep ? 20_000 : 8_000,
      seed: 5,
    });
    expect(failures).toEqual([]);
    expect(Object.keys(ends)).toEqual(
      expect.arrayContaining([
        'result: ok',
        'result: crashed',
        'start: opened',
        'start: DataError',
      ]),
    );
    expect(grownBytes).toBeLessThan(16 * mebibyte);
  });

  it('are decoded in the supervisor as their bytes say', () => {
    const script = join(import.meta.dirname, '../bin/fuzz_replies.py');
    const said = execFileSync(python, ['-B', script, isSweep ? '50000' : '20000', '5'], {
      encoding: 'utf8',
    });
    expect(said).toMatch(/^not whole: \d+, refused: \d+, taken: \d+\n$/);
  });

  it('end the sessions that wrote them and nobody else', async () => {
    const sandbox = await open({ limits: liveLimits });
    const { failures, ends } = await fuzzLive({ sandbox, count: 40, seed: 5 });
    expect(failures).toEqual([]);
    expect(ends['live: crashed']).toBeGreaterThan(10);
  });
});

describe('a reply', () => {
  const record = (fields: readonly number[], text: string): Buffer => {
    const bytes = Buffer.alloc(20);
    for (const [index, value] of fields.entries()) bytes.writeUInt32LE(value, 4 * index);
    return Buffer.concat([bytes, Buffer.from(text)]);
  };

  it.each<[string, Buffer]>([
    ['is no record', Buffer.alloc(19)],
    ['has a kind that there is not', record([6, 0, 2, 0, 2], '{}')],
    ['claims another size', record([4, 0, 2, 0, 3], '{}')],
    ['has a longer header than a result needs', record([4, 0, 2 ** 21, 0, 2], '{}')],
    ['has more blobs than a result may have', record([4, 0, 2, 9, 38], `{}${'\0'.repeat(36)}`)],
    ['has a blob that does not fit', record([4, 0, 2, 1, 6], '{}\u0001\0\0\0')],
    ['has more than its blobs', record([4, 0, 2, 0, 3], '{}x')],
    ['is no JSON', record([4, 0, 2, 0, 2], '{"')],
    ['is a list', record([4, 0, 2, 0, 2], '[]')],
    ['nests too deep', record([4, 0, 25, 0, 25], `{"a":${'['.repeat(10)}${']'.repeat(10)}}`)],
  ])('is broken if it %s', (_, bytes) => {
    expect(decodeReply(bytes, defaultLimits)).toMatchObject({ kind: 'broken' });
  });

  it('is the same bytes in Python', () => {
    const code = `
import os, sys
sys.path.insert(0, sys.argv[1])
import session_wire, shared_memory
taken, given = os.pipe()
memory = shared_memory.create("reply", session_wire.MAX_REPLY_BYTES)
link = session_wire.SessionSide(taken, given, os.dup(memory))
link.number = 7
link.reply(session_wire.RESULT, {"text": "é\\0"}, [b"", b"\\1\\2"])
record = os.read(taken, 64)
size = session_wire.REPLY.unpack(record)[-1]
sys.stdout.buffer.write(record + os.pread(memory, size, 0))`;
    const sources = join(import.meta.dirname, '../python');
    const bytes = execFileSync(python, ['-B', '-c', code, sources]);
    expect(decodeReply(bytes, defaultLimits)).toEqual({
      kind: 'result',
      number: 7,
      header: { text: 'é\0' },
      blobs: [new Uint8Array(), new Uint8Array([1, 2])],
    });
  });
});
