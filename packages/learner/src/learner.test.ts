/** Learning with a real policy on the reference backend, and the layout it reads. */
import { algorithms, countGlobally, prepareStep } from '@saccade/algorithms';
import { ConfigError, randomAt } from '@saccade/core';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { constant, sgd } from '@saccade/optim';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import type { AdvantagedTrajectory } from '@saccade/schedulers';
import { TrajectoryBuilder } from '@saccade/trajectory';
import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { coefficientSettings } from './coefficient-settings.ts';
import { createLearner, type LearnerOptions, type TrainablePolicy } from './learner.ts';
import { packStep, rangeOf, stepTokens } from './packed-step.ts';

const processor = new QwenProcessor(
  trainTokenizer(['which digit ', '<answer>'], 300),
  qwenImageProcessor,
);
const nano = nanoConfig(300, processor.tokens);
const model = qwen2_5_vl.model({
  ...nano,
  hidden: 16,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  intermediate: 24,
  mropeSection: [2, 1, 1],
  vision: {
    ...nano.vision,
    depth: 1,
    hidden: 8,
    heads: 1,
    intermediate: 12,
    fullAttentionBlocks: [],
  },
});
const images = new ModelImages(processor);
const device: Device = openDevice(referenceBackend());
const policies: LocalPolicy[] = [];
afterAll(() => {
  for (const policy of policies) policy.dispose();
  device.dispose();
});

function policyOf(options: { valueHead?: boolean } = {}): LocalPolicy {
  const policy = createLocalPolicy({ device, model, processor, seed: 3, ...options });
  policies.push(policy);
  return policy;
}

interface Shape {
  readonly task: string;
  readonly lengths: readonly number[];
  readonly isMasked: boolean;
}

/** Model segments of these lengths with observations between them; everything follows from `index`. */
function trajectoryOf({ task, lengths, isMasked }: Shape, index: number): AdvantagedTrajectory {
  const random = randomAt(5, task, index);
  const made = new TrajectoryBuilder({ id: `${task}/${index}`, taskId: task, sampleIndex: index });
  const tokens = (count: number) =>
    Int32Array.from({ length: count }, () => 10 + random.integer(200));
  made.prompt({ tokens: Int32Array.of(11, 12, task.charCodeAt(0)), images: [], text: task });
  lengths.forEach((count, turn) => {
    const logprobs = Float32Array.from({ length: count }, () => -0.1 - 5 * random.uniform());
    made.model({ tokens: tokens(count), logprobs, text: '', policyVersion: 0 });
    made.turn({ kind: 'code', code: '' });
    if (turn < lengths.length - 1) made.observation({ tokens: tokens(2), images: [], text: '' });
  });
  const reward = random.uniform();
  const trajectory = {
    ...made.finish('lengthLimit'),
    reward,
    rewardTerms: { accuracy: reward },
    isCorrect: reward > 0.5,
  };
  return { trajectory, advantage: reward - 0.5, groupStd: 0.3, isMasked };
}

const batch = (shapes: readonly Partial<Shape>[]): readonly AdvantagedTrajectory[] =>
  shapes.map((one, i) => trajectoryOf({ task: 'a', lengths: [3, 2], isMasked: false, ...one }, i));

const four = batch([
  { task: 'a' },
  { task: 'b', lengths: [4] },
  { task: 'a', lengths: [2, 1, 3] },
  { task: 'b', lengths: [1, 5] },
]);

const optimizer = sgd.create({ momentum: 0, weightDecay: 0, maxGradNorm: 0 });
const schedule = constant.create({ peak: 0.05, total: 100 }, {});

function learnerOf(policy: LocalPolicy, options: Partial<LearnerOptions> = {}) {
  const algorithm = algorithms.get('grpo').with({ aggregation: 'token-mean' });
  return createLearner({ policy, algorithm, images, optimizer, schedule, ...options });
}

