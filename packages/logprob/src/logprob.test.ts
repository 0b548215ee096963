import { randomAt } from '@saccade/core';
import { type Dims, openDevice, referenceBackend, type Values } from '@saccade/ops';
import { ContractError } from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { checkSampleMatchesLogprob } from './contract.ts';
import { linearLogprob, linearSample } from './ops/catalog.ts';

function ramp(length: number, a: number, b: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.sin(a * i + b));
}

function expectClose(got: ArrayLike<number>, expected: ArrayLike<number>, within = 1e-12): void {
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    expect(Math.abs(got[i] - expected[i])).toBeLessThan(within);
  }
}

function gradients(inputs: Values, dims: Dims, dLogprobs: number[], dEntropy: number[]): Values {
  const weights = {
    logprobs: Float64Array.from(dLogprobs),
    entropy: Float64Array.from(dEntropy),
  };
  return linearLogprob.backward?.(weights, inputs, dims, { temperature: 0.8 }) ?? {};
}

// PyTorch 2.13, float64: log_softmax, Categorical.entropy and logsumexp of h·Wᵀ/0.8.
describe('linearLogprob agrees with PyTorch', () => {
  const dims = { N: 3, D: 4, V: 5 };
  const inputs = {
    hidden: ramp(12, 1.9, 0.4),
    weight: ramp(20, 1.1, 0.7),
    targets: Int32Array.of(0, 4, 2),
  };

  it('for log-probabilities, entropies and their normalizer', () => {
    const out = linearLogprob.forward(inputs, dims, { temperature: 0.8 });
    expectClose(out.logprobs, [-1.18685905882, -3.17433135021, -1.18217582462], 1e-11);
    expectClose(out.entropy, [1.1038551075, 1.09429058061, 1.22038816837], 1e-11);
    expectClose(out.lse, [2.31987225499, 1.79682828839, 1.9836607724], 1e-11);
  });

  it('for the gradients through both', () => {
    const { hidden, weight } = gradients(inputs, dims, [1, -0.5, 2], [0.3, 1, -0.7]);
    expectClose(
      hidden,
      [
        -0.187719332587, 0.391501407524, 0.542886372558, 0.10100089841, 0.460674191151,
        0.186204248656, -0.291751141184, -0.450878620782, 0.844799656411, -2.00460753292,
        -2.66336406024, -0.411575682415,
      ],
      1e-11,
    );
    expectClose(
      weight,
      [
        0.509900113896, 0.699609597954, -0.962253081688, -0.0774368339702, 0.0719962903727,
        0.866311349727, -0.632135132417, -0.45758596341, 0.0388825779398, -1.69282322951,
        1.05566159935, 1.01025446709, -0.073242112747, -0.591949255423, 0.455984149529,
        0.297119419028, -0.547536869461, 0.718851537253, 0.0827424652259, -0.772351088741,
      ],
      1e-11,
    );
  });

  it('and its weight gradients cancel over the vocabulary, as probabilities sum to 1', () => {
    const { weight } = gradients(inputs, dims, [1, -0.5, 2], [0, 0, 0]);
    for (let d = 0; d < 4; d++) {
      let sum = 0;
      for (let j = 0; j < 5; j++) sum += weight[j * 4 + d];
      expect(Math.abs(sum)).toBeLessThan(1e-12);
    }
  });
});

