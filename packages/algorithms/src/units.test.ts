/** Values of single units, derived by hand from their formulas, in float64. */
import { describe, expect, it } from 'vitest';
import type { TokenBatch } from './algorithm.ts';
import { bypassReinforce } from './algorithms/bypass-reinforce.ts';
import { gdpo } from './algorithms/gdpo.ts';
import { gigpo } from './algorithms/gigpo.ts';
import { grpo } from './algorithms/grpo.ts';
import { onPolicyDistillation } from './algorithms/on-policy-distillation.ts';
import { optimalTokenBaseline } from './algorithms/optimal-token-baseline.ts';
import { passAtK } from './algorithms/pass-at-k.ts';
import { remax } from './algorithms/remax.ts';
import { vespo } from './algorithms/vespo.ts';
import { countGlobally } from './counts.ts';
import { prepareStep, selectTokens } from './pipeline.ts';
import { algorithms } from './registry.ts';
import { numbers, smallStep } from './step.fixture.ts';
import { clipped } from './surrogates/clipped.ts';
import { rewardWeights } from './token-advantages/reward-weighted.ts';
import { topKForwardKl } from './top-k-forward-kl.ts';

const two = {
  sequenceOffsets: Int32Array.of(0, 2, 4),
  lossMask: Float64Array.of(1, 1, 1, 1),
  groups: Int32Array.of(0, 0),
  rewards: Float64Array.of(1, 0),
  sequenceAdvantages: Float64Array.of(1, 0),
  oldLogprobs: Float64Array.of(-0.5, -1, -0.7, -0.2),
  rolloutLogprobs: Float64Array.of(-0.9, -0.4, -0.7, -1),
  sumSquaredProbs: Float64Array.of(0.5, 0.4, 0.3, 0.6),
};

describe('the optimal token baseline', () => {
  it('multiplies energies by the squared weights of the correction', () => {
    const corrected = optimalTokenBaseline.with({ correction: 'truncate', correctionHigh: 2 });
    // w = (1 − 2e^−.5 + .5)·e^.8 = 0.63855 and (1 − 2e^−.7 + .3)·1 = 0.30683: B = 0.6755.
    const { advantages } = prepareStep(corrected, two).batch;
    expect(advantages[0]).toBeCloseTo(0.3245, 4);
    const plain = prepareStep(optimalTokenBaseline, two).batch.advantages;
    expect(plain[0]).toBeCloseTo(0.5167, 4);
  });
});

describe('group deviations that are rounding noise', () => {
  it.each(['grpo', 'gigpo', 'codedance', 'gdpo', 'pass-at-k', 'rloo', 'opo', 'pyvision-rl'])(
    '%s gives zeros',
    (name) => {
      const rewards = Float64Array.of(0.1 + 0.2, 0.3, 0.3, 0.3);
      for (const variant of ['paper', ...algorithms.get(name).profiles]) {
        const algorithm = algorithms.get(name);
        const own = algorithm.profiles.includes(variant) ? algorithm.profile(variant) : algorithm;
        const group = { rewards, terms: { all: rewards }, tokenCounts: [1, 2, 3, 4] };
        expect([...own.groupAdvantages(group)]).toEqual([0, 0, 0, 0]);
      }
    },
  );

  it('are no signal for the batch either', () => {
    const rewards = Float64Array.of(0.1 + 0.2, 0.3, 0.3, 0.3);
    for (const name of ['grpo', 'gigpo', 'pass-at-k']) {
      const algorithm = algorithms.get(name).with({ scale: 'batch', stdEpsilon: 0 });
      const sequenceAdvantages = algorithm.groupAdvantages({ rewards });
      const step = smallStep({
        rewards,
        sequenceAdvantages,
        groups: Int32Array.of(0, 0, 0, 0),
        turns: Int32Array.of(0, 1, 0, 1, 0, 1, 0, 1),
        turnOffsets: Int32Array.of(0, 2, 4, 6, 8),
        turnRewards: Float64Array.of(0.1 + 0.2, 0, 0.3, 0, 0.3, 0, 0.3, 0),
      });
      expect(numbers(algorithm.tokenAdvantages(step).advantages, 6)).toEqual(new Array(8).fill(0));
    }
  });
});

