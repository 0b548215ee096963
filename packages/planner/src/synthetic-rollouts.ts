/** Rollouts from a few numbers, for a plan before there is any run. */
import { type Random, randomAt } from '@saccade/core';
import { count, quantity, type SettingsOf, z } from '@saccade/core/settings';
import type { GroupProfile, TrajectoryProfile } from './profile.ts';

const tokens = (preset: number, about: string) =>
  count({ min: 1, max: 10_000_000, default: preset, unit: 'tokens', about });

/** What a synthetic trajectory is like. Medians and spreads are of log-normal distributions. */
export const rolloutSettings = z.strictObject({
  promptTokens: tokens(1500, 'Median prompt, images included.'),
  turnTokens: tokens(250, 'Median turn of the model.'),
  turnSpread: quantity({ min: 0, max: 3, default: 0.7, unit: 'nats', about: 'Spread of it.' }),
  toolCalls: quantity({ min: 0, max: 100, default: 2, unit: 'calls', about: 'Mean, geometric.' }),
  observationTokens: tokens(500, 'Median observation, images included.'),
  toolSeconds: quantity({ min: 0, max: 1e5, default: 1, unit: 'seconds', about: 'Median call.' }),
  toolSpread: quantity({ min: 0, max: 3, default: 1, unit: 'nats', about: 'Spread of it.' }),
  passRate: quantity({ min: 0, max: 1, default: 0.5, unit: 'share', about: 'Mean; tasks vary.' }),
});

/** Tasks, and trajectories of each: enough that one seed is like another. */
const TASKS = 256;
const SAMPLES = 16;
const MOST_CALLS = 64;

/** Groups of synthetic trajectories, the same for the same settings. */
export function synthesizeGroups(
  settings: SettingsOf<typeof rolloutSettings>,
): readonly GroupProfile[] {
  return Array.from({ length: TASKS }, (_, task) => {
    const random = randomAt(0, 'synthetic', task);
    const promptTokens = Math.round(logNormal(random, settings.promptTokens, 0.3));
    // Triangular around the mean, so that some tasks are never or always solved.
    const rate = settings.passRate + random.uniform() - random.uniform();
    const trajectories = Array.from({ length: SAMPLES }, () => draw(settings, random, rate));
    return { promptTokens, trajectories };
  });
}

function draw(
  settings: SettingsOf<typeof rolloutSettings>,
  random: Random,
  rate: number,
): TrajectoryProfile {
  const goesOn = settings.toolCalls / (1 + settings.toolCalls);
  let calls = 0;
  while (calls < MOST_CALLS && random.uniform() < goesOn) calls++;
  const length = (): number =>
    Math.max(1, Math.round(logNormal(random, settings.turnTokens, settings.turnSpread)));
  const isCorrect = random.uniform() < rate;
  const looks = Array.from({ length: calls }, () => ({
    modelTokens: length(),
    toolSeconds: logNormal(random, settings.toolSeconds, settings.toolSpread),
    observationTokens: Math.round(logNormal(random, settings.observationTokens, 0.3)),
    images: 1,
  }));
  const answer = { modelTokens: length(), observationTokens: 0, images: 0 };
  const reward = isCorrect ? 1 : 0;
  return { turns: [...looks, answer], reward, isCorrect, stopReason: 'answered' };
}

function logNormal(random: Random, median: number, spread: number): number {
  return median * Math.exp(spread * random.normal());
}
