/** Code that writes frames to every descriptor it finds: it harms its own session alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { watchTurns } from './longest-turn.fixture.ts';
import { processesBelow } from './memory-scan.fixture.ts';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';

const mebibyte = 2 ** 20;
const wallSeconds = 4;
let python = '';

beforeAll(async () => {
  ({ python } = await ensurePython(join(import.meta.dirname, '../../../.cache/sandbox-venv')));
}, 300_000);

/** `frame` makes one with a length before it; `put` writes it wherever it can. */
const prelude = `
import json, os, struct, time
def frame(header, text=None):
    text = json.dumps(header).encode() if text is None else text
    return struct.pack("<III", len(text), 0, len(text)) + text
def put(data):
    for number in range(3, 64):
        rest = memoryview(data)
        try:
            while rest: rest = rest[os.write(number, rest):]
        except OSError: pass
`;

const hostileText = '{"toString": 1, "valueOf": 1}';

const cases: readonly (readonly [string, string])[] = [
  ['a message that is no text', `put(frame({"type": "openFailed", "message": ${hostileText}}))`],
  ['a second start', 'put(frame({"type": "opened"}))\ntime.sleep(600)'],
  [
    'ten million numbers where blobs are listed',
    `put(frame(0, b'{"blobs":[' + b"0," * (10 << 20) + b"0]}"))\ntime.sleep(600)`,
  ],
  [
    'a failed start, then exit 0',
    'put(frame({"type": "openFailed", "message": "x"}))\nos._exit(0)',
  ],
  [
    'half a frame of 63 MiB',
    'put(struct.pack("<III", (63 << 20) + 4096, 0, 10) + b"x" * (63 << 20))\ntime.sleep(600)',
  ],
];

/** Resident bytes of these processes. */
function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return sum + Number(pages) * 4096;
  }, 0);
}

it.each(cases)(
  'harms nobody else: %s',
  async (_, code) => {
    const sandbox = await openSandbox({ python, maxRunning: 8, limits: { wallSeconds } });
    try {
      const server = processesBelow(sandbox.serverPid);
      const neighbor = await sandbox.open();
      const sessions = await Promise.all(Array.from({ length: 4 }, () => sandbox.open()));
      const before = { server: residentBytes(server), node: process.memoryUsage().rss };
      const longestTurn = watchTurns();
      const running = Promise.all(sessions.map((session) => session.execute(prelude + code)));
      let most = { server: 0, node: 0 };
      const timer = setInterval(() => {
        const [ofServer, ofNode] = [residentBytes(server), process.memoryUsage().rss];
        most = { server: Math.max(most.server, ofServer), node: Math.max(most.node, ofNode) };
      }, 50);
      const outcomes = await running;
      clearInterval(timer);
      const turn = longestTurn();
      for (const { kind } of outcomes) expect(kind).toMatch(/^(ok|crashed|timeout|memory)$/);
      expect(turn).toBeLessThan(2);
      expect(most.server - before.server).toBeLessThan(48 * mebibyte);
      expect(most.node - before.node).toBeLessThan(192 * mebibyte);
      expect((await neighbor.execute('print(1)')).stdout).toBe('1\n');
      expect(sandbox.stats().restarts).toBe(0);
    } finally {
      await sandbox.dispose();
    }
  },
  120_000,
);
