/** What an evaluation directory says of a suite, and whether a suite is still the same. */
import { createHash } from 'node:crypto';
import { ConfigError } from '@saccade/core';
import {
  type EvaluatedTask,
  type StoredSuite,
  taskDigest,
  taskListDigest,
} from '@saccade/run-store';
import type { OpenSuite } from './open-suite.ts';

/** A suite as `evaluation.json` lists it. */
export function storedSuite(
  { name, description, k, sampling, settings }: OpenSuite,
  tasks: readonly EvaluatedTask[],
): StoredSuite {
  const own = JSON.parse(JSON.stringify(settings)) as Record<string, unknown>;
  const settingsSha256 = createHash('sha256')
    .update(JSON.stringify(sorted({ sampling, settings: own })))
    .digest('hex');
  return {
    name,
    description,
    k,
    sampling,
    settings: own,
    settingsSha256,
    tasks: { count: tasks.length, sha256: taskListDigest(tasks) },
  };
}

/**
 * Checks that samples of a suite on the disk and new ones belong together: only `k` may grow.
 *
 * @throws ConfigError naming what has changed, and what to do
 */
export function expectSameSuite(
  directory: string,
  before: StoredSuite,
  now: StoredSuite,
  tasks: { readonly before: readonly EvaluatedTask[]; readonly now: readonly EvaluatedTask[] },
): void {
  const { name } = now;
  const refuse = (what: string, field = name): never => {
    throw new ConfigError(
      field,
      `${directory} holds samples of the suite ${name}, and it has changed since: ${what}. ` +
        'Put it back as it was, or evaluate with another --out; the samples are kept.',
    );
  };
  if (before.settingsSha256 !== now.settingsSha256) {
    const difference = firstDifference(
      { ...before.settings, ...before.sampling },
      { ...now.settings, ...now.sampling },
    );
    const { path, was, is } = difference ?? { path: 'settings', was: 'other', is: 'these' };
    refuse(`${path} was ${shown(was)} and is ${shown(is)}`, `${name}.${path}`);
  }
  if (before.tasks.count !== now.tasks.count) {
    refuse(`it had ${before.tasks.count} tasks and has ${now.tasks.count}`, `${name}.tasks`);
  }
  if (before.tasks.sha256 !== now.tasks.sha256) {
    const at =
      now.tasks.count === 0
        ? -1
        : tasks.now.findIndex((task, index) => {
            const old = tasks.before[index];
            return old === undefined || taskDigest(old) !== taskDigest(task);
          });
    const [old, task] = [tasks.before[at], tasks.now[at]];
    const what = old && task && changeOf(old, task);
    refuse(`task ${at} (${task?.id}) is another one${what ?? ''}`, `${name}.taskSet`);
  }
  if (now.k < before.k) {
    refuse(`k was ${before.k} and is ${now.k}; k can only grow`, `${name}.k`);
  }
}

function changeOf(old: EvaluatedTask, task: EvaluatedTask): string {
  const fields = ['id', 'question', 'answer', 'files', 'metadata'] as const;
  const field = fields.find((name) => JSON.stringify(old[name]) !== JSON.stringify(task[name]));
  return field === undefined
    ? ''
    : `, its ${field === 'files' ? 'images have' : `${field} has`} changed`;
}

interface Difference {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** The first field in which two JSON objects differ. */
function firstDifference(was: unknown, is: unknown, path = ''): Difference | undefined {
  if (isRecord(was) && isRecord(is)) {
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const found = firstDifference(was[key], is[key], path === '' ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return JSON.stringify(was) === JSON.stringify(is) ? undefined : { path, was, is };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown): string =>
  value === undefined ? 'not set' : JSON.stringify(value).slice(0, 80);

/** The same JSON with the members of every object in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
