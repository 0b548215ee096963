/** Refuses simulations under which nothing could run. */
import { ConfigError } from '@saccade/core';
import type { ClusterSimulation } from './simulation.ts';

/** @throws ConfigError naming the field */
export function checkSimulation({ size, groups, steps, costs, training }: ClusterSimulation): void {
  const whole = { engines: size.engines, sandboxes: size.sandboxes, steps };
  for (const [name, value] of Object.entries(whole)) {
    if (Number.isInteger(value) && value >= 1) continue;
    throw new ConfigError(name, `${name} must be a whole number of at least 1, is ${value}.`);
  }
  if (!(size.learnerGpus > 0)) {
    const { learnerGpus } = size;
    throw new ConfigError('learnerGpus', `learnerGpus must be above 0, is ${learnerGpus}.`);
  }
  if (training.concurrency < training.groupSize && training.concurrency < 1) {
    throw new ConfigError('concurrency', 'concurrency must be at least 1.');
  }
  if (costs.engine.decode.length === 0) {
    throw new ConfigError('engine.decode', 'engine.decode has no point. Measure at least one.');
  }
  if (groups.some(({ trajectories }) => trajectories.length > 0)) return;
  throw new ConfigError('rollouts', 'There is no trajectory to draw rollouts from.');
}
