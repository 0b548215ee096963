/**
 * Inputs of algorithms beside a group's rewards: baselines, a teacher, adaptive coefficients.
 * Each is trained with in every loop, interrupted and resumed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinSinks } from '@saccade/core';
import { isTiming, readMetrics } from '@saccade/run-store';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { openSandboxService, type SandboxService } from '@saccade/sandbox/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { train } from './trainer.ts';

const isSweep = process.env.SACCADE_SWEEP !== undefined;
const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const root = mkdtempSync(join(tmpdir(), 'saccade-baselines-'));
const coldStart = join(root, 'cold-start');
/** The policy halfway through the cold start. */
const teacher = join(coldStart, 'checkpoints', 'step-000028', 'policy');
/** One for all runs: each of its own would be attacked anew before it is used. */
let sandbox: SandboxService | undefined;
afterAll(async () => {
  await sandbox?.drain();
  rmSync(root, { recursive: true });
});

const common = [
  'rl.groupSize=4',
  'scheduler.promptsPerStep=2',
  'evaluation.count=1',
  'evaluation.keepTrajectories=0',
  // So small a policy is hardly ever right: without it no weight might change.
  'algorithm.entropyCoefficient=0.01',
  'keepTrajectoriesEverySteps=1',
];

/** Breaks the run off in the middle of a step, as a crash would. */
class BrokenOff extends Error {}

async function run(
  name: string,
  settings: readonly string[],
  { resume = false, breaksAfter = Number.POSITIVE_INFINITY } = {},
): Promise<string> {
  const directory = join(root, name);
  const all = [...settings, 'sandbox=remote', `sandbox.hosts=${sandbox?.url}`];
  const input = applySettings(inputOf(recipes.get('smoke')), all.map(parseSetting));
  const python = () => Promise.reject(new Error('nothing runs but in the shared sandbox'));
  let steps = 0;
  const onEvent = joinSinks((event) => {
    if (event.kind !== 'progress' || event.stage !== 'learning') return;
    if (++steps === breaksAfter) throw new BrokenOff();
  });
  await train({ run: resolveRun(input), directory, python, onEvent, resume });
  return directory;
}

/** All rows but what the clock says. */
function rowsOf(directory: string): Record<string, unknown>[] {
  return readMetrics(directory).value.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([field]) => !isTiming(field))),
  );
}

const stepsOf = (directory: string) => rowsOf(directory).filter(({ stage }) => stage === 'rl');

interface Kept {
  readonly id: string;
  readonly sampleIndex: number;
  readonly isBaseline?: boolean;
  readonly reward?: number;
}

/** The stored data of a step, without clock times and their checksums. */
function keptOf(directory: string, step: number): readonly Kept[] {
  const steady = (key: string, value: unknown) =>
    key === 'wallMs' || key === 'checksum' ? undefined : value;
  const path = join(directory, 'trajectories', `step-00000${step}.jsonl`);
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line, steady) as Kept);
}

beforeAll(async () => {
  const { python } = await ensurePython(pythonDirectory);
  sandbox = await openSandboxService({ sandbox: await openSandbox({ python }) });
  // Long enough that it answers and looks at times.
  const settings = ['sft.updates=56', 'checkpoint.everySftUpdates=28', 'rl.steps=0'];
  await run('cold-start', [...settings, 'evaluation.count=1']);
}, 300_000);

const from = (steps: number) => [`startFrom=${coldStart}`, `rl.steps=${steps}`, ...common];
const inSteps = ['scheduler=synchronous'];
const streaming = ['scheduler=asynchronous', 'scheduler.maxStaleness=1'];
const lockstep = [...streaming, 'rl.deterministic=true'];

describe.each(['remax', 'optimal-token-baseline'])('%s', (algorithm) => {
  const loops: readonly (readonly [string, readonly string[]])[] = [
    ['while it rolls out', streaming],
    ['in steps', inSteps],
    ['in lockstep', lockstep],
  ];
  it.each(loops.slice(0, isSweep ? undefined : 1))(
    'trains %s',
    async (how, settings) => {
      const directory = await run(`${algorithm} ${how}`, [
        ...from(1),
        `algorithm=${algorithm}`,
        ...settings,
      ]);
      const steps = stepsOf(directory);
      expect(steps).toHaveLength(1);
      for (const row of steps) {
        expect(row.trained_trajectories).toBe(8);
        expect(row.grad_norm).toBeGreaterThan(0);
        expect(row['failed/ratio']).toBe(0);
      }
    },
    300_000,
  );
});

