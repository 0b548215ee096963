/** How much time is saved when rollouts and training overlap, by simulation. */
import type { SchedulerOptions } from './scheduler.ts';
import { asynchronous } from './schedulers/asynchronous.ts';
import { synchronous } from './schedulers/synchronous.ts';
import { type Simulation, simulate } from './simulate.ts';
import type { SimulationOptions } from './simulated-task.ts';

/** Options of `compareThroughput`. */
export interface ThroughputOptions {
  readonly promptsPerStep: number;
  readonly groupSize: number;
  readonly steps: number;
  readonly maxStaleness: number;
  /** Rollouts that run at a time. */
  readonly workers: number;
  /** Seconds of an optimizer step; a rollout takes one second on average, a slow one ten. */
  readonly trainSeconds: number;
  readonly slowRate: number;
  readonly seed: number;
}

/** Seconds per step of three ways to train on the same simulated rollouts. */
export interface Throughput {
  /** Seconds per step: in turns, waiting for groups, dropping groups that would be too stale. */
  readonly synchronous: number;
  readonly waiting: number;
  readonly dropping: number;
  /**
   * The least that a schedule could take which trains on every rollout; see `compareThroughput`.
   */
  readonly ideal: number;
  /** Share of the groups, 0 to 1, that `dropping` drops as too stale. */
  readonly droppedShare: number;
  /** Mean staleness of the trajectories trained on, optimizer steps. */
  readonly waitingStaleness: number;
  readonly droppingStaleness: number;
}

/**
 * Seconds per step of synchronous training and of asynchronous training, waiting for what would be
 * too stale or dropping it, with the same simulated rollouts.
 *
 *   t_synchronous = E[makespan of B·G rollouts on W workers] + t_train
 *   t_ideal       = max(B·G·E[seconds of a rollout] / W, t_train)
 *
 * No schedule beats the ideal while it trains on every rollout; one that drops slow rollouts can,
 * by training on less of them. Weights are published at no cost, and a rollout's time depends
 * neither on how many run beside it nor on the trainer: on shared hardware the gain is smaller.
 */
export function compareThroughput(options: ThroughputOptions): Throughput {
  const { promptsPerStep, groupSize, steps, maxStaleness, trainSeconds } = options;
  const common: SchedulerOptions = {
    promptsPerStep,
    groupSize,
    advantages: ({ trajectories }) => new Float64Array(trajectories.length),
  };
  const settings: SimulationOptions = {
    ...options,
    failureRate: 0,
    slowFactor: 10,
  };
  const run = (tooStale: 'wait' | 'drop'): Simulation =>
    simulate(asynchronous.create({ ...common, maxStaleness, tooStale } as typeof common), settings);
  const [waiting, dropping] = [run('wait'), run('drop')];
  const plain = simulate(synchronous.create(common), settings);
  const rollOutSeconds = plain.workSeconds / (steps * options.workers);
  const drops = dropping.log
    .flatMap(({ commands }) => commands)
    .filter((command) => command.kind === 'drop' && command.reason === 'tooStale').length;
  return {
    synchronous: plain.seconds / steps,
    waiting: waiting.seconds / steps,
    dropping: dropping.seconds / steps,
    ideal: Math.max(rollOutSeconds, trainSeconds),
    droppedShare: drops / (drops + steps * promptsPerStep),
    waitingStaleness: meanStaleness(waiting),
    droppingStaleness: meanStaleness(dropping),
  };
}

function meanStaleness({ staleness }: Simulation): number {
  const counts = Array.from(staleness, (count = 0) => count);
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((sum, count, steps) => sum + steps * count, 0) / Math.max(all, 1);
}
