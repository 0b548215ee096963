/** The greedy rollout of a task, for algorithms whose baseline is its reward. */
import type { Algorithm } from '@saccade/algorithms';

/** Whether every group needs a `baseline`: one more rollout of its task, at temperature 0. */
export function takesBaseline({ needs }: Pick<Algorithm, 'needs'>): boolean {
  return needs.includes('greedyReward');
}

/** Rollouts of a task beside the G of its group. */
export function baselinesPerTask(algorithm: Pick<Algorithm, 'needs'>): number {
  return takesBaseline(algorithm) ? 1 : 0;
}
