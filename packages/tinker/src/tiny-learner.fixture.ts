/** A tiny policy, and servers of it, for this package's tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  type LoraSettings,
  loadLocalPolicy,
  type ModelImage,
  nanoConfig,
  type PackedBatch,
  type PackedSegment,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { encode } from 'fast-png';
import { type LearnerModels, type ModelSpec, servedLocal } from './serve/learner-models.ts';
import { type LearnerServiceOptions, learnerService } from './serve/learner-service.ts';
import type { LoraConfig } from './wire/schemas.ts';

export const BASE = 'tiny';

export const processor: QwenProcessor = new QwenProcessor(
  trainTokenizer(['Which digit is hidden? ', '<answer>', 'image_clue_0.crop(('], 300),
  { ...qwenImageProcessor, minPixels: 28 * 28 },
);

const config = {
  ...nanoConfig(300, processor.tokens),
  hidden: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  intermediate: 48,
  mropeSection: [2, 1, 1] as [number, number, number],
  vision: {
    ...nanoConfig(300, processor.tokens).vision,
    depth: 1,
    hidden: 16,
    heads: 2,
    intermediate: 24,
    windowSize: 56,
    fullAttentionBlocks: [0],
  },
};

export const model = qwen2_5_vl.model(config);

export function tinyDevice(): Device {
  return openDevice(nativeBackend({ threads: 1 }));
}

function loraOf({ rank, alpha, targets }: LoraConfig): LoraSettings {
  return {
    rank,
    alpha: alpha ?? 32,
    rsLora: false,
    targets: { language: targets ?? ['all-linear'] },
  };
}

/** Policies with the weights of a seed: the same ones again and again. */
export function tinyModels(device: Device, options: { valueHead?: boolean } = {}): LearnerModels {
  const open = (lora: LoraConfig | undefined): LocalPolicy =>
    createLocalPolicy({
      device,
      model,
      processor,
      seed: 1,
      ...options,
      ...(lora && { lora: loraOf(lora), seed: lora.seed ?? 1 }),
    });
  return {
    names: [BASE],
    vocabSize: model.vocabSize,
    architecture: 'qwen2_5_vl',
    hasValues: options.valueHead ?? false,
    async open({ lora, from }: ModelSpec) {
      const policy =
        from === undefined ? open(lora) : await loadLocalPolicy({ device, directory: from });
      return servedLocal(policy, async () => open(undefined));
    },
  };
}

/** A server as a function in the place of `fetch`; `restart` forgets all but what was saved. */
export class TinyServer {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'saccade-tinker-'));
  readonly url: string = 'http://learner.test';
  readonly #device: Device;
  readonly #options: Partial<LearnerServiceOptions>;
  #service: ReturnType<typeof learnerService>;
  requests: string[] = [];

  constructor(device: Device, options: Partial<LearnerServiceOptions> = {}) {
    this.#device = device;
    this.#options = options;
    this.#service = this.#start();
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input as string, init);
    this.requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return await this.#service.app.request(request, undefined, { call: inProcessCall() });
  };

  get host() {
    return this.#service.host;
  }

  /** What was in memory is gone. */
  async restart(): Promise<void> {
    const before = this.#service;
    this.#service = this.#start();
    await before.host.dispose();
  }

  async dispose(): Promise<void> {
    await this.#service.host.dispose();
    rmSync(this.directory, { recursive: true });
  }

  #start(): ReturnType<typeof learnerService> {
    return learnerService({
      models: tinyModels(this.#device),
      directory: this.directory,
      maxModels: 8,
      exposesGradients: true,
      ...this.#options,
    });
  }
}

/** What the kit tells a handler of a call over a connection. */
function inProcessCall() {
  const { signal } = new AbortController();
  return {
    client: 'test',
    isTrusted: true,
    isDraining: () => false,
    signal,
    bodySignal: signal,
    onEnd: () => {},
    report: () => {},
    route: '',
  };
}

/** A PNG of noise. */
export function noisePng(width: number, height: number, seed: number): Uint8Array {
  const random = randomAt(seed, 'noise');
  const data = Uint8Array.from({ length: width * height * 3 }, () => random.integer(256));
  return encode({ width, height, channels: 3, data });
}

/** A group: a prompt with an image as the root, and children of random tokens. */
export async function groupBatch(
  seed: number,
  options: { image?: boolean; children?: number } = {},
): Promise<PackedBatch> {
  const { image = true, children = 3 } = options;
  const random = randomAt(seed, 'group');
  const images: ModelImage[] = image ? [await processor.prepareImage(noisePng(56, 56, seed))] : [];
  const prompt = processor.encodePrompt([
    ...images.map((one) => ({ kind: 'image' as const, image: one })),
    { kind: 'text' as const, text: 'Which digit is hidden?' },
  ]);
  const segments: PackedSegment[] = [{ ...prompt, parent: -1 }];
  const rows: number[] = [];
  const targets: number[] = [];
  let start = prompt.tokens.length;
  for (let child = 0; child < children; child++) {
    const tokens = Int32Array.from({ length: 3 + random.integer(4) }, () => random.integer(256));
    segments.push({ tokens, parent: 0, images: [] });
    tokens.forEach((token, i) => {
      rows.push(i === 0 ? prompt.tokens.length - 1 : start + i - 1);
      targets.push(token);
    });
    start += tokens.length;
  }
  return { segments, rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
}

/** All weights of a policy, by name. */
export async function weightsOf(policy: LocalPolicy): Promise<Record<string, unknown>> {
  const read = await Promise.all(
    Object.entries(policy.parameters).map(async ([name, one]) => [name, await one.read()] as const),
  );
  return Object.fromEntries(read);
}
