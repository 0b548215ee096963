/**
 * One GRPO step of a checkpoint with LoRA: a group sampled from an image prompt, scored, learned from;
 * its seconds, and its memory beside what is forecast.
 */
import { grpo } from '@saccade/algorithms';
import { type InstructionSet, nativeBackend } from '@saccade/backend-native';
import { openDevice } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import {
  type EngineSettings,
  engineSettings,
  type LocalPolicy,
  type LoraSettings,
  loadLocalPolicy,
  type PackedBatch,
  type SampleResult,
} from '@saccade/policy';
import { largestImage, type MemoryForecast, predictMemory } from '@saccade/policy/models';

export interface StepOptions {
  readonly directory: string;
  readonly threads: number;
  /** Default: the best that runs here. */
  readonly isa?: 'auto' | InstructionSet;
  readonly group: number;
  /** Tokens of each rollout. */
  readonly tokens: number;
  /** Side of the prompt's image, pixels. */
  readonly imageSide: number;
  readonly sampleWeights: EngineSettings['sampleWeights'];
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: StepSoFar) => void;
}

/** The parts of a step that are done. */
export interface StepSoFar {
  readonly seconds: Readonly<Record<string, number>>;
}

export interface StepResult {
  readonly what: string;
  readonly threads: number;
  readonly promptTokens: number;
  readonly seconds: {
    readonly load: number;
    readonly sample: number;
    readonly score: number;
    readonly gradient: number;
    readonly update: number;
  };
  readonly gradNorm: number;
  readonly forecast: MemoryForecast;
  readonly allocatedPeakBytes: number;
  readonly peakResidentBytes: number;
}

/** Adapters of rank 16 on every linear layer of the language model. */
const LORA: LoraSettings = {
  rank: 16,
  alpha: 32,
  rsLora: false,
  targets: { language: ['all-linear'] },
};

interface Prompt {
  readonly tokens: Int32Array;
  readonly images: PackedBatch['segments'][number]['images'];
}

/** The prompt once, the rollouts behind it. */
function packed(prompt: Prompt, rollouts: readonly SampleResult[]): PackedBatch {
  const rows: number[] = [];
  const targets: number[] = [];
  let start = prompt.tokens.length;
  for (const { tokens } of rollouts) {
    tokens.forEach((token, i) => {
      rows.push(i === 0 ? prompt.tokens.length - 1 : start + i - 1);
      targets.push(token);
    });
    start += tokens.length;
  }
  return {
    segments: [
      { ...prompt, parent: -1 },
      ...rollouts.map(({ tokens }) => ({ tokens, images: [], parent: 0 })),
    ],
    rows: Int32Array.from(rows),
    targets: Int32Array.from(targets),
  };
}

const sampleGroup = (policy: LocalPolicy, prompt: Prompt, count: number, tokens: number) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      policy.sample({
        ...prompt,
        maxTokens: tokens,
        stop: [],
        temperature: 1,
        seed: [1, i],
        conversation: `${i}`,
        sharedPrefix: { key: 'group', length: prompt.tokens.length },
        ignoreEndOfTurn: true,
      }),
    ),
  );

export async function measureStep(options: StepOptions): Promise<StepResult> {
  const { directory, threads, group, tokens, imageSide, sampleWeights, onProgress } = options;
  const { isa = 'auto' } = options;
  const backend = nativeBackend({ threads, isa });
  let allocatedPeakBytes = 0;
  const alloc = backend.alloc.bind(backend);
  backend.alloc = (sizeBytes) => {
    const buffer = alloc(sizeBytes);
    allocatedPeakBytes = Math.max(allocatedPeakBytes, backend.allocatedBytes());
    return buffer;
  };
  const device = openDevice(backend);
  const seconds: Record<string, number> = {};
  const timed = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
    options.signal?.throwIfAborted();
    onProgress(name);
    const start = performance.now();
    const value = await work();
    seconds[name] = (performance.now() - start) / 1000;
    options.keep?.({ seconds: { ...seconds } });
    return value;
  };
  const training = { lora: LORA, recompute: true };
  const policy = await timed('load', () => loadLocalPolicy({ device, directory, ...training }));
  policy.configureEngine({ sampleWeights });
  const image = await largestImage(policy.processor, imageSide, imageSide);
  const prompt = policy.processor.encodePrompt([
    { kind: 'image', image },
    { kind: 'text', text: 'Which digit is hidden?' },
  ]);
  const rollouts = await timed('sample', () => sampleGroup(policy, prompt, group, tokens));
  for (let i = 0; i < group; i++) policy.release(`${i}`);
  policy.release('group');
  const batch = packed(prompt, rollouts);
  const sampled = Float32Array.from(rollouts.flatMap(({ logprobs }) => [...logprobs]));
  const old = policy.samplesAsItScores
    ? sampled
    : (await timed('score', () => policy.score(batch))).logprobs;
  // Even tokens are rewarded: cheap, and it differs within the group.
  const rewards = Float64Array.from(
    rollouts,
    (one) => one.tokens.filter((token) => token % 2 === 0).length / one.tokens.length,
  );
  const ofGroup = grpo.groupAdvantages({ rewards });
  const advantages = Float32Array.from(old, (_, t) => ofGroup[Math.floor(t / tokens)] ?? 0);
  const step = {
    oldLogprobs: old,
    advantages,
    lossMask: new Float32Array(old.length).fill(1),
    sequenceOffsets: Int32Array.from({ length: group + 1 }, (_, s) => s * tokens),
  };
  const counts = { tokens: old.length, sequences: group };
  await timed('gradient', () =>
    policy.forwardBackward(batch, ({ logprobs }) => {
      const { loss, gradLogprobs } = grpo.loss({ ...step, logprobs }, counts);
      return { loss, gradLogprobs };
    }),
  );
  const optimizer = adamw.create();
  const { gradNorm } = await timed('update', () =>
    policy.optimizerStep({ learningRate: 1e-5, optimizer }),
  );
  const { model, processor } = policy;
  const forecast = await predictMemory(
    { model, processor, dtype: 'bf16', training },
    {
      optimizer,
      valueHead: false,
      hasReference: false,
      microBatchTokens: prompt.tokens.length + group * tokens,
      contextTokens: prompt.tokens.length + tokens,
      concurrency: group,
      engine: engineSettings.parse({ sampleWeights }),
      images: { image, perContext: 1 },
    },
  );
  policy.dispose();
  device.dispose();
  const { load = 0, sample = 0, score = 0, gradient = 0, update = 0 } = seconds;
  return {
    what: `a GRPO step with LoRA on ${group} rollouts of ${tokens} tokens, on ${backend.description}`,
    threads,
    promptTokens: prompt.tokens.length,
    seconds: { load, sample, score, gradient, update },
    gradNorm,
    forecast,
    allocatedPeakBytes,
    peakResidentBytes: process.resourceUsage().maxRSS * 1024,
  };
}
