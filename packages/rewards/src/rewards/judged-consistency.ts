/** Thyme's reward for an answer that follows from the thought. */
import { defineReward } from '../define-reward.ts';
import { judgeScore } from './judged-process.ts';

/**
 * A judge's grade of whether the answer agrees with the end of the last thought, from 0 to 1.
 *
 * Thyme, arXiv:2508.11630; weight 0.5 in its code.
 *
 * @throws DataError without `judgeScores.consistency`
 */
export const judgedConsistency = defineReward({
  name: 'judged-consistency',
  scope: 'trajectory',
  description: 'A judge’s grade of whether the answer follows from the thought.',
  paper: 'Thyme, arXiv:2508.11630',
  range: [0, 1],
  needs: ['judgeScores.consistency'],
  score: (_, { judgeScores }) => judgeScore(judgeScores, 'consistency'),
});
