/** What rewards are told of a trajectory: verdict, tool uses, judges' scores. */

import type { TurnToolUse } from '@saccade/code-effects';
import { type AnalysisOptions, analyzeTrajectory, promptImages } from '@saccade/code-effects';
import type { Trajectory } from '@saccade/trajectory';
import type { RewardContext, Verifier } from './reward.ts';
import { taskFacts } from './task-facts.ts';
import { judge, type Verdict, type VerdictOptions } from './verdict.ts';

/** What scoring needs of a task. */
export interface ScoringTask {
  readonly answer: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What was asked, for judges; rewards do not see it. */
  readonly question?: string;
}

/** What was found out about a trajectory before it is scored, such as by a model that judges. */
export interface Judged {
  /** Replaces that of the verifier. */
  readonly verdict?: Verdict;
  readonly stepScores?: RewardContext['stepScores'];
  readonly judgeScores?: RewardContext['judgeScores'];
}

export interface ContextOptions {
  readonly verifier: Verifier;
  readonly verdict?: VerdictOptions;
  /** How code is followed; the first picture's map is the task's `metadata.toCanonical`. */
  readonly analysis?: AnalysisOptions;
}

/** The context of a trajectory; its code is analysed when a reward first asks for it. */
export function makeContext(
  trajectory: Trajectory,
  { answer, metadata }: ScoringTask,
  { verifier, verdict, analysis }: ContextOptions,
  judged: Judged = {},
): RewardContext {
  const { isCorrect, score } = judged.verdict ?? judge(trajectory, answer, verifier, verdict);
  let uses: readonly TurnToolUse[] | undefined;
  return {
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
  };
}

function analyse(
  trajectory: Trajectory,
  metadata: RewardContext['metadata'],
  options: AnalysisOptions = {},
): readonly TurnToolUse[] {
  const { toCanonical } = taskFacts({ metadata });
  const inputs = promptImages(trajectory).map((picture, index) =>
    index === 0 && toCanonical !== undefined ? { ...picture, toCanonical } : picture,
  );
  return analyzeTrajectory(trajectory, { ...options, inputs });
}
