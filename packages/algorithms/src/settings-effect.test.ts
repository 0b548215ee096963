/** Generator: no setting of any algorithm is accepted and ignored. */
import { ConfigError, randomAt } from '@saccade/core';
import { listSettings } from '@saccade/core/settings';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Algorithm, AlgorithmSettings } from './algorithm.ts';
import { batchOf, randomStep, type SampledStep, sequencesOf } from './contract-step.ts';
import { finishMetrics } from './metrics.ts';
import { algorithms } from './registry.ts';

const isSweep = process.env.SACCADE_SWEEP !== undefined;
if (!isSweep)
  console.info('What has no effect is tried in three contexts; `npm run sweep` has all.');

/** Settings that let units be chosen; each makes other settings take effect. */
const contexts: readonly AlgorithmSettings[] = [
  {},
  {
    klCoefficient: 0.1,
    klImportance: true,
    entropyCoefficient: 0.1,
    aggregation: 'fixed-length',
    fixedLength: 9,
    correction: 'truncate',
    rejection: 'token-k1',
    covarianceLow: -5,
    covarianceShare: 0.3,
  },
  { klCoefficient: 0.1, klPlace: 'reward', kl: 'k1', scale: 'batch', correction: 'mask' },
  { ratio: 'decoupled', behaviorCap: 1.1, surrogate: 'log-probability', scale: 'none' },
  { ratio: 'geometric-mean', aggregation: 'sequence-mean-token-mean', scale: 'group' },
  { ratio: 'sequence', aggregation: 'fixed-length', fixedLength: 9, surrogate: 'clipped' },
  {
    ratio: 'token',
    aggregation: 'sequence-mean-token-sum',
    clipBounds: 'absolute',
    klCoefficient: 0.1,
    klImportance: true,
    entropyCoefficient: 0.1,
    clipLow: 0.02,
    clipHigh: 0.02,
  },
  {
    correction: 'truncate',
    correctionNormalized: true,
    rejection: 'token-k1',
    klPlace: 'reward',
    klCoefficient: 0.1,
    rewardWeight: 0.5,
  },
  {
    isStandardized: true,
    isWhitened: true,
    reweight: 'best',
    aggregation: 'token-mean',
    klCoefficient: 0.1,
    entropyCoefficient: 0.1,
  },
];

/** Steps on which every unit has something to do. */
function steps(): readonly SampledStep[] {
  return [21, 22].map((seed) => {
    const step = randomStep(seed);
    const random = randomAt(seed, 'settings-effect');
    const far = (values: Float64Array, share: number, spread: number): Float64Array =>
      values.map((value) => (random.uniform() < share ? value - spread * random.uniform() : value));
    const grouped: SampledStep = {
      ...step,
      // A group of one, and a sequence without a token that trains.
      groups: Int32Array.of(0, 1, 0, 1, 1, 2),
      greedy: Float64Array.of(0.4, 0.4, 0.4),
      logprobs: far(step.logprobs, 0.3, 3),
      oldLogprobs: far(step.oldLogprobs, 0.2, 40),
      rolloutLogprobs: far(step.rolloutLogprobs, 0.2, seed % 2 === 0 ? 0.3 : 30),
      lossMask: step.lossMask.map((mask, t) =>
        t >= (step.sequenceOffsets[1] ?? 0) && t < (step.sequenceOffsets[2] ?? 0) ? 0 : mask,
      ),
    };
    return sequencesOf(grouped, [0, 1, 2, 3, 4, 5]);
  });
}

const allSteps = steps();

const knownOutputs = new Map<string, string>();

/** Everything an algorithm gives, as text. */
function outputs(algorithm: Algorithm): string {
  const key = JSON.stringify([algorithm.name, algorithm.settings]);
  const own = knownOutputs.get(key) ?? outputsOf(algorithm);
  knownOutputs.set(key, own);
  return own;
}

function outputsOf(algorithm: Algorithm): string {
  return allSteps
    .map((step) => {
      // The best of a group needs two trajectories.
      const given = algorithm.name === 'pass-at-k' ? sequencesOf(step, [0, 1, 2, 3, 4]) : step;
      try {
        const { batch, counts, metrics } = batchOf(algorithm, given);
        const { metrics: sums, ...result } = algorithm.loss(batch, counts);
        const finished = finishMetrics([sums], counts);
        return JSON.stringify([
          result.loss,
          [result.gradLogprobs, result.gradEntropy, result.gradValues].map((g) => [...(g ?? [])]),
          [...batch.advantages],
          [...(batch.returns ?? [])],
          [...(batch.marks ?? [])],
          [metrics, finished],
        ]);
      } catch (error) {
        return String(error);
      }
    })
    .join('\n');
}

