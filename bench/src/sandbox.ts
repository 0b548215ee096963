/** How fast the sandbox is: starting a session, a turn, a turn that returns an image. */
import { performance } from 'node:perf_hooks';
import { needle, taskSets } from '@saccade/gym';
import { type InputImage, openSandbox, type Sandbox, type Session } from '@saccade/sandbox';
import { sandboxPython } from './sandbox-python.ts';
import { quantile } from './statistics.ts';

/** Seconds that one thing took, many times. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly count: number;
}

interface SandboxResult {
  /** Sessions at once. */
  readonly sessions: number;
  /** From asking for a session to having it, with one image put in. */
  readonly start: Latency;
  /** `print` of a small sum. */
  readonly turn: Latency;
  /** A crop of the image, enlarged and shown: encoded, sent and decoded. */
  readonly imageTurn: Latency;
  /** Turns without images, all sessions together. */
  readonly executionsPerSecond: number;
}

export interface SandboxBench {
  /** How sessions are isolated. */
  readonly tier: string;
  readonly results: readonly SandboxResult[];
}

export interface SandboxOptions {
  /** Numbers of sessions at once to measure. */
  readonly sessions: readonly number[];
  /** Turns of each kind in each session. */
  readonly turns: number;
  readonly onStart?: (what: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: SandboxBench) => void;
}

const TURN = 'total = sum(range(100))\nprint(total)';
const IMAGE_TURN = 'image_clue_0.crop((0, 0, 56, 56)).resize((112, 112)).show()';

export async function measureSandbox(options: SandboxOptions): Promise<SandboxBench> {
  const task = await taskSets.get(needle.name).task('train', 0);
  const images = task.images.map(({ name, png }) => ({ name, encoded: png }));
  const maxSessions = Math.max(...options.sessions);
  const sandbox = await openSandbox({ python: await sandboxPython(), maxSessions });
  try {
    const results: SandboxResult[] = [];
    // The first session pays for what all later ones share.
    await measureSessions(sandbox, images, 1, 2);
    for (const sessions of options.sessions) {
      options.signal?.throwIfAborted();
      options.onStart?.(`${sessions} sessions`);
      results.push(await measureSessions(sandbox, images, sessions, options.turns));
      options.keep?.({ tier: sandbox.tier, results });
    }
    return { tier: sandbox.tier, results };
  } finally {
    await sandbox.dispose();
  }
}

/** Each session starts, takes its turns one after another, and ends; all of them at once. */
async function measureSessions(
  sandbox: Sandbox,
  images: readonly InputImage[],
  sessions: number,
  turns: number,
): Promise<SandboxResult> {
  const starts: number[] = [];
  // One session at a time gives few starts: it is started as often as it takes turns.
  const repeats = Math.max(1, Math.ceil(turns / sessions));
  for (let repeat = 1; repeat < repeats; repeat++) {
    const opened = await openAll(sandbox, images, sessions, starts);
    await Promise.all(opened.map((session) => session.dispose()));
  }
  const opened = await openAll(sandbox, images, sessions, starts);
  const plain = await takeTurns(opened, TURN, turns, 0);
  const imageTurns = await takeTurns(opened, IMAGE_TURN, turns, 1);
  await Promise.all(opened.map((session) => session.dispose()));
  return {
    sessions,
    start: latencyOf(starts),
    turn: latencyOf(plain.seconds),
    imageTurn: latencyOf(imageTurns.seconds),
    executionsPerSecond: plain.seconds.length / plain.wall,
  };
}

async function openAll(
  sandbox: Sandbox,
  images: readonly InputImage[],
  sessions: number,
  seconds: number[],
): Promise<readonly Session[]> {
  return await Promise.all(
    Array.from({ length: sessions }, async () => {
      const start = performance.now();
      const session = await sandbox.open({ images });
      seconds.push((performance.now() - start) / 1000);
      return session;
    }),
  );
}

/** @throws Error if a turn gave something else than it should: then its time means nothing */
async function takeTurns(
  sessions: readonly Session[],
  code: string,
  turns: number,
  imageCount: number,
): Promise<{ readonly seconds: readonly number[]; readonly wall: number }> {
  const seconds: number[] = [];
  const begin = performance.now();
  await Promise.all(
    sessions.map(async (session) => {
      for (let turn = 0; turn < turns; turn++) {
        const start = performance.now();
        const outcome = await session.execute(code);
        seconds.push((performance.now() - start) / 1000);
        if (outcome.kind !== 'ok' || outcome.images.length !== imageCount) {
          throw new Error(
            `A turn ended as ${outcome.kind} with ${outcome.images.length} images, ` +
              `expected ok with ${imageCount}: ${outcome.stderr}`,
          );
        }
      }
    }),
  );
  return { seconds, wall: (performance.now() - begin) / 1000 };
}

function latencyOf(seconds: readonly number[]): Latency {
  return { p50: quantile(seconds, 0.5), p95: quantile(seconds, 0.95), count: seconds.length };
}
