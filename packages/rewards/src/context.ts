/** The facts that rewards know about a trajectory: verdict, tool uses, judges' scores. */

import {
  type AnalysisOptions,
  analyzeTrajectory,
  promptImages,
  type TurnToolUse,
} from '@saccade/code-effects';
import { ConfigError } from '@saccade/core';
import type { Trajectory } from '@saccade/trajectory';
import type { AnyReward, Reward, RewardContext, Verifier } from './reward.ts';
import { taskFacts } from './task-facts.ts';
import { judge, type Verdict, type VerdictOptions } from './verdict.ts';

/** The parts of a task that scoring needs. */
export interface ScoringTask {
  readonly answer: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The question, for judges; rewards do not see it. */
  readonly question?: string;
}

/** Facts known about a trajectory before it is scored, such as the grades of judges. */
export interface Judged {
  /** Replaces that of the verifier. */
  readonly verdict?: Verdict;
  readonly stepScores?: RewardContext['stepScores'];
  readonly judgeScores?: RewardContext['judgeScores'];
}

/** How `makeContext` reaches a verdict and follows a trajectory's code. */
export interface ContextOptions {
  /** The terms of the reward, for `termValue`. Default none. */
  readonly terms?: readonly { readonly reward: AnyReward }[];
  readonly verifier: Verifier;
  readonly verdict?: VerdictOptions;
  /** How code is followed; the first image's map is the task's `metadata.toCanonical`. */
  readonly analysis?: AnalysisOptions;
}

/** The context of a trajectory. Its code is analyzed when a reward first asks for it. */
export function makeContext(
  trajectory: Trajectory,
  { answer, metadata }: ScoringTask,
  { verifier, verdict, analysis, terms = [] }: ContextOptions,
  judged: Judged = {},
): RewardContext {
  const { isCorrect, score } = judged.verdict ?? judge(trajectory, answer, verifier, verdict);
  let uses: readonly TurnToolUse[] | undefined;
  const values = new Map<string, number | 'asked'>();
  const context: RewardContext = {
    answer,
    metadata,
    isCorrect,
    verdictScore: score,
    get toolUses() {
      uses ??= analyse(trajectory, metadata, analysis);
      return uses;
    },
    ...(judged.stepScores && { stepScores: judged.stepScores }),
    ...(judged.judgeScores && { judgeScores: judged.judgeScores }),
    termValue(reward) {
      const known = values.get(reward.name);
      if (typeof known === 'number') return known;
      if (known === 'asked') {
        throw new ConfigError(
          'reward.terms',
          `The term "${reward.name}" depends on itself through other terms. Break the circle.`,
        );
      }
      values.set(reward.name, 'asked');
      try {
        const value = termNamed(reward, terms).score(trajectory, context);
        values.set(reward.name, value);
        return value;
      } finally {
        if (values.get(reward.name) === 'asked') values.delete(reward.name);
      }
    },
  };
  return context;
}

function termNamed(reward: Reward, terms: readonly { readonly reward: AnyReward }[]): Reward {
  const own = terms.find(({ reward: { name } }) => name === reward.name)?.reward;
  return own?.scope === 'trajectory' ? own : reward;
}

function analyse(
  trajectory: Trajectory,
  metadata: RewardContext['metadata'],
  options: AnalysisOptions = {},
): readonly TurnToolUse[] {
  const { toCanonical } = taskFacts({ metadata });
  const inputs = promptImages(trajectory).map((image, index) =>
    index === 0 && toCanonical !== undefined ? { ...image, toCanonical } : image,
  );
  return analyzeTrajectory(trajectory, { ...options, inputs });
}
