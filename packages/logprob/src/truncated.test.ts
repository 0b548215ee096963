import { randomAt } from '@saccade/core';
import { openDevice, referenceBackend, type Scalars } from '@saccade/ops';
import { ContractError } from '@saccade/ops/contract';
import { describe, expect, it } from 'vitest';
import { checkKnownSets } from './contract.ts';
import { linearSample, linearSampleTruncated } from './ops/catalog.ts';

function keys(count: number, name: string): Int32Array {
  const random = randomAt(1, name);
  return Int32Array.from({ length: 4 * count }, () => random.word() | 0);
}

/** Draws `count` tokens from the same logits. */
function draw(logits: readonly number[], count: number, scalars: Scalars) {
  const inputs = {
    hidden: new Float64Array(count).fill(1),
    weight: Float64Array.from(logits),
    keys: keys(count, 'truncated draws'),
  };
  const dims = { N: count, D: 1, V: logits.length, Q: 4 };
  const { tokens, logprobs, keptMass } = linearSampleTruncated.forward(inputs, dims, {
    ...linearSampleTruncated.scalars,
    ...scalars,
  });
  return { tokens, logprobs, keptMass };
}

// transformers 5.18, float64: TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper and
// MinPLogitsWarper on 3·sin(1.7·j + 0.3), j < 40; the log-softmax of token 34, the mass before them.
describe.each([
  [{ topK: 7 }, [1, 8, 12, 19, 23, 34, 38], -1.79933084814, 0.613359277739],
  [
    { temperature: 0.8, topP: 0.7 },
    [1, 8, 12, 19, 23, 30, 34, 38],
    -1.861412600898,
    0.740515981263,
  ],
  [
    { temperature: 1.3, minP: 0.2 },
    [1, 4, 5, 8, 12, 15, 16, 19, 23, 26, 27, 30, 31, 34, 37, 38],
    -2.324236039758,
    0.889187440351,
  ],
  [
    { topK: 12, topP: 0.8, minP: 0.3 },
    [1, 8, 12, 19, 23, 27, 30, 34, 38],
    -1.980728918972,
    0.735351732625,
  ],
  [
    { temperature: 0.8, topK: 20, topP: 0.9, minP: 0.05 },
    [1, 4, 8, 12, 15, 16, 19, 23, 27, 30, 34, 38],
    -2.057663228899,
    0.901083423476,
  ],
  [
    { temperature: 2, topP: 0.95, minP: 0.1 },
    [
      0, 1, 2, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22, 23, 24, 26, 27, 30, 31, 33, 34,
      35, 37, 38,
    ],
    -2.647837730902,
    0.947773026037,
  ],
] as const)(
  'linearSampleTruncated with %j agrees with transformers',
  (scalars, kept, top, mass) => {
    const logits = Array.from({ length: 40 }, (_, j) => 3 * Math.sin(1.7 * j + 0.3));
    const drawn = draw(logits, 4000, scalars);
    const counts = new Map<number, number>();
    for (const token of drawn.tokens) counts.set(token, (counts.get(token) ?? 0) + 1);

    it('on which tokens are kept', () => {
      expect([...counts.keys()].sort((a, b) => a - b)).toEqual(kept);
      for (const one of drawn.keptMass) expect(Math.abs(one - mass)).toBeLessThan(1e-11);
    });

    it('on their log-probs', () => {
      expect(drawn.logprobs[drawn.tokens.indexOf(34)]).toBeCloseTo(top, 11);
      const recorded = new Map<number, number>();
      drawn.tokens.forEach((token: number, n: number) => {
        recorded.set(token, drawn.logprobs[n]);
      });
      const sum = [...recorded.values()].reduce((all, one) => all + Math.exp(one), 0);
      expect(sum).toBeCloseTo(1, 11);
    });

    it('and draws each as often as its log-prob says', () => {
      let chiSquare = 0;
      for (const [token, count] of counts) {
        const expected = 4000 * Math.exp(drawn.logprobs[drawn.tokens.indexOf(token)]);
        chiSquare += (count - expected) ** 2 / expected;
      }
      // Its mean is f = kept − 1 and its variance 2f: four standard deviations.
      const freedom = kept.length - 1;
      expect(chiSquare).toBeLessThan(freedom + 4 * Math.sqrt(2 * freedom));
    });
  },
);

describe('linearSampleTruncated', () => {
  it('draws what linearSample draws wherever that is kept', () => {
    const random = randomAt(2, 'kept draws');
    const [N, V] = [500, 60];
    const inputs = {
      hidden: new Float64Array(N).fill(1),
      weight: Float64Array.from({ length: V }, () => 2 * random.normal()),
      keys: keys(N, 'kept draws'),
    };
    const dims = { N, D: 1, V, Q: 4 };
    const plain = linearSample.forward(inputs, dims, { temperature: 1 });
    const few = linearSampleTruncated.forward(inputs, dims, {
      temperature: 1,
      topK: 10,
      topP: 1,
      minP: 0,
    });
    const kept = new Set(few.tokens);
    let shared = 0;
    plain.tokens.forEach((token: number, n: number) => {
      if (!kept.has(token)) return;
      shared++;
      expect(few.tokens[n]).toBe(token);
      expect(few.logprobs[n] + Math.log(few.keptMass[n])).toBeCloseTo(plain.logprobs[n], 11);
    });
    expect(shared).toBeGreaterThan(250);
    expect(shared).toBeLessThan(500);
  });

  it('is found out by the contract when it leaves out one of two that are equally likely', async () => {
    const backend = referenceBackend();
    const dispatch = backend.dispatch.bind(backend);
    backend.dispatch = (launch) => {
      const { topK = 0 } = launch.scalars;
      dispatch({ ...launch, scalars: { ...launch.scalars, topK: topK === 2 ? 1 : topK } });
    };
    const broken = openDevice(backend);
    await expect(checkKnownSets(broken)).rejects.toThrow(ContractError);
    broken.dispose();
  });

  it('gives NaN, not a number that looks good, where a logit is NaN', () => {
    const { logprobs } = draw([0, Number.NaN, 1], 1, { topP: 0.5 });
    expect(logprobs[0]).toBeNaN();
  });
});
