/** Images whose placeholders are several runs, with other tokens between them. */

import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idefics3 } from '../architectures/idefics3.ts';
import type { ModelImage } from '../batch.ts';
import { contractRequest, scoringBatch } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import { nanoSize } from '../models/model-size.ts';
import { createLocalPolicy } from '../open-policy.ts';
import { tinyProcessor } from '../tiny-policy.fixture.ts';

const SIDE = 4;
const PATCH = 14;
/** Placeholders of a tile: units of 2 × 2 patches. */
const TILE_TOKENS = 4;
const { imageToken, visionStartToken } = tinyProcessor.tokens;
const size = { ...nanoSize, layers: 2, hidden: 32, visionLayers: 1, visionHidden: 16 };
const config = idefics3.nano(300, tinyProcessor.tokens, size);
const model = idefics3.model({
  ...config,
  vision: { ...config.vision, side: SIDE, patchSize: PATCH },
});

function tiledImage(grids: number, seed: number): ModelImage {
  const random = randomAt(seed, 'tiles');
  const length = grids * SIDE ** 2 * 3 * PATCH ** 2;
  return {
    patches: Float32Array.from({ length }, () => random.normal()),
    gridHeight: SIDE,
    gridWidth: SIDE,
    tokenCount: grids * TILE_TOKENS,
    width: SIDE * PATCH,
    height: SIDE * PATCH,
    grids,
  };
}

/** Every tile after a marker and its name, as Idefics3 has it, and words around the images. */
function promptOf(images: readonly ModelImage[]) {
  const tokens = [20, 21, 22];
  for (const { grids = 1 } of images) {
    for (let tile = 0; tile < grids; tile++) {
      tokens.push(visionStartToken, 30 + tile, ...new Array(TILE_TOKENS).fill(imageToken));
    }
    tokens.push(visionStartToken, 23, 24);
  }
  return { tokens: Int32Array.from(tokens), images };
}

describe('the engine on images in several runs', () => {
  let device: Device;
  const policies: LocalPolicy[] = [];
  beforeAll(() => {
    device = openDevice(nativeBackend({ threads: 1 }));
  });
  afterAll(() => {
    for (const policy of policies) policy.dispose();
    device.dispose();
  });

  function newPolicy(): LocalPolicy {
    const policy = createLocalPolicy({ device, model, processor: tinyProcessor, seed: 1 });
    policies.push(policy);
    return policy;
  }

  // 12 tiles are 73 tokens, so the first page of 64 ends within an image, and the second one may too.
  it.each([[[12]], [[2, 12]], [[9, 12]], [[4, 3, 17]]])(
    'samples what it scores on images of %j tiles, also from pages computed before',
    async (counts) => {
      const prompt = promptOf(counts.map((count, i) => tiledImage(count, i)));
      const ask = (policy: LocalPolicy, conversation: string) =>
        policy.sample(contractRequest(prompt, conversation, 1, { maxTokens: 4 }));
      const alone = await ask(newPolicy(), 'alone');
      const { logprobs } = await newPolicy().score(scoringBatch(prompt, [alone], true));
      expect(alone.logprobs).toEqual(logprobs);
      const policy = newPolicy();
      await ask(policy, 'first');
      expect(await ask(policy, 'second')).toEqual(alone);
    },
  );
});