describe('scale', () => {
  const rewards = Float64Array.of(0, 1, 1, 4);
  it('of GDPO can leave the components’ deviations out', () => {
    const group = {
      rewards,
      terms: { a: Float64Array.of(0, 2, 2, 4), b: Float64Array.of(1, 1, 1, 5) },
    };
    expect(numbers(gdpo.with({ scale: 'none' }).groupAdvantages(group))).toEqual([-3, -1, -1, 5]);
  });

  it('of pass@k and GiGPO can be the batch’s', () => {
    const step = smallStep({
      rewards: Float64Array.of(0, 1, 1, 4),
      groups: Int32Array.of(0, 0, 1, 1),
    });
    const std = Math.sqrt(9 / 3);
    const best = passAtK.with({ scale: 'batch', stdEpsilon: 0 });
    expect([...best.groupAdvantages({ rewards: Float64Array.of(1, 4) })]).toEqual([0, 3]);
    const given = { ...step, sequenceAdvantages: Float64Array.of(0, 1, 0, 3) };
    expect(numbers(best.tokenAdvantages(given).advantages)).toEqual(
      numbers([0, 0, 1 / std, 1 / std, 0, 0, 3 / std, 3 / std]),
    );
    const turns = {
      turns: Int32Array.of(0, 0, 0, 0, 0, 0, 0, 0),
      turnOffsets: Int32Array.of(0, 1, 2, 3, 4),
      turnRewards: Float64Array.of(0, -1, 0, 0),
    };
    const credit = gigpo.with({ scale: 'batch', stdEpsilon: 0 });
    // Turn returns 0, −1, 0, 0: standard deviation ½; leads ±½ in the first group.
    expect(numbers(credit.tokenAdvantages({ ...given, ...turns }).advantages)).toEqual(
      numbers([1, 1, 1 / std - 1, 1 / std - 1, 0, 0, 3 / std, 3 / std]),
    );
  });
});

const batch: TokenBatch<Float64Array> = {
  logprobs: Float64Array.of(-0.5, -1.2, -0.3),
  oldLogprobs: Float64Array.of(-0.9, -1.1, -0.35),
  rolloutLogprobs: Float64Array.of(-0.8, -1.3, -0.1),
  advantages: Float64Array.of(0.7, 0.7, -0.4),
  lossMask: Float64Array.of(1, 1, 1),
  sequenceOffsets: Int32Array.of(0, 2, 3),
};
const counts = countGlobally([batch]);

describe('VESPO', () => {
  it('weighs a sequence with the Gamma function of its ratio and weights', () => {
    const tokenWeights = Float64Array.of(1.2, 0.9, 1);
    const { gradLogprobs } = vespo.loss({ ...batch, tokenWeights }, counts);
    // ln ρ = 0.4 − 0.1 + ln 1.2 + ln 0.9 and 0.05; φ = exp(λ + k·ln ρ − λ·ρ).
    const ratio = Math.exp(0.3) * 1.2 * 0.9;
    const first = Math.exp(3) * ratio ** 2 * Math.exp(-3 * ratio);
    const other = Math.exp(0.05);
    const second = Math.exp(2) * other ** 3 * Math.exp(-2 * other);
    expect(numbers(gradLogprobs)).toEqual(
      numbers([(-first * 0.7) / 3, (-first * 0.7) / 3, (second * 0.4) / 3]),
    );
  });
});

describe('off-policy sequences', () => {
  it('lose their tokens of negative advantage, and keep their denominator', () => {
    const masked = grpo.with({ offPolicyThreshold: 0.1, aggregation: 'token-mean' });
    // The last sequence is 0.2 nats from the sampler, its advantage negative; the first gained.
    const far = selectTokens(masked, batch, counts);
    expect([...(far.batch.marks ?? [])]).toEqual([0, 0, 8]);
    expect(masked.loss(far.batch, far.counts).gradLogprobs[2]).toBe(0);
    const { rolloutLogprobs: _, ...without } = batch;
    expect([...(selectTokens(masked, without, counts).batch.marks ?? [])]).toEqual([0, 0, 0]);
  });
});

describe('delta', () => {
  // −min(min(ρ, δ)·A, clip(ρ, 0.8, 1.2)·A) and its derivative, by hand; δ below and above 1.2.
  it.each([
    [0.9, 1, 1, -0.9, 0],
    [0.9, -1, 1, 1, 1],
    [0.9, -1, 1.5, 1.2, 0],
    [0.9, 1, 0.7, -0.7, -1],
    [2, -1, 1.5, 1.5, 1],
    [2, -1, 3, 2, 0],
    [2, 1, 1.5, -1.2, 0],
  ])('%d, A = %d, ρ = %d', (delta, advantage, ratio, loss, grad) => {
    const values = clipped({ clipLow: 0.2, clipHigh: 0.2, delta })({
      ratios: Float64Array.of(ratio),
      advantages: Float64Array.of(advantage),
      logprobs: Float64Array.of(0),
      oldLogprobs: Float64Array.of(0),
    });
    expect(values.losses[0]).toBeCloseTo(loss, 14);
    expect(values.gradRatios[0]).toBeCloseTo(grad, 14);
  });
});

describe('REINFORCE weighted back to the sampler', () => {
  it('truncates the ratio of the current policy to it', () => {
    const capped = bypassReinforce.with({ ratioCap: 1.2 });
    const weights = [Math.min(Math.exp(0.3), 1.2), Math.exp(0.1), Math.exp(-0.2)];
    expect(numbers(capped.loss(batch, counts).gradLogprobs)).toEqual(
      numbers(weights.map((weight, t) => (-weight * (batch.advantages[t] ?? 0)) / 3)),
    );
    const whole = capped.with({ ratio: 'behavior-sequence', ratioCap: 9 }).loss(batch, counts);
    expect(whole.gradLogprobs[1]).toBeCloseTo((-Math.exp(0.4) * 0.7) / 3, 14);
    expect(() => capped.with({ correction: 'truncate' })).toThrow(/would do it again/);
  });
});

