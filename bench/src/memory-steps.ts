/** Memory after every step of a long training: what the backend counts, and what the process takes. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { randomAt } from '@saccade/core';
import { type Backend, type MemoryUse, openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  type ModelImage,
  nanoConfig,
  type Qwen2_5_VLConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { contractRequest, scoringBatch } from '@saccade/policy/contract';
import { blockLength, type Drift, driftOf, type Verdict, verdictOf } from './drift.ts';

/** Trajectories sampled of every prompt. */
const GROUP = 2;
/** An image of 2 × 2 patches, which is one token. */
const PATCHES = 2;
const VOCABULARY = 300;

/**
 * The readings, and how much each may grow per step, in its unit: counts not at all; the heap by
 * what V8 adds while it continues compiling (0.16 MB of code between steps 200 and 1,000, nearly
 * all of the difference between two heap snapshots); the process by a page.
 */
export const READINGS = {
  liveBuffers: { title: 'live buffers', unit: 'buffers', growthAllowed: 0 },
  heldBuffers: { title: 'buffers held, pool included', unit: 'buffers', growthAllowed: 0 },
  liveBytes: { title: 'live bytes', unit: 'bytes', growthAllowed: 0 },
  heldBytes: { title: 'bytes held, pool included', unit: 'bytes', growthAllowed: 0 },
  residentBytes: { title: 'resident memory of the process', unit: 'bytes', growthAllowed: 4096 },
  heapBytes: { title: 'JavaScript heap in use', unit: 'bytes', growthAllowed: 512 },
  externalBytes: { title: 'what JavaScript holds outside', unit: 'bytes', growthAllowed: 512 },
} as const;
export type Reading = keyof typeof READINGS;

export interface MemoryRun {
  readonly what: string;
  readonly backend: string;
  readonly steps: number;
  /** Steps from one full garbage collection to the next. */
  readonly collectEvery: number;
  /** Seconds of all steps. */
  readonly seconds: number;
  /** Mean log-prob of the sampled tokens at the first and the last step: it does learn. */
  readonly logprob: readonly [first: number, last: number];
  /** One value per step. */
  readonly series: Readonly<Record<Reading, Float64Array>>;
  readonly drift: Readonly<Record<Reading, Drift & { readonly verdict: Verdict }>>;
}

export interface MemoryRunOptions {
  /** Disposed of at the end. */
  readonly backend: Backend;
  readonly steps: number;
  readonly onStep: (line: string) => void;
  /** Once aborted, no other step begins. */
  readonly signal?: AbortSignal;
}

/** Steps below which a drift cannot be computed. */
export const LEAST_STEPS = 20;

/**
 * Trains a tiny policy and looks at memory after each step: a group is sampled after a prompt with
 * an image, scored, its gradient taken, AdamW steps. Prompts differ in length from step to step, so
 * that the pool meets many sizes.
 *
 * V8 lets garbage lie for thousands of steps where there is room. It is collected once in every
 * block of the drift, which then sees what is held, and the lines show what lies about in between.
 *
 * @returns undefined where it was stopped before there was a drift to see
 */
export async function measureMemory(options: MemoryRunOptions): Promise<MemoryRun | undefined> {
  const { backend, onStep, signal } = options;
  let { steps } = options;
  const device = openDevice(backend);
  const processor = new QwenProcessor(trainTokenizer([], VOCABULARY), qwenImageProcessor);
  const model = qwen2_5_vl.model(tinyConfig(processor));
  const policy = createLocalPolicy({ device, model, processor, seed: 1 });
  let series = emptySeries(Object.keys(READINGS) as Reading[], steps);
  const logprob = [Number.NaN, Number.NaN] as [number, number];
  const collectGarbage = garbageCollection();
  const collectEvery = Math.max(1, blockLength(steps));
  const start = performance.now();
  try {
    for (let step = 0; step < steps; step++) {
      logprob[1] = await trainOnce(policy, step);
      if (step === 0) logprob[0] = logprob[1];
      if (step % collectEvery === collectEvery - 1) collectGarbage();
      // Callbacks give back the memory of collected objects.
      await new Promise((resolve) => setImmediate(resolve));
      read(backend, series, step);
      if (step % 10 === 9) onStep(`step ${step + 1} of ${steps}`);
      if (signal?.aborted && step + 1 < steps) {
        steps = step + 1;
        series = firstOf(series, steps);
      }
    }
  } finally {
    policy.dispose();
    device.dispose();
  }
  if (signal?.aborted && steps < LEAST_STEPS) return undefined;
  const drift = Object.fromEntries(
    Object.entries(series).map(([reading, values]) => {
      const found = driftOf([...values]);
      const { growthAllowed } = READINGS[reading as Reading];
      return [reading, { ...found, verdict: verdictOf(found, growthAllowed) }];
    }),
  ) as MemoryRun['drift'];
  return {
    what:
      `${steps} steps of a policy of ${policy.parameterCount} parameters: ${GROUP} trajectories ` +
      'sampled after a prompt with an image, forward, backward, AdamW',
    backend: backend.description,
    steps,
    collectEvery,
    seconds: (performance.now() - start) / 1000,
    logprob,
    series,
    drift,
  };
}

