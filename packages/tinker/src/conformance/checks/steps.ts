/** Steps: every field of the optimizer, versions, saved weights, and the same as local kernels. */
import { adamw } from '@saccade/optim';
import type { LocalPolicy, PackedBatch } from '@saccade/policy';
import { type AdamParams, plainAdam, type TinkerModel } from '../../client/tinker-model.ts';
import { measureEffects } from '../../measure/effects.ts';
import { imageBatch, scoreBatch } from '../../measure/images.ts';
import { ROW_LENGTH, weightsOf } from '../../measure/linearity.ts';
import { batchOf, Probe, probeRow } from '../../measure/probe.ts';
import { forestRequest } from '../../remote/forest-request.ts';
import {
  type ConformanceCheck,
  type ConformanceContext,
  ConformanceError,
  expectAtMost,
  expectRefused,
  expectThat,
  largestDifference,
} from '../conformance-check.ts';

/** A step with no field at its default. */
const ODD: AdamParams = {
  learning_rate: 1e-3,
  beta1: 0.8,
  beta2: 0.9,
  eps: 1e-6,
  weight_decay: 0.2,
  grad_clip_norm: 0.7,
};

export const fieldsOfOptimizer: ConformanceCheck = {
  number: 13,
  name: 'learning rate, β₁, β₂, ε, weight decay and clipping have an effect',
  async run({ withModel, vocabulary, channel }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const effects = await measureEffects({ probe, channel, vocabulary, isLinear: true });
      const bad = effects.findings.find(({ isGood }) => !isGood);
      if (bad !== undefined) throw new ConformanceError(`${bad.name}: ${bad.detail}.`);
      return effects.findings.map(({ name }) => name).join(', ');
    });
  },
};

async function probedBatch(context: ConformanceContext): Promise<PackedBatch> {
  const { processor, vocabulary } = context;
  if (processor.imageToken !== undefined) return (await imageBatch(processor, 4)).batch;
  return batchOf(probeRow(6, 12, vocabulary));
}

/** Accumulates a gradient whose coefficients are of either sign. */
async function climb(model: TinkerModel, batch: PackedBatch): Promise<void> {
  const { requestId } = await model.forwardForest(forestRequest(batch, { temperature: 1 }));
  await model.backward(requestId, { gradLogprobs: coefficients(batch) });
}

function coefficients({ targets }: PackedBatch): Float32Array {
  return Float32Array.from(targets, (_, i) => (i % 3 === 0 ? 0.4 : -1));
}

export const sameAsLocal: ConformanceCheck = {
  number: 9,
  name: 'log-probs, entropies, gradients, and three odd steps are those of local kernels',
  needs: ['extension', 'local'],
  async run(context) {
    const { withModel, local: open, bounds } = context;
    const local = await (open as NonNullable<typeof open>)();
    try {
      return await withModel(async (model) => {
        const batch = await probedBatch(context);
        const request = forestRequest(batch, { temperature: 1 });
        const there = await model.forwardForest(request);
        const here = await local.score(batch);
        const said = [
          expectAtMost(
            'log-probs differ by',
            largestDifference(there.logprobs, here.logprobs),
            bounds.kernels,
          ),
          expectAtMost(
            'entropies by',
            largestDifference(there.entropy, here.entropy),
            bounds.kernels,
          ),
        ];
        if (context.client.capabilities.extensions.includes('gradients')) {
          await climb(model, batch);
          await climbHere(local, batch);
          said.push(await compareGradients(model, local, bounds.kernels));
          await model.optimStep(plainAdam);
          await local.optimizerStep({ learningRate: 0, optimizer: adamOf(plainAdam) });
        }
        for (let step = 0; step < 3; step++) {
          await climb(model, batch);
          await climbHere(local, batch);
          const { gradNorm = Number.NaN } = await model.optimStep(ODD);
          const own = await local.optimizerStep({
            learningRate: ODD.learning_rate,
            optimizer: adamOf(ODD),
          });
          const relative = Math.abs(gradNorm / own.gradNorm - 1);
          expectAtMost(`norm of step ${step + 1} differs by`, relative, 10 * bounds.kernels);
        }
        const after = await model.forwardForest(request);
        const moved = largestDifference(after.logprobs, (await local.score(batch)).logprobs);
        said.push(expectAtMost('log-probs after three steps by', moved, 10 * bounds.kernels));
        return said.join('; ');
      });
    } finally {
      local.dispose();
    }
  },
};

