/**
 * Asynchronous training under injected faults, with the real driver, scheduler, environment and
 * sandbox. `SACCADE_FAULT_ROLLOUTS=2000` makes a campaign of it.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLearner } from '@saccade/learner';
import { type Run, reinforceStreaming } from '@saccade/loop';
import type { ScoredGroupResult } from '@saccade/rewards';
import { initialState, openMetricsLog } from '@saccade/run-store';
import { ensurePython, LocalSandbox } from '@saccade/sandbox';
import { afterAll, expect, it } from 'vitest';
import {
  Faults,
  FaultyEnv,
  FaultyPolicy,
  failureOf,
  faultyProtocol,
  faultyReward,
  hangOf,
  planOf,
} from './faults.fixture.ts';
import { openParts } from './parts.ts';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';

const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');

const rollouts = Number(process.env.SACCADE_FAULT_ROLLOUTS ?? 320);
const groupSize = 4;
const batchSize = 4;
/** Sandboxes and rollouts would leave their leftovers in here. */
const root = mkdtempSync(join(tmpdir(), 'saccade-faults-'));
const temporary = process.env.TMPDIR;
afterAll(() => {
  process.env.TMPDIR = temporary ?? '';
  if (temporary === undefined) delete process.env.TMPDIR;
  rmSync(root, { recursive: true });
});

/** Processes that descend from this one. */
function descendants(): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended while we looked.
    }
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === process.pid || isOurs(parents.get(pid)));
  return [...parents.keys()].filter((pid) => pid !== process.pid && isOurs(pid));
}

/** The fates of a group's rollouts; without their images, which would fill the memory. */
interface Fates {
  readonly taskId: string;
  readonly trained: readonly string[];
  readonly failed: readonly { readonly id: string; readonly boundary: string }[];
}

function fatesOf({ scored, failed }: ScoredGroupResult): Fates {
  return {
    taskId: scored.taskId,
    trained: scored.trajectories.map(({ id }) => id),
    failed: failed.map(({ id, failure }) => ({ id, boundary: failure?.boundary ?? 'none' })),
  };
}

const settings = [
  'scheduler=asynchronous',
  `scheduler.promptsPerStep=${batchSize}`,
  `rl.groupSize=${groupSize}`,
  `rl.steps=${rollouts / groupSize / batchSize}`,
  // Nothing is dropped for its age, so that every rollout's fate is what its faults make it.
  'scheduler.maxStaleness=999',
  'scheduler.inFlight.maxTrajectories=64',
  'rollout.retries=4',
  'rollout.deadlineSeconds=3',
  'protocol.executionSeconds=1.5',
  'evaluation.everySteps=0',
  'checkpoint.everyRlSteps=1000',
  'keepTrajectoriesEverySteps=0',
].map(parseSetting);

it.runIf(existsSync('/proc/self/stat'))(
  'every rollout ends once, as its faults have it, and nothing is left behind',
  async () => {
    const { python } = await ensurePython(pythonDirectory);
    const before = new Set(descendants());
    process.env.TMPDIR = join(root, 'tmp');
    mkdirSync(process.env.TMPDIR);
    const resolved = resolveRun(applySettings(inputOf(recipes.get('smoke')), settings));
    const { config } = resolved;
    const faults = new Faults(config.seed);
    const protocol = faultyProtocol(faults);
    const parts = await openParts(resolved, {
      python: async () => python,
      onEvent: () => {},
      directory: root,
    });
    const { sandbox } = parts;
    if (!(sandbox instanceof LocalSandbox)) throw new Error('unreachable');
    const policy = new FaultyPolicy(faults, parts.policy.processor, protocol);
    const log = openMetricsLog(join(root, 'metrics.jsonl'));
    const results: Fates[] = [];
    let kills = 0;
    let endHang: () => void = () => {};
    const firstHang = new Promise<void>((resolve) => {
      endHang = resolve;
    });
    const learner = createLearner({
      policy,
      algorithm: parts.algorithm,
      images: parts.images,
      ...parts.optimizer,
    });
    const run: Run = {
      config,
      parts: {
        ...parts,
        policy,
        sampler: policy,
        makeEnv: () => new FaultyEnv(faults, protocol, parts.sandbox),
        scoring: {
          ...parts.scoring,
          terms: [{ reward: faultyReward(faults), weight: 1 }],
        },
      },
      learner: {
        ...learner,
        // However fast the machine is, a rollout that hangs comes to its deadline.
        learn: async (...given) => {
          if (run.state.rlSteps + 1 === config.rl.steps) await firstHang;
          return await learner.learn(...given);
        },
      },
      directory: root,
      log,
      onEvent: () => {},
      isStopRequested: () => false,
      state: initialState,
    };
    const startedAt = performance.now();
    const memory: number[] = [];
    try {
      await reinforceStreaming(run, (result) => {
        results.push(fatesOf(result));
        if (hangOf(config.seed, result.scored.taskId) !== undefined) endHang();
        memory.push(process.memoryUsage().rss);
        // The fork server with all sessions it holds.
        if (results.length % 70 === 40) {
          process.kill(sandbox.serverPid, 'SIGKILL');
          kills++;
        }
      });
      expect(run.state.rlSteps).toBe(config.rl.steps);
      expect(FaultyEnv.open).toBe(0);
      expect(sandbox.stats().restarts).toBeGreaterThan(0);
    } finally {
      log.close();
      await parts.dispose();
    }

    const failures: Record<string, number> = {};
    const expected: Record<string, number> = {};
    let [scored, hung, cancelled] = [0, 0, 0];
    for (const { taskId, trained, failed } of results) {
      const ids = [...trained, ...failed.map(({ id }) => id)];
      // Once, whatever became of it.
      expect(new Set(ids).size).toBe(ids.length);
      // Rollouts stopped at their task's deadline: all that hang, and late ones on a busy machine.
      cancelled += groupSize - ids.length;
      if (hangOf(config.seed, taskId) !== undefined) {
        hung++;
        expect(ids.some((id) => id.endsWith('/0'))).toBe(false);
      }
      scored += trained.length;
      for (const { boundary } of failed) {
        failures[boundary] = (failures[boundary] ?? 0) + 1;
      }
      for (const id of ids) {
        const boundary = failureOf(planOf(config.seed, id));
        if (boundary !== undefined) expected[boundary] = (expected[boundary] ?? 0) + 1;
      }
    }
    expect(failures).toEqual(expected);
    expect(Object.keys(failures).sort()).toEqual(['env', 'policy', 'reward', 'sandbox', 'tool']);
    const failed = Object.values(failures).reduce((sum, n) => sum + n, 0);
    expect(scored + failed + cancelled).toBe(results.length * groupSize);
    expect(results.length * groupSize).toBeGreaterThanOrEqual(rollouts);
    expect(hung).toBeGreaterThan(0);
    expect(cancelled).toBeGreaterThanOrEqual(hung);

    const left = () => descendants().filter((pid) => !before.has(pid));
    for (let tries = 0; left().length > 0 && tries < 100; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(left()).toEqual([]);
    expect(readdirSync(process.env.TMPDIR)).toEqual([]);
    const growth = (memory.at(-1) ?? 0) - (memory[Math.floor(memory.length / 2)] ?? 0);
    expect(growth).toBeLessThan(128 * 2 ** 20);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const { injected } = faults;
    if (rollouts > 320) {
      console.log({ seconds, scored, hung, cancelled, failures, kills, injected, growth });
    }
  },
  600_000,
);
