/**
 * A run with one damaged file, through what every command reads of it: nothing but typed errors, and
 * no result that is silently another. `SACCADE_MUTATIONS=10000` makes a campaign of it.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, randomAt, SaccadeError } from '@saccade/core';
import { findWeights, selectPlays } from '@saccade/replay';
import { auditRun, readRun, readStoredRun, rescore, writeReport } from '@saccade/report';
import { writeSyntheticRun } from '@saccade/report/synthetic-run';
import { presetTerms } from '@saccade/rewards';
import {
  checkpointsOf,
  describeDamage,
  findLatestCheckpoint,
  initialState,
  inspectRun,
  openMetricsLog,
  openRunLog,
  readMetrics,
  readState,
  recordAttempt,
  saveCheckpoint,
} from '@saccade/run-store';
import { mutate } from '@saccade/run-store/damage-file';
import { readRunConfig } from '@saccade/train';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeStoredRun } from './stored-run.fixture.ts';

const mutations = Number(process.env.SACCADE_MUTATIONS ?? 60);
const root = mkdtempSync(join(tmpdir(), 'saccade-damaged-'));
const run = join(root, 'run');
afterAll(() => rmSync(root, { recursive: true }));

beforeAll(async () => {
  await writeSyntheticRun(run, { tasks: 2, sftUpdates: 2, rlSteps: 2, isFinished: true });
  rmSync(join(run, 'metrics.jsonl'));
  const plays = (step: number) => [
    { codes: [`print(${step})`], answer: '7' },
    { codes: [], answer: String(step) },
  ];
  await writeStoredRun(run, { steps: 3, plays });
  recordAttempt(run, { node: 'v20' }, 0);
  const log = openMetricsLog(join(run, 'metrics.jsonl'));
  for (const rlSteps of [2, 3]) {
    await saveCheckpoint(run, rlSteps, {
      log,
      keep: 2,
      pinned: false,
      fill: async (directory) => {
        writeFileSync(join(directory, 'model.safetensors'), `weights of ${rlSteps}`);
        mkdirSync(join(directory, 'policy'));
        writeFileSync(join(directory, 'policy', 'optimizer.json'), `{"version":${rlSteps}}`);
        return { ...initialState, rlSteps, isWarm: true };
      },
    });
  }
  log.close();
});

let reports = 0;

/** The result of a command on the run, and the problems that it reported. */
interface Outcome {
  readonly result: string;
  readonly said: readonly string[];
}

/** Reads the run as each command does. */
const commands: Readonly<Record<string, () => Promise<Outcome>>> = {
  async resume() {
    const said: string[] = [];
    const { config } = await readRunConfig(run);
    const found = findLatestCheckpoint(
      checkpointsOf(run),
      (event) => event.kind === 'warning' && said.push(event.message),
    );
    const state = found === undefined ? initialState : readState(found.directory);
    if (found === undefined) said.push('no valid checkpoint');
    const { damage } = await inspectRun(run, { skips: ['checkpoints', 'metrics'] });
    const changes = ['metrics.jsonl', 'manifest.json'].map((name) => join(run, name));
    const before = changes.map((path) => (existsSync(path) ? readFileSync(path) : undefined));
    const log = openRunLog(run, state);
    log.close();
    const rows = readMetrics(run).value.rows;
    for (const [i, path] of changes.entries()) {
      const content = before[i];
      if (content === undefined) rmSync(path, { force: true });
      else writeFileSync(path, content);
    }
    said.push(...[...damage, ...log.damage].map(describeDamage));
    return { result: JSON.stringify({ config, state, rows }), said };
  },
  async eval() {
    const said: string[] = [];
    const found = findLatestCheckpoint(
      checkpointsOf(run),
      (event) => event.kind === 'warning' && said.push(event.message),
    );
    if (found === undefined) said.push('no valid checkpoint');
    const state = found && readState(found.directory);
    const { config } = await readRunConfig(run);
    return { result: JSON.stringify({ config, state }), said };
  },
  async replay() {
    const said: string[] = [];
    await readRunConfig(run);
    const plays = await selectPlays(
      run,
      { all: true },
      (event) => event.kind === 'warning' && said.push(event.message),
    );
    const weights = [2, 3].map((version) => findWeights(run, version).directory);
    const all = plays.map(({ file, index, trajectory }) => [file, index, trajectory]);
    return { result: JSON.stringify([all, weights]), said };
  },
  async report() {
    // The page is slow to draw; what it is drawn from is read every time.
    if (reports++ % 25 === 0) await writeReport(run);
    const { gaps, before, after, ...rest } = await readRun(run);
    const shown = [...before.values(), ...after.values()];
    const loaded = await Promise.all(shown.map(({ load }) => load()));
    return { result: JSON.stringify({ ...rest, loaded }), said: gaps };
  },
  async rescore() {
    const stored = await readStoredRun(run);
    const rescored = rescore(stored, { terms: presetTerms('pyvision') });
    return { result: JSON.stringify(rescored), said: stored.gaps };
  },
  async audit() {
    const { gaps, ...audited } = await auditRun(run);
    return { result: JSON.stringify(audited), said: gaps };
  },
  async curves() {
    const { value, damage } = readMetrics(run);
    return { result: JSON.stringify(value), said: damage.map(describeDamage) };
  },
};

async function outcomes(): Promise<ReadonlyMap<string, Outcome>> {
  const all = new Map<string, Outcome>();
  for (const [name, command] of Object.entries(commands)) {
    try {
      all.set(name, await command());
    } catch (error) {
      if (!(error instanceof SaccadeError)) throw new Error(`${name}: untyped`, { cause: error });
      all.set(name, { result: 'refused', said: [messageOf(error)] });
    }
    rmSync(join(run, 'report.html'), { force: true });
  }
  return all;
}

it(
  'says which file is damaged, whatever the damage, and never gives another result in silence',
  async () => {
    const clean = await outcomes();
    for (const [name, { said, result }] of clean)
      expect([name, said, result === 'refused']).toEqual([name, [], false]);
    const files = readdirSync(run, { recursive: true, encoding: 'utf8' }).sort();
    const counts = { refused: 0, said: 0, same: 0 };
    for (let i = 0; i < mutations; i++) {
      const { what, undo } = mutate(run, randomAt(1, 'mutation', i));
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
    expect(readdirSync(run, { recursive: true, encoding: 'utf8' }).sort()).toEqual(files);
    expect(await outcomes()).toEqual(clean);
    if (mutations > 60) console.log({ mutations, ...counts });
  },
  Math.max(600_000, 1000 * mutations),
);
