/** The parts of a run that a service needs to serve its environments. */
import type { Env, Split, Task, TaskSet } from '@saccade/gym';
import type { ScoredTrajectory, Trajectory } from '@saccade/trajectory';

/** A trajectory's reward, as clients see it. */
export type Scored = Pick<ScoredTrajectory, 'reward' | 'rewardTerms' | 'turnRewards' | 'isCorrect'>;

/** The environments of a run for a service: tasks, an environment for each client, rewards. */
export interface ServedEnvironments {
  /** The name and the description that `/metadata` returns. */
  readonly name: string;
  readonly description: string;
  readonly taskSet: TaskSet;
  /** Where tasks come from unless a client says otherwise. Default `train`. */
  readonly split?: Split;
  /** An environment for one trajectory at a time. */
  makeEnv(): Env | Promise<Env>;
  /** @throws RewardError if a verifier, a judge or a reward breaks */
  score(trajectory: Trajectory, task: Task): Promise<Scored>;
  /** Whether a reward counts the tokens of the model's turns: then a client has to say how many. */
  readonly countsTokens?: boolean;
}
