import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, DataError } from '@saccade/core';
import { readSafetensors, writeSafetensors } from '@saccade/nn/files';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { architectures } from '../architecture-registry.ts';
import { qwen2_5_vl } from '../architectures/qwen2_5_vl.ts';
import { checkSampledEqualsScored, contractRequest, scoringBatch, squares } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import { partOf } from '../models/model-parts.ts';
import { nanoSize } from '../models/model-size.ts';
import { createLocalPolicy, loadLocalPolicy } from '../open-policy.ts';
import {
  noiseImage,
  tinyConfig,
  tinyModel,
  tinyPolicy,
  tinyProcessor,
} from '../tiny-policy.fixture.ts';
import { Adapter, adaptedLayers, type LoraSettings, storedLayers } from './adapter.ts';
import { writeAdapter } from './adapter-files.ts';

const lora: LoraSettings = {
  rank: 3,
  alpha: 6,
  rsLora: false,
  targets: { language: ['all-linear'], merger: ['mlp.0'], vision: ['qkv', 'down_proj'] },
};

const tinyTokens = { imageToken: 7, videoToken: 8, visionStartToken: 5, visionEndToken: 6 };

let device: Device;
let directory: string;
/** Whole weights of the base, as a checkpoint. */
let base: string;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 2 }));
  directory = await mkdtemp(join(tmpdir(), 'saccade-adapter-'));
  base = join(directory, 'base');
  const policy = tinyPolicy(device);
  await policy.save(base);
  policy.dispose();
});
afterAll(async () => {
  device.dispose();
  await rm(directory, { recursive: true });
});

const prompt = tinyProcessor.encodePrompt([
  { kind: 'text', text: 'Look: ' },
  { kind: 'image', image: noiseImage(84, 56, 1) },
  { kind: 'text', text: 'Which digit?' },
]);
const answer = tinyProcessor.encodeModelText('image_clue_0', true);
const batch = scoringBatch(
  prompt,
  [{ tokens: answer, logprobs: new Float32Array(), text: '', finish: 'stop', policyVersion: 0 }],
  true,
);

const open = (changed: Partial<Parameters<typeof loadLocalPolicy>[0]> = {}) =>
  loadLocalPolicy({ device, directory: base, lora, seed: 4, ...changed });
/** The frozen weights are there already. */
const shared = {
  openWhole: () => {
    throw new Error('A reference of the same base is not loaded again.');
  },
};
const scoresOf = async (policy: Pick<LocalPolicy, 'score'>) => (await policy.score(batch)).logprobs;

async function train(policy: LocalPolicy, steps = 2): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await policy.forwardBackward(batch, squares);
    await policy.optimizerStep({ learningRate: 0.02 });
  }
}

async function bitsOf(policy: LocalPolicy, isWanted: (name: string) => boolean) {
  const bits: Record<string, unknown> = {};
  for (const [name, tensor] of Object.entries(policy.parameters)) {
    if (isWanted(name)) bits[name] = await tensor.readStored();
  }
  return bits;
}

const isAdapter = (name: string) => /lora_/.test(name);
const largest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - (b[i] ?? Number.NaN))));

