/** What every architecture of the catalog promises, on models of a tiny size. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import { encode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { architectures, readModel } from '../architecture-registry.ts';
import {
  type ContractPrompt,
  checkConversationReuse,
  checkSampledEqualsScored,
  checkSamplingIsBatchInvariant,
  checkScoresAreBatchInvariant,
  scoringBatch,
} from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import type { LanguageModel } from '../models/language-model.ts';
import { nanoSize } from '../models/model-size.ts';
import { createLocalPolicy, loadLocalPolicy } from '../open-policy.ts';
import type { ContentPart } from '../policy.ts';
import { qwenNanoProcessor } from '../processor/nano-processor.ts';

const size = {
  ...nanoSize,
  layers: 2,
  hidden: 32,
  heads: 2,
  kvHeads: 1,
  intermediate: 40,
  visionLayers: 2,
  visionHidden: 16,
  visionHeads: 2,
  visionIntermediate: 24,
};
const options = {
  corpus: ['Which digit is hidden? '],
  vocabulary: 300,
  minPixels: 28 * 28,
  maxPixels: 112 * 112,
};

function made(name: string) {
  const unit = architectures.get(name);
  const { processor, tokens } = (unit.nanoProcessor ?? qwenNanoProcessor)(options);
  const model = unit.model(unit.nano(processor.codec.vocabSize, tokens, size));
  return { unit, processor, tokens, model, seesImages: unit.nanoProcessor !== undefined };
}

function noisePng(width: number, height: number, seed: number): Uint8Array {
  const random = randomAt(seed, 'noise');
  const data = Uint8Array.from({ length: width * height * 3 }, () => random.integer(256));
  return encode({ data, width, height, channels: 3 });
}

describe.each(architectures.names)('%s', (name) => {
  const { unit, processor, tokens, model, seesImages } = made(name);
  let device: Device;
  let policy: LocalPolicy;
  let prompts: readonly ContractPrompt[];
  beforeAll(async () => {
    device = openDevice(nativeBackend({ threads: 2 }));
    policy = createLocalPolicy({ device, model, processor, seed: 1 });
    const text = (content: string): ContentPart => ({ kind: 'text', text: content });
    const plain = processor.encodePrompt([text('Which digit is hidden?')]);
    if (!seesImages) {
      prompts = [plain, processor.encodePrompt([text('And which is not?')])];
      return;
    }
    const shown = async (width: number, height: number, seed: number): Promise<ContentPart> => {
      return { kind: 'image', image: await processor.prepareImage(noisePng(width, height, seed)) };
    };
    const [wide, small] = [await shown(100, 50, 1), await shown(40, 40, 2)];
    prompts = [
      processor.encodePrompt([text('Look: '), wide, small, text('Which digit?')]),
      plain,
      processor.encodePrompt([small, text('And which is not?')]),
    ];
  });
  afterAll(() => {
    policy.dispose();
    device.dispose();
  });

  it('reads the config.json that it writes', () => {
    const config = unit.nano(300, tokens, size);
    const json = unit.model(config).configJson(2);
    expect(json.model_type).toBe(name);
    expect(unit.parse(JSON.parse(JSON.stringify(json)))).toEqual(config);
    expect(readModel(json).specs).toEqual(unit.model(config).specs);
  });

  it('stores every parameter in a place of its own', () => {
    const places = model.specs.map((spec) => {
      const { name: stored, part } = model.storedAs(spec.name);
      return `${stored} ${part?.index ?? 0}`;
    });
    expect(new Set(places).size).toBe(model.specs.length);
  });

  it('records the log-probs that training computes', async () => {
    for (const prompt of prompts.slice(0, 2)) await checkSampledEqualsScored(policy, prompt);
  });

  it('samples and scores with the same bits alone and in a batch', async () => {
    await checkSamplingIsBatchInvariant(policy, prompts);
    await checkScoresAreBatchInvariant(policy, prompts[0] as ContractPrompt);
  });

  it('goes on from its cache as if it had read everything anew', async () => {
    await checkConversationReuse(policy, prompts[0] as ContractPrompt);
    expect(policy.usedCacheSlots).toBe(0);
  });

  it('takes its images into account', async () => {
    if (!seesImages) return expect(model.encodeImages).toBeUndefined();
    const [prompt] = prompts as readonly [ContractPrompt];
    const [first, ...rest] = prompt.images;
    const dark = { ...first, patches: first?.patches.map((value) => -value) };
    const batch = (images: ContractPrompt['images']) => ({
      segments: [{ tokens: prompt.tokens, images, parent: -1 }],
      rows: Int32Array.of(prompt.tokens.length - 1),
      targets: Int32Array.of(5),
    });
    const seen = await policy.score(batch(prompt.images));
    const other = await policy.score(batch([dark, ...rest] as ContractPrompt['images']));
    expect(other.logprobs[0]).not.toBe(seen.logprobs[0]);
  });

  it('reads an image token that is no placeholder as a token like any other', async () => {
    if (!seesImages) return;
    const [prompt] = prompts as readonly [ContractPrompt];
    const { imageToken, visionEndToken } = tokens;
    const stray = [imageToken, imageToken, visionEndToken, imageToken];
    const around = Int32Array.from([imageToken, ...prompt.tokens, ...stray]);
    const { ids } = model.place(around, prompt.images, 0);
    const plain = model.place(prompt.tokens, prompt.images, 0);
    expect([...ids]).toEqual([imageToken, ...plain.ids, ...stray]);
    expect(model.countImages(around, prompt.images)).toBe(prompt.images.length);
  });

  it('scores the same after it was saved and loaded', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'saccade-architecture-'));
    await policy.save(directory);
    const loaded = await loadLocalPolicy({ device, directory });
    const [prompt] = prompts as readonly [ContractPrompt];
    const result = await policy.sample({
      ...prompt,
      maxTokens: 3,
      stop: [],
      temperature: 1,
      seed: [1, 2],
      conversation: 'saved',
    });
    policy.release('saved');
    const batch = scoringBatch(prompt, [result], true);
    expect(await loaded.score(batch)).toEqual(await policy.score(batch));
    expect(describeModel(loaded.model)).toEqual(describeModel(model));
    loaded.dispose();
    await rm(directory, { recursive: true });
  });
});

function describeModel({ architecture, specs, maxPositions }: LanguageModel) {
  return { architecture, specs, maxPositions };
}