function tinyConfig(processor: QwenProcessor): Qwen2_5_VLConfig {
  const nano = nanoConfig(VOCABULARY, processor.tokens);
  return {
    ...nano,
    hidden: 32,
    layers: 1,
    heads: 2,
    kvHeads: 1,
    intermediate: 48,
    mropeSection: [4, 2, 2],
    vision: {
      ...nano.vision,
      depth: 1,
      hidden: 16,
      heads: 1,
      intermediate: 24,
      fullAttentionBlocks: [0],
    },
  };
}

/** The mean log-prob of what was sampled; it is made likelier. */
async function trainOnce(policy: LocalPolicy, step: number): Promise<number> {
  const random = randomAt(1, 'memory', step);
  const text = 'look'.repeat(random.integer(4));
  const prompt = policy.processor.encodePrompt([
    { kind: 'text', text },
    { kind: 'image', image: noiseImage(step) },
  ]);
  const results = await Promise.all(
    Array.from({ length: GROUP }, (_, i) => {
      const options = { maxTokens: 2 + random.integer(3), sharedPrefix: 'prompt' };
      return policy.sample(contractRequest(prompt, `${i}`, step * GROUP + i, options));
    }),
  );
  for (const name of ['prompt', ...results.keys()]) policy.release(`${name}`);
  const batch = scoringBatch(prompt, results, true);
  const { logprobs } = await policy.forwardBackward(batch, ({ logprobs: values }) => ({
    loss: -values.reduce((sum, value) => sum + value, 0) / values.length,
    gradLogprobs: new Float32Array(values.length).fill(-1 / values.length),
  }));
  await policy.optimizerStep({ learningRate: 1e-3 });
  return logprobs.reduce((sum, value) => sum + value, 0) / logprobs.length;
}

function noiseImage(seed: number): ModelImage {
  const { patchSize, temporalPatchSize, mergeSize } = qwenImageProcessor;
  const random = randomAt(seed, 'picture');
  const length = PATCHES * PATCHES * 3 * temporalPatchSize * patchSize * patchSize;
  const side = PATCHES * patchSize;
  return {
    patches: Float32Array.from({ length }, () => random.normal()),
    gridHeight: PATCHES,
    gridWidth: PATCHES,
    tokenCount: (PATCHES * PATCHES) / mergeSize ** 2,
    width: side,
    height: side,
  };
}

/**
 * V8's, which it does not offer unasked; twice, because the bytes of arrays that one collection finds
 * unused are taken off the count of external memory when the next begins.
 */
export function garbageCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    collect();
  };
}

/** As long as the run from the start: the heap must not grow by what is written down of it. */
export function emptySeries<Name extends Reading>(
  readings: readonly Name[],
  steps: number,
): Record<Name, Float64Array> {
  return Object.fromEntries(
    readings.map((reading) => [reading, new Float64Array(steps).fill(Number.NaN)]),
  ) as Record<Name, Float64Array>;
}

/** The first readings of each series: those of a run that was stopped. */
export function firstOf<Name extends Reading>(
  series: Readonly<Record<Name, Float64Array>>,
  steps: number,
): Record<Name, Float64Array> {
  const entries = Object.entries<Float64Array>(series);
  return Object.fromEntries(
    entries.map(([reading, values]) => [reading, values.slice(0, steps)]),
  ) as Record<Name, Float64Array>;
}

/** Writes down how memory stands now. */
function read(backend: Backend, series: Record<Reading, Float64Array>, step: number): void {
  const unknown = Number.NaN;
  const use: MemoryUse = backend.memoryUse?.() ?? {
    liveBuffers: unknown,
    liveBytes: backend.allocatedBytes(),
    heldBuffers: unknown,
    heldBytes: unknown,
  };
  const { rss, heapUsed, external } = process.memoryUsage();
  const now = { ...use, residentBytes: rss, heapBytes: heapUsed, externalBytes: external };
  for (const [reading, value] of Object.entries(now)) series[reading as Reading][step] = value;
}
