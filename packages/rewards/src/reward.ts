/** Rewards come in three scopes, three types: a trajectory, its turns, its group. */

import type { TurnToolUse } from '@saccade/code-effects';
import type { Group, Trajectory } from '@saccade/trajectory';
import type { Constants, Provenance } from './provenance.ts';

/** The facts that a reward may use besides the trajectory. */
export interface RewardContext {
  readonly answer: string;
  /** The task's; `taskFacts` reads what rewards want of it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Whether the final answer is right, decided once by the verifier. */
  readonly isCorrect: boolean;
  /** The verifier's score, from 0 to 1; 0 for an answer that was refused. */
  readonly verdictScore: number;
  /** The effects of each turn's code, in order; computed on first use. */
  readonly toolUses: readonly TurnToolUse[];
  /** [turns with code] a judge's score of what each execution showed; undefined where it gave none. */
  readonly stepScores?: readonly (number | undefined)[];
  /** Scores that judges gave the whole trajectory, by the judge's name. */
  readonly judgeScores?: Readonly<Record<string, number>>;
  /**
   * The value of another term for this trajectory, before its weight: the term of that name in the
   * same reward, with its settings there; `reward` itself if there is none. Computed once.
   *
   * @throws ConfigError if terms ask for one another in a circle
   */
  termValue(reward: Reward): number;
}

/** Inputs that judges can give besides the verdict, named as in the context. */
export type JudgedInput = 'stepScores' | 'judgeScores.process' | 'judgeScores.consistency';

interface Described {
  readonly name: string;
  /** Where it comes from. */
  readonly paper: string;
  /** Smallest and largest value it can give. */
  readonly range: readonly [number, number];
  /** The inputs that it needs from judges before it can score. */
  readonly needs?: readonly JudgedInput[];
  /** Its numbers, and where each comes from; see `defineReward`. */
  readonly constants?: Constants;
  /** The reward with some settings changed. @throws ConfigError for one it does not have */
  with?(values: Readonly<Record<string, unknown>>, from?: Provenance): AnyReward;
}

/** trajectory → number. */
export interface Reward extends Described {
  readonly scope: 'trajectory';
  score(trajectory: Trajectory, context: RewardContext): number;
}

/** trajectory → one number per turn. */
export interface TurnReward extends Described {
  readonly scope: 'turn';
  score(trajectory: Trajectory, context: RewardContext): readonly number[];
}

/** group → one number per trajectory. */
export interface GroupReward extends Described {
  readonly scope: 'group';
  score(group: Group, contexts: readonly RewardContext[]): readonly number[];
}

/** A reward of any scope. */
export type AnyReward = Reward | TurnReward | GroupReward;

/** Decides whether an answer is right: 0 wrong, 1 right, between for graded metrics. */
export interface Verifier {
  readonly name: string;
  /** Where its definition comes from. */
  readonly paper?: string;
  /** An answer of the kind it reads, for the contract, where that is not a number. */
  readonly example?: string;
  verify(answer: string, expected: string): number;
}
