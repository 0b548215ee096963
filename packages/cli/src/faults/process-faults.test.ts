/**
 * Trainings of several processes that are killed at random. One plan in a usual run, a longer one with two engines in
 * `npm run sweep`; `node scripts/learner-faults.mjs --processes 60` plays more, and those of the worker on torch.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  makeBase,
  makeRandomBase,
  type Played,
  play,
  problemOf,
  quietPlan,
} from './fault-campaign.fixture.ts';
import { type Campaign, readCampaign, reportOf } from './fault-command.fixture.ts';
import { countsOf, type FaultPlan, planAt, type Setup } from './fault-plan.fixture.ts';

const campaign: Campaign | undefined = readCampaign(process.env.SACCADE_PROCESS_FAULTS);
const folder = mkdtempSync(join(campaign?.keepIn ?? tmpdir(), 'saccade-process-faults-'));
const isSweep = process.env.SACCADE_SWEEP !== undefined;
const steps = isSweep || campaign !== undefined ? 3 : 1;
const options = { folder, base: '', seconds: 240, steps, ...campaign?.options };
const NONE = { all: 1, before: 1 };
const whole = new Map<Setup, Played>();
afterAll(() => {
  if (campaign?.keepIn === undefined) rmSync(folder, { recursive: true });
  else console.log(`Logs and runs: ${folder}`);
});
beforeAll(async () => {
  const base = join(folder, 'base');
  options.base = campaign === undefined ? await makeRandomBase(base) : makeBase(base, 12);
}, 600_000);

/** A training of a setup that nothing disturbed; played once. */
async function undisturbed(setup: Setup): Promise<Played> {
  const known =
    whole.get(setup) ??
    (await play(
      quietPlan(setup),
      countsOf(() => NONE),
      options,
    ));
  whole.set(setup, known);
  return known;
}

async function through(plan: FaultPlan): Promise<Played> {
  const { counts } = await undisturbed(plan.setup);
  return await play(plan, counts, options);
}

it.skipIf(campaign !== undefined)(
  'a run whose processes are killed has the numbers of one left alone',
  async () => {
    const setup = isSweep ? 'engines' : 'kernels';
    const place = { awaySeconds: 0.1, kind: 'kill' } as const;
    const plan: FaultPlan = {
      seed: 1,
      setup,
      faults: [
        { ...place, link: 'learner', share: 0.3, moment: 'after', victim: 'server' },
        { ...place, link: 'engine', share: 0.6, moment: 'during', victim: 'engine' },
        { ...place, link: 'other engine', share: 0.9, moment: 'before', victim: 'other engine' },
        { ...place, link: 'learner', share: 0.7, moment: 'during', victim: 'controller' },
      ],
      network: { rate: 0.03, kinds: ['lost answer', 'doubled', 'cut answer'] },
    };
    const played = await through(plan);
    const expected = await undisturbed(setup);
    expect(problemOf(plan, played, expected)).toBeUndefined();
    const engines = isSweep ? { 'kill engine': 1, 'kill other engine': 1 } : {};
    const killed = { 'kill server': 1, 'kill controller': 1, ...engines };
    expect(played.faults).toMatchObject(killed);
    const norms = expected.rows.map(({ grad_norm }) => Number(grad_norm ?? 0));
    expect(Math.max(...norms)).toBeGreaterThan(0);
  },
  600_000,
);

it.runIf(campaign !== undefined)(
  'every run of a campaign has the numbers of one left alone',
  async () => {
    const { count, first, means } = campaign as Campaign;
    const report = reportOf(campaign as Campaign);
    for (let seed = first; seed < first + count; seed++) {
      const plan = planAt(seed, means);
      const expected = await undisturbed(plan.setup);
      try {
        const played = await through(plan);
        report.add(plan, played, problemOf(plan, played, expected));
      } catch (error) {
        report.add(plan, undefined, String(error));
      }
    }
    expect(report.end()).toEqual([]);
  },
  24 * 3_600_000,
);
