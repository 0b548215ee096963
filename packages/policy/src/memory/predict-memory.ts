/**
 * How much memory a policy takes in a run: the run's own code on a device that only counts, so that
 * a forecast follows every change of the code. Nothing is loaded.
 */
import type { DType } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import { type Device, dryBackend, openDevice } from '@saccade/ops';
import type { Optimizer } from '@saccade/optim';
import { adopt, type Tensor } from '@saccade/tensor';
import type { ModelImage, PackedBatch, PackedSegment } from '../batch.ts';
import { type EngineSettings, engineSettings } from '../engine/engine-settings.ts';
import { cacheDtype, KvCache, PAGE, SlotList } from '../engine/kv-cache.ts';
import { LocalPolicy } from '../local-policy.ts';
import { Adapter, adaptedLayers, adapterSpecs } from '../lora/adapter.ts';
import type { ModelPlan } from '../model-unit.ts';
import type { LanguageModel } from '../models/language-model.ts';
import { valueHeadSpecs } from '../models/value-head.ts';
import type { Processor } from '../policy.ts';

/** What a run does with a policy. */
export interface MemoryWorkload {
  readonly optimizer: Optimizer;
  /** Whether the policy predicts returns. */
  readonly valueHead: boolean;
  /** Whether a second policy is held for the log-probs of the reference. */
  readonly hasReference: boolean;
  /** Tokens of a forward and backward. */
  readonly microBatchTokens: number;
  /** Longest context of a trajectory, tokens. */
  readonly contextTokens: number;
  /** Contexts that are sampled at a time. */
  readonly concurrency: number;
  /** How the engine samples. Default: the defaults of its settings. */
  readonly engine?: Partial<EngineSettings>;
  /** An image of the largest size, and how many of them a context may have. */
  readonly images?: { readonly image: ModelImage; readonly perContext: number };
}

/** Bytes by what takes them; their sum is the most that is allocated at a time. */
export interface MemoryForecast {
  readonly weights: number;
  readonly adapter: number;
  readonly reference: number;
  /** Quantized weights that samples are drawn with. */
  readonly sampleWeights: number;
  /** Of one backward. */
  readonly gradients: number;
  /** The state of the optimizer. */
  readonly moments: number;
  /** Keys and values of the contexts that are sampled. */
  readonly cache: number;
  /** The largest of training and sampling, without images; gradients of a second micro-batch. */
  readonly activations: number;
  /** What images add to activations. */
  readonly images: number;
  /** The sum. */
  readonly total: number;
  /** What a process grows by, if memory is the host's: freed memory is kept for the next use. */
  readonly held: number;
}

/** Forecasts the memory of a policy in a run. */
export async function predictMemory(
  plan: ModelPlan,
  workload: MemoryWorkload,
): Promise<MemoryForecast> {
  const whole = await dryRun(plan, workload);
  if (workload.images === undefined) return { ...whole, images: 0 };
  const { images: _, ...text } = workload;
  const plain = await dryRun(plan, text);
  const images = Math.max(0, whole.activations - plain.activations);
  return { ...whole, activations: whole.activations - images, images };
}

async function dryRun(
  plan: ModelPlan,
  workload: MemoryWorkload,
): Promise<Omit<MemoryForecast, 'images'>> {
  const { model, training: options } = plan;
  const backend = dryBackend();
  const device = openDevice(backend);
  const bytes = () => device.allocatedBytes();
  const growth = async (work: () => unknown) => {
    const before = bytes();
    await work();
    return bytes() - before;
  };
  let parameters: Record<string, Tensor> = {};
  const weights = await growth(() => {
    parameters = weightsOn(device, plan, workload.valueHead);
  });
  const layers = options.lora && adaptedLayers(model, options.lora);
  let made: Adapter | undefined;
  const adapter = await growth(() => {
    if (layers === undefined) return;
    made = new Adapter(device, layers, allocateAll(device, adapterSpecs(layers), plan.dtype));
  });
  // With an adapter the reference is the same base.
  const hasCopy = workload.hasReference && layers === undefined;
  const reference = await growth(() => hasCopy && weightsOn(device, plan, false));
  const { processor } = plan;
  const parts = { device, model, processor, parameters, ...options };
  const policy = new LocalPolicy({ ...parts, ...(made && { adapter: made }) });
  const { sampleWeights: bits } = engineOf(workload);
  const sampleWeights = await growth(() => policy.configureEngine({ sampleWeights: bits }));
  const cache = await growth(() => fillCache(device, model, parameters, workload));
  const batch = batchOf(plan, workload);
  const step = { learningRate: 1, optimizer: workload.optimizer };
  const gradients = await growth(() => learn(policy, batch));
  // A minibatch of several micro-batches adds the gradients of each to those before.
  await learn(policy, batch);
  const moments = gradients + (await growth(() => policy.optimizerStep(step)));
  await learn(policy, batch);
  await learn(policy, batch);
  const known = weights + adapter + reference + sampleWeights + gradients + moments + cache;
  const training = backend.peakBytes - known;
  const held = backend.peakHeldBytes;
  device.dispose();
  const activations = Math.max(training, await samplingBytes(plan, workload));
  const total = known + activations;
  return {
    weights,
    adapter,
    reference,
    sampleWeights,
    gradients,
    moments,
    cache,
    activations,
    total,
    held: held + activations - training,
  };
}

