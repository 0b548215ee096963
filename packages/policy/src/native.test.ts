import { nativeBackend, probeNative } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { nanoConfig, qwen2_5_vl } from './architectures/qwen2_5_vl.ts';
import {
  checkConversationReuse,
  checkSampledEqualsScored,
  checkSamplingIsBatchInvariant,
  checkScoresAreBatchInvariant,
} from './contract.ts';
import type { LocalPolicy } from './local-policy.ts';
import { createLocalPolicy } from './open-policy.ts';
import { noiseImage, tinyProcessor } from './tiny-policy.fixture.ts';

describe.skipIf(!probeNative().available)('a nano policy on the native kernels', () => {
  let device: Device;
  let policy: LocalPolicy;
  beforeAll(() => {
    device = openDevice(nativeBackend());
    const model = qwen2_5_vl.model(nanoConfig(300, tinyProcessor.tokens));
    policy = createLocalPolicy({ device, model, processor: tinyProcessor, seed: 1 });
  });
  afterAll(() => {
    policy.dispose();
    device.dispose();
  });

  // Long enough that blocks of 64 keys straddle the prompt and the pages of the cache.
  const prompt = (seed: number) =>
    tinyProcessor.encodePrompt([
      { kind: 'text', text: `What is hidden in picture ${seed}? Look closely. `.repeat(4) },
      { kind: 'image', image: noiseImage(196, 140, seed) },
    ]);

  it('records, bit for bit, the log-probs that training computes', async () => {
    await checkSampledEqualsScored(policy, prompt(1), 0);
  });

  it('samples the same tokens and log-probs alone and in a batch', async () => {
    await checkSamplingIsBatchInvariant(policy, [prompt(1), prompt(22), prompt(333), prompt(1)]);
  });

  it('scores a sequence with the same bits alone and in a batch', async () => {
    await checkScoresAreBatchInvariant(policy, prompt(3));
  });

  it('goes on from its cache as if it had read everything anew', async () => {
    await checkConversationReuse(policy, prompt(4));
  });
});