describe('policy filtration', () => {
  it('weighs trajectories by their reward, S in all', () => {
    const rewards = Float64Array.of(0, 1, 3);
    const at = (reweight: 'power' | 'extremes' | 'best') =>
      numbers(rewardWeights(rewards, { reweight, reweightPower: 2 }), 6);
    expect(at('power')).toEqual([0, 0.3, 2.7]);
    expect(at('extremes')).toEqual([1.5, 0, 1.5]);
    expect(at('best')).toEqual([0.5, 0.5, 2]);
  });
});

describe('distillation', () => {
  it('takes the teacher’s log-ratio for the advantage', () => {
    const refLogprobs = Float64Array.of(-0.1, -2, -0.7, -0.2);
    const { advantages } = onPolicyDistillation.tokenAdvantages({ ...two, refLogprobs });
    expect(numbers(advantages)).toEqual([0.4, -1, 0, 0]);
    const both = onPolicyDistillation.with({ rewardWeight: 0.5, teacherWeight: 2 });
    expect(numbers(both.tokenAdvantages({ ...two, refLogprobs }).advantages)).toEqual([
      1.3, -1.5, 0, 0,
    ]);
  });

  it('on the teacher’s likeliest tokens has −p as its gradient', () => {
    const teacherLogprobs = Float64Array.from([0.6, 0.3, 0.5, 0.5], Math.log);
    const logprobs = Float64Array.from([0.5, 0.4, 0.1, 0.1], Math.log);
    const result = topKForwardKl(
      { logprobs, teacherLogprobs, lossMask: Float64Array.of(1, 0), tokensPerPosition: 2 },
      { tokens: 1 },
    );
    expect(result.loss).toBeCloseTo(0.6 * Math.log(1.2) + 0.3 * Math.log(0.75), 14);
    expect(numbers(result.gradLogprobs)).toEqual([-0.6, -0.3, 0, 0]);
  });
});

describe('KL in the reward', () => {
  const oldLogprobs = new Float64Array(8).fill(-1);
  const refLogprobs = Float64Array.of(-1, -1, -1, -1, -3, -2, -1, -1);
  const changes = { klPlace: 'reward', kl: 'k1', klCoefficient: 0.1 } as const;

  it('of ReMax comes off the return from each token on', () => {
    const step = smallStep({ oldLogprobs, refLogprobs });
    // Greedy rewards 0, 1, ½, ½; KL 2 and 1 at the third sequence's tokens.
    expect(numbers(remax.with(changes).tokenAdvantages(step).advantages)).toEqual([
      1, 1, -1, -1, 0.2, 0.4, -0.5, -0.5,
    ]);
  });

  it('of GDPO comes off the sum, centered in the group', () => {
    const step = smallStep({ oldLogprobs, refLogprobs });
    const own = gdpo.with({ ...changes, stdEpsilon: 0, stdDof: 0 });
    // Sums 1, −1, ½ − 0.15, −½ + 0.15; mean 0, variance (1 + 1 + 2·0.35²)/4.
    const std = Math.sqrt((2 + 2 * 0.35 ** 2) / 4);
    expect(numbers(own.tokenAdvantages(step).advantages)).toEqual(
      numbers([1, 1, -1, -1, 0.35, 0.35, -0.35, -0.35].map((value) => value / std)),
    );
  });

  it('is counted before rejection in the profile verl, and after it otherwise', () => {
    const rolloutLogprobs = oldLogprobs.slice();
    rolloutLogprobs[5] = -4;
    const step = smallStep({ oldLogprobs, refLogprobs, rolloutLogprobs });
    const own = { ...changes, rejection: 'token-k1' };
    const of = (rewardPlacement: string): number[] => {
      const rloo = algorithms.get('rloo').with({ ...own, rewardPlacement });
      return numbers(prepareStep(rloo, { ...step, oldLogprobs }).batch.advantages);
    };
    expect(algorithms.get('rloo').profile('verl').settings.rewardPlacement).toBe('all');
    // The rejected token's KL of 1 counts only before rejection: 1 − 0.3 against 1 − 0.2.
    expect(of('all')).toEqual([1, 1, -1, -1, 0.7, 0, -0.7, -0.7]);
    expect(of('kept')).toEqual([1, 1, -1, -1, 0.8, 0, -0.8, -0.8]);
    const ppp = (rewardPlacement: string): number | undefined => {
      const plus = algorithms.get('reinforce++').with({ rejection: 'token-k1', rewardPlacement });
      return prepareStep(plus, { ...step, oldLogprobs }).batch.returns?.[4];
    };
    // The third sequence's reward stands on its last token, which is rejected.
    expect([ppp('all'), ppp('kept')]).toEqual([0, 1]);
  });
});
