/** A run as its stages see it, and what it tells the page. */
import type { Task } from '@saccade/gym';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { Parts, Settings } from './parts.ts';

export type Stage = 'preparing' | 'cold start' | 'reinforcement' | 'evaluation';

/** An event of a run, as data; all of it can be cloned from a worker to a page. */
export type RunEvent =
  | {
      readonly kind: 'progress';
      readonly stage: Stage;
      readonly done: number;
      readonly total: number;
    }
  /** One update of the cold start, or one step of reinforcement learning. */
  | {
      readonly kind: 'step';
      readonly stage: 'cold start' | 'reinforcement';
      readonly step: number;
      readonly values: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'evaluation';
      /** Steps of reinforcement learning done. */
      readonly step: number;
      readonly accuracy: number;
      readonly toolCalls: number;
      readonly count: number;
    }
  /** Whole groups of the step, each with its task. */
  | {
      readonly kind: 'trajectories';
      readonly step: number;
      readonly groups: readonly ShownGroup[];
    };

export interface ShownGroup {
  readonly task: Task;
  readonly trajectories: readonly ScoredTrajectory[];
}

export interface Run {
  readonly settings: Settings;
  readonly parts: Parts;
  readonly onEvent: (event: RunEvent) => void;
  /** Resolves at once, or when a pause is over; called between updates. */
  readonly pass: () => Promise<void>;
}