/** Values to try: every word, both flags, and numbers inside of the range. */
function candidates(algorithm: Algorithm, name: string): readonly (number | string | boolean)[] {
  const present = algorithm.settings[name] as number | string | boolean;
  if (typeof present === 'boolean') return [true, false];
  if (name === 'rejection') {
    return ['none', 'token-k1', 'sequence-mean-k2 0.02', 'token-k3 0.01, sequence-max-k2 0.1'];
  }
  if (typeof present === 'string') {
    const field = listSettings(algorithm.schema).find(({ path }) => path === name);
    return (field?.range ?? '').replace('one of ', '').split(', ');
  }
  return [0, 0.05, 0.4, 0.9, 1.3, 2, 7].filter((value) => value !== present);
}

function attempt(algorithm: Algorithm, changes: AlgorithmSettings): Algorithm | undefined {
  try {
    return algorithm.with(changes);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

const known = (algorithm: Algorithm, changes: AlgorithmSettings): AlgorithmSettings =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => name in algorithm.settings));

describe.each(algorithms.entries())('%s', { timeout: 60_000 }, (_, algorithm) => {
  const variants = contexts
    .map((context) => attempt(algorithm, known(algorithm, context)))
    .filter((variant) => variant !== undefined);
  const base = new Map(variants.map((variant) => [variant, outputs(variant)]));

  it('lets every setting that it says it reads change some output', () => {
    const silent = Object.keys(algorithm.settings).filter((name) => {
      const readers = variants.filter((variant) => variant.reads.includes(name));
      let accepted = 0;
      const hasEffect = readers.some((variant) =>
        candidates(variant, name).some((value) => {
          if (value === variant.settings[name]) return false;
          const changed = attempt(variant, { [name]: value });
          if (changed === undefined) return false;
          accepted++;
          return outputs(changed) !== base.get(variant);
        }),
      );
      // Every other value refused is as good.
      return !hasEffect && accepted > 0;
    });
    // A field that no variant reads is declared so by every one of them, and checked below.
    const unread = Object.keys(algorithm.settings).filter((name) =>
      variants.every((variant) => !variant.reads.includes(name)),
    );
    expect(silent.filter((name) => !unread.includes(name))).toEqual([]);
  });

  it('gives every word and flag that it accepts an output of its own', () => {
    const same: string[] = [];
    for (const [name, present] of Object.entries(algorithm.settings)) {
      if (typeof present === 'number') continue;
      const seen = new Map<string, unknown>();
      for (const value of candidates(algorithm, name)) {
        const outs = variants
          .filter((variant) => variant.reads.includes(name))
          .map((variant) => attempt(variant, { [name]: value }))
          .filter((changed) => changed !== undefined)
          .map(outputs);
        if (outs.length === 0) continue;
        const key = outs.join('\n');
        if (seen.has(key)) same.push(`${name}: ${String(value)} = ${String(seen.get(key))}`);
        seen.set(key, value);
      }
    }
    expect(same).toEqual([]);
  });

  it('declares settings without effect: changing one changes nothing', () => {
    for (const variant of variants.slice(0, isSweep ? undefined : 3)) {
      const unread = Object.keys(variant.settings).filter((name) => !variant.reads.includes(name));
      for (const name of unread) {
        const value = candidates(variant, name).find((one) => one !== variant.settings[name]);
        const changed = value === undefined ? undefined : attempt(variant, { [name]: value });
        if (changed !== undefined) expect(outputs(changed), name).toBe(base.get(variant));
      }
    }
  });

  it('has a schema whose defaults are its settings', () => {
    expect(algorithm.schema.parse({})).toEqual(algorithm.settings);
    expect(algorithm.schema.safeParse({ clipHi: 1 }).success).toBe(false);
    for (const { about, unit } of listSettings(algorithm.schema))
      expect(about && unit).toBeTruthy();
    for (const name of algorithm.profiles) {
      const profile = algorithm.profile(name);
      expect(z.strictObject(profile.schema.shape).parse({})).toEqual(profile.settings);
    }
  });
});
