/** Replies by the million, for what decodes them in Node; and live ones from real sessions. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ConfigError } from '@saccade/core';
import { defaultLimits, type Limits } from '../limits.ts';
import type { LocalSandbox } from '../local-sandbox.ts';
import type { Outcome } from '../outcome.ts';
import { Permits } from '../permits.ts';
import { PythonSession, type SessionHost } from '../python-session.ts';
import { decodeReply } from '../reply.ts';
import { readDied, readFailed, readOpened, readRefused, readResult } from '../session-replies.ts';
import { Dice, mutatedReply } from './reply-mutations.ts';

/** How many replies are tried, and from which seed. */
export interface FuzzOptions {
  readonly count: number;
  readonly seed: number;
}

/** The results of decoding them. */
export interface FuzzResult {
  /** How many ended as which kind, by what they were written as a reply to. */
  readonly ends: Readonly<Record<string, number>>;
  /** Errors, with the replies in hexadecimal; empty if all is well. */
  readonly failures: readonly string[];
  readonly slowestMs: number;
  /** Growth of the heap from a tenth of the replies to the last. */
  readonly grownBytes: number;
}

/** A good start, for those that come after it. */
const opened = replyBytes(1, 0, '{"cpuMs": 1}');
const mostFailures = 5;

function replyBytes(kind: number, number: number, text: string): Buffer {
  const record = Buffer.alloc(20);
  [kind, number, text.length, 0, text.length].forEach((value, index) => {
    record.writeUInt32LE(value, 4 * index);
  });
  return Buffer.concat([record, Buffer.from(text)]);
}

/** So many replies are only decoded for each that a session without a process gets: that takes longer. */
const decodedPerSession = 9;

/** Decodes changed replies, and gives some to sessions: half at their start, half as a result. */
export async function fuzzReplies({ count, seed }: FuzzOptions): Promise<FuzzResult> {
  const dice = new Dice(seed);
  const ends: Record<string, number> = {};
  const failures: string[] = [];
  let slowestMs = 0;
  let settled = 0;
  const began = Math.floor(count / 10);
  for (let index = 0; index < count && failures.length < mostFailures; index++) {
    if (index === began) settled = heapBytes();
    const bytes = mutatedReply(dice);
    const way = dice.roll(2 + 2 * decodedPerSession);
    const start = performance.now();
    try {
      const end = way > 1 ? decoded(bytes) : await (way === 1 ? asResult(bytes) : asStart(bytes));
      ends[end] = (ends[end] ?? 0) + 1;
      if (end === 'result: infraError') failures.push(`${end}: ${bytes.toString('hex')}`);
    } catch (error) {
      failures.push(`${String(error)}: ${bytes.toString('hex')}`);
    }
    slowestMs = Math.max(slowestMs, performance.now() - start);
  }
  const grownBytes = heapBytes() - settled;
  return { ends, failures, slowestMs, grownBytes };
}

/** Bytes of the heap in use after a full garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

function decoded(bytes: Buffer): string {
  const reply = decodeReply(bytes, defaultLimits);
  if (reply.kind === 'broken') return 'decoded: broken';
  const readers = [readOpened, readFailed, readRefused] as const;
  const results = [readResult, readDied] as const;
  const read = [
    ...readers.map((reader) => reader(reply)),
    ...results.map((reader) => reader(reply, defaultLimits, 'none', 0)),
  ];
  return `decoded: ${read.some((one) => one !== undefined) ? 'read' : 'not typed'}`;
}

async function asStart(bytes: Buffer): Promise<string> {
  const session = new PythonSession(1, deafHost(), { imageNames: ['photo'] });
  const open = session.opened().then(
    () => 'start: opened',
    (error: Error) => `start: ${error.name}`,
  );
  session.onReply(bytes);
  session.onServerEnd('the end');
  return await open;
}

async function asResult(bytes: Buffer): Promise<string> {
  const session = new PythonSession(1, deafHost(), { imageNames: ['photo'] });
  session.onReply(opened);
  await session.opened();
  const running = session.execute('pass');
  await new Promise<void>((wake) => queueMicrotask(() => queueMicrotask(wake)));
  for (let turn = 0; turn < 8; turn++) await undefined; // until it waits for its result
  session.onReply(bytes);
  session.onReply(bytes); // a second one is nobody's
  const { kind } = await running;
  return `result: ${kind}`;
}

function deafHost(): SessionHost {
  return {
    tier: 'none',
    limits: defaultLimits,
    running: new Permits(1, 1),
    send: () => {},
    checkAlive: async () => {},
    onExecution: () => {},
    onViolation: () => {},
  };
}

/** How many live sessions send forged replies. */
export interface LiveOptions extends FuzzOptions {
  readonly sandbox: LocalSandbox;
}

/** Has sessions write changed replies to their own pipes, some cut in two, beside one that lives on. */
export async function fuzzLive({ sandbox, count, seed }: LiveOptions): Promise<FuzzResult> {
  if (sandbox.limits.wallSeconds > 5) {
    throw new ConfigError('limits.wallSeconds', 'Half a reply waits that long: give at most 5 s.');
  }
  const dice = new Dice(seed);
  const ends: Record<string, number> = {};
  const failures: string[] = [];
  const { restarts } = sandbox.stats();
  const bystander = await sandbox.open();
  await bystander.execute('kept = 1');
  let [slowestMs, left] = [0, count];
  const settled = heapBytes();
  const one = async (): Promise<void> => {
    while (left > 0 && failures.length < mostFailures) {
      left -= 1;
      const [bytes, cut] = [mutatedReply(dice), dice.roll(21)];
      const start = performance.now();
      const { kind, error } = await liveOutcome(sandbox, bytes, cut);
      slowestMs = Math.max(slowestMs, performance.now() - start);
      ends[`live: ${kind}`] = (ends[`live: ${kind}`] ?? 0) + 1;
      if (kind === 'infraError') failures.push(`${error?.message}: ${bytes.toString('hex')}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, one));
  const after = await bystander.execute('print(kept)');
  await bystander.dispose();
  if (after.stdout !== '1\n') failures.push(`The session beside them ended with ${after.kind}.`);
  if (sandbox.stats().restarts !== restarts) failures.push('A fork server ended.');
  if (sandbox.stats().open !== 0) failures.push(`${sandbox.stats().open} sessions are left.`);
  return { ends, failures, slowestMs, grownBytes: heapBytes() - settled };
}

async function liveOutcome(sandbox: LocalSandbox, bytes: Buffer, cut: number): Promise<Outcome> {
  const session = await sandbox.open();
  try {
    return await session.execute(`
import os, sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "link"): frame = frame.f_back
view = frame.f_locals["self"].link.view
data = bytes.fromhex("${bytes.toString('hex')}")
view[:max(0, len(data) - 20)] = data[20:]
os.write(4, data[:20][:${cut}])
os.write(4, data[:20][${cut}:])`);
  } finally {
    await session.dispose();
  }
}

/** Limits for `fuzzLive`. */
export const liveLimits: Partial<Limits> = { wallSeconds: 1, cpuSeconds: 1 };
