/** Rewards of single trajectories, as a run gives them. */
import { ConfigError } from '@saccade/core';
import type { Task } from '@saccade/gym';
import {
  type GroupJudges,
  judgeGroup,
  RewardError,
  type Scoring,
  scoreGroup,
} from '@saccade/rewards';
import type { Trajectory } from '@saccade/trajectory';
import type { Scored, ServedEnvironments } from './environments.ts';

/** How a run scores. */
export interface ScoringParts {
  readonly scoring: Scoring;
  readonly judges?: GroupJudges;
}

/** Terms that read how many tokens the model wrote, which only its trainer knows. */
const countTokens: readonly string[] = ['overlong'];

/** @throws ConfigError for a reward that compares the trajectories of a group: there is only one */
export function scoreWith({
  scoring,
  judges,
}: ScoringParts): Pick<ServedEnvironments, 'score' | 'countsTokens'> {
  const ofGroup = scoring.terms.find(({ reward }) => reward.scope === 'group')?.reward;
  if (ofGroup !== undefined) {
    throw new ConfigError(
      'reward',
      `reward: the term ${ofGroup.name} compares the trajectories of a group, and an environment ` +
        'has one at a time. Choose another reward.',
    );
  }
  return {
    countsTokens: scoring.terms.some(({ reward }) => countTokens.includes(reward.name)),
    async score(trajectory: Trajectory, task: Task): Promise<Scored> {
      const group = { taskId: task.id, trajectories: [trajectory] };
      const judged = judges && (await judgeGroup(group, task, scoring, judges));
      const { scored, failed } = scoreGroup(
        group,
        task,
        judged === undefined ? scoring : { ...scoring, verifier: judged.verifier },
        judged?.judged,
      );
      const [one] = scored.trajectories;
      if (one === undefined)
        throw new RewardError(failed[0]?.failure?.message ?? 'It was not scored.');
      const { reward, rewardTerms, turnRewards, isCorrect } = one;
      return { reward, rewardTerms, isCorrect, ...(turnRewards && { turnRewards }) };
    },
  };
}