describe('a policy with an adapter', () => {
  it('begins as its base, and trains the adapter alone', async () => {
    const plain = await loadLocalPolicy({ device, directory: base });
    const policy = await open();
    expect(await scoresOf(policy)).toEqual(await scoresOf(plain));
    expect(policy.trainable.every(isAdapter)).toBe(true);
    const frozen = await bitsOf(policy, (name) => !isAdapter(name));
    const before = await bitsOf(policy, isAdapter);
    await train(policy);
    expect(await bitsOf(policy, (name) => !isAdapter(name))).toEqual(frozen);
    const after = await bitsOf(policy, isAdapter);
    // In the second step, when B is no longer zero, A moves too.
    for (const name of policy.trainable) expect(after[name], name).not.toEqual(before[name]);
    const folder = join(directory, 'moments');
    await policy.save(folder, { optimizer: true });
    const moments = [...(await readSafetensors(join(folder, 'optimizer.safetensors'))).keys()];
    expect(moments.sort()).toEqual(
      policy.trainable.flatMap((name) => [`m.${name}`, `v.${name}`]).sort(),
    );
    plain.dispose();
    policy.dispose();
  });

  it('records in sampling the log-probs that training computes', async () => {
    const policy = await open();
    await train(policy);
    await checkSampledEqualsScored(policy, prompt);
    expect(policy.samplesAsItScores).toBe(true);
    policy.dispose();
  });

  it('saves the adapter alone, as peft does, and goes on from it with the same bits', async () => {
    const whole = await open();
    await train(whole, 4);
    const first = await open();
    await train(first);
    const folder = join(directory, 'saved');
    await first.save(folder, { optimizer: true });
    expect(readdirSync(folder)).not.toContain('model.safetensors');
    const config = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({ peft_type: 'LORA', r: 3, lora_alpha: 6, use_rslora: false });
    expect(config.base_model_name_or_path).toBe(base);
    const arrays = await readSafetensors(join(folder, 'adapter_model.safetensors'));
    const prefix = 'base_model.model.model';
    const shape = (name: string) => arrays.get(`${prefix}.${name}.weight`)?.shape;
    expect(shape('language_model.layers.1.self_attn.k_proj.lora_A')).toEqual([3, 32]);
    expect(shape('language_model.layers.1.self_attn.k_proj.lora_B')).toEqual([16, 3]);
    // transformers has one layer for q, k and v of a vision block.
    expect(shape('visual.blocks.0.attn.qkv.lora_A')).toEqual([3, 16]);
    expect(shape('visual.blocks.0.attn.qkv.lora_B')).toEqual([48, 3]);
    const second = await open({ seed: 99 });
    await second.load(folder, { optimizer: true });
    expect(second.version).toBe(2);
    await train(second);
    expect(await bitsOf(second, isAdapter)).toEqual(await bitsOf(whole, isAdapter));
    // The directory alone is enough: the adapter names its base.
    const alone = await loadLocalPolicy({ device, directory: folder });
    expect(await scoresOf(alone)).toEqual(await scoresOf(first));
    for (const policy of [whole, first, second, alone]) policy.dispose();
  });

  // peft adapts every module whose name ends so, and refuses one that is no linear layer.
  it.each(architectures.names)('names linear layers of %s alone to peft', async (name) => {
    const unit = architectures.get(name);
    const model = unit.model(unit.nano(300, tinyTokens, { ...nanoSize, layers: 2 }));
    const parts = [...new Set(storedLayers(model).map((layer) => partOf(layer.name)))];
    const targets = Object.fromEntries(parts.map((part) => [part, ['all-linear']]));
    const adapter = Adapter.create(device, adaptedLayers(model, { ...lora, targets }), 1);
    const folder = join(directory, name);
    await writeAdapter(folder, adapter, { model, fingerprint: '', dtype: 'f32' });
    adapter.dispose();
    const config = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
    const linear = new Set(storedLayers(model).map((layer) => layer.name));
    const prefixes = model.specs.flatMap((spec) => {
      const words = model.storedAs(spec.name).name.split('.');
      return words.map((_, i) => words.slice(0, i).join('.'));
    });
    for (const target of config.target_modules as readonly string[]) {
      const named = prefixes.filter((one) => one === target || one.endsWith(`.${target}`));
      expect(named.filter((one) => !linear.has(one))).toEqual([]);
    }
  });

  it('saves an adapter of random weights with its base', async () => {
    const model = { device, model: tinyModel, processor: tinyProcessor };
    const policy = createLocalPolicy({ ...model, seed: 5, lora });
    await train(policy);
    const folder = join(directory, 'random');
    await policy.save(folder);
    const alone = await loadLocalPolicy({ device, directory: folder });
    expect(await scoresOf(alone)).toEqual(await scoresOf(policy));
    const other = createLocalPolicy({ ...model, seed: 6, lora });
    await other.load(folder);
    expect(await scoresOf(other)).toEqual(await scoresOf(policy));
    for (const one of [policy, alone, other]) one.dispose();
  });

  it('takes whole weights for its base', async () => {
    const folder = join(directory, 'other-base');
    const plain = tinyPolicy(device, 7);
    await plain.save(folder);
    const policy = await open();
    await policy.load(folder);
    expect(await scoresOf(policy)).toEqual(await scoresOf(plain));
    await train(policy);
    const saved = join(directory, 'on-other-base');
    await policy.save(saved);
    // The run that goes on opened its first base again.
    const resumed = await open();
    await resumed.load(saved);
    expect(await scoresOf(resumed)).toEqual(await scoresOf(policy));
    for (const one of [plain, policy, resumed]) one.dispose();
  });

  it('gives the reference without a second copy of the base', async () => {
    const policy = await open();
    const start = join(directory, 'start');
    await policy.save(start);
    const before = await scoresOf(policy);
    await train(policy);
    const bytes = device.allocatedBytes();
    const reference = await policy.openReference(start, shared);
    expect(device.allocatedBytes()).toBe(bytes);
    expect(await scoresOf(reference)).toEqual(before);
    const moved = join(directory, 'moved');
    await policy.save(moved);
    const scores = await scoresOf(policy);
    await train(policy);
    const second = await policy.openReference(moved, shared);
    expect(await scoresOf(second)).toEqual(scores);
    reference.dispose();
    second.dispose();
    expect(device.allocatedBytes()).toBe(bytes);
    policy.dispose();
  });

  it('samples from merged weights, and saves them, within rounding', async () => {
    const policy = await open();
    const merged = await open({ samplesMerged: true });
    expect(merged.samplesAsItScores).toBe(false);
    await train(policy);
    await train(merged);
    const request = contractRequest(prompt, 'merged', 3);
    const [own, other] = [await policy.sample(request), await merged.sample(request)];
    expect(other.tokens).toEqual(own.tokens);
    expect(largest(other.logprobs, own.logprobs)).toBeLessThan(1e-4);
    expect(other.logprobs).not.toEqual(own.logprobs);
    const folder = join(directory, 'merged');
    await policy.save(folder, { merged: true });
    expect(readdirSync(folder)).not.toContain('adapter_config.json');
    const whole = await loadLocalPolicy({ device, directory: folder });
    expect(largest(await scoresOf(whole), await scoresOf(policy))).toBeLessThan(1e-4);
    for (const one of [policy, merged, whole]) one.dispose();
  });

  it('scales by α/√r if rank-stabilized, also after it was saved', async () => {
    const policy = await open({ lora: { ...lora, rsLora: true } });
    await train(policy);
    const folder = join(directory, 'stabilized');
    await policy.save(folder);
    const loaded = await loadLocalPolicy({ device, directory: folder });
    expect(await scoresOf(loaded)).toEqual(await scoresOf(policy));
    const path = join(folder, 'adapter_config.json');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...config, use_rslora: false }));
    const plain = await loadLocalPolicy({ device, directory: folder });
    expect(await scoresOf(plain)).not.toEqual(await scoresOf(policy));
    for (const one of [policy, loaded, plain]) one.dispose();
  });
});