async function climbHere(local: LocalPolicy, batch: PackedBatch): Promise<void> {
  await local.forwardBackward(batch, () => ({ loss: 0, gradLogprobs: coefficients(batch) }));
}

function adamOf(adam: AdamParams) {
  return adamw.create({
    beta1: adam.beta1,
    beta2: adam.beta2,
    eps: adam.eps,
    weightDecay: adam.weight_decay,
    maxGradNorm: adam.grad_clip_norm,
  });
}

/** The largest difference of a tensor's gradient, beside the largest of its values. */
async function compareGradients(
  model: TinkerModel,
  local: LocalPolicy,
  bound: number,
): Promise<string> {
  const there = await model.gradients();
  let worst = 0;
  let compared = 0;
  for (const [name, gradient] of Object.entries(local.gradients)) {
    const { name: stored, part } = local.model.storedAs(name);
    const theirs = there.get(name) ?? there.get(stored);
    if (theirs === undefined) continue;
    const own = (await gradient.read()) as Float32Array;
    const isPart = part !== undefined && theirs.data.length !== own.length;
    const start = isPart ? part.index * own.length : 0;
    const data = theirs.data.subarray(start, start + own.length);
    const scale = Math.max(1e-6, largestDifference(own, new Float32Array(own.length)));
    worst = Math.max(worst, largestDifference(data, own) / scale);
    compared++;
  }
  expectThat('Gradients of the same names', compared > 0);
  return expectAtMost(`gradients of ${compared} tensors by`, worst, 10 * bound);
}

export const versions: ConformanceCheck = {
  number: 17,
  name: 'a step changes version, checksum and a probed log-prob; nothing else does',
  needs: ['extension'],
  async run({ withModel, vocabulary }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const row = probeRow(1, ROW_LENGTH, vocabulary);
      const before = await model.checksum();
      const again = await model.checksum();
      expectThat('The same checksum', before.checksum === again.checksum);
      const first = await probe.logprobs(row, 'backward');
      await probe.ascend([[row, weightsOf(row)]], 'backward');
      const held = await model.checksum();
      expectThat('The same checksum after a backward', held.checksum === before.checksum);
      const { version } = await model.optimStep({ ...plainAdam, learning_rate: 1e-2 });
      const after = await model.checksum();
      expectThat('Another checksum after a step', after.checksum !== before.checksum);
      expectThat('The next version', version === before.version + 1);
      expectThat('The version of the step', after.version === version);
      const moved = largestDifference(await probe.logprobs(row, 'backward'), first);
      expectThat('Another log-prob', moved > 0);
      return `version ${before.version} → ${after.version}, log-probs moved ${moved.toPrecision(3)}`;
    });
  },
};

export const savedWeights: ConformanceCheck = {
  number: 15,
  name: 'saved weights come back with the same bits, and go on with the same steps; deleted ones are gone',
  async run({ withModel, processor, client, vocabulary, channel }) {
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const row = probeRow(1, ROW_LENGTH, vocabulary);
      const batch = batchOf(row);
      const score = () => scoreBatch(model, processor, batch, client.isOurs);
      const step = async () => {
        await probe.ascend([[row, weightsOf(row)]], channel);
        await model.optimStep({ ...plainAdam, learning_rate: 1e-3 });
        return await score();
      };
      await step();
      const saved = await score();
      const { path } = await model.saveWeights(`conformance-${Date.now()}`, { optimizer: true });
      const onward = [await step(), await step()];
      await model.loadWeights(path, true);
      expectAtMost('log-probs after loading differ by', largestDifference(await score(), saved), 0);
      const again = [await step(), await step()];
      const most = Math.max(
        ...again.map((logprobs, i) => largestDifference(logprobs, onward[i] as Float32Array)),
      );
      await client.deleteCheckpoint(path);
      if (client.isOurs) {
        await expectRefused('deleted weights', () => model.loadWeights(path, true));
      }
      return expectAtMost('log-probs of two steps after it differ by', most, 0);
    });
  },
};
