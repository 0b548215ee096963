/** Plans: for each number of GPUs how to divide them, what that gives, and what holds it up. */
import { ConfigError } from '@saccade/core';
import { schedulers } from '@saccade/schedulers';
import { simulateCluster } from './cluster.ts';
import type { CostDocument } from './costs-file.ts';
import type { Placement } from './device-shares.ts';
import type { ClusterReport, ClusterSimulation, ClusterSize } from './simulation.ts';

/** Options of `planCluster`. */
export interface PlanOptions {
  readonly document: CostDocument;
  /** Numbers of GPUs to plan for. */
  readonly gpus: readonly number[];
  readonly steps: number;
  readonly seed: number;
  /** Where one GPU has to do both. Default `alternating`. */
  readonly sharedPlacement?: Placement;
}

/** What twice as much of one resource gives, as a share of steps per hour: 0.2 is a fifth more. */
type Gains = Readonly<Record<string, number>>;

/** Another bound of staleness, simulated on the same cluster. */
interface StalenessPlan {
  /** η; 0 is synchronous. */
  readonly maxStaleness: number;
  readonly stepsPerHour: number;
  readonly meanStaleness: number;
}

/** The best division that was found of some GPUs. */
export interface GpuPlan {
  readonly gpus: number;
  readonly size: ClusterSize;
  readonly report: ClusterReport;
  readonly gains: Gains;
  readonly bottleneck: string;
  readonly staleness: readonly StalenessPlan[];
  /** The least η that comes within 3 % of the best. */
  readonly enoughStaleness: number;
}

/** Shares of the GPUs that the learner may get. */
const SHARES = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4];
/** A gain below it is noise of the simulation, and a bound within it is as good as the best. */
const LEAST_GAIN = 0.03;
const BOUNDS = [0, 1, 2, 4];

/**
 * Simulates divisions of each number of GPUs and keeps that with the most steps per hour.
 *
 * @throws ConfigError for a number of GPUs that cannot hold an engine and a learner
 */
export function planCluster(options: PlanOptions): readonly GpuPlan[] {
  return options.gpus.map((gpus) => planFor(gpus, options));
}

function planFor(gpus: number, options: PlanOptions): GpuPlan {
  const { document } = options;
  const base = simulationOf(document, options);
  const tried = sizesOf(gpus, options).map((size) => ({
    size,
    report: simulateCluster({ ...base, size }),
  }));
  const best = tried.reduce((a, b) => (b.report.stepsPerHour > a.report.stepsPerHour ? b : a));
  const gains = gainsOf({ ...base, size: best.size }, best.report);
  const [name, gain] = Object.entries(gains).reduce((a, b) => (b[1] > a[1] ? b : a));
  const staleness = BOUNDS.map((maxStaleness) =>
    withBound({ ...base, size: best.size }, maxStaleness),
  );
  const most = Math.max(...staleness.map(({ stepsPerHour }) => stepsPerHour));
  const enough = staleness.find(({ stepsPerHour }) => stepsPerHour >= (1 - LEAST_GAIN) * most);
  return {
    gpus,
    ...best,
    gains,
    bottleneck: gain < LEAST_GAIN ? 'latency of rollouts' : name,
    staleness,
    enoughStaleness: enough?.maxStaleness ?? 0,
  };
}

/** A simulation of a document, on one GPU of each kind. */
export function simulationOf(
  { costs, scheduler, groups }: CostDocument,
  { steps, seed }: Pick<PlanOptions, 'steps' | 'seed'>,
): ClusterSimulation {
  const { training, ...rest } = costs;
  const { name, ...settings } = scheduler;
  return {
    costs: rest,
    size: { engines: 1, learnerGpus: 1, sandboxes: 1, placement: 'separate' },
    training: { ...training, scheduler: schedulers.get(name), settings },
    groups,
    steps,
    warmSteps: Math.max(2, Math.ceil(steps / 4)),
    seed,
  };
}

function sizesOf(gpus: number, { document, sharedPlacement = 'alternating' }: PlanOptions) {
  const { engine, tools } = document.costs;
  if (!Number.isInteger(gpus) || gpus < 1 || gpus > 100_000) {
    throw new ConfigError(
      '--gpus',
      `--gpus: expected whole numbers from 1 to 100000, got ${gpus}.`,
    );
  }
  const sandboxes = Math.max(1, Math.round(tools.perGpu * gpus));
  if (gpus === 1) {
    return [{ engines: 1, learnerGpus: 1, sandboxes, placement: sharedPlacement }];
  }
  const seen = new Set<number>();
  const sizes = SHARES.flatMap((share): readonly ClusterSize[] => {
    const learnerGpus = Math.max(1, Math.round(share * gpus));
    const engines = Math.floor((gpus - learnerGpus) / engine.gpus);
    if (engines < 1 || seen.has(learnerGpus)) return [];
    seen.add(learnerGpus);
    return [{ engines, learnerGpus, sandboxes, placement: 'separate' }];
  });
  if (sizes.length > 0) return sizes;
  throw new ConfigError(
    '--gpus',
    `${gpus} GPUs do not hold a learner and an engine of ${engine.gpus}. Give more.`,
  );
}

function gainsOf(simulation: ClusterSimulation, before: ClusterReport): Gains {
  const { size, costs } = simulation;
  const { reward, publish } = costs;
  const variants: Readonly<Record<string, Partial<ClusterSimulation>>> = {
    engines: { size: { ...size, engines: 2 * size.engines } },
    learner: { size: { ...size, learnerGpus: 2 * size.learnerGpus } },
    tools: { size: { ...size, sandboxes: 2 * size.sandboxes } },
    rewards: { costs: { ...costs, reward: { ...reward, servers: 2 * reward.servers } } },
    publishing: { costs: { ...costs, publish: { ...publish, seconds: publish.seconds / 2 } } },
  };
  return Object.fromEntries(
    Object.entries(variants).map(([name, change]) => {
      const after = simulateCluster({ ...simulation, ...change });
      return [name, after.stepsPerHour / before.stepsPerHour - 1];
    }),
  );
}

function withBound(simulation: ClusterSimulation, maxStaleness: number): StalenessPlan {
  const { training } = simulation;
  const { promptsPerStep } = training.settings;
  const isSynchronous = maxStaleness === 0;
  const own = { ...(promptsPerStep !== undefined && { promptsPerStep }) };
  const report = simulateCluster({
    ...simulation,
    training: {
      ...training,
      scheduler: schedulers.get(isSynchronous ? 'synchronous' : 'asynchronous'),
      settings: isSynchronous ? own : { ...own, maxStaleness, tooStale: 'wait' },
    },
  });
  const { stepsPerHour, meanStaleness } = report;
  return { maxStaleness, stepsPerHour, meanStaleness };
}
