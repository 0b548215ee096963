/**
 * An evaluation directory under faults: every system call fails in turn, and the power goes at each.
 * `SACCADE_FAULTS=all` tries every error at every call, and more of what a disk may have kept.
 */
import { randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../file-system.ts';
import { lockRun } from '../lock.ts';
import { MemoryFileSystem, type Plan } from '../power-loss.fixture.ts';
import { trajectoryOf } from '../small-run.fixture.ts';
import { type Damage, describeDamage, StoreError } from '../store-error.ts';
import {
  isEvaluation,
  readEvaluationDocument,
  writeEvaluationDocument,
} from './evaluation-document.ts';
import { readEvaluation } from './read-evaluation.ts';
import { type EvaluationResults, writeResults } from './results-document.ts';
import { sampleKey } from './sample-files.ts';
import { openSampleLog } from './sample-log.ts';
import { type EvaluatedTask, readTaskList, taskListDigest, writeTaskList } from './task-list.ts';

const isCampaign = process.env.SACCADE_FAULTS === 'all';
const suite = 'digits';
const tasks: readonly EvaluatedTask[] = [1, 2, 3].map((index) => ({
  index: index - 1,
  id: `task-${index}`,
  question: 'which digit',
  answer: '7',
  metadata: { difficulty: index },
  slices: { difficulty: String(index) },
  files: {},
}));
const k = 2;
const model = { kind: 'checkpoint', label: 'small', identity: 'abc', source: '/run' } as const;

/** Evaluates with what is on the disk, and returns what it drew now. */
function evaluateSmall(fileSystem: FileSystem, drawn: string[] = []): readonly string[] {
  const option = { fileSystem };
  const unlock = lockRun('/evaluation', { ...option, activity: 'evaluating' });
  try {
    writeTaskList('/evaluation', suite, tasks, option);
    if (!isEvaluation('/evaluation', option)) {
      writeEvaluationDocument(
        '/evaluation',
        {
          model,
          seed: 1,
          suites: [
            {
              name: suite,
              description: 'Digits.',
              k,
              sampling: {
                ...{ temperature: 1, topK: 0, topP: 1, minP: 0 },
                ...{ maxTurnTokens: 8, maxContextTokens: 64 },
              },
              settings: {},
              settingsSha256: 'x',
              tasks: { count: tasks.length, sha256: taskListDigest(tasks) },
            },
          ],
        },
        option,
      );
    }
    // Small files, so that one follows another within the test.
    const log = openSampleLog('/evaluation', suite, 'scored', { ...option, mostBytes: 1200 });
    try {
      const done = new Set(keysIn(fileSystem));
      for (const [at, { id }] of tasks.entries()) {
        for (let index = 0; index < k; index++) {
          if (done.has(sampleKey(id, index))) continue;
          drawn.push(sampleKey(id, index));
          log.append({ trajectory: trajectoryOf(at + 1, index), tags: { taskIndex: at } });
        }
      }
      log.flush();
    } finally {
      log.close();
    }
    writeResults('/evaluation', resultsIn(fileSystem), option);
    return drawn;
  } finally {
    unlock();
  }
}

function keysIn(fileSystem: FileSystem, damage: Damage[] = []): readonly string[] {
  const { value } = readEvaluation('/evaluation', { fileSystem });
  return [...value.samples(suite, damage)].map(({ trajectory }) =>
    sampleKey(trajectory.taskId, trajectory.sampleIndex),
  );
}

function resultsIn(fileSystem: FileSystem): EvaluationResults {
  const { value } = readEvaluation('/evaluation', { fileSystem });
  const rewards = [...value.samples(suite)].map(({ trajectory }) => trajectory.reward);
  const mean = rewards.reduce((sum, one) => sum + one, 0) / rewards.length;
  return {
    isComplete: true,
    suites: {
      [suite]: {
        ...{ k, tasks: 3, samples: rewards.length, missing: 0, level: 0.95 },
        metrics: { 'accuracy/avg@2': mean },
        ...{ intervals: {}, slices: {}, buckets: {}, findings: [] },
      },
    },
  };
}

/** Makes locks say that they were taken before the machine was started. */
function endProcess(fileSystem: MemoryFileSystem): void {
  if (fileSystem.status('/evaluation') === undefined) return;
  for (const name of fileSystem.readDirectory('/evaluation')) {
    if (!name.startsWith('lock')) continue;
    const text = fileSystem.readFile(`/evaluation/${name}`).toString();
    if (text === '') fileSystem.removeFile(`/evaluation/${name}`);
    const file = fileSystem.open(`/evaluation/${name}`, 'w');
    const bytes = Buffer.from(text.replace(/"boot":"[^"]*"/, '"boot":"before"'));
    for (let at = 0; at < bytes.length; ) at += fileSystem.write(file, bytes.subarray(at));
    fileSystem.close(file);
  }
}

const undisturbed = new MemoryFileSystem();
evaluateSmall(undisturbed);
const expected = undisturbed.readFile('/evaluation/results.json').toString();
const callCount = undisturbed.trace.length;

function runInto(plan: Plan): { fileSystem: MemoryFileSystem; error: unknown } {
  const fileSystem = new MemoryFileSystem(plan);
  try {
    evaluateSmall(fileSystem);
    return { fileSystem, error: undefined };
  } catch (error) {
    return { fileSystem, error };
  }
}

/** Continues, and expects the results of an undisturbed evaluation, each sample once, no damage. */
async function expectWhole(fileSystem: MemoryFileSystem, what: string): Promise<void> {
  endProcess(fileSystem);
  const before = isEvaluation('/evaluation', { fileSystem }) ? keysIn(fileSystem) : [];
  const drawn = evaluateSmall(fileSystem);
  expect(
    before.filter((key) => drawn.includes(key)),
    `${what}: drawn twice`,
  ).toEqual([]);
  const damage: Damage[] = [];
  const keys = keysIn(fileSystem, damage);
  expect(keys, what).toHaveLength(tasks.length * k);
  expect(damage.map(describeDamage), what).toEqual([]);
  expect(fileSystem.readFile('/evaluation/results.json').toString(), what).toBe(expected);
  const { value } = readEvaluation('/evaluation', { fileSystem });
  for (const sample of value.samples(suite)) {
    const loaded = await sample.load();
    expect(loaded.damage, what).toEqual([]);
    expect(loaded.value.segments[0]?.images[0]?.png.length, what).toBe(30);
  }
}

describe('an evaluation directory', () => {
  it('ends with the same results after any of its system calls has failed', async () => {
    expect(callCount).toBeGreaterThan(100);
    for (let at = 0; at < callCount; at++) {
      const due = isCampaign
        ? (['EIO', 'ENOSPC'] as const)
        : ([at % 2 ? 'EIO' : 'ENOSPC'] as const);
      for (const fault of due) {
        const { fileSystem, error } = runInto({ at, fault });
        const what = `${fault} at call ${at}, ${fileSystem.trace[at]}`;
        if (error !== undefined) expect(error, what).toBeInstanceOf(StoreError);
        await expectWhole(fileSystem.afterCrash(), what);
      }
    }
  }, 120_000);

  it('ends with the same results after a kill or a power loss at any of them', async () => {
    for (let at = 0; at < callCount; at++) {
      const { fileSystem } = runInto({ at, fault: 'power' });
      const random = randomAt(1, 'power loss', at);
      const what = `gone at call ${at}, ${fileSystem.trace[at]}`;
      await expectWhole(fileSystem.afterPowerLoss('all'), `${what}, all lost`);
      for (let i = 0; i < (isCampaign ? 6 : 1); i++) {
        const coin = (): boolean => random.uniform() < 0.5;
        await expectWhole(fileSystem.afterPowerLoss(coin), `${what}, some lost`);
      }
      const killed = fileSystem.afterCrash();
      await expectWhole(killed, `${what}, killed`);
      // What the resumed process says that it has written survives, whoever wrote it.
      await expectWhole(killed.afterPowerLoss('all'), `${what}, killed, then the power went`);
    }
  }, 120_000);

  it('names a changed row, keeps the file aside, and draws only the lost sample again', () => {
    const fileSystem = undisturbed.afterPowerLoss('nothing');
    const path = '/evaluation/samples/digits/scored-000.jsonl';
    const text = fileSystem.readFile(path).toString().replace('"reward":1', '"reward":5');
    const file = fileSystem.open(path, 'w');
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += fileSystem.write(file, bytes.subarray(at));
    fileSystem.sync(file);
    const damage: Damage[] = [];
    expect(keysIn(fileSystem, damage)).toHaveLength(5);
    expect(damage.map(describeDamage)).toEqual([
      expect.stringMatching(/scored-000\.jsonl: row 1 does not match its checksum/),
    ]);
    expect(evaluateSmall(fileSystem)).toHaveLength(1);
    expect(fileSystem.readFile(`${path}.damaged`).toString()).toBe(text);
    expect(fileSystem.readFile('/evaluation/results.json').toString()).toBe(expected);
  });

  it('refuses documents that were changed, or that a later version wrote', () => {
    for (const [from, to, problem] of [
      ['"seed": 1', '"seed": 2', /does not match its checksum/],
      ['"schema": 1', '"schema": 9', /does not match its checksum/],
    ] as const) {
      const fileSystem = undisturbed.afterPowerLoss('nothing');
      const path = '/evaluation/evaluation.json';
      const text = fileSystem.readFile(path).toString().replace(from, to);
      const file = fileSystem.open(path, 'w');
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += fileSystem.write(file, bytes.subarray(at));
      expect(() => readEvaluation('/evaluation', { fileSystem })).toThrow(problem);
      expect(readEvaluationDocument('/evaluation', { fileSystem }).value).toBeUndefined();
    }
    expect(readTaskList('/evaluation', suite, { fileSystem: undisturbed }).value).toEqual(tasks);
  });
});
