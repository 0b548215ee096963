/** Random schedules: sizes, limits, faults and the scheduler's own options, drawn by seed. */
import { randomAt } from '@saccade/core';
import type { InFlightLimits, SchedulerKind, SchedulerOptions } from './scheduler.ts';
import type { SimulationOptions } from './simulated-task.ts';

/** One simulated run of the contract: a scheduler's options and the conditions it runs under. */
export interface Scenario {
  readonly options: SchedulerOptions;
  readonly simulation: SimulationOptions;
}

/** Scenario number `seed` of a kind of scheduler. */
export function drawScenario(kind: SchedulerKind, seed: number): Scenario {
  const random = randomAt(seed, 'scenario');
  const sometimes = <Value>(share: number, value: Value): Value | undefined =>
    random.uniform() < share ? value : undefined;
  const groupSize = 1 + random.integer(3);
  const promptsPerStep = 1 + random.integer(2);
  // The defaults are sized for training; one schedule in 200 has them all the same.
  const variants = kind.variants ?? [{}];
  const variant = random.uniform() < 0.005 ? {} : random.pick(variants);
  const deadlineSeconds = sometimes(0.3, 0.5 + 6 * random.uniform());
  const maxTrajectories = sometimes(0.3, groupSize * (1 + random.integer(3)));
  const maxTokens = sometimes(0.2, 10 * groupSize * (1 + random.integer(3)) + random.integer(9));
  const inFlight: InFlightLimits = {
    ...(deadlineSeconds !== undefined && { deadlineSeconds }),
    ...(maxTrajectories !== undefined && { maxTrajectories }),
    ...(maxTokens !== undefined && { maxTokens, tokensPerTrajectory: 10 }),
  };
  const workers = sometimes(0.3, 1 + random.integer(4));
  return {
    options: {
      promptsPerStep,
      groupSize,
      advantages,
      ...(Object.keys(inFlight).length > 0 && { inFlight }),
      ...variant,
    },
    simulation: {
      steps: 1 + random.integer(2),
      groupSize,
      seed,
      failureRate: random.pick([0, 0.1, 0.5]),
      retries: random.integer(3),
      cancelRate: random.pick([0, 0, 0.2]),
      crashSeconds: random.pick([0, 0, 2]),
      tickSeconds: deadlineSeconds === undefined ? 0 : 0.5,
      trainSeconds: random.pick([0.01, 1, 4]),
      ...(workers !== undefined && { workers }),
    },
  };
}

/** R − mean(R), [G]. */
export function advantages({
  trajectories,
}: Parameters<SchedulerOptions['advantages']>[0]): Float64Array {
  const rewards = Float64Array.from(trajectories, ({ reward }) => reward);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(rewards.length, 1);
  return rewards.map((reward) => reward - mean);
}
