/** Scores groups as a run does: judges first where it has any, then the terms of its reward. */
import type { Task } from '@saccade/gym';
import { judgeGroup, type ScoredGroupResult, scoreGroup } from '@saccade/rewards';
import type { Group } from '@saccade/trajectory';
import type { Parts } from './parts.ts';

/**
 * One result per group, in order. What a judge failed on is among `failed`, at the boundary `reward`:
 * never scored 0.
 */
export function scoreRollouts(
  { scoring, judges }: Pick<Parts, 'scoring' | 'judges'>,
  groups: readonly Group[],
  tasks: readonly Task[],
): Promise<readonly ScoredGroupResult[]> {
  return Promise.all(
    groups.map(async (group, i) => {
      const task = tasks[i] as Task;
      if (judges === undefined) return scoreGroup(group, task, scoring);
      const { verifier, judged } = await judgeGroup(group, task, scoring, judges);
      return scoreGroup(group, task, { ...scoring, verifier }, judged);
    }),
  );
}
