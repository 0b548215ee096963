/** CodeVision's bonus for a right answer with a tool that was not required. */
import { flag } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { toolRecord, usesOptionalTool } from './core-tools.ts';

const settings = z.strictObject({
  countsCrop: flag({
    default: true,
    about: 'Whether a crop that is not required counts as an optional tool.',
  }),
});

/**
 * 1 if the answer is right and an optional tool was used, else 0.
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (b), weight 0.2. Turns and flips are never optional: where
 * they are not required they are inappropriate. No-ops do not count.
 */
export const emergentTool = defineReward({
  name: 'emergent-tool',
  scope: 'trajectory',
  description: '1 if the answer is right and an optional tool was used, else 0.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  settings,
  origins: { countsCrop: 'reconstructed' },
  range: [0, 1],
  score(trajectory, context, { countsCrop }) {
    if (!context.isCorrect) return 0;
    return usesOptionalTool(toolRecord(trajectory, context), countsCrop) ? 1 : 0;
  },
});
