import { describe, expect, it } from 'vitest';
import { algorithmOf, type Fixture, readCases, resultOf } from './parity.fixture.ts';

// Golden values: TRL 1.13's own code, called, and a float64 torch transcription of verl's formulas;
// parity/README.md says how they are made.
const cases = readCases();

/** Largest difference, relative to the larger of 1 and the value; NaN where one is NaN. */
function furthest(got: ArrayLike<number> | undefined, expected: readonly number[]): number {
  if (got?.length !== expected.length) return Number.POSITIVE_INFINITY;
  return Math.max(
    0,
    ...expected.map((value, t) => Math.abs(got[t] - value) / Math.max(1, Math.abs(value))),
  );
}

describe('losses and gradients of verl and TRL', () => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => {
    const algorithm = algorithmOf(one);
    for (const { input, ...expected } of one.fixtures) {
      const got = resultOf(algorithm, input);
      expect(furthest(got.advantages, expected.advantages), 'advantages').toBeLessThan(1e-9);
      expect(furthest([got.loss], [expected.loss]), 'loss').toBeLessThan(1e-9);
      for (const field of ['gradLogprobs', 'gradEntropy', 'gradValues'] as const) {
        const wanted = expected[field];
        if (wanted) expect(furthest(got[field], wanted), field).toBeLessThan(1e-9);
      }
    }
  });

  it('cover tool holes, groups of one, equal rewards and extreme ratios', () => {
    const fixtures: readonly Fixture[] = cases.flatMap((one) => one.fixtures);
    const share = (holds: (fixture: Fixture) => boolean): number =>
      fixtures.filter(holds).length / fixtures.length;
    expect(fixtures.length).toBeGreaterThan(200);
    expect(share(({ input }) => input.mask.includes('0'))).toBeGreaterThan(0.5);
    expect(
      share(({ input }) => new Set(input.groups).size === input.groups.length),
    ).toBeGreaterThan(0.02);
    const sizes = ({ input }: Fixture): number[] =>
      [...new Set(input.groups)].map((group) => input.groups.filter((one) => one === group).length);
    expect(share((fixture) => sizes(fixture).includes(1))).toBeGreaterThan(0.2);
    const hasEqual = ({ input }: Fixture): boolean =>
      [...new Set(input.groups)].some((group) => {
        const rewards = input.rewards.filter((_, s) => input.groups[s] === group);
        return rewards.length > 1 && new Set(rewards).size === 1;
      });
    expect(share(hasEqual)).toBeGreaterThan(0.2);
    const isExtreme = ({ input }: Fixture): boolean =>
      input.logprobs.some((value, t) => Math.abs(value - input.oldLogprobs[t]) >= 20 * 256);
    expect(share(isExtreme)).toBeGreaterThan(0.1);
  });
});
