/** The policy on WebGPU, and beside the native kernels: log-probs, gradients, sampled tokens. */
import { nativeBackend } from '@saccade/backend-native';
import { webgpuBackend } from '@saccade/backend-webgpu';
import { probeForTests } from '@saccade/backend-webgpu/software-gpu';
import { type Device, openDevice } from '@saccade/ops';
import { sgd } from '@saccade/optim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LossFunction } from './batch.ts';
import {
  checkConversationReuse,
  checkSampledEqualsScored,
  checkSamplingIsBatchInvariant,
  checkSumSquaredProbs,
  contractRequest,
  scoringBatch,
} from './contract.ts';
import type { LocalPolicy } from './local-policy.ts';
import { noiseImage, tinyPolicy, tinyProcessor } from './tiny-policy.fixture.ts';

const webgpu = await probeForTests();

const prompt = (seed: number) =>
  tinyProcessor.encodePrompt([
    { kind: 'text', text: `What is hidden in picture ${seed}?` },
    { kind: 'image', image: noiseImage(56, 28, seed) },
  ]);

/** Relative distance of two vectors. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [difference, size] = [0, 0];
  for (let i = 0; i < b.length; i++) {
    difference += ((a[i] as number) - (b[i] as number)) ** 2;
    size += (b[i] as number) ** 2;
  }
  return Math.sqrt(difference / Math.max(size, 1e-30));
}

describe.skipIf(!webgpu.available)('a tiny policy on WebGPU', { timeout: 600_000 }, () => {
  let devices: Device[];
  let onGpu: LocalPolicy;
  let onCpu: LocalPolicy;
  beforeAll(async () => {
    devices = [openDevice(await webgpuBackend()), openDevice(nativeBackend())];
    [onGpu, onCpu] = devices.map((device) => tinyPolicy(device)) as [LocalPolicy, LocalPolicy];
  });
  afterAll(() => {
    for (const policy of [onGpu, onCpu]) policy.dispose();
    for (const device of devices) device.dispose();
  });

  it('records, bit for bit, the log-probs that training computes', async () => {
    await checkSampledEqualsScored(onGpu, prompt(1), 0);
  });

  it('samples the same tokens and log-probs alone and in a batch', async () => {
    await checkSamplingIsBatchInvariant(onGpu, [prompt(1), prompt(22)]);
  });

  it('sums the squared probabilities of the vocabulary', async () => {
    await checkSumSquaredProbs(onGpu, prompt(6), onGpu.model.vocabSize);
  });

  it('goes on from its cache as if it had read everything anew', async () => {
    await checkConversationReuse(onGpu, prompt(4));
  });

  it('samples the tokens of the CPU', async () => {
    for (const seed of [1, 2, 3]) {
      const request = contractRequest(prompt(seed), `c${seed}`, seed, { maxTokens: 24 });
      const [gpu, cpu] = await Promise.all([onGpu.sample(request), onCpu.sample(request)]);
      expect([...gpu.tokens]).toEqual([...cpu.tokens]);
      expect(distance(gpu.logprobs, cpu.logprobs)).toBeLessThan(1e-4);
    }
  });

  it('has the losses and the gradients of the CPU, and the same weights after a step', async () => {
    const results = await Promise.all(
      [1, 2].map((n) => onCpu.sample(contractRequest(prompt(5), `g${n}`, n, { maxTokens: 8 }))),
    );
    const batch = scoringBatch(prompt(5), results, true);
    // A weighted sum of log-probs and entropies: every row and both outputs have a gradient.
    const weights = Float32Array.from(batch.targets, (_, i) => Math.sin(i + 1));
    const loss: LossFunction = ({ logprobs, entropy }) => ({
      loss: logprobs.reduce(
        (sum, l, i) => sum + l * (weights[i] ?? 0) + 0.1 * (entropy[i] ?? 0),
        0,
      ),
      gradLogprobs: weights,
      gradEntropy: new Float32Array(weights.length).fill(0.1),
    });
    const [gpu, cpu] = [
      await onGpu.forwardBackward(batch, loss),
      await onCpu.forwardBackward(batch, loss),
    ];
    expect(Math.abs(gpu.loss - cpu.loss)).toBeLessThan(1e-4 * Math.abs(cpu.loss));
    expect(distance(gpu.logprobs, cpu.logprobs)).toBeLessThan(1e-4);
    expect(distance(gpu.entropy, cpu.entropy)).toBeLessThan(1e-4);
    const before = new Map<string, ArrayLike<number>>();
    for (const [name, weight] of Object.entries(onCpu.parameters)) {
      before.set(name, await weight.read());
    }
    // The step is the gradient itself.
    const step = { learningRate: 1, optimizer: sgd.create({ momentum: 0, maxGradNorm: 0 }) };
    const norms = [await onGpu.optimizerStep(step), await onCpu.optimizerStep(step)];
    expect(norms[0]?.gradNorm).toBeCloseTo(norms[1]?.gradNorm ?? 0, 3);
    for (const [name, weight] of Object.entries(onCpu.parameters)) {
      const start = before.get(name) as ArrayLike<number>;
      const changed = (values: ArrayLike<number>) =>
        Float64Array.from(start, (w, i) => (values[i] as number) - w);
      const there = onGpu.parameters[name];
      const gpuChange = changed((await there?.read()) ?? []);
      const cpuChange = changed(await weight.read());
      expect(distance(gpuChange, cpuChange), name).toBeLessThan(1e-4);
    }
  });
});
