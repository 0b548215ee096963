/** Settings that several schedulers share, each with its meaning and range. */
import { count, optionalCount, optionalQuantity, quantity } from '@saccade/core/settings';
import { z } from 'zod';

/** B, which every scheduler has. */
export const promptsPerStep = count({
  min: 1,
  max: 65_536,
  default: 16,
  unit: 'tasks',
  about: 'B: tasks whose groups are trained on in a step (B·G trajectories).',
});

/** @param preset α by default */
export function oversampleField(preset: number): z.ZodDefault<z.ZodNumber> {
  return quantity({
    min: 1,
    max: 64,
    default: preset,
    unit: 'factor',
    about: 'α: groups rolled out in a round, per group trained on.',
  });
}

export const maxRounds = count({
  min: 1,
  max: 1000,
  default: 10,
  unit: 'rounds',
  about: 'Most rounds of rolling out in a step; after them it trains on what there is.',
});

/** @param preset the lowest pass rate by default */
export function lowestField(preset: number): z.ZodDefault<z.ZodNumber> {
  return quantity({
    min: 0,
    max: 1,
    default: preset,
    unit: 'pass rate',
    about: 'Lowest pass rate of a task that is trained on.',
  });
}

/** @param preset the highest pass rate by default */
export function highestField(preset: number): z.ZodDefault<z.ZodNumber> {
  return quantity({
    min: 0,
    max: 1,
    default: preset,
    unit: 'pass rate',
    about: 'Highest pass rate of a task that is trained on.',
  });
}

/** @param about what the default is */
export function probeTasksField(about: string): z.ZodOptional<z.ZodNumber> {
  return optionalCount({
    min: 1,
    max: 10_000_000,
    unit: 'tasks',
    about: `Tasks measured in a round; unset: ${about}.`,
  });
}

/** Limits on what is in flight, for schedulers whose driver streams. */
export const inFlightSettings = z.strictObject({
  maxTrajectories: optionalCount({
    min: 1,
    max: 1_000_000,
    unit: 'trajectories',
    about: 'Most trajectories in flight; unset: no limit.',
  }),
  maxTokens: optionalCount({
    min: 1,
    max: 1_000_000_000_000,
    unit: 'tokens',
    about: 'Most tokens that trajectories in flight may come to hold; unset: no limit.',
  }),
  tokensPerTrajectory: optionalCount({
    min: 1,
    max: 1_000_000_000,
    unit: 'tokens',
    about: 'Tokens reserved for a trajectory; needed with maxTokens.',
  }),
  deadlineSeconds: optionalQuantity({
    min: 0.001,
    max: 1e6,
    unit: 'seconds',
    about: 'Seconds after which a task is cancelled; unset: no limit.',
  }),
});