/** The policy's log-probs of every model token of a batch: what its weights say. */
async function logprobsOf(policy: LocalPolicy, trained = four): Promise<readonly number[]> {
  const options = { images, microBatchTokens: 4096, sharedPrefix: true, minibatches: 1 };
  const { minibatches } = await packStep(trained, options);
  const parts = minibatches.flatMap(({ microBatches }) => microBatches);
  const all: number[] = [];
  for (const { packed } of parts) all.push(...(await policy.score(packed)).logprobs);
  return all;
}

function expectClose(found: readonly number[], expected: readonly number[], most: number): void {
  expect(found).toHaveLength(expected.length);
  found.forEach((value, i) => {
    expect(Math.abs(value - (expected[i] ?? 0))).toBeLessThan(most);
  });
}

describe('a learner', () => {
  it('has the same loss and weights however the step is split into micro-batches', async () => {
    for (const name of ['grpo', 'clip-cov', 'gspo', 'ppo', 'optimal-token-baseline']) {
      const results = [];
      for (const microBatchTokens of [4096, 16, 1]) {
        const algorithm = algorithms.get(name);
        const policy = policyOf({ valueHead: algorithm.needs.includes('values') });
        const before = await logprobsOf(policy);
        const learner = learnerOf(policy, { algorithm, microBatchTokens, oldLogprobs: 'policy' });
        const { metrics } = await learner.learn(four, 0);
        const after = await logprobsOf(policy);
        expect(after, name).not.toEqual(before);
        results.push({ loss: metrics.loss ?? Number.NaN, norm: metrics.grad_norm ?? 0, after });
      }
      const [whole, ...split] = results;
      for (const { loss, norm, after } of split) {
        expect(loss).toBeCloseTo(whole?.loss ?? Number.NaN, 5);
        expect(norm).toBeCloseTo(whole?.norm ?? Number.NaN, 4);
        expectClose(after, whole?.after ?? [], 1e-4);
      }
    }
  });

  it('takes one optimizer step per minibatch of whole groups', async () => {
    const policy = policyOf();
    const split = await packStep(four, {
      images,
      microBatchTokens: 4096,
      sharedPrefix: true,
      minibatches: 2,
    });
    const tasks = split.minibatches.map(({ sequences: [first, last] }) =>
      split.trained.slice(first, last).map(({ trajectory }) => trajectory.taskId),
    );
    expect(tasks).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    const points: string[] = [];
    const learning = learnerOf(policy, { minibatches: 2 }).learnInParts(four, 0);
    for (let part = await learning.next(); ; part = await learning.next()) {
      if (part.done === true) break;
      points.push(`${part.value} ${policy.version}`);
    }
    expect(points).toEqual(['gradient 0', 'updated 1', 'gradient 1']);
    expect(policy.version).toBe(2);
  });

  it('takes ratios to the policy that sampled, before truncation, and corrects to what it sampled from', async () => {
    // Half of the mass was kept, so what was recorded is twice as likely.
    const truncated = four.map((one) => {
      const segments = one.trajectory.segments.map((segment) => ({
        ...segment,
        ...(segment.logprobs && {
          logprobs: segment.logprobs.map((logprob) => logprob + Math.log(2)),
          keptMass: new Float32Array(segment.tokens.length).fill(0.5),
        }),
      }));
      return { ...one, trajectory: { ...one.trajectory, segments } };
    });
    const [whole, kept] = [policyOf(), policyOf()];
    const results = [
      await learnerOf(whole).learn(four, 0),
      await learnerOf(kept).learn(truncated, 0),
    ];
    expect(results[1]?.metrics.loss).toBeCloseTo(results[0]?.metrics.loss ?? Number.NaN, 5);
    expectClose(await logprobsOf(kept), await logprobsOf(whole), 1e-5);
    const algorithm = algorithms.get('grpo').with({ correction: 'truncate', correctionHigh: 1e9 });
    const weightOf = async (trained: typeof four) => {
      const { metrics } = await learnerOf(policyOf(), { algorithm }).learn(trained, 0);
      return metrics['sampling/importance_sampling_ratio/mean'] ?? Number.NaN;
    };
    expect((await weightOf(truncated)) / (await weightOf(four))).toBeCloseTo(0.5, 5);
  });

  it('learns nothing from masked trajectories', async () => {
    const [masked, alone] = [policyOf(), policyOf()];
    const kept = four.filter((_, i) => i !== 2);
    const given = four.map((one, i) => ({ ...one, isMasked: i === 2 }));
    const results = [
      await learnerOf(masked).learn(given, 0),
      await learnerOf(alone).learn(kept, 0),
    ];
    expect(results[0]).toEqual(results[1]);
    expect(await logprobsOf(masked)).toEqual(await logprobsOf(alone));
    const before = await logprobsOf(masked);
    const none = four.map((one) => ({ ...one, isMasked: true }));
    const { tokenCount } = await learnerOf(masked).learn(none, 0);
    expect(tokenCount).toBe(0);
    expect(await logprobsOf(masked)).toEqual(before);
  });

  it('learns with the coefficients that the step before gave, and gives the next ones', async () => {
    const control = coefficientSettings.parse({
      klControl: 'adaptive',
      klHorizon: 10,
      entropyControl: 'adaptive',
      // Above any entropy: the bonus grows from step to step.
      entropyTarget: 100,
    });
    const algorithm = algorithms.get('grpo').with({ klCoefficient: 0.1 });
    const [policy, reference] = [policyOf(), policyOf()];
    const options = { algorithm, control, minibatches: 2, reference: async () => reference };
    const learner = learnerOf(policy, options);
    const first = await learner.learn(four, 0);
    expect(first.metrics).toMatchObject({ 'coefficient/kl': 0.1, 'coefficient/entropy': 0 });
    expect(first.coefficients?.entropy).toEqual({ coefficient: 0.005, applied: 0.005 });
    expect(first.coefficients?.kl).not.toBe(0.1);
    const { coefficients = {} } = first;
    const second = await learner.learn(four, 2, { coefficients });
    expect(second.metrics).toMatchObject({
      'coefficient/kl': coefficients.kl,
      'coefficient/entropy': 0.005,
    });
    // The same step with the first coefficients is another one.
    const other = policyOf();
    const again = learnerOf(other, { ...options, reference: async () => reference });
    await again.learn(four, 0);
    expect(await logprobsOf(other)).not.toEqual(await logprobsOf(policy));
    await again.learn(four, 2);
    expect(await logprobsOf(other)).not.toEqual(await logprobsOf(policy));
  });

  it('refuses an algorithm whose scores the policy does not give', async () => {
    const policy = policyOf();
    const algorithm = algorithms.get('optimal-token-baseline');
    const narrow: TrainablePolicy = {
      score: (packed, temperature) => policy.score(packed, temperature),
      optimizerStep: (given) => policy.optimizerStep(given),
      forwardBackward: (...given) => policy.forwardBackward(...given),
    };
    await expect(learnerOf(policy, { policy: narrow, algorithm }).learn(four, 0)).rejects.toThrow(
      new ConfigError(
        'algorithm',
        'optimal-token-baseline needs sumSquaredProbs, which this policy does not score. ' +
          'Train a policy on local kernels, or choose another algorithm.',
      ),
    );
  });

  it('counts an update whose gradient is not finite, and leaves the weights as they were', async () => {
    const policy = policyOf();
    const before = await logprobsOf(policy);
    // A real policy whose backward pass overflows: the loss itself is finite.
    const overflowing: TrainablePolicy = {
      score: (...given) => policy.score(...given),
      optimizerStep: (given) => policy.optimizerStep(given),
      forwardBackward: (packed, loss, temperature) =>
        policy.forwardBackward(
          packed,
          (scores) => ({
            ...loss(scores),
            gradLogprobs: new Float32Array(packed.targets.length).fill(Number.POSITIVE_INFINITY),
          }),
          temperature,
        ),
    };
    const { skippedUpdates } = await learnerOf(policy, { policy: overflowing }).learn(four, 0);
    expect(skippedUpdates).toBe(1);
    expect(await logprobsOf(policy)).toEqual(before);
    expect((await learnerOf(policy).learn(four, 0)).skippedUpdates).toBe(0);
  });
});

