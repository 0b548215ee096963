/** CodeVision's penalty for a right answer from a crop of the wrong place. */
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { cropIous, frameSetting, leastIouSetting, toolRecord } from './core-tools.ts';

const settings = z.strictObject({
  leastIou: leastIouSetting(0.1, 'An IoU below this is negligible.'),
  frame: frameSetting,
});

/**
 *   −1{right, cropped, best IoU < leastIou}
 *
 * Every crop that the code may have attempted counts: also one behind a condition that cannot be
 * decided, and one in a call that failed. One without a known box has IoU 0.
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (constraint penalties), weight 0.5. 0 for a task without box.
 * The public code has no such penalty: there the accuracy is multiplied, see `grounded-accuracy`.
 */
export const poorReasoningPenalty = defineReward({
  name: 'poor-reasoning-penalty',
  scope: 'trajectory',
  description: '−1 for a right answer whose crops all miss the box.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  settings,
  origins: { leastIou: 'note', frame: 'reconstructed' },
  range: [-1, 0],
  score(trajectory, context, { leastIou, frame }) {
    if (!context.isCorrect) return 0;
    const { facts, possible, mayHaveCropped } = toolRecord(trajectory, context);
    if (facts.box === undefined || !mayHaveCropped) return 0;
    const ious = cropIous(facts, possible, frame);
    return Math.max(0, ...ious) < leastIou ? -1 : 0;
  },
});
