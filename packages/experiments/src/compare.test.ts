/** Algorithms swapped in one word, from one cold start, by the real loop. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { algorithms } from '@saccade/algorithms';
import { type MetricsRow, readMetrics } from '@saccade/run-store';
import { ensurePython } from '@saccade/sandbox';
import {
  applySettings,
  checkRun,
  inputOf,
  parseSetting,
  recipes,
  resolveRun,
} from '@saccade/train';
import { afterAll, describe, expect, it } from 'vitest';
import { type CompareOptions, compare, planComparison } from './compare.ts';

const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');

const root = mkdtempSync(join(tmpdir(), 'saccade-compare-'));
afterAll(() => rmSync(root, { recursive: true }));

const base = applySettings(
  inputOf(recipes.get('smoke')),
  [
    'rl.steps=2',
    'rl.minibatches=2',
    'scheduler.promptsPerStep=4',
    'scheduler.oversample=1',
    'evaluation.count=2',
    'rl.keepTrajectoriesEverySteps=0',
  ].map(parseSetting),
);

function options(isStopRequested = () => false): CompareOptions {
  const python = async () => (await ensurePython(pythonDirectory)).python;
  return { python, onEvent: () => {}, isStopRequested, onRun: () => {} };
}

/** The values of a metric in the learning steps; undefined where they have none. */
function rlValues(metrics: readonly MetricsRow[], name: string): readonly (number | undefined)[] {
  const rows = metrics.filter(({ stage }) => stage === 'rl');
  return rows.map((row) => row[name] as number | undefined);
}

describe('a comparison of algorithms', () => {
  it('trains each from one cold start on the same tasks, and continues where it stopped', async () => {
    const all = ['pyvision-rl', 'ppo', 'gspo', 'clip-cov'];
    const names = all.slice(0, process.env.SACCADE_SWEEP === undefined ? 2 : undefined);
    const plan = planComparison({
      vary: `algorithm=${names.join(',')}`,
      base,
      directory: join(root, 'algorithms'),
    });
    // A person stops it in the second run.
    let stops = 0;
    const stopped = await compare(plan, {
      ...options(() => stops > 1),
      onRun: (label) => {
        if (names.includes(label)) stops++;
      },
    });
    expect(stopped.map(({ label }) => label)).toEqual(['pyvision-rl']);
    const before = readFileSync(join(root, 'algorithms', 'pyvision-rl', 'metrics.jsonl'), 'utf8');

    const runs = await compare(plan, options());
    expect(runs.map(({ label }) => label)).toEqual(names);
    expect(readFileSync(join(root, 'algorithms', 'pyvision-rl', 'metrics.jsonl'), 'utf8')).toBe(
      before,
    );
    const first = (name: string) => runs.map(({ metrics }) => rlValues(metrics, name)[0] ?? 0);
    // The first rollouts come from the same weights: the same rewards, whatever learns from them.
    expect(new Set(first('reward')).size).toBe(1);
    expect(Math.min(...first('trained_trajectories')), 'a batch to learn from').toBeGreaterThan(0);
    expect(new Set(first('grad_norm')).size).toBe(names.length);
    expect(first('value/loss')[1]).toBeGreaterThan(0);
    for (const { metrics } of runs) expect(rlValues(metrics, 'reward')).toHaveLength(2);
  }, 240_000);

  it('pulls toward the policy it started from where KL is asked for', async () => {
    const from = join(root, 'algorithms', 'cold-start');
    const plan = planComparison({
      vary: 'algorithm.klCoefficient=0,0.5',
      base: applySettings(base, ['algorithm=grpo', 'algorithm.profile=trl'].map(parseSetting)),
      directory: join(root, 'kl'),
      from,
    });
    const [free = [], pulled = []] = (await compare(plan, options())).map(({ metrics }) =>
      rlValues(metrics, 'kl'),
    );
    expect(free).toEqual([undefined, undefined]);
    // At the second step the policy has moved.
    expect(pulled.at(-1)).toBeGreaterThan(0);
    const metrics = readMetrics(join(root, 'kl', '0.5')).value.rows;
    expect(metrics.filter(({ stage }) => stage === 'sft')).toEqual([]);
  }, 120_000);

  it('refuses what it cannot compare before anything runs', () => {
    const plan = (vary: string) => planComparison({ vary, base, directory: join(root, 'none') });
    expect(() => plan('algorithm')).toThrow(/expected a field and two or more values/);
    expect(() => plan('algorithm=grpo,grpo')).toThrow(/stands twice/);
    expect(() => plan('algorithm=grpo,magic')).toThrow(/no algorithm "magic"/);
    expect(() => plan('sft.updates=1,2')).toThrow(/changes sft, which the cold start is made with/);
  });

  it('does not continue with a run of another configuration', async () => {
    const plan = planComparison({
      vary: 'algorithm=pyvision-rl,ppo',
      base,
      directory: join(root, 'algorithms'),
      from: join(root, 'elsewhere'),
    });
    await expect(compare(plan, options())).rejects.toThrow(
      /holds a run with another configuration/,
    );
  });
});

it.each(algorithms.names)('takes the algorithm %s', (name) => {
  const run = resolveRun(applySettings(base, [parseSetting(`algorithm=${name}`)]));
  expect(() => checkRun(run)).not.toThrow();
});