/** Some number of each token that depends on its trajectory and place alone. */
function numbersOf(trained: readonly AdvantagedTrajectory[], what: string): Float64Array {
  const { sequenceOffsets } = stepTokens(trained);
  return Float64Array.from(
    trained.flatMap(({ trajectory }, s) => {
      const random = randomAt(9, what, trajectory.id);
      const count = (sequenceOffsets[s + 1] ?? 0) - (sequenceOffsets[s] ?? 0);
      return Array.from({ length: count }, () => -3 * random.uniform());
    }),
  );
}

const kl = { klCoefficient: 0.1 };
const layouts = {
  grpo: algorithms.get('grpo').with(kl),
  select: algorithms.get('clip-cov'),
  values: algorithms.get('ppo'),
  turns: algorithms.get('codedance'),
  'rollout log-probs': algorithms.get('decoupled-ppo'),
};

describe.each(Object.entries(layouts))('the layout of a step, %s', (_, algorithm) => {
  const inputs = (trained: readonly AdvantagedTrajectory[]) =>
    prepareStep(algorithm, {
      ...stepTokens(trained),
      oldLogprobs: numbersOf(trained, 'old'),
      ...(algorithm.needs.includes('refLogprobs') && {
        refLogprobs: numbersOf(trained, 'reference'),
      }),
      ...(algorithm.needs.includes('values') && { values: numbersOf(trained, 'values') }),
    }).batch;

  it('has in the range of a micro-batch what each trajectory has in any other order', async () => {
    const shape = record<Shape>({
      task: constantFrom('a', 'b', 'c'),
      lengths: array(integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      isMasked: boolean(),
    });
    const property = asyncProperty(
      array(shape, { minLength: 1, maxLength: 8 }),
      integer({ min: 1, max: 60 }),
      integer({ min: 1, max: 3 }),
      async (shapes, microBatchTokens, minibatches) => {
        // The learner takes no step where all are masked.
        const given = shapes
          .map((one, i) => ({ ...one, isMasked: one.isMasked && i > 0 }))
          .map(trajectoryOf);
        const step = await packStep(given, {
          images,
          microBatchTokens,
          minibatches,
          sharedPrefix: true,
        });
        expect(new Set(step.trained)).toEqual(new Set(given));
        const [own, other] = [inputs(step.trained), inputs(given)];
        const isTrained = (one: AdvantagedTrajectory) => !one.isMasked;
        expect(countGlobally([own]).tokens).toBe(countGlobally([other]).tokens);
        let seen = 0;
        for (const part of step.minibatches.flatMap(({ microBatches }) => microBatches)) {
          const views = rangeOf(own, part);
          const names = Object.keys(other).filter((name) => name !== 'sequenceOffsets');
          for (let s = part.sequences[0]; s < part.sequences[1]; s++) {
            const at = given.indexOf(step.trained[s] as AdvantagedTrajectory);
            const mine = spanOf(views.sequenceOffsets, s - part.sequences[0]);
            const theirs = spanOf(other.sequenceOffsets, at);
            for (const name of names as readonly (keyof typeof other)[]) {
              const [found, expected] = [views[name], other[name]].map((array) => array);
              expectClose(
                [...(found?.subarray(...mine) ?? [])],
                [...(expected?.subarray(...theirs) ?? [])],
                1e-9,
              );
            }
            seen++;
          }
        }
        expect(seen).toBe(given.filter(isTrained).length);
      },
    );
    await assert(property, { numRuns: 40 });
  });
});

function spanOf(offsets: Int32Array, index: number): readonly [number, number] {
  return [offsets[index] ?? 0, offsets[index + 1] ?? 0];
}