describe('linearLogprob', () => {
  it('gives uniform logits the entropy ln V and the log-prob −ln V', () => {
    const V = 1000;
    const inputs = {
      hidden: Float64Array.of(0.5, 2),
      weight: new Float64Array(2 * V).fill(0.3),
      targets: Int32Array.of(999),
    };
    const { logprobs, entropy } = linearLogprob.forward(
      inputs,
      { N: 1, D: 2, V },
      { temperature: 1 },
    );
    expectClose(entropy, [Math.log(V)]);
    expectClose(logprobs, [-Math.log(V)]);
  });

  it('does not change when all logits move by the same amount', () => {
    const targets = Int32Array.of(1);
    // The second coordinate is the same for every token, so it shifts all logits.
    const weight = Float64Array.of(1, 1, 2, 1, -1, 1);
    const at = (shift: number) =>
      linearLogprob.forward(
        { hidden: Float64Array.of(0.7, shift), weight, targets },
        { N: 1, D: 2, V: 3 },
        { temperature: 1 },
      );
    expectClose(at(900).logprobs, at(0).logprobs);
    expectClose(at(900).entropy, at(0).entropy);
  });

  it('leaves rows with target −1 out of everything', () => {
    const dims = { N: 2, D: 4, V: 5 };
    const hidden = ramp(8, 1.9, 0.4);
    hidden.fill(Number.NaN, 0, 4);
    const inputs = { hidden, weight: ramp(20, 1.1, 0.7), targets: Int32Array.of(-1, 3) };
    const out = linearLogprob.forward(inputs, dims, { temperature: 1 });
    expect([out.logprobs[0], out.entropy[0], out.lse[0]]).toEqual([0, 0, 0]);
    const all = gradients(inputs, dims, [5, 1], [5, 1]);
    const kept = { ...inputs, hidden: hidden.slice(4), targets: Int32Array.of(3) };
    const alone = gradients(kept, { ...dims, N: 1 }, [1], [1]);
    expectClose(all.hidden.subarray(0, 4), [0, 0, 0, 0]);
    expectClose(all.weight, alone.weight);
  });
});

describe('linearSample', () => {
  const device = openDevice(referenceBackend());
  afterAll(() => device.dispose());

  it('records the bits of the log-prob that scoring gives', async () => {
    for (const temperature of [1, 0.6, 0]) {
      await checkSampleMatchesLogprob(device, { N: 9, D: 16, V: 130, temperature }, 1);
    }
    expect(device.allocatedBytes()).toBe(0);
  });

  it('is found out by the contract when it records another temperature', async () => {
    const backend = referenceBackend();
    const dispatch = backend.dispatch.bind(backend);
    backend.dispatch = (launch) =>
      dispatch(
        launch.op.id === 'linearSample' ? { ...launch, scalars: { temperature: 1 } } : launch,
      );
    const other = openDevice(backend);
    const shape = { N: 3, D: 4, V: 9, temperature: 0.5 };
    await expect(checkSampleMatchesLogprob(other, shape, 1)).rejects.toThrow(ContractError);
    other.dispose();
  });

  it('draws each token as often as its probability says', () => {
    // 20000 draws: the standard error of a frequency is below 0.0036.
    const N = 20_000;
    const logits = [0, 1, -1, 0.5, 2];
    const random = randomAt(1, 'frequencies');
    const inputs = {
      hidden: new Float64Array(N).fill(1),
      weight: Float64Array.from(logits),
      keys: Int32Array.from({ length: 4 * N }, () => random.word() | 0),
    };
    const dims = { N, D: 1, V: 5, Q: 4 };
    const { tokens, logprobs } = linearSample.forward(inputs, dims, { temperature: 1 });
    const counts = [0, 0, 0, 0, 0];
    const recorded = [0, 0, 0, 0, 0];
    tokens.forEach((token: number, n: number) => {
      counts[token]++;
      recorded[token] = logprobs[n];
    });
    counts.forEach((count, j) => {
      expect(Math.abs(count / N - Math.exp(recorded[j]))).toBeLessThan(0.015);
    });
    expect(recorded.reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 10);
  });

  it('takes the largest logit at temperature 0, the lowest index on a tie', () => {
    const inputs = {
      hidden: Float64Array.of(1, -1),
      weight: Float64Array.of(1, 3, 3, 0, 0),
      keys: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
    };
    const dims = { N: 2, D: 1, V: 5, Q: 4 };
    const { tokens, logprobs } = linearSample.forward(inputs, dims, { temperature: 0 });
    expect([...tokens]).toEqual([1, 3]);
    const lse = Math.log(Math.exp(-1) + 2 * Math.exp(-3) + 2);
    expect(logprobs[1]).toBeCloseTo(-lse, 12);
  });
});
