import { randomAt } from '@saccade/core';
import { afterAll, expect, it } from 'vitest';
import { tinyDevice } from '../tiny-learner.fixture.ts';
import { trainThrough } from './campaign.fixture.ts';
import { faultKinds } from './faulty-fetch.fixture.ts';

const device = tinyDevice();
afterAll(() => device.dispose());

// Two in a usual run; `node scripts/learner-faults.mjs` sets more.
const runs = Number(process.env.SACCADE_FAULT_RUNS ?? 2);
const first = Number(process.env.SACCADE_FAULT_SEED ?? 1);

it(`ends with the same bits through ${runs} random plans of faults`, async () => {
  const undisturbed = await trainThrough(device, { seed: 0, rate: 0, kinds: faultKinds });
  const totals: Record<string, number> = {};
  let losses = 0;
  for (let seed = first; seed < first + runs; seed++) {
    const random = randomAt(seed, 'plan');
    const kinds = faultKinds.filter(() => random.uniform() < 0.6);
    const plan = {
      seed,
      rate: 0.02 + 0.2 * random.uniform(),
      kinds: kinds.length === 0 ? faultKinds : kinds,
    };
    const outcome = await trainThrough(device, plan);
    expect(outcome.weights, `seed ${seed}`).toEqual(undisturbed.weights);
    expect(outcome.gradNorms, `seed ${seed}`).toEqual(undisturbed.gradNorms);
    expect(outcome.version, `seed ${seed}`).toBe(undisturbed.version);
    losses += outcome.losses;
    for (const [kind, count] of Object.entries(outcome.injected)) {
      totals[kind] = (totals[kind] ?? 0) + count;
    }
  }
  expect(Object.values(totals).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  if (runs > 2) console.log(`${runs} plans, ${losses} learners lost, faults:`, totals);
});
