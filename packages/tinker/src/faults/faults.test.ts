import { afterAll, beforeAll, expect, it } from 'vitest';
import { tinyDevice } from '../tiny-learner.fixture.ts';
import { type Outcome, trainThrough } from './campaign.fixture.ts';
import { type FaultKind, faultKinds } from './faulty-fetch.fixture.ts';

const device = tinyDevice();
let undisturbed: Outcome;
beforeAll(async () => {
  undisturbed = await trainThrough(device, { seed: 0, rate: 0, kinds: faultKinds });
});
afterAll(() => device.dispose());

const network: readonly FaultKind[] = faultKinds.filter((kind) => !kind.endsWith('kill'));

it.each([
  ['lost, doubled, slow and refused requests', { seed: 1, rate: 0.3, kinds: network }],
  ['a server that is killed', { seed: 2, rate: 0.08, kinds: ['kill', 'answer-kill'] as const }],
  ['all of it together', { seed: 3, rate: 0.15, kinds: faultKinds }],
])('ends with the same bits through %s', async (_, plan) => {
  const outcome = await trainThrough(device, plan);
  expect(Object.keys(outcome.injected).length).toBeGreaterThan(1);
  expect(outcome.gradNorms).toEqual(undisturbed.gradNorms);
  expect(outcome.version).toBe(undisturbed.version);
  expect(outcome.weights).toEqual(undisturbed.weights);
});
