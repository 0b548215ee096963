/** Fields that several pipelines have. */
import { count, flag } from '@saccade/core/settings';

/** Trajectories that the teacher plays of a task. */
export const samplesField = (preset: number) =>
  count({
    ...{ min: 1, max: 10_000, default: preset, unit: 'trajectories' },
    about: 'Trajectories that the teacher plays of each task.',
  });

/** Trajectories of a task that are kept. */
export const perTaskField = count({
  ...{ min: 1, max: 10_000, default: 1, unit: 'trajectories' },
  about: 'Most trajectories of one task that are kept, the first ones.',
});

/** Trajectories of the weak model of a task. */
export const weakSamplesField = count({
  ...{ min: 1, max: 10_000, default: 8, unit: 'trajectories' },
  about: 'Trajectories of the weak model that a pass rate is measured by.',
});

/** Longest thought that densification writes. */
export const thoughtTokensField = count({
  ...{ min: 1, max: 100_000, default: 400, unit: 'tokens' },
  about: 'Longest thought that densification writes.',
});

/** Whether thoughts are densified. */
export const densifiesField = flag({
  default: true,
  about: 'Whether thoughts of kept trajectories are written again, fuller; needs a judge.',
});
