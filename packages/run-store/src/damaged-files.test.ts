/**
 * A small run with one damaged file, through every reader: nothing but typed errors, and no value that
 * is silently another. `SACCADE_MUTATIONS=10000` makes a campaign of it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, randomAt, SaccadeError } from '@saccade/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkpointsOf, findLatestCheckpoint } from './checkpoint.ts';
import { readConfig } from './config-file.ts';
import { mutate } from './damage-file.ts';
import { readEnvironment } from './environment.ts';
import { inspectRun } from './inspect-run.ts';
import { readMetrics } from './read-metrics.ts';
import { openRunLog } from './save-checkpoint.ts';
import { readSchedule } from './schedule.ts';
import { smallRun } from './small-run.fixture.ts';
import { readState } from './state.ts';
import { describeDamage } from './store-error.ts';
import { listTrajectorySets, readTrajectorySet } from './trajectory-set.ts';

const mutations = Number(process.env.SACCADE_MUTATIONS ?? 300);
const root = mkdtempSync(join(tmpdir(), 'saccade-damaged-'));
const run = join(root, 'run');
afterAll(() => rmSync(root, { recursive: true }));

beforeAll(async () => {
  await smallRun(run, { keep: 2 });
});

interface Outcome {
  readonly result: string;
  readonly said: readonly string[];
}

const readers: Readonly<Record<string, () => Outcome | Promise<Outcome>>> = {
  config: () => ({ result: JSON.stringify(readConfig(run)), said: [] }),
  environment() {
    const { value, damage } = readEnvironment(run);
    return { result: JSON.stringify(value), said: damage.map(describeDamage) };
  },
  metrics() {
    const { value, damage } = readMetrics(run);
    return { result: JSON.stringify(value), said: damage.map(describeDamage) };
  },
  async trajectories() {
    const listed = listTrajectorySets(run);
    const damage = [...listed.damage];
    const all: unknown[] = [];
    for (const name of listed.value) {
      const set = readTrajectorySet(run, name);
      damage.push(...set.damage);
      for (const kept of set.value) {
        const loaded = await kept.load();
        damage.push(...loaded.damage);
        all.push([name, kept.line, kept.tags, loaded.value]);
      }
    }
    return { result: JSON.stringify(all), said: damage.map(describeDamage) };
  },
  async checkpoint() {
    const said: string[] = [];
    const found = findLatestCheckpoint(
      checkpointsOf(run),
      (event) => event.kind === 'warning' && said.push(event.message),
    );
    if (found === undefined) {
      const { damage } = await inspectRun(run);
      return { result: 'none', said: [...said, ...damage.map(describeDamage)] };
    }
    const schedule = await readSchedule(found.directory);
    const kept = [...(schedule?.trajectories ?? [])];
    const state = readState(found.directory);
    const weights = readFileSync(join(found.directory, 'policy', 'weights'), 'utf8');
    return { result: JSON.stringify([state, weights, schedule?.json, kept]), said };
  },
  log() {
    const changes = ['metrics.jsonl', 'manifest.json'].map((name) => join(run, name));
    const before = changes.map((path) => (existsSync(path) ? readFileSync(path) : undefined));
    const said: string[] = [];
    const found = findLatestCheckpoint(
      checkpointsOf(run),
      (event) => event.kind === 'warning' && said.push(event.message),
    );
    if (found === undefined) return { result: 'none', said: ['no valid checkpoint'] };
    const log = openRunLog(run, readState(found.directory));
    log.close();
    const { rows } = readMetrics(run).value;
    for (const [i, path] of changes.entries()) {
      const content = before[i];
      if (content === undefined) rmSync(path, { force: true });
      else writeFileSync(path, content);
    }
    return { result: JSON.stringify(rows), said: [...said, ...log.damage.map(describeDamage)] };
  },
  async inspection() {
    const { damage } = await inspectRun(run);
    return { result: '', said: damage.map(describeDamage) };
  },
};

async function outcomes(): Promise<ReadonlyMap<string, Outcome>> {
  const all = new Map<string, Outcome>();
  for (const [name, read] of Object.entries(readers)) {
    try {
      all.set(name, await read());
    } catch (error) {
      if (!(error instanceof SaccadeError)) throw new Error(`${name}: untyped`, { cause: error });
      all.set(name, { result: 'refused', said: [messageOf(error)] });
    }
  }
  return all;
}

it('is named whatever the damage, and no reader gives another value in silence', async () => {
  const clean = await outcomes();
  for (const [name, { said, result }] of clean) {
    expect([name, said, result === 'refused']).toEqual([name, [], false]);
  }
  const counts = { refused: 0, said: 0, same: 0 };
  for (let i = 0; i < mutations; i++) {
    const { what, undo } = mutate(run, randomAt(2, 'mutation', i));
    const found = await outcomes().catch((error: unknown) => {
      throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
    });
    undo();
    for (const [name, { result, said }] of found) {
      for (const line of said) expect(line, what).not.toContain('\n');
      if (result === 'refused') counts.refused++;
      else if (said.length > 0) counts.said++;
      else {
        counts.same++;
        expect(result === clean.get(name)?.result, `${name}, silently: ${what}`).toBe(true);
      }
    }
  }
  expect(await outcomes()).toEqual(clean);
  if (mutations > 300) console.log({ mutations, ...counts });
}, 900_000);
