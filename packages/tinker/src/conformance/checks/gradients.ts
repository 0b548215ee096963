/** Gradients: linear, additive, none without weights, and the same by every way to ask for them. */

import { measureLinearity, ROW_LENGTH, weightsOf } from '../../measure/linearity.ts';
import { comparedLosses, namedResidual } from '../../measure/named-equal.ts';
import { Probe, type ProbeRow, probeRow } from '../../measure/probe.ts';
import { TinkerError } from '../../wire/tinker-error.ts';
import {
  type ConformanceCheck,
  type ConformanceContext,
  ConformanceError,
  expectAtMost,
  expectThat,
} from '../conformance-check.ts';

const twoRows = (vocabulary: number): readonly [ProbeRow, ProbeRow] => [
  probeRow(1, ROW_LENGTH, vocabulary),
  probeRow(2, ROW_LENGTH + 3, vocabulary),
];
const minus = (c: Float32Array): Float32Array => c.map((value) => -value);

export const linear: ConformanceCheck = {
  number: 1,
  name: 'cross-entropy is −Σ w·logprob: linear in w, signed, and not normalized',
  async run({ withModel, vocabulary, bounds }) {
    return await withModel(async (model) => {
      const near = { ratio: bounds.gradient, zero: bounds.gradient };
      const { findings, path } = await measureLinearity(
        new Probe(model),
        'cross_entropy',
        vocabulary,
        near,
      );
      const bad = findings.find(({ isGood }) => !isGood);
      if (bad !== undefined) throw new ConformanceError(`${bad.name}: ${bad.detail}.`);
      expectThat('A sum over data, not a mean,', path?.perDatum === false);
      expectThat('A sum over positions, not a mean,', path?.perToken === false);
      return `${findings.length} relations within ${bounds.gradient}`;
    });
  },
};

export const additive: ConformanceCheck = {
  number: 2,
  name: 'data in one call, in several, and in another order accumulate the same gradient',
  async run({ withModel, vocabulary, bounds, channel }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const [a, b] = twoRows(vocabulary);
      const [u, v] = [weightsOf(a), weightsOf(b)];
      const pair = [
        [a, u],
        [b, v],
      ] as const;
      await probe.ascend(pair, channel);
      const whole = await probe.norm();
      await probe.ascend(pair, channel);
      await probe.ascend([[b, minus(v)]], channel);
      await probe.ascend([[a, minus(u)]], channel);
      const split = (await probe.norm()) / whole;
      await probe.ascend(pair, channel);
      await probe.ascend(
        [
          [b, minus(v)],
          [a, minus(u)],
        ],
        channel,
      );
      const turned = (await probe.norm()) / whole;
      return expectAtMost('relative difference', Math.max(split, turned), bounds.gradient);
    });
  },
};

export const zeroWeights: ConformanceCheck = {
  number: 3,
  name: 'weights of 0, and a forward alone, leave no gradient',
  async run({ withModel, vocabulary, channel }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const [row] = twoRows(vocabulary);
      await probe.logprobs(row, channel);
      await probe.ascend([[row, weightsOf(row).map(() => 0)]], channel);
      return expectAtMost('norm', await normOrNone(probe), 0);
    });
  },
};

function sumOfSquares(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2;
  return sum;
}

/** A server may say that there is no gradient, in the place of a norm of 0. */
async function normOrNone(probe: Probe): Promise<number> {
  try {
    return await probe.norm();
  } catch (error) {
    if (error instanceof TinkerError && error.fault === 'no-gradient') return 0;
    throw error;
  }
}

export const importanceSampling: ConformanceCheck = {
  number: 4,
  name: 'importance sampling at the policy’s own log-probs is cross-entropy with its advantages',
  async run({ withModel, vocabulary, bounds }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const [row] = twoRows(vocabulary);
      const advantages = weightsOf(row).map((value, i) => (i % 2 === 0 ? value : -value));
      await probe.ascend([[row, advantages]], 'importance_sampling');
      const whole = await probe.norm();
      await probe.ascend([[row, advantages]], 'importance_sampling');
      await probe.ascend([[row, minus(advantages)]], 'cross_entropy');
      return expectAtMost('relative difference', (await probe.norm()) / whole, bounds.gradient);
    });
  },
};

export const namedLosses: ConformanceCheck = {
  number: 5,
  name: 'losses with names have the gradients of the same losses computed here',
  async run({ withModel, vocabulary, bounds, channel }: ConformanceContext) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      let most = 0;
      for (const loss of comparedLosses) {
        most = Math.max(most, await namedResidual(probe, channel, undefined, vocabulary, loss));
      }
      const said = `relative difference of ${comparedLosses.join(', ')}`;
      return expectAtMost(said, most, bounds.gradient);
    });
  },
};

export const normOfGradients: ConformanceCheck = {
  number: 13,
  name: 'the norm of a step is that of the gradients it shows',
  needs: ['gradients'],
  async run({ withModel, vocabulary, channel }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const [row] = twoRows(vocabulary);
      await probe.ascend([[row, weightsOf(row)]], channel);
      const all = await model.gradients();
      const sum = [...all.values()].reduce((total, { data }) => total + sumOfSquares(data), 0);
      const said = await probe.norm();
      return expectAtMost('relative difference', Math.abs(Math.sqrt(sum) / said - 1), 1e-4);
    });
  },
};
