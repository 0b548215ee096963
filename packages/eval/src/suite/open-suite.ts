/** A suite that is ready to be evaluated: its units are open. */
import type { Split, TaskSet } from '@saccade/gym';
import type { GroupJudges, Scoring } from '@saccade/rewards';
import type { MakeEnv } from '@saccade/rollout';
import type { SuiteSampling } from '@saccade/run-store';
import type { Slice } from './define-suite.ts';

/** An open suite. */
export interface OpenSuite {
  readonly name: string;
  readonly description: string;
  readonly k: number;
  readonly sampling: SuiteSampling;
  readonly deadlineSeconds?: number;
  /** The first `taskCount` tasks of the split. */
  readonly taskSet: TaskSet;
  readonly split: Split;
  readonly taskCount: number;
  /** Environments with the budgets of evaluations. */
  readonly makeEnv: MakeEnv;
  /** Model turns that a trajectory may have, the answer included. */
  readonly mostTurns: number;
  /** The verifier, and how code is followed. Terms of a reward are not needed. */
  readonly scoring: Omit<Scoring, 'terms'>;
  readonly judges?: GroupJudges;
  readonly slices: Readonly<Record<string, Slice>>;
  /** Everything else that decides about samples and scores, as JSON: units with their settings. */
  readonly settings: Readonly<Record<string, unknown>>;
  dispose(): Promise<void>;
}