describe('an adapter that does not fit', () => {
  let saved: string;
  beforeAll(async () => {
    saved = join(directory, 'fitting');
    const policy = await open();
    await policy.save(saved);
    policy.dispose();
  });

  /** A copy of the adapter with another configuration. */
  async function changed(fields: Record<string, unknown>, file = 'adapter_config.json') {
    const folder = await mkdtemp(join(directory, 'changed-'));
    await mkdir(folder, { recursive: true });
    for (const name of readdirSync(saved)) {
      await writeFile(join(folder, name), readFileSync(join(saved, name)));
    }
    const config = JSON.parse(readFileSync(join(saved, file), 'utf8'));
    await writeFile(join(folder, file), JSON.stringify({ ...config, ...fields }));
    return folder;
  }

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['DoRA', { use_dora: true }, /use_dora must be false, is true/],
    ['dropout', { lora_dropout: 0.1 }, /lora_dropout must be 0, is 0.1/],
    ['trained biases', { bias: 'all' }, /bias must be "none"/],
    ['whole layers beside it', { modules_to_save: ['lm_head'] }, /modules_to_save/],
    ['another kind', { peft_type: 'IA3' }, /peft_type must be "LORA"/],
    ['no rank', { r: null }, /r must be a number/],
    ['another rank than its matrices', { r: 5 }, /must be \[5, 32\], got \[3, 32\]/],
    ['a base that is not there', { base_model_name_or_path: 'a/b' }, /needs the base a\/b/],
    ['no base', { base_model_name_or_path: null }, /names no base/],
  ])('is refused with %s', async (_, fields, message) => {
    const loading = loadLocalPolicy({ device, directory: await changed(fields) });
    await expect(loading).rejects.toThrow(DataError);
    await expect(loading).rejects.toThrow(message);
  });

  it('is refused on other weights, and on another model', async () => {
    const bytes = device.allocatedBytes();
    const other = join(directory, 'other-weights');
    const otherPolicy = tinyPolicy(device, 12);
    await otherPolicy.save(other);
    otherPolicy.dispose();
    const onOther = loadLocalPolicy({ device, directory: other, adapterDirectory: saved });
    await expect(onOther).rejects.toThrow(/is not one of .*: it was trained on other weights/);
    expect(device.allocatedBytes()).toBe(bytes);
    const narrow = qwen2_5_vl.model({ ...tinyConfig, layers: 1 });
    const parts = { device, model: narrow, processor: tinyProcessor, seed: 1 };
    const policy = createLocalPolicy({ ...parts, lora });
    // As of peft: without a fingerprint.
    const anonymous = await changed({ base_model_name_or_path: null });
    const path = join(anonymous, 'adapter_model.safetensors');
    await writeSafetensors(path, await readSafetensors(path));
    await expect(policy.load(anonymous)).rejects.toThrow(/it has no linear layer for .*layers.1/);
    policy.dispose();
  });

  it('is refused by a policy without one, or with one of another shape', async () => {
    const plain = await loadLocalPolicy({ device, directory: base });
    await expect(plain.load(saved)).rejects.toThrow(/the policy has none. .*model.lora/);
    plain.dispose();
    const wider = await open({ lora: { ...lora, rank: 4 } });
    await expect(wider.load(saved)).rejects.toThrow(/Open the policy with the same rank/);
    wider.dispose();
  });

  it('names the setting whose target names no layer', async () => {
    const opening = open({ lora: { ...lora, targets: { vision: ['q_proj'] } } });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(/model.lora.visionTargets: .*qkv, proj/);
  });
});
