/** What a simulated cluster is made of, and what a simulation of it gives. */
import type { SchedulerKind } from '@saccade/schedulers';
import type { DecodePoint } from './decode-table.ts';
import type { Placement } from './device-shares.ts';
import type { EngineReport } from './engine.ts';
import type { LearnerCosts } from './learner-cost.ts';
import type { PoolReport } from './pool.ts';
import type { GroupProfile } from './profile.ts';

/** Measured costs of everything that takes time. Seconds, tokens, bytes. */
export interface ClusterCosts {
  readonly engine: {
    readonly gpus: number;
    readonly decode: readonly DecodePoint[];
    readonly prefillTokensPerSecond: number;
    readonly maxSequences: number;
    readonly heldPasses: number;
    readonly requestSeconds: number;
    /** How much less a prompt takes for the others of a group than for the first, 0 to 1. */
    readonly promptSharing: number;
    /** Processors and main thread that it keeps busy, where it shares them: see `speedsOf`. */
    readonly processors: number;
    readonly mainThread: number;
  };
  readonly tools: {
    readonly openSeconds: number;
    /** Sandboxes that open at a time; 0: as many as there are. */
    readonly openServers: number;
    /** Share of the recorded time of a tool in which it worked. */
    readonly workShare: number;
  };
  /** The process that drives all rollouts: it does one thing at a time. */
  readonly main: { readonly secondsPerTurn: number; readonly secondsPerRequest: number };
  readonly machine: { readonly processors: number };
  readonly reward: { readonly secondsPerTrajectory: number; readonly servers: number };
  readonly learner: LearnerCosts & {
    readonly processors: number;
    /** More to score for each token, under schedulers that do not stream. */
    readonly rescoreSecondsPerToken: number;
  };
  readonly publish: {
    /** Engines stand still for so long, and longer for each engine more than one. */
    readonly seconds: number;
    readonly secondsPerEngine: number;
    /** Times per step that contexts in flight are computed again; 0 where caches are kept. */
    readonly recomputes: number;
    /** Whether requests that run end with the old weights first, while new ones wait. */
    readonly drains: boolean;
  };
  readonly evaluation: { readonly seconds: number; readonly everySteps: number };
  readonly checkpoint: { readonly seconds: number; readonly everySteps: number };
}

/** How many of each there are, and where. */
export interface ClusterSize {
  readonly engines: number;
  readonly learnerGpus: number;
  readonly sandboxes: number;
  readonly placement: Placement;
}

/** How the run trains. */
export interface TrainingShape {
  readonly scheduler: Pick<SchedulerKind, 'create' | 'isStreaming' | 'name'>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly groupSize: number;
  /** Trajectories in flight at a time. */
  readonly concurrency: number;
  readonly sharedPrefix: boolean;
}

/** Options of `simulateCluster`. */
export interface ClusterSimulation {
  readonly costs: ClusterCosts;
  readonly size: ClusterSize;
  readonly training: TrainingShape;
  /** What rollouts are drawn from: at least one group with a trajectory. */
  readonly groups: readonly GroupProfile[];
  /** Steps that count, after `warmSteps` that fill the queues. */
  readonly steps: number;
  readonly warmSteps: number;
  readonly seed: number;
}

/** A simulated run, over the steps that count. */
export interface ClusterReport {
  readonly seconds: number;
  readonly steps: number;
  /** Steps whose batch was empty, which train nothing. */
  readonly emptySteps: number;
  readonly stepsPerHour: number;
  /** Tokens that trajectories sampled, a second. */
  readonly sampledTokensPerSecond: number;
  /** Packed tokens that were learned from, a second. */
  readonly learnedTokensPerSecond: number;
  readonly trajectoriesPerHour: number;
  /** Trajectories trained on over those rolled out, 0 to 1. */
  readonly trainedShare: number;
  readonly engines: EngineReport & { readonly count: number; readonly gpus: number };
  readonly tools: PoolReport;
  readonly main: PoolReport;
  readonly reward: PoolReport;
  readonly learner: {
    readonly gpus: number;
    readonly utilization: number;
    readonly idleSeconds: number;
  };
  /** Share of the time in which engines stood still for new weights. */
  readonly publishing: number;
  /** How many trajectories that were trained on have each staleness, in batches trained on. */
  readonly staleness: readonly number[];
  readonly meanStaleness: number;
  /** Groups dropped, by reason. */
  readonly drops: Readonly<Record<string, number>>;
}
