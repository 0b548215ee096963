/** Thyme's reward for an answer that follows from the thought. */
import type { Reward } from '../reward.ts';
import { judgeScore } from './judged-process.ts';

/**
 * Whether a judge finds the answer consistent with the end of the last thought, from 0 to 1.
 *
 * Thyme, arXiv:2508.11630; weight 0.5 in its code.
 *
 * @throws DataError without `judgeScores.consistency`
 */
export const judgedConsistency: Reward = {
  name: 'judged-consistency',
  scope: 'trajectory',
  paper: 'Thyme, arXiv:2508.11630',
  range: [0, 1],
  needs: ['judgeScores.consistency'],
  score: (_, { judgeScores }) => judgeScore(judgeScores, 'consistency'),
};
