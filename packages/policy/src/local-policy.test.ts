import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nanoConfig, qwen2_5_vl } from './architectures/qwen2_5_vl.ts';
import {
  checkConversationReuse,
  checkSampledEqualsScored,
  checkSamplingIsBatchInvariant,
  checkScoresAreBatchInvariant,
  checkSumSquaredProbs,
  contractRequest,
  scoringBatch,
  squares,
} from './contract.ts';
import type { LocalPolicy } from './local-policy.ts';
import { nanoSize } from './models/model-size.ts';
import { createLocalPolicy, loadLocalPolicy } from './open-policy.ts';
import {
  noiseImage,
  referenceDevice,
  tinyModel,
  tinyPolicy,
  tinyProcessor,
} from './tiny-policy.fixture.ts';

const devices: readonly (readonly [string, () => Device])[] = [
  ['reference', referenceDevice],
  ['native', () => openDevice(nativeBackend({ threads: 2 }))],
];

const imagePrompt = (text: string, seed: number) =>
  tinyProcessor.encodePrompt([
    { kind: 'text', text: 'Look: ' },
    { kind: 'image', image: noiseImage(140, 84, seed) },
    { kind: 'text', text },
  ]);

describe.each(devices)('a local policy on the %s backend', (_, openTestDevice) => {
  let device: Device;
  let policy: LocalPolicy;
  beforeAll(() => {
    device = openTestDevice();
    policy = tinyPolicy(device);
  });
  afterAll(() => {
    policy.dispose();
    device.dispose();
  });

  it('records the log-probs that training computes', async () => {
    await checkSampledEqualsScored(policy, imagePrompt('Which digit?', 1));
  });

  it('samples the same tokens alone and in a batch', async () => {
    await checkSamplingIsBatchInvariant(policy, [
      imagePrompt('Which digit?', 1),
      tinyProcessor.encodePrompt([{ kind: 'text', text: 'No picture.' }]),
      imagePrompt('Another question of another length?', 2),
    ]);
  });

  it('scores a sequence with the same bits alone and in a batch', async () => {
    await checkScoresAreBatchInvariant(policy, imagePrompt('Which digit?', 3));
  });

  it('sums the squared probabilities of the vocabulary', async () => {
    await checkSumSquaredProbs(policy, imagePrompt('Which digit?', 6), policy.model.vocabSize);
  });

  it('goes on from its cache as if it had read everything anew', async () => {
    await checkConversationReuse(policy, imagePrompt('Which digit?', 4));
  });

  it('frees every cache slot that is released', () => {
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('gives the same gradients for a shared and a repeated prefix', async () => {
    const prompt = imagePrompt('Which digit?', 5);
    const results = await Promise.all(
      [0, 1, 2].map((i) =>
        policy.sample(contractRequest(prompt, `grad-${i}`, 90 + i, { maxTokens: 5 })),
      ),
    );
    for (const i of [0, 1, 2]) policy.release(`grad-${i}`);
    const norms: number[] = [];
    for (const isShared of [true, false]) {
      const trained = tinyPolicy(device);
      await trained.forwardBackward(scoringBatch(prompt, results, isShared), squares);
      const { gradNorm } = await trained.optimizerStep({ learningRate: 1e-2 });
      norms.push(gradNorm);
      trained.dispose();
    }
    expect(norms[0]).toBeGreaterThan(0);
    expect(Math.abs((norms[0] as number) / (norms[1] as number) - 1)).toBeLessThan(1e-5);
  });

  it('gives the same gradient in one batch and in micro-batches', async () => {
    const prompt = imagePrompt('Which digit?', 6);
    const results = await Promise.all(
      [0, 1].map((i) => policy.sample(contractRequest(prompt, `micro-${i}`, 70 + i))),
    );
    for (const i of [0, 1]) policy.release(`micro-${i}`);
    const norms: number[] = [];
    for (const parts of [[results], results.map((result) => [result])]) {
      const trained = tinyPolicy(device);
      for (const part of parts) {
        await trained.forwardBackward(scoringBatch(prompt, part, true), squares);
      }
      norms.push((await trained.optimizerStep({ learningRate: 1e-3 })).gradNorm);
      trained.dispose();
    }
    expect(Math.abs((norms[0] as number) / (norms[1] as number) - 1)).toBeLessThan(1e-5);
  });

  it('keeps memory flat over training steps', async () => {
    const prompt = imagePrompt('Which digit?', 7);
    const result = await policy.sample(contractRequest(prompt, 'flat', 1));
    policy.release('flat');
    const trained = tinyPolicy(device);
    const bytes: number[] = [];
    for (let step = 0; step < 4; step++) {
      await trained.forwardBackward(scoringBatch(prompt, [result], true), squares);
      await trained.optimizerStep({ learningRate: 1e-3 });
      bytes.push(device.allocatedBytes());
    }
    expect(new Set(bytes).size).toBe(1);
    expect(trained.version).toBe(4);
    trained.dispose();
  });

  it('scores with the same bits after it was saved and loaded', async () => {
    const prompt = imagePrompt('Which digit?', 8);
    const result = await policy.sample(contractRequest(prompt, 'saved', 1));
    policy.release('saved');
    const batch = scoringBatch(prompt, [result], true);
    const directory = await mkdtemp(join(tmpdir(), 'saccade-policy-'));
    try {
      const trained = tinyPolicy(device);
      await trained.forwardBackward(batch, squares);
      await trained.optimizerStep({ learningRate: 1e-2 });
      await trained.save(directory, { optimizer: true });
      const { logprobs } = await trained.score(batch);
      const loaded = await loadLocalPolicy({ device, directory });
      await loaded.load(directory, { optimizer: true });
      expect((await loaded.score(batch)).logprobs).toEqual(logprobs);
      expect(loaded.version).toBe(1);
      for (const each of [trained, loaded]) {
        await each.forwardBackward(batch, squares);
        await each.optimizerStep({ learningRate: 1e-2 });
      }
      expect((await loaded.score(batch)).logprobs).toEqual((await trained.score(batch)).logprobs);
      trained.dispose();
      loaded.dispose();
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

describe('place', () => {
  it('reads an image token outside of vision markers as a token like any other', () => {
    const { imageToken, visionStartToken, visionEndToken } = tinyProcessor.tokens;
    const image = noiseImage(56, 56, 1);
    const shown = [visionStartToken, ...Array(4).fill(imageToken), visionEndToken];
    const tokens = Int32Array.from([9, imageToken, ...shown, imageToken]);
    const at = tinyModel.place(tokens, [image], 0);
    expect([...at.ids]).toEqual([
      9,
      imageToken,
      visionStartToken,
      -1,
      -1,
      -1,
      -1,
      visionEndToken,
      imageToken,
    ]);
    expect([...at.height]).toEqual([0, 1, 2, 3, 3, 4, 4, 5, 6]);
    expect(() => tinyModel.place(tokens.subarray(0, 5), [image], 0)).toThrow(/no 4 placeholders/);
  });
});

describe('a policy of another size', () => {
  it('records the log-probs that training computes', async () => {
    const device = referenceDevice();
    const size = { ...nanoSize, layers: 1, hidden: 24, heads: 2, kvHeads: 1, intermediate: 20 };
    const vision = { visionLayers: 1, visionHidden: 16, visionHeads: 2, visionIntermediate: 12 };
    const config = nanoConfig(300, tinyProcessor.tokens, { ...size, ...vision });
    const model = qwen2_5_vl.model(config);
    const policy = createLocalPolicy({ device, model, processor: tinyProcessor, seed: 2 });
    await checkSampledEqualsScored(policy, imagePrompt('Which digit?', 1));
    policy.dispose();
    device.dispose();
  });
});
