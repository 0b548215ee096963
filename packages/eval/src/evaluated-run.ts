/** The parts of a run that an evaluation uses. */
import type { EventSink } from '@saccade/core';
import type { TaskSet } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { GroupJudges, Scoring } from '@saccade/rewards';
import type { MakeEnv, ModelImages, RolloutSettings } from '@saccade/rollout';
import type { MetricsLog, RunState } from '@saccade/run-store';
import type { EvaluationSettings } from './evaluation-settings.ts';
import type { OpenSuite } from './suite/open-suite.ts';

/** The parts with which trajectories are scored. */
export interface ScoringParts {
  readonly scoring: Scoring;
  /** Absent where the run has no judges. */
  readonly judges?: GroupJudges;
}

/**
 * The parts of a run that an evaluation uses: what samples, what scores, and where tasks and
 * environments come from.
 */
export interface EvaluatedParts extends ScoringParts {
  /** The sampler of the rollouts: the policy, or an engine that has its weights. */
  readonly sampler: Sampler;
  /** Gives the sampler the policy's weights; to be awaited before it is asked for anything. */
  syncSampler(): Promise<void>;
  readonly taskSet: TaskSet;
  readonly images: ModelImages;
  /** Environments with the budgets of evaluations. */
  readonly makeEvaluationEnv: MakeEnv;
  /** Suites that every evaluation also plays. Default: none. */
  readonly suites?: readonly OpenSuite[];
}

/** A run as `evaluate` sees it: its settings, its parts, and the directory and log it writes to. */
export interface EvaluatedRun {
  readonly config: {
    readonly seed: number;
    readonly rollout: RolloutSettings;
    readonly evaluation: EvaluationSettings;
  };
  readonly parts: EvaluatedParts;
  readonly directory: string;
  readonly log: MetricsLog;
  readonly onEvent: EventSink;
  /** Where the run stands; replaced, never changed. */
  state: RunState;
}
