/** Scores groups as a run does: judges first where it has any, then the terms of its reward. */
import type { Task } from '@saccade/gym';
import { judgeGroup, type ScoredGroupResult, scoreGroup } from '@saccade/rewards';
import type { Group } from '@saccade/trajectory';
import type { ScoringParts } from './evaluated-run.ts';

/** The parts that scoring needs, and how often it is retried where it breaks. */
export interface ScoringOptions extends ScoringParts {
  readonly retries?: number;
}

/**
 * One result per group, in order. What a judge or a reward failed on is scored again, `retries`
 * times at most; after that it is among `failed`, at the boundary `reward`: never scored 0.
 */
export function scoreRollouts(
  parts: ScoringOptions,
  groups: readonly Group[],
  tasks: readonly Task[],
): Promise<readonly ScoredGroupResult[]> {
  return Promise.all(groups.map((group, i) => scoreWithRetries(parts, group, tasks[i] as Task)));
}

async function scoreWithRetries(
  parts: ScoringOptions,
  group: Group,
  task: Task,
): Promise<ScoredGroupResult> {
  // The group is scored whole: some rewards compare its trajectories.
  for (let left = parts.retries ?? 0; ; left--) {
    const result = await scoreOnce(parts, group, task);
    const isBroken = result.failed.some(({ failure }) => failure?.boundary === 'reward');
    if (!isBroken || left <= 0) return result;
  }
}

async function scoreOnce(
  { scoring, judges }: ScoringParts,
  group: Group,
  task: Task,
): Promise<ScoredGroupResult> {
  if (judges === undefined) return scoreGroup(group, task, scoring);
  const { verifier, judged } = await judgeGroup(group, task, scoring, judges);
  return scoreGroup(group, task, { ...scoring, verifier }, judged);
}
