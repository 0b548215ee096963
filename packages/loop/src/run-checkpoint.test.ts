import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkpointsOf,
  findLatestCheckpoint,
  initialState,
  openMetricsLog,
  readState,
} from '@saccade/run-store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Run } from './run.ts';
import { saveRun } from './run-checkpoint.ts';
import { TrainingTasks } from './training-tasks.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'saccade-checkpoint-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('takes no task twice where rollouts go on while a checkpoint is written', async () => {
  const log = openMetricsLog(join(directory, 'metrics.jsonl'));
  const taken: number[] = [];
  const run = {
    directory,
    log,
    state: initialState,
    config: { checkpoint: { keep: 2 } },
    parts: {
      policy: {
        // As a large policy does: it takes its time, and rollouts end in it.
        async save() {
          taken.push(...tasks.take(3));
          await new Promise((resolve) => setTimeout(resolve, 5));
          taken.push(...tasks.take(4));
        },
      },
    },
    saveSchedule: async (to: string) => {
      writeFileSync(join(to, 'taken'), String(taken.length));
      await Promise.resolve();
      taken.push(...tasks.take(2));
    },
  } as unknown as Run;
  const tasks = new TrainingTasks(run, false);
  for (let step = 1; step <= 3; step++) {
    taken.push(...tasks.take(1));
    run.state = { ...run.state, rlSteps: step };
    await saveRun(run);
    const found = findLatestCheckpoint(checkpointsOf(directory), () => {});
    const at = found?.directory ?? '';
    // The checkpoint counts as many tasks as the schedule stored beside it.
    expect(readState(at).tasksTaken).toBe(Number(readFileSync(join(at, 'taken'), 'utf8')));
    expect(run.state.tasksTaken).toBe(taken.length);
  }
  expect(new Set(taken).size).toBe(taken.length);
  log.close();
});