/** Activations of a pass of the engine. */
async function samplingBytes(plan: ModelPlan, workload: MemoryWorkload): Promise<number> {
  const { model, processor } = plan;
  const backend = dryBackend();
  const device = openDevice(backend);
  const parameters = weightsOn(device, plan, false);
  const policy = new LocalPolicy({ device, model, processor, parameters });
  policy.configureEngine(engineOf(workload));
  await samplePass(policy, workload);
  // What stays is its cache, which grew in between: the pass itself comes after the growth.
  const bytes = backend.peakBytes - device.allocatedBytes();
  device.dispose();
  return bytes;
}

function allocateAll(
  device: Device,
  specs: readonly { readonly name: string; readonly shape: readonly number[] }[],
  dtype: DType,
): Record<string, Tensor> {
  return Object.fromEntries(
    specs.map(({ name, shape }) => [name, adopt(device, device.alloc(dtype, shape))]),
  );
}

function weightsOn(
  device: Device,
  { model, dtype }: ModelPlan,
  valueHead: boolean,
): Record<string, Tensor> {
  const weights = allocateAll(device, model.specs, dtype);
  return valueHead
    ? { ...weights, ...allocateAll(device, valueHeadSpecs(model.hidden), dtype) }
    : weights;
}

/** Fills a cache with as many contexts of the longest length as are sampled at a time and fit. */
function fillCache(
  device: Device,
  model: LanguageModel,
  parameters: Parameters,
  workload: MemoryWorkload,
): void {
  const { layers, kvHeads, headDim } = model;
  const { kvCacheTokens } = engineOf(workload);
  const dtype = cacheDtype(engineOf(workload), parameters);
  const pagesOfContext = Math.ceil(workload.contextTokens / PAGE);
  const wanted = pagesOfContext * workload.concurrency;
  const pages = kvCacheTokens === 0 ? wanted : Math.floor(kvCacheTokens / PAGE);
  // An unbounded cache at least doubles when it grows, whatever is asked of it.
  const most = kvCacheTokens === 0 ? Number.POSITIVE_INFINITY : pages;
  const cache = new KvCache(device, { dtype, layers, kvHeads, headDim, pages: most });
  for (let i = 0; i < workload.concurrency; i++) {
    if (cache.freePages < pagesOfContext) break;
    cache.extend(new SlotList(), workload.contextTokens);
  }
}

const engineOf = ({ engine = {} }: MemoryWorkload): EngineSettings => engineSettings.parse(engine);

/** A pass of new tokens and of one token of each context. */
async function samplePass(policy: LocalPolicy, workload: MemoryWorkload): Promise<void> {
  const { concurrency, contextTokens } = workload;
  const { prefillChunkTokens } = engineOf(workload);
  const most = Math.min(contextTokens, policy.model.maxPositions) - 1;
  const rows = Math.min(prefillChunkTokens + concurrency, most * concurrency);
  const count = Math.max(1, Math.floor(rows / most));
  const requests = Array.from({ length: count }, (_, i) =>
    policy.sample({
      tokens: new Int32Array(Math.min(rows, most)),
      images: [],
      maxTokens: 1,
      stop: [],
      ignoreEndOfTurn: true,
      temperature: 1,
      seed: [0, i],
      conversation: String(i),
    }),
  );
  await Promise.all(requests);
}

/** A micro-batch of contexts of the longest length, each with its images, all tokens scored. */
function batchOf({ processor }: ModelPlan, workload: MemoryWorkload): PackedBatch {
  const { microBatchTokens, contextTokens, images } = workload;
  const total = Math.max(microBatchTokens, contextTokens);
  const segments: PackedSegment[] = [];
  const rows: number[] = [];
  let start = 0;
  while (start < total) {
    const length = Math.min(contextTokens, total - start);
    segments.push(contextOf(processor, length, images));
    for (let i = 0; i < length - 1; i++) rows.push(start + i);
    start += length;
  }
  return { segments, rows: Int32Array.from(rows), targets: new Int32Array(rows.length) };
}

function contextOf(
  processor: Processor,
  length: number,
  images: MemoryWorkload['images'],
): PackedSegment {
  const tokens = new Int32Array(length);
  if (images === undefined) return { tokens, images: [], parent: -1 };
  const { image, perContext } = images;
  const one = processor.encodeContent([{ kind: 'image', image }]).tokens;
  const count = Math.min(perContext, Math.floor(length / one.length));
  for (let i = 0; i < count; i++) tokens.set(one, i * one.length);
  return { tokens, images: new Array<ModelImage>(count).fill(image), parent: -1 };
}

async function learn(policy: LocalPolicy, batch: PackedBatch): Promise<void> {
  const zeros = new Float32Array(batch.targets.length);
  const hasValues = 'value_head.weight' in policy.parameters;
  await policy.forwardBackward(batch, () => ({
    loss: 0,
    gradLogprobs: zeros,
    gradEntropy: zeros,
    ...(hasValues && { gradValues: zeros }),
  }));
}
