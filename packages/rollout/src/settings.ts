/** Settings of rollouts and of packing, for a run's configuration. */
import { count, flag, optionalQuantity, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/** The section `rollout` of a run's settings: token budgets, concurrency, deadlines and retries. */
export const rolloutSettings = z.strictObject({
  maxTurnTokens: count({
    min: 1,
    max: 1_000_000,
    default: 128,
    unit: 'tokens',
    about: 'Most tokens that the model may write in one turn.',
  }),
  maxContextTokens: count({
    min: 16,
    max: 10_000_000,
    default: 2048,
    unit: 'tokens',
    about: 'Most tokens of a trajectory, prompt and observations included.',
  }),
  concurrency: count({
    min: 1,
    max: 65_536,
    default: 256,
    unit: 'trajectories',
    about: 'Trajectories in flight at a time.',
  }),
  deadlineSeconds: optionalQuantity({
    min: 0.001,
    max: 1e6,
    unit: 'seconds',
    about: 'Time limit of a trajectory with all its retries; unset: none.',
  }),
  retries: count({
    min: 0,
    max: 100,
    default: 2,
    unit: 'retries',
    about: 'Retries of a trajectory around which something broke, and of its scoring.',
  }),
  slowShare: quantity({
    min: 0,
    max: 1,
    default: 0,
    unit: 'fraction of tasks',
    about: 'Tasks whose tools answer late, to measure what slow tools cost.',
  }),
  slowSeconds: quantity({
    min: 0,
    max: 3600,
    default: 1,
    unit: 'seconds',
    about: 'Delay of the tools of slow tasks.',
  }),
});

/** The values of the section `rollout`, with defaults filled in. */
export type RolloutSettings = SettingsOf<typeof rolloutSettings>;

/**
 * The section `packing` of a run's settings. Its fields trade memory for speed; none changes a
 * loss.
 */
export const packingSettings = z.strictObject({
  sharedPrefix: flag({
    default: true,
    about: 'Compute a group’s prompt and images once instead of once per trajectory.',
  }),
  microBatchTokens: count({
    min: 64,
    max: 100_000_000,
    default: 8192,
    unit: 'tokens',
    about: 'Packed tokens per forward and backward pass; changes memory and speed only.',
  }),
});

/** The values of the section `packing`, with defaults filled in. */
export type PackingSettings = SettingsOf<typeof packingSettings>;
