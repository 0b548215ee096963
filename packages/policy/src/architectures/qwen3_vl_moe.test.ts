import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, randomAt } from '@saccade/core';
import { readSafetensors, writeSafetensors } from '@saccade/nn/files';
import { type Device, openDevice } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModel } from '../architecture-registry.ts';
import {
  checkConversationReuse,
  checkSampledEqualsScored,
  checkSamplingIsBatchInvariant,
  checkScoresAreBatchInvariant,
} from '../contract.ts';
import { storedLayers } from '../lora/adapter.ts';
import { predictMemory } from '../memory/predict-memory.ts';
import type { Json } from '../models/config-fields.ts';
import { partOf } from '../models/model-parts.ts';
import { nanoSize } from '../models/model-size.ts';
import { createLocalPolicy, loadLocalPolicy } from '../open-policy.ts';
import { patchesOf } from '../processor/image-processor.ts';
import { tinyProcessor } from '../tiny-policy.fixture.ts';
import { qwen3_vl_moe } from './qwen3_vl_moe.ts';

const size = { ...nanoSize, layers: 3, visionLayers: 2, hidden: 64, intermediate: 96 };
const nano = qwen3_vl_moe.nano(300, tinyProcessor.tokens, { ...size, visionHidden: 48 });
const json = qwen3_vl_moe.model(nano).configJson(2);

/** The configuration with other fields of its decoder; undefined removes one. */
const withText = (fields: Json): Json => ({
  ...json,
  text_config: JSON.parse(JSON.stringify({ ...(json.text_config as Json), ...fields })),
});

/** Layers whose feed-forward layer is experts, and those where it is dense. */
function layersOf(config: Json) {
  const names = readModel(config).specs.map(({ name }) => name);
  const indices = (pattern: RegExp) =>
    names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number);
  return {
    sparse: indices(/layers\.(\d+)\.mlp\.experts\.gate_up_proj$/),
    dense: indices(/layers\.(\d+)\.mlp\.gate_proj\.weight$/),
  };
}

describe('config.json with experts', () => {
  // Qwen3VLMoeTextDecoderLayer of transformers 5.18.
  it.each<[Json, readonly number[], readonly number[]]>([
    [{}, [0, 1, 2], []],
    [{ mlp_only_layers: [1] }, [0, 2], [1]],
    [{ decoder_sparse_step: 2 }, [1], [0, 2]],
    [{ decoder_sparse_step: 2, mlp_only_layers: [1] }, [], [0, 1, 2]],
    [{ decoder_sparse_step: 4 }, [], [0, 1, 2]],
    [{ num_experts: 0 }, [], [0, 1, 2]],
    [{ mlp_only_layers: null }, [0, 1, 2], []],
  ])('%j has them in layers %j', (fields, sparse, dense) => {
    expect(layersOf(withText(fields))).toEqual({ sparse, dense });
  });

  it('is read as transformers reads it, and written so that it is read again', () => {
    const config = qwen3_vl_moe.parse(withText({ decoder_sparse_step: 2, mlp_only_layers: [0] }));
    expect(qwen3_vl_moe.parse(qwen3_vl_moe.model(config).configJson(2))).toEqual(config);
    const { num_experts: _, ...text } = json.text_config as Json;
    const renamed = { ...json, text_config: { ...text, num_local_experts: 5 } };
    expect(qwen3_vl_moe.parse(renamed).experts.experts).toBe(5);
    const defaults = { num_experts: undefined, num_experts_per_tok: undefined };
    const filled = qwen3_vl_moe.parse(withText({ ...defaults, moe_intermediate_size: undefined }));
    expect(filled.experts).toEqual({ experts: 60, perToken: 4, intermediate: 1408 });
    expect(qwen3_vl_moe.parse(withText({ head_dim: undefined })).headDim).toBe(16);
  });

  it.each<[Json, RegExp]>([
    [{ num_experts_per_tok: 9 }, /num_experts_per_tok must be at most num_experts, 8; got 9/],
    [{ decoder_sparse_step: 0 }, /decoder_sparse_step must be a whole number from 1/],
    [{ mlp_only_layers: [-1] }, /mlp_only_layers must be a list/],
    [{ moe_intermediate_size: 'x' }, /moe_intermediate_size must be a whole number/],
  ])('%j is refused', (fields, message) => {
    expect(() => readModel(withText(fields))).toThrow(ConfigError);
    expect(() => readModel(withText(fields))).toThrow(message);
  });
});

