import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { architectures } from '../architecture-registry.ts';
import type { ModelImage } from '../batch.ts';
import type { LocalPolicy } from '../local-policy.ts';
import { loadLocalPolicy } from '../open-policy.ts';
import { canOpenOwn } from '../processor/open-own.ts';
import { nano } from './nano.ts';

const size = {
  layers: 2,
  hidden: 32,
  intermediate: 48,
  visionLayers: 2,
  visionHidden: 32,
  visionIntermediate: 48,
};
const corpus = ['Which digit is hidden? <code>image_clue_0.crop((28, 28, 56, 56))</code>'];

/** The two sizes of images in the recipes of nano: an overview, and a look at a card. */
async function images(policy: LocalPolicy): Promise<readonly [ModelImage, ModelImage]> {
  const png = (side: number) =>
    sharp({
      create: { width: side, height: side, channels: 3, background: { r: side, g: 9, b: 99 } },
    })
      .png()
      .toBuffer();
  const prepare = async (side: number) => policy.processor.prepareImage(await png(side));
  return [await prepare(448), await prepare(28)];
}

async function logprobsOf(policy: LocalPolicy): Promise<readonly number[]> {
  const [overview, look] = await images(policy);
  const { tokens, images: placed } = policy.processor.encodePrompt([
    { kind: 'text', text: 'Which digit is hidden?' },
    { kind: 'image', image: overview },
    { kind: 'image', image: look },
  ]);
  const sampled = await policy.sample({
    ...{ tokens, images: placed, maxTokens: 5, stop: [], temperature: 1, seed: [1, 2] },
    ...{ conversation: 'a', ignoreEndOfTurn: true },
  });
  const batch = {
    segments: [
      { tokens, images: placed, parent: -1 },
      { tokens: sampled.tokens, images: [], parent: 0 },
    ],
    rows: Int32Array.from(sampled.tokens, (_, i) => tokens.length - 1 + i),
    targets: sampled.tokens,
  };
  const { logprobs } = await policy.score(batch);
  expect([...logprobs]).toEqual([...sampled.logprobs]);
  return [...logprobs];
}

let device: Device;
beforeAll(() => {
  device = openDevice(referenceBackend());
});
afterAll(() => device.dispose());

describe('nano', () => {
  const names = architectures.names.filter(canOpenOwn);

  it('has every architecture that sees images, and no other', () => {
    expect(names).toEqual(architectures.names.filter((name) => !/^qwen[23]$/.test(name)));
    expect(() => readSettings('model', nano.settings, { architecture: 'qwen3' })).toThrow(
      ConfigError,
    );
  });

  it.each(names)('samples what it scores, and opens again from its files, as %s', async (name) => {
    const settings = nano.settings.parse({ architecture: name, vocabulary: 320, ...size });
    const policy = await nano.open(settings, { device, seed: 1, valueHead: false, corpus });
    const directory = await mkdtemp(join(tmpdir(), 'saccade-nano-'));
    try {
      const before = await logprobsOf(policy);
      await policy.save(directory);
      const again = await loadLocalPolicy({ device, directory });
      expect(await logprobsOf(again)).toEqual(before);
      again.dispose();
    } finally {
      policy.dispose();
      await rm(directory, { recursive: true });
    }
  });

  it.each(names)('shows an overview of few tokens, and a look of fewer, as %s', async (name) => {
    const settings = nano.settings.parse({ architecture: name, vocabulary: 320, ...size });
    const policy = await nano.open(settings, { device, seed: 1, valueHead: false, corpus });
    const [overview, look] = await images(policy);
    expect(overview.tokenCount).toBeLessThanOrEqual(20);
    expect(look.tokenCount).toBeLessThanOrEqual(overview.tokenCount);
    policy.dispose();
  });

  it.each([
    ['smolvlm', undefined, [16, 16]],
    ['smolvlm', 112 * 112, [80, 80]],
    ['idefics3', undefined, [16, 16]],
    ['qwen2_5_vl', undefined, [16, 1]],
    ['qwen2_5_vl', 56 * 56, [4, 1]],
  ] as const)(
    'has images as large as it is told, or as suits %s: %s',
    async (name, area, tokens) => {
      const given = { architecture: name, vocabulary: 320, maxPixels: area, ...size };
      const settings = nano.settings.parse(given);
      const policy = await nano.open(settings, { device, seed: 1, valueHead: false, corpus });
      expect((await images(policy)).map(({ tokenCount }) => tokenCount)).toEqual(tokens);
      policy.dispose();
    },
  );
});