describe('ReMax', () => {
  const remax = ['algorithm=remax'];

  it('takes a group of one, as its paper does', async () => {
    const settings = [...from(1), ...remax, ...inSteps, 'rl.groupSize=1'];
    const [row] = stepsOf(await run('one', settings));
    expect(row?.trained_trajectories).toBe(2);
  }, 300_000);

  it('keeps the baseline beside its group, marked, and counts it nowhere', async () => {
    const settings = [...from(1), ...inSteps, 'seed=3'];
    const own = await run('own', [...settings, ...remax]);
    const other = await run('other', [...settings, 'algorithm=reinforce']);
    const [group, baseline] = [keptOf(own, 1).slice(0, 4), keptOf(own, 1)[4]];
    expect(keptOf(own, 1)).toHaveLength(5);
    expect(group).toEqual(keptOf(other, 1));
    expect(group.every(({ isBaseline }) => isBaseline === undefined)).toBe(true);
    expect(baseline).toMatchObject({ isBaseline: true, sampleIndex: 4 });
    expect(typeof baseline?.reward).toBe('number');
    // Rollouts are measured as if there were no baseline.
    const measured = ([name]: readonly [string, unknown]) =>
      /^(reward|accuracy|tool_calls|turns|audit|failed|filter|trained)/.test(name);
    const rows = [own, other].map((directory) =>
      Object.fromEntries(Object.entries(stepsOf(directory)[0] ?? {}).filter(measured)),
    );
    expect(Object.keys(rows[0] ?? {}).length).toBeGreaterThan(10);
    expect(rows[0]).toEqual(rows[1]);
  }, 300_000);
});

describe('a teacher', () => {
  const distilling = ['algorithm=on-policy-distillation', ...inSteps];

  it('is what the policy learns from, where the run names one', async () => {
    const taught = [...from(1), ...distilling, 'algorithm.entropyCoefficient=0'];
    // The policy after the cold start is the one that begins: there is nothing to learn from it.
    const [own] = stepsOf(await run('its own teacher', taught));
    expect(own?.grad_norm).toBe(0);
    const [row] = stepsOf(await run('taught', [...taught, `rl.reference=${teacher}`]));
    expect(row?.grad_norm).toBeGreaterThan(0);
  }, 300_000);

  it('is refused if there is none, or if it has other tokens', async () => {
    const nowhere = [...from(1), ...distilling, `rl.reference=${root}`];
    await expect(run('nowhere', nowhere)).rejects.toThrow(/is neither a policy nor a run/);
    const short = ['sft.updates=1', 'coldStart.demonstrations=8', 'rl.steps=1'];
    const other = ['model.vocabulary=300', ...short, ...common, ...distilling];
    await expect(run('other tokens', [...other, `rl.reference=${coldStart}`])).rejects.toThrow(
      /rl\.reference: the policy in .* has another tokenizer/,
    );
  }, 300_000);
});

const adaptive = [
  'algorithm=grpo',
  'algorithm.klCoefficient=0.01',
  'coefficients.klControl=adaptive',
  'coefficients.klHorizon=100',
  'coefficients.entropyControl=adaptive',
  'coefficients.entropyTarget=100',
];

const STEPS = isSweep ? 3 : 2;

describe('broken off and resumed', () => {
  const variants: readonly (readonly [string, readonly string[]])[] = [
    ['ReMax in lockstep', ['algorithm=remax', ...lockstep]],
    ['adaptive coefficients in steps', [...adaptive, ...inSteps]],
    ['ReMax in steps', ['algorithm=remax', ...inSteps]],
  ];
  it.each(variants.slice(0, isSweep ? undefined : 2))(
    '%s ends as if it had not been',
    async (what, own) => {
      const settings = [...from(STEPS), 'checkpoint.everyRlSteps=1', ...own];
      const whole = await run(`whole ${what}`, settings);
      await expect(run(`broken ${what}`, settings, { breaksAfter: STEPS - 1 })).rejects.toThrow(
        BrokenOff,
      );
      const broken = await run(`broken ${what}`, settings, { resume: true });
      expect(rowsOf(broken)).toEqual(rowsOf(whole));
      expect(stepsOf(whole)).toHaveLength(STEPS);
      for (let step = 1; step <= STEPS; step++) {
        expect(keptOf(broken, step)).toEqual(keptOf(whole, step));
      }
      const bonuses = stepsOf(whole).map((row) => row['coefficient/entropy']);
      if (what.startsWith('adaptive')) expect(new Set(bonuses).size).toBe(STEPS);
    },
    300_000,
  );
});
