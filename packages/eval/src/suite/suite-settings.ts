/** Settings that every suite has: how many tasks, how many samples of each, and how they are drawn. */
import {
  count,
  optionalCount,
  optionalQuantity,
  quantity,
  type SettingsOf,
} from '@saccade/core/settings';
import { z } from 'zod';

/** Values with which a suite differs from the defaults of all suites, as its paper has them. */
export interface SuiteDefaults {
  readonly tasks?: number;
  readonly k?: number;
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
}

const DEFAULTS: Required<SuiteDefaults> = {
  tasks: 200,
  k: 1,
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
};

/** The settings of a suite, at its own defaults. */
export function suiteSettings(own: SuiteDefaults = {}) {
  const preset = { ...DEFAULTS, ...own };
  return z.strictObject({
    tasks: count({
      min: 1,
      max: 10_000_000,
      default: preset.tasks,
      unit: 'tasks',
      about: 'Tasks of the split, always the first ones, so that evaluations compare.',
    }),
    k: count({
      min: 1,
      max: 100_000,
      default: preset.k,
      unit: 'samples',
      about: 'Samples of each task, for avg@k, pass@k and maj@k.',
    }),
    temperature: quantity({
      min: 0,
      max: 10,
      default: preset.temperature,
      unit: 'ratio',
      about: 'Sampling temperature; 0 takes the most likely token, and then all samples are alike.',
    }),
    topK: count({
      min: 0,
      max: 1_000_000,
      default: preset.topK,
      unit: 'tokens',
      about: 'Sample from this many of the most likely tokens; 0: from all.',
    }),
    topP: quantity({
      min: 0.000001,
      max: 1,
      default: preset.topP,
      unit: 'probability',
      about: 'Sample from the most likely tokens that together have this probability.',
    }),
    minP: quantity({
      min: 0,
      max: 1,
      default: preset.minP,
      unit: 'ratio',
      about: 'Leave out tokens less likely than this share of the most likely one.',
    }),
    maxTurnTokens: optionalCount({
      min: 1,
      max: 1_000_000,
      unit: 'tokens',
      about: 'Most tokens that the model may write in one turn; unset: as the model’s run.',
    }),
    maxContextTokens: optionalCount({
      min: 16,
      max: 10_000_000,
      unit: 'tokens',
      about: 'Most tokens of a trajectory, prompt included; unset: as the model’s run.',
    }),
    deadlineSeconds: optionalQuantity({
      min: 0.001,
      max: 1e6,
      unit: 'seconds',
      about:
        'Time limit of a sample with all its retries; past it the sample is missing, not wrong.',
    }),
  });
}

/** Schema of the settings of any suite. */
export type SuiteSettingsSchema = ReturnType<typeof suiteSettings>;

/** The settings of a suite, with defaults filled in. */
export type SuiteSettings = SettingsOf<SuiteSettingsSchema>;
