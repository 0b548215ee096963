/** A small cluster with round numbers, for tests. */
import { type SchedulerKind, schedulers } from '@saccade/schedulers';
import type { GroupProfile, TrajectoryProfile } from './profile.ts';
import type { ClusterCosts, ClusterSimulation } from './simulation.ts';

/** One that answers after `turns` tools, all turns alike. */
export function trajectory(
  modelTokens: readonly number[],
  { toolSeconds = 0, observationTokens = 0, reward = 0 } = {},
): TrajectoryProfile {
  return {
    turns: modelTokens.map((tokens, index) => {
      const isLast = index + 1 === modelTokens.length;
      return isLast
        ? { modelTokens: tokens, observationTokens: 0, images: 0 }
        : { modelTokens: tokens, toolSeconds, observationTokens, images: 0 };
    }),
    reward,
    isCorrect: reward > 0,
    stopReason: 'answered',
  };
}

/** A group whose rewards differ, so that schedulers keep it. */
export function group(
  promptTokens: number,
  trajectories: readonly TrajectoryProfile[],
): GroupProfile {
  return { promptTokens, trajectories };
}

/** Costs of nothing but one resource after another. */
export const free: ClusterCosts = {
  engine: {
    gpus: 1,
    decode: [[1, 1e9]],
    prefillTokensPerSecond: 1e12,
    maxSequences: 1e6,
    heldPasses: 0,
    requestSeconds: 0,
    promptSharing: 1,
    processors: 0,
    mainThread: 0,
  },
  tools: { openSeconds: 0, openServers: 0, workShare: 1 },
  main: { secondsPerTurn: 0, secondsPerRequest: 0 },
  machine: { processors: 0 },
  reward: { secondsPerTrajectory: 0, servers: 1 },
  learner: {
    gpus: 1,
    secondsPerToken: 0,
    scoreSecondsPerToken: 0,
    secondsPerStep: 1e-6,
    microBatchTokens: 8192,
    efficiencyPerDoubling: 1,
    parameters: 0,
    bytesPerParameter: 2,
    gatherBytesPerSecond: 1e11,
    overlap: 0,
    processors: 0,
    rescoreSecondsPerToken: 0,
  },
  publish: { seconds: 0, secondsPerEngine: 0, recomputes: 0, drains: false },
  evaluation: { seconds: 0, everySteps: 0 },
  checkpoint: { seconds: 0, everySteps: 0 },
};

/** A simulation of ten steps of 4 groups of 4 under a scheduler, with some of it changed. */
export function simulation(
  name: string,
  {
    costs = {},
    ...rest
  }: Partial<Omit<ClusterSimulation, 'costs'>> & {
    readonly costs?: Partial<ClusterCosts>;
    readonly settings?: Readonly<Record<string, unknown>>;
  } = {},
): ClusterSimulation {
  const { settings = {}, ...others } = rest;
  const scheduler: SchedulerKind = schedulers.get(name);
  return {
    costs: { ...free, ...costs },
    size: { engines: 1, learnerGpus: 1, sandboxes: 1000, placement: 'separate' },
    training: {
      scheduler,
      settings: { promptsPerStep: 4, ...settings },
      groupSize: 4,
      concurrency: 1e6,
      sharedPrefix: true,
    },
    groups: [
      group(
        100,
        [0, 1, 0, 1].map((reward) => trajectory([10, 10], { reward })),
      ),
    ],
    steps: 10,
    warmSteps: 2,
    seed: 1,
    ...others,
  };
}
