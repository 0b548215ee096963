/** Runs that roll out while they train: killed as processes, slowed down, left alone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomAt } from '@saccade/core';
import { isTiming, readMetrics } from '@saccade/run-store';
import {
  applySettings,
  checkRun,
  inputOf,
  parseSetting,
  recipes,
  resolveRun,
  train,
} from '@saccade/train';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSharedSandbox, type SharedSandbox } from './sandbox-service.fixture.ts';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-asynchronous-'));
let sandbox: SharedSandbox | undefined;
afterAll(async () => {
  await sandbox?.close();
  rmSync(root, { recursive: true });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, 'train', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

async function resume(directory: string): Promise<void> {
  const { code, output } = await ended(start(['--resume', directory]));
  expect(code, output).toBe(0);
}

/** Trains in this process: what is not killed needs none of its own. */
async function trainHere(directory: string, settings: readonly string[]): Promise<void> {
  const python = () => Promise.reject(new Error('nothing runs but in the shared sandbox'));
  await train({ run: runOf(settings), directory, python, onEvent: () => {} });
}

/** All rows but what the clock says. */
function rowsOf(directory: string): Record<string, unknown>[] {
  return readMetrics(directory).value.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !isTiming(name))),
  );
}

function stepsOf(directory: string): Record<string, unknown>[] {
  return rowsOf(directory).filter(({ stage }) => stage === 'rl');
}

/** Kills without warning some moment after the metrics have so many rows. */
async function killAfter(child: ChildProcess, directory: string, rows: number, delayMs: number) {
  const end = ended(child);
  const path = join(directory, 'metrics.jsonl');
  const hasRows = () => existsSync(path) && readFileSync(path, 'utf8').split('\n').length > rows;
  while (child.exitCode === null && !hasRows()) await new Promise((r) => setTimeout(r, 10));
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  child.kill('SIGKILL');
  await end;
}

const isSweep = process.env.SACCADE_SWEEP !== undefined;
const coldStart = join(root, 'cold-start');
const common = [
  `startFrom=${coldStart}`,
  'rl.steps=4',
  'scheduler.promptsPerStep=2',
  'rl.groupSize=4',
  'rl.minibatches=2',
  // So small a policy is never right: without it no weight would change.
  'algorithm.entropyCoefficient=0.01',
  'protocol.toolTurns=4',
  'evaluation.count=1',
  'checkpoint.keep=9',
  'keepTrajectoriesEverySteps=0',
];
const asynchronous = [...common, 'scheduler=asynchronous', 'scheduler.maxStaleness=2'];
const lockstep = [...asynchronous, 'rl.deterministic=true'];

/** Enough of a cold start that the policy looks, more than once at times. */
const examples = [
  'sft.updates=70',
  'coldStart.demonstrations=64',
  'coldStart.batchSize=8',
  'coldStart.answerWithoutLooking=0',
  'checkpoint.everySftUpdates=100',
];

const allOf = (settings: readonly string[]) => [
  ...examples,
  ...(sandbox?.settings ?? []),
  ...settings,
];

const runOf = (settings: readonly string[]) =>
  resolveRun(applySettings(inputOf(recipes.get('smoke')), allOf(settings).map(parseSetting)));

function argsOf(directory: string, settings: readonly string[]): readonly string[] {
  return ['smoke', '--out', directory, ...allOf(settings).flatMap((one) => ['--set', one])];
}

beforeAll(async () => {
  sandbox = await openSharedSandbox();
  await trainHere(coldStart, ['rl.steps=0', 'evaluation.count=1']);
}, 300_000);

