/** A judge's score of a whole trajectory's tool use, as CodeV's public code has it. */
import { DataError } from '@saccade/core';
import type { Reward } from '../reward.ts';

/**
 * The score that a judge gave the trajectory, from 0 to 1.
 *
 * The public code of CodeV, arXiv:2511.19661, weight 0.5: one call per trajectory, whose rubric
 * depends on the kind of question and is never negative. A judge that failed scores 0 there; here the
 * trajectory has no reward.
 *
 * @throws DataError without `judgeScores.process`
 */
export const judgedProcess: Reward = {
  name: 'judged-process',
  scope: 'trajectory',
  paper: 'CodeV, arXiv:2511.19661, public code',
  range: [0, 1],
  needs: ['judgeScores.process'],
  score: (_, { judgeScores }) => judgeScore(judgeScores, 'process'),
};

/** @throws DataError where no judge gave a score from 0 to 1 */
export function judgeScore(
  scores: Readonly<Record<string, number>> | undefined,
  judge: string,
): number {
  const score = scores?.[judge];
  if (score !== undefined && score >= 0 && score <= 1) return score;
  throw new DataError(
    `judgeScores.${judge} is ${score}, expected a number from 0 to 1. ` +
      'Score the trajectory with that judge, or leave this term out.',
  );
}
