/** Rewards come in three scopes, three types: a trajectory, its turns, its group. */
import type { Group, Trajectory } from '@saccade/trajectory';

/** What a reward may know of the task besides the trajectory. */
export interface RewardContext {
  readonly answer: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Whether the final answer is right, decided once by the verifier. */
  readonly isCorrect: boolean;
}

/** trajectory → number. */
export interface Reward {
  readonly name: string;
  readonly scope: 'trajectory';
  /** Where it comes from. */
  readonly paper: string;
  /** Smallest and largest value it can give. */
  readonly range: readonly [number, number];
  score(trajectory: Trajectory, context: RewardContext): number;
}

/** trajectory → one number per turn. */
export interface TurnReward {
  readonly name: string;
  readonly scope: 'turn';
  readonly paper: string;
  readonly range: readonly [number, number];
  score(trajectory: Trajectory, context: RewardContext): readonly number[];
}

/** group → one number per trajectory. */
export interface GroupReward {
  readonly name: string;
  readonly scope: 'group';
  readonly paper: string;
  readonly range: readonly [number, number];
  score(group: Group, contexts: readonly RewardContext[]): readonly number[];
}

/** Decides whether an answer is right: 0 wrong, 1 right, between for graded metrics. */
export interface Verifier {
  readonly name: string;
  /** Where its definition comes from. */
  readonly paper?: string;
  /** An answer of the kind it reads, for the contract, where that is not a number. */
  readonly example?: string;
  verify(answer: string, expected: string): number;
}
