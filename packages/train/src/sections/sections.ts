/** The parts of a run's configuration that belong to no unit, each by its owner's schema. */
import { count, optionalText, type SettingsOf, text } from '@saccade/core/settings';
import { evaluationSettings } from '@saccade/eval';
import { coefficientSettings } from '@saccade/learner';
import { checkpointSettings, rlSettings, sftSettings } from '@saccade/loop';
import { engineSettings } from '@saccade/policy';
import { auditSettings, scoringSettings } from '@saccade/rewards';
import { packingSettings, rolloutSettings } from '@saccade/rollout';
import { z } from 'zod';

export const sections = z.strictObject({
  recipe: text({
    default: 'pyvision-image-nano',
    unit: 'name',
    about: 'The recipe these values started from.',
  }),
  startFrom: optionalText({
    unit: 'directory',
    about: 'A run whose cold start this one continues, or a policy; unset: its own cold start.',
  }),
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 1,
    unit: '32-bit integer',
    about: 'Seed of every random stream: weights, tasks, shuffling, sampling.',
  }),
  sft: sftSettings.prefault({}),
  rl: rlSettings.prefault({}),
  rollout: rolloutSettings.prefault({}),
  packing: packingSettings.prefault({}),
  policy: engineSettings.prefault({}),
  evaluation: evaluationSettings.prefault({}),
  coefficients: coefficientSettings.prefault({}),
  scoring: scoringSettings.prefault({}),
  audit: auditSettings.prefault({}),
  checkpoint: checkpointSettings.prefault({}),
});

export type Sections = SettingsOf<typeof sections>;
