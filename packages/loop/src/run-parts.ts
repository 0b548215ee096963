/** The parts of a run as its loops use them: interfaces, so that any implementation fits. */
import type { Algorithm } from '@saccade/algorithms';
import type { ColdStart } from '@saccade/data';
import type { EvaluatedParts, EvaluationSettings } from '@saccade/eval';
import type { Protocol } from '@saccade/gym';
import type { Optimizer, Schedule } from '@saccade/optim';
import type { Policy, TrainedPolicy } from '@saccade/policy';
import type { Detector } from '@saccade/rewards';
import type { MakeEnv, PackingSettings, RolloutSettings } from '@saccade/rollout';
import type { Scheduler, SchedulerKind } from '@saccade/schedulers';
import type { CheckpointSettings } from './settings/checkpoint.ts';
import type { RlSettings } from './settings/rl.ts';
import type { SftSettings } from './settings/sft.ts';
import type { WorkMeter } from './work-meter.ts';

/** The settings of a run that its loops read. */
export interface RunSections {
  readonly seed: number;
  readonly rollout: RolloutSettings;
  readonly evaluation: EvaluationSettings;
  /** A run whose cold start this one continues, or a policy. */
  readonly startFrom?: string | undefined;
  readonly sft: SftSettings;
  readonly rl: RlSettings;
  readonly packing: PackingSettings;
  readonly checkpoint: CheckpointSettings;
}

/** The policy that a loop trains: any policy that can begin a stage with fresh moments. */
export type StagePolicy = Policy & Pick<TrainedPolicy, 'resetOptimizer' | 'forget'>;

/**
 * Everything a run trains with, opened and ready. The loops know these interfaces only, so any
 * policy, algorithm or scheduler that implements them can be trained.
 */
export interface RunParts extends EvaluatedParts {
  readonly policy: StagePolicy;
  readonly protocol: Protocol;
  /** The examples of the cold start; absent where there is none. */
  readonly coldStart?: OpenColdStart;
  readonly makeEnv: MakeEnv;
  readonly algorithm: Algorithm;
  /** Detectors that audit every step, at the run's thresholds. */
  readonly detectors: readonly Detector[];
  readonly sftOptimizer: StageOptimizer;
  readonly schedulerKind: SchedulerKind;
  readonly scheduler: Scheduler;
  /** Counts the work of each step; absent: nothing of it is logged. */
  readonly work?: WorkMeter;
  /** Seconds after which a streaming scheduler cancels a task; absent: never. */
  readonly taskDeadlineSeconds?: number;
}

/** A cold start with its settings. */
export interface OpenColdStart extends Pick<ColdStart, 'name'> {
  /** Tasks at the front of the training split that reinforcement learning skips. */
  readonly taskCount: number;
  gather: (context: Parameters<ColdStart['gather']>[1]) => ReturnType<ColdStart['gather']>;
}

/** The optimizer and the learning rates of a training stage. */
export interface StageOptimizer {
  readonly optimizer: Optimizer;
  /** The learning rate of each update of the stage. */
  readonly schedule: Schedule;
}
