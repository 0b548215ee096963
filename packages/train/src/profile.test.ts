/** A profiled run: the same metrics, and a profile that accounts for all of its time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupsOf, isTracing, secondsOf } from '@saccade/core';
import { hasProfile, isTiming, needed, readMetrics, readProfile } from '@saccade/run-store';
import { ensurePython } from '@saccade/sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inputOf } from './recipe.ts';
import { smoke } from './recipes/smoke.ts';
import { resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { train } from './trainer.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const settings = [
  ...['sft.updates=2', 'rl.steps=1', 'rl.groupSize=2', 'evaluation.count=2'],
  ...['coldStart.demonstrations=4', 'rollout.maxTurnTokens=16'],
];

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-profiled-'));
  await ensurePython(environment);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

async function metricsOf(name: string, isProfiled: boolean, more: readonly string[] = []) {
  const directory = join(folder, name);
  const all = [...settings, ...more].map(parseSetting);
  const { isFinished } = await train({
    run: resolveRun(applySettings(inputOf(smoke), all)),
    ...{ directory, isProfiled, onEvent: () => {} },
    python: async () => (await ensurePython(environment)).python,
  });
  expect(isFinished).toBe(true);
  const { rows } = readMetrics(directory).value;
  return rows.map((row) => Object.entries(row).filter(([metric]) => !isTiming(metric)));
}

it('has the metrics of one that is not profiled, and every second in one place', async () => {
  const plain = await metricsOf('plain', false);
  expect(await metricsOf('profiled', true)).toEqual(plain);
  expect(plain.length).toBe(5);
  expect(isTracing()).toBe(false);
  expect(hasProfile(join(folder, 'plain'))).toBe(false);
  const { profile, areLaunchesBlocking } = needed(readProfile(join(folder, 'profiled')));
  expect(areLaunchesBlocking).toBe(true);
  expect(secondsOf(profile.root)).toBeCloseTo(profile.seconds, 6);
  const groups = groupsOf(profile);
  expect(groups.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
  const parts = groups.flatMap((group) => group.parts.map(({ name }) => name));
  for (const part of [
    ...['kernels/gemm', 'kernels/gemm backward', 'kernels/adamwStep', 'kernels/attentionDecode'],
    ...['launches/forward', 'tensor and tape/forward', 'tensor and tape/backward'],
    ...['sampling/pass', 'sampling/draw', 'images/resize', 'images/encode', 'tokens/encode'],
    ...['sandbox/start', 'sandbox/execute', 'files/metrics'],
  ]) {
    expect(parts).toContain(part);
  }
  const stages = profile.root.spans.filter(({ kind }) => kind === 'stage');
  const names = stages.map(({ name }) => name);
  expect(names).toEqual(['opening', 'cold start', 'evaluation', 'checkpoint', 'step']);
  expect(stages.find(({ name }) => name === 'step')?.count).toBe(1);
}, 240_000);

it('of rollouts beside learning has the same metrics too', async () => {
  const streaming = ['scheduler=asynchronous', 'scheduler.promptsPerStep=2'];
  const more = [...streaming, 'rl.deterministic=true', 'rl.minibatches=1'];
  const plain = await metricsOf('plain-streaming', false, more);
  expect(await metricsOf('profiled-streaming', true, more)).toEqual(plain);
}, 240_000);
