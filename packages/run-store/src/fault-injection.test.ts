/**
 * Every system call of a small run failed in turn, and the power cut at each. `SACCADE_FAULTS=all`
 * tries every error at every call, and more of what a disk may have kept.
 */
import { randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { listCheckpoints, verifyCheckpoint } from './checkpoint.ts';
import { writeAll } from './durable-files.ts';
import { inspectRun } from './inspect-run.ts';
import { MemoryFileSystem, type Plan, PowerLoss } from './power-loss.fixture.ts';
import { readMetrics } from './read-metrics.ts';
import { rowOf, smallRun } from './small-run.fixture.ts';
import { StoreError } from './store-error.ts';

const isCampaign = process.env.SACCADE_FAULTS === 'all';
const faults = ['EIO', 'ENOSPC'] as const;
const expected = [1, 2, 3].map(rowOf);

async function countCalls(): Promise<number> {
  const fileSystem = new MemoryFileSystem();
  await smallRun('/run', { fileSystem });
  return fileSystem.trace.length;
}

/** Runs until the fault; whatever it throws. */
async function runInto(plan: Plan): Promise<{ fileSystem: MemoryFileSystem; error: unknown }> {
  const fileSystem = new MemoryFileSystem(plan);
  try {
    await smallRun('/run', { fileSystem });
    return { fileSystem, error: undefined };
  } catch (error) {
    return { fileSystem, error };
  }
}

/** Makes locks say that they were taken before the machine was started. */
function endProcess(fileSystem: MemoryFileSystem): void {
  if (fileSystem.status('/run') === undefined) return;
  for (const name of fileSystem.readDirectory('/run').filter((one) => one.startsWith('lock'))) {
    const text = fileSystem.readFile(`/run/${name}`).toString();
    const file = fileSystem.open(`/run/${name}`, 'w');
    writeAll(fileSystem, file, Buffer.from(text.replace(/"boot":"[^"]*"/, '"boot":"earlier"')));
    fileSystem.close(file);
  }
}

/** Newest step that a checkpoint is whole of; 0 without one. */
function newestStep(fileSystem: MemoryFileSystem): number {
  const steps = listCheckpoints('/run/checkpoints', { fileSystem }).map((one) => {
    try {
      return verifyCheckpoint(one, { fileSystem }).step;
    } catch {
      return 0;
    }
  });
  return Math.max(0, ...steps);
}

async function expectWholeAfterResume(fileSystem: MemoryFileSystem, what: string): Promise<void> {
  endProcess(fileSystem);
  const { state, warnings } = await smallRun('/run', { fileSystem });
  expect(state.isFinished, what).toBe(true);
  expect(warnings, what).toEqual([]);
  expect(readMetrics('/run', { fileSystem }).value.rows, what).toEqual(expected);
  const { damage } = await inspectRun('/run', { fileSystem });
  expect(damage, what).toEqual([]);
}

describe('a small run that keeps one checkpoint', () => {
  it('ends as if nothing had happened after any of its system calls has failed', async () => {
    const count = await countCalls();
    expect(count).toBeGreaterThan(200);
    for (let at = 0; at < count; at++) {
      const due = isCampaign ? faults : faults.slice(at % 2, (at % 2) + 1);
      for (const fault of due) {
        const { fileSystem, error } = await runInto({ at, fault });
        const what = `${fault} at call ${at}, ${fileSystem.trace[at]}`;
        if (error !== undefined) expect(error, what).toBeInstanceOf(StoreError);
        await expectWholeAfterResume(fileSystem.afterCrash(), what);
      }
    }
  }, 300_000);

  it('ends as if nothing had happened after the power went at any of them', async () => {
    const count = await countCalls();
    for (let at = 0; at < count; at++) {
      const { fileSystem } = await runInto({ at, fault: 'power' });
      const random = randomAt(1, 'power loss', at);
      const coin = (): boolean => random.uniform() < 0.5;
      const what = `power lost at call ${at}, ${fileSystem.trace[at]}`;
      await expectWholeAfterResume(fileSystem.afterPowerLoss('all'), `${what}, all lost`);
      await expectWholeAfterResume(fileSystem.afterPowerLoss('nothing'), `${what}, none lost`);
      for (let i = 0; i < (isCampaign ? 4 : 1); i++) {
        await expectWholeAfterResume(fileSystem.afterPowerLoss(coin), `${what}, some lost`);
      }
    }
  }, 300_000);

  it('never has fewer steps on the disk than it had', async () => {
    const count = await countCalls();
    let before = 0;
    for (let at = 0; at < count; at++) {
      const { fileSystem, error } = await runInto({ at, fault: 'power' });
      expect(error === undefined || error instanceof PowerLoss || error instanceof StoreError).toBe(
        true,
      );
      const step = newestStep(fileSystem.afterPowerLoss('all'));
      expect(step, `power lost at call ${at}`).toBeGreaterThanOrEqual(before);
      before = step;
    }
    expect(before).toBe(3);
  }, 120_000);
});