describe('a deterministic asynchronous run', () => {
  const whole = join(root, 'whole');
  beforeAll(() => trainHere(whole, lockstep), 300_000);

  it('trains on what earlier weights sampled, within its bound, with rollouts left in flight', () => {
    const steps = stepsOf(whole);
    expect(steps).toHaveLength(4);
    for (const row of steps) expect(Number(row['staleness/max'])).toBeLessThanOrEqual(2);
    expect(steps.some((row) => Number(row['staleness/max']) > 0)).toBe(true);
    expect(steps.some((row) => Number(row['queue/in_flight']) > 0)).toBe(true);
    // Otherwise its weights never changed, and nothing was at stake.
    for (const { grad_norm } of steps) expect(Number(grad_norm)).toBeGreaterThan(0);
    const partial = readdirSync(join(whole, 'checkpoints')).filter((name) => {
      const path = join(whole, 'checkpoints', name, 'schedule', 'schedule.json');
      return existsSync(path) && readFileSync(path, 'utf8').includes('"partial"');
    });
    expect(partial.length).toBeGreaterThan(0);
  });

  it('killed at several moments ends with the metrics of one left alone', async () => {
    const killed = join(root, 'killed');
    const random = randomAt(Date.now(), 'kill');
    let args = argsOf(killed, lockstep);
    for (const rows of isSweep ? [1, 3, 4] : [3]) {
      await killAfter(start(args), killed, rows, random.integer(300));
      args = ['--resume', killed];
    }
    await resume(killed);
    expect(rowsOf(killed)).toEqual(rowsOf(whole));
  }, 300_000);

  it('is the same with tools that are slow', async () => {
    const slow = join(root, 'slow');
    await trainHere(slow, [...lockstep, 'rollout.slowShare=0.4', 'rollout.slowSeconds=0.1']);
    expect(rowsOf(slow)).toEqual(rowsOf(whole));
  }, 300_000);

  it('refuses what no checkpoint could hold', () => {
    const check = (...settings: readonly string[]) => {
      checkRun(runOf([...lockstep, ...settings]));
    };
    expect(() => check()).not.toThrow();
    expect(() => check('rollout.deadlineSeconds=3')).toThrow(
      /rollout\.deadlineSeconds: a deterministic asynchronous run has no deadlines/,
    );
    expect(() => check('scheduler.inFlight.deadlineSeconds=3')).toThrow(
      /scheduler\.inFlight\.deadlineSeconds: a deterministic asynchronous run has no deadlines/,
    );
    expect(() => check('rl.staleCaches=keep')).toThrow(
      /rl\.staleCaches: a deterministic asynchronous run cannot keep them/,
    );
  });
});

describe('an asynchronous run', () => {
  const variants: readonly (readonly [string, readonly string[]])[] = [
    [
      'caches kept, restarts, a deadline and few in flight',
      [
        'rl.staleCaches=keep',
        'scheduler.onUpdate=restart',
        'rollout.deadlineSeconds=20',
        'scheduler.inFlight.maxTrajectories=12',
        'algorithm.correction=truncate',
      ],
    ],
    ['caches computed anew', []],
  ];
  it.each(variants.slice(0, isSweep ? undefined : 1))(
    'keeps its bound on staleness: %s',
    async (_, settings) => {
      const directory = join(root, `free-${settings.length}`);
      const slow = ['rollout.slowShare=0.2', 'rollout.slowSeconds=0.5'];
      const all = [...asynchronous, ...slow, ...settings];
      if (isSweep) {
        await killAfter(start(argsOf(directory, all)), directory, 2, 100);
        await resume(directory);
      } else {
        // The run above is killed; this one would start two processes more.
        await trainHere(directory, all);
      }
      const steps = stepsOf(directory);
      expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
      for (const row of steps) {
        expect(Number(row['staleness/max'] ?? 0)).toBeLessThanOrEqual(2);
        expect(Number(row['queue/in_flight'])).toBeLessThanOrEqual(24);
      }
    },
    300_000,
  );
});

describe('a run with a curriculum', () => {
  it('continues with the tasks it has measured when it was killed', async (context) => {
    if (!isSweep) return context.skip('it takes a minute; `npm run sweep` runs it');
    const settings = [
      ...common,
      'scheduler=difficulty-prefilter',
      // 32 tasks are measured for each that is trained on.
      'scheduler.promptsPerStep=1',
      'rl.minibatches=1',
      'scheduler.maxRounds=1',
      'checkpoint.everyRlSteps=1',
    ];
    const whole = join(root, 'curriculum');
    await trainHere(whole, settings);
    const killed = join(root, 'curriculum-killed');
    await killAfter(start(argsOf(killed, settings)), killed, 3, 50);
    await resume(killed);
    expect(rowsOf(killed)).toEqual(rowsOf(whole));
    const dropped = stepsOf(whole).map((row) => Number(row['filter/probed/groups'] ?? 0));
    // Measured in the first step, trained on in all others.
    expect(dropped[0]).toBeGreaterThan(0);
    expect(dropped.slice(1)).toEqual([0, 0, 0]);
  }, 300_000);
});