describe('a nano policy with experts, on the native kernels', () => {
  let device: Device;
  let root: string;
  beforeAll(async () => {
    device = openDevice(nativeBackend({ threads: 2 }));
    root = await mkdtemp(join(tmpdir(), 'saccade-experts-'));
  });
  afterAll(async () => {
    device.dispose();
    await rm(root, { recursive: true });
  });

  const model = qwen3_vl_moe.model(nano);
  const make = (seed = 1) => createLocalPolicy({ device, model, processor: tinyProcessor, seed });
  const image = (seed: number) => {
    const random = randomAt(seed, 'noise');
    const [width, height] = [160, 96];
    const pixels = Uint8Array.from({ length: width * height * 3 }, () => random.integer(256));
    return patchesOf(pixels, width, height, { ...tinyProcessor.images, patchSize: 16 });
  };
  const prompt = (seed: number) =>
    tinyProcessor.encodePrompt([
      { kind: 'text', text: `What is hidden in image ${seed}? Look closely. `.repeat(3) },
      { kind: 'image', image: image(seed) },
    ]);

  it('keeps the contract of policies', async () => {
    const policy = make();
    await checkSampledEqualsScored(policy, prompt(1), 0);
    await checkSamplingIsBatchInvariant(policy, [prompt(1), prompt(22), prompt(1)]);
    await checkScoresAreBatchInvariant(policy, prompt(3));
    await checkConversationReuse(policy, prompt(4));
    policy.dispose();
  });

  it('saves experts transposed, as published, and in the layout that it opened', async () => {
    const policy = make(2);
    const published = join(root, 'published');
    await policy.save(published);
    const path = (folder: string) => join(folder, 'model.safetensors');
    const name = 'model.language_model.layers.0.mlp.experts.gate_up_proj';
    const stored = (await readSafetensors(path(published))).get(name);
    expect(stored?.shape).toEqual([8, 64, 96]);
    const own = await policy.parameters['model.layers.0.mlp.experts.gate_up_proj']?.read();
    // Expert 1, row 2 of gate and up, column 3.
    expect(stored?.data[(1 * 64 + 3) * 96 + 2]).toBe(own?.[(1 * 96 + 2) * 64 + 3]);
    // As transformers 5 saves it: not transposed.
    const turned = join(root, 'turned');
    await policy.save(turned);
    const arrays = await readSafetensors(path(turned));
    for (const [key, { shape, dtype }] of arrays) {
      if (!/\.experts\./.test(key)) continue;
      const values = await policy.parameters[key.replace('language_model.', '')]?.read();
      const [count = 0, columns = 0, rows = 0] = shape;
      arrays.set(key, { dtype, shape: [count, rows, columns], data: values as Float32Array });
    }
    await writeSafetensors(path(turned), arrays);
    for (const folder of [published, turned]) {
      const again = await loadLocalPolicy({ device, directory: folder });
      for (const [key, tensor] of Object.entries(policy.parameters)) {
        const [mine, theirs] = [await tensor.read(), await again.parameters[key]?.read()];
        // Element by element a comparison of so many would take seconds.
        expect(
          mine.every((value, i) => value === theirs?.[i]),
          key,
        ).toBe(true);
      }
      const copy = join(folder, 'copy');
      await again.save(copy);
      expect(readFileSync(path(copy)).equals(readFileSync(path(folder)))).toBe(true);
      again.dispose();
    }
    policy.dispose();
  });

  it('adapts attention and dense layers; router and experts stay as they are', () => {
    const mixed = readModel(withText({ mlp_only_layers: [1] }));
    const names = storedLayers(mixed).map(({ name }) => name);
    expect(names.filter((name) => /language_model/.test(name) && /mlp/.test(name))).toEqual([
      'model.language_model.layers.1.mlp.gate_proj',
      'model.language_model.layers.1.mlp.up_proj',
      'model.language_model.layers.1.mlp.down_proj',
    ]);
    expect(names.filter((name) => /self_attn/.test(name))).toHaveLength(12);
  });

  it('is weighed with all of its experts', async () => {
    const plan = { model, processor: tinyProcessor, dtype: 'f32', training: {} } as const;
    const forecast = await predictMemory(plan, {
      optimizer: adamw.create(),
      valueHead: false,
      hasReference: false,
      microBatchTokens: 64,
      contextTokens: 64,
      concurrency: 2,
    });
    const policy = make(3);
    const bytesOf = (names: readonly string[]) =>
      names.reduce((sum, name) => sum + 4 * (policy.parameters[name]?.size ?? 0), 0);
    const names = Object.keys(policy.parameters);
    expect(forecast.weights).toBe(bytesOf(names));
    // Without images the vision tower has no gradient.
    const language = names.filter((name) => partOf(name) === 'language');
    expect(forecast.gradients).toBe(bytesOf(language));
    policy.dispose();
  });
});
