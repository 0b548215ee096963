/** Accuracy that CodeVision's public code scales down where a required crop missed. */
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { frameSetting, mandatoryShare, toolRecord } from './core-tools.ts';

const settings = z.strictObject({
  leastShare: quantity({
    min: 0,
    max: 1,
    default: 0.1,
    unit: 'fraction',
    about: 'Below this share of the required tools the accuracy is multiplied by the share.',
  }),
  frame: frameSetting,
});

/**
 *   R = R_acc·r_mand if a crop is required and r_mand < leastShare, else R_acc
 *
 * The public code of CodeVision, arXiv:2512.03746. The paper has a penalty instead, see
 * `poor-reasoning-penalty`.
 */
export const groundedAccuracy = defineReward({
  name: 'grounded-accuracy',
  scope: 'trajectory',
  description: '1 if right, scaled down if a required crop missed its box.',
  paper: 'CodeVision, arXiv:2512.03746, public code',
  settings,
  origins: { leastShare: 'code', frame: 'reconstructed' },
  range: [0, 1],
  score(trajectory, context, { leastShare, frame }) {
    if (!context.isCorrect) return 0;
    const record = toolRecord(trajectory, context);
    if (!record.facts.requiredTools?.includes('crop')) return 1;
    const share = mandatoryShare(record, frame);
    return share < leastShare ? share : 1;
  },
});
