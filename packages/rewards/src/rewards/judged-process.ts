/** A judge's score of a whole trajectory's tool use, as CodeV's public code computes it. */
import { DataError } from '@saccade/core';
import { defineReward } from '../define-reward.ts';

/**
 * The score that a judge gave the trajectory, from 0 to 1.
 *
 * The public code of CodeV, arXiv:2511.19661, weight 0.5: one call per trajectory, with a rubric that
 * depends on the kind of question and is never negative. There a failed judge scores 0; here the
 * trajectory then has no reward.
 *
 * @throws DataError without `judgeScores.process`
 */
export const judgedProcess = defineReward({
  name: 'judged-process',
  scope: 'trajectory',
  description: 'A judge’s grade of the whole trajectory’s tool use.',
  paper: 'CodeV, arXiv:2511.19661, public code',
  range: [0, 1],
  needs: ['judgeScores.process'],
  score: (_, { judgeScores }) => judgeScore(judgeScores, 'process'),
});

/** @throws DataError if no judge gave a score from 0 to 1 */
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
