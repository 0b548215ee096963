import { secondsOf, stageOf } from '@saccade/core';
import { parseSetting } from '@saccade/train';
import { expect, it } from 'vitest';
import { measureStepProfile, type StepProfile } from './step-profile.ts';

const options = {
  recipe: 'smoke',
  settings: ['rl.groupSize=2', 'rollout.maxTurnTokens=16'].map(parseSetting),
  ...{ updates: 2, steps: 1, exampleShare: 0.25, onProgress: () => {} },
};

it('gives each part of a run its spans, and runs the same without them first', async () => {
  const { signal } = new AbortController();
  const kept: StepProfile[] = [];
  const keep = (soFar: StepProfile) => kept.push(soFar);
  const found = await measureStepProfile({ ...options, isCompared: true, signal, keep });
  // Equal metrics are a condition of the result.
  expect(Object.keys(found.plain ?? {})).toEqual(['update', 'rollout', 'learning']);
  expect(kept.map((one) => Object.keys(one))).toEqual([['plain'], ['plain', 'stored']]);
  const profile = found.stored?.profile;
  if (profile === undefined) throw new Error('There is no profile.');
  for (const [stage, count] of Object.entries({
    examples: 1,
    update: 2,
    rollout: 1,
    learning: 1,
  })) {
    const part = stageOf(profile, stage);
    expect(part?.root.count, stage).toBe(count);
    expect(part && secondsOf(part.root)).toBeCloseTo(part?.seconds ?? 0, 9);
  }
}, 240_000);

it('names what there is not, and ends where it is stopped', async () => {
  const stop = new AbortController();
  const run = (more: object) =>
    measureStepProfile({
      ...{ ...options, isCompared: false, signal: stop.signal, keep: () => {} },
      ...more,
    });
  await expect(run({ recipe: 'smok' })).rejects.toThrow(/no recipe "smok".*smoke/);
  await expect(run({ settings: [parseSetting('rl.step=1')] })).rejects.toThrow(/rl\.steps/);
  stop.abort();
  await expect(run({})).rejects.toBe(stop.signal.reason);
}, 120_000);
