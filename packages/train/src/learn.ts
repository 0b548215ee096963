/** What a batch teaches: advantages of the whole step, then an optimizer step per minibatch. */
import {
  type AlgorithmResult,
  countGlobally,
  finishMetrics,
  type GlobalCounts,
  type PreparedStep,
  prepareStep,
  type TokenBatch,
} from '@saccade/algorithms';
import { adamw, cosine } from '@saccade/optim';
import type { LocalPolicy, Scores } from '@saccade/policy';
import { type MicroBatch, packTrajectories } from '@saccade/rollout';
import { type AdvantagedTrajectory, schedulers } from '@saccade/schedulers';
import type { Run } from './run.ts';
import { coldStartOf } from './run-checkpoint.ts';
import { stepIndices, stepTokens, takeTokens } from './step-tokens.ts';

export interface LearnOptions {
  /** What becomes of sampling requests while weights change. Default: there are none. */
  readonly inFlight?: 'refuse' | 'recompute' | 'keep';
}

/** Where learning stands: the gradient of a minibatch is there, or its optimizer step is taken. */
export type LearningPoint = 'gradient' | 'updated';

/** Optimizer steps over the trajectories of a step; gives its metrics. */
export async function learn(
  run: Run,
  trained: readonly AdvantagedTrajectory[],
  options: LearnOptions = {},
): Promise<Record<string, number>> {
  const learning = learnInParts(run, trained, options);
  for (;;) {
    const part = await learning.next();
    if (part.done === true) return part.value;
  }
}

/**
 * The same with a stop before and after every optimizer step, for who has to say when weights
 * change. After the last one it has ended.
 */
export async function* learnInParts(
  run: Run,
  trained: readonly AdvantagedTrajectory[],
  { inFlight = 'refuse' }: LearnOptions = {},
): AsyncGenerator<LearningPoint, Record<string, number>> {
  const { config, parts } = run;
  const { rl } = config;
  const metrics: Record<string, number> = { loss: 0, grad_norm: 0, learning_rate: 0 };
  if (trained.length === 0) return metrics;
  const step = await prepare(run, trained);
  const minibatches = splitByGroup(trained, rl.minibatches);
  const schedule = cosine.create(
    { peak: rl.learningRate, total: rl.steps * rl.minibatches },
    { warmupFraction: rl.warmupFraction, finalFraction: rl.finalFraction },
  );
  const optimizer = adamw.create({ weightDecay: rl.weightDecay, maxGradNorm: rl.maxGradNorm });
  for (const [index, sequences] of minibatches.entries()) {
    const { loss, ...learned } = await learnMinibatch(run, trained, step, sequences);
    metrics.loss = (metrics.loss ?? 0) + loss;
    const learningRate = schedule(run.state.rlSteps * rl.minibatches + index);
    yield 'gradient';
    const { gradNorm } = await parts.policy.optimizerStep({
      learningRate,
      optimizer,
      inFlight,
    });
    // Of the last minibatch: there the policy is furthest from the one that sampled.
    Object.assign(metrics, learned, { grad_norm: gradNorm, learning_rate: learningRate });
    if (index + 1 < minibatches.length) yield 'updated';
  }
  return { ...metrics, ...step.metrics };
}

/** Scores the step as far as the algorithm needs it, and fixes its advantages. */
async function prepare(run: Run, trained: readonly AdvantagedTrajectory[]): Promise<PreparedStep> {
  const { parts } = run;
  const { policy, algorithm } = parts;
  const { rolloutLogprobs, ...tokens } = stepTokens(trained);
  const needs = (input: string) => algorithm.needs.includes(input);
  const { isStreaming = false } = schedulers.get(run.config.rl.scheduler);
  const score = (by: LocalPolicy) => scoreStep(run, by, trained, tokens.sequenceOffsets);
  // Sampling and scoring agree bit for bit on one engine: then the sampler's log-probs are the old.
  const isRescored = needs('values') || needs('rolloutLogprobs') || parts.sampler !== parts.policy;
  const own = isRescored ? await score(policy) : undefined;
  const reference = needs('refLogprobs')
    ? await score(await parts.openReference(coldStartOf(run)))
    : undefined;
  return prepareStep(algorithm, {
    ...tokens,
    rolloutLogprobs,
    // Where weights change while rollouts run, the ratio has to be to the policy that sampled each
    // token. Algorithms with a correction, or with a decoupled ratio, take both policies.
    oldLogprobs:
      isStreaming && !needs('rolloutLogprobs')
        ? rolloutLogprobs
        : (own?.logprobs ?? rolloutLogprobs),
    ...(own?.values && { values: own.values }),
    ...(reference && { refLogprobs: reference.logprobs }),
  });
}

/** A policy's log-probs, and its values if it has a value head, in the step's order: [N] each. */
async function scoreStep(
  run: Run,
  policy: LocalPolicy,
  trained: readonly AdvantagedTrajectory[],
  sequenceOffsets: Int32Array,
): Promise<{ readonly logprobs: Float64Array; readonly values?: Float64Array }> {
  const everything = trained.map((_, sequence) => sequence);
  const microBatches = await pack(run, trained, everything);
  const N = sequenceOffsets.at(-1) ?? 0;
  const logprobs = new Float64Array(N);
  let values: Float64Array | undefined;
  for (const microBatch of microBatches) {
    const scores = await policy.score(microBatch.packed, run.config.rl.temperature);
    const indices = stepIndices(microBatch, sequenceOffsets, everything);
    if (scores.values !== undefined) values ??= new Float64Array(N);
    indices.forEach((at, t) => {
      logprobs[at] = scores.logprobs[t] as number;
      if (values !== undefined) values[at] = scores.values?.[t] as number;
    });
  }
  return { logprobs, ...(values !== undefined && { values }) };
}

/** Adds up the gradient of one minibatch over its micro-batches. */
async function learnMinibatch(
  run: Run,
  trained: readonly AdvantagedTrajectory[],
  step: PreparedStep,
  sequences: readonly number[],
): Promise<Record<string, number> & { readonly loss: number }> {
  const { policy, algorithm } = run.parts;
  const { temperature } = run.config.rl;
  const { sequenceOffsets: stepOffsets, ...constants } = step.batch;
  const microBatches = await pack(run, trained, sequences);
  const batches = microBatches.map((microBatch) => ({
    ...takeTokens(constants, stepIndices(microBatch, stepOffsets, sequences)),
    sequenceOffsets: microBatch.sequenceOffsets,
  }));
  let counts: GlobalCounts = countGlobally(batches);
  let marks: readonly Uint8Array[] = [];
  if (algorithm.select !== undefined) {
    // What is chosen over the whole minibatch has to be seen before any part of it is learned from.
    const scores: Scores[] = [];
    for (const { packed } of microBatches) scores.push(await policy.score(packed, temperature));
    const selection = algorithm.select(
      joinBatches(batches.map((batch, i) => ({ ...batch, ...(scores[i] as Scores) }))),
    );
    counts = { ...counts, selectedTokens: selection.selectedTokens };
    marks = cutLike(selection.marks, batches);
  }
  const metrics: AlgorithmResult['metrics'][] = [];
  let loss = 0;
  for (const [i, microBatch] of microBatches.entries()) {
    const batch = batches[i] as (typeof batches)[number];
    const part = await policy.forwardBackward(
      microBatch.packed,
      (scores) => {
        const marked = marks[i] && { marks: marks[i] };
        const result = algorithm.loss({ ...batch, ...scores, ...marked }, counts);
        metrics.push(result.metrics);
        return result;
      },
      temperature,
    );
    loss += part.loss;
    run.state = { ...run.state, tokens: run.state.tokens + microBatch.tokenCount };
  }
  return { loss, ...finishMetrics(metrics, counts) };
}

async function pack(
  { config, parts }: Run,
  trained: readonly AdvantagedTrajectory[],
  sequences: readonly number[],
): Promise<readonly MicroBatch[]> {
  const items = sequences.map((sequence) => trained[sequence] as AdvantagedTrajectory);
  const { microBatches } = await packTrajectories(items, {
    images: parts.images,
    maxTokens: config.microBatchTokens,
    sharedPrefix: config.sharedPrefix,
  });
  return microBatches;
}

/** Micro-batches as one batch. */
function joinBatches(batches: readonly TokenBatch[]): TokenBatch {
  const [first] = batches;
  const joined: Record<string, Float64Array | Int32Array> = {};
  for (const name of Object.keys(first ?? {}) as (keyof TokenBatch)[]) {
    if (name === 'sequenceOffsets') continue;
    const parts = batches.map((batch) => batch[name] ?? []);
    const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    joined[name] = all;
  }
  const lengths = batches.flatMap(({ sequenceOffsets }) =>
    Array.from(sequenceOffsets.subarray(1), (end, s) => end - (sequenceOffsets[s] as number)),
  );
  const sequenceOffsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, s) => {
    sequenceOffsets[s + 1] = (sequenceOffsets[s] as number) + length;
  });
  return { ...joined, sequenceOffsets } as unknown as TokenBatch;
}

/** What was decided for the joined batch, micro-batch by micro-batch. */
function cutLike(marks: Uint8Array, batches: readonly Pick<TokenBatch, 'lossMask'>[]) {
  let start = 0;
  return batches.map(({ lossMask }) => {
    start += lossMask.length;
    return marks.subarray(start - lossMask.length, start);
  });
}

/** Deals whole groups out to `count` minibatches, as evenly as their order allows: their indices. */
function splitByGroup(
  trained: readonly AdvantagedTrajectory[],
  count: number,
): readonly (readonly number[])[] {
  const groups = new Map<string, number>();
  const minibatches: number[][] = Array.from({ length: count }, () => []);
  trained.forEach(({ trajectory: { taskId } }, index) => {
    if (!groups.has(taskId)) groups.set(taskId, groups.size);
    minibatches[(groups.get(taskId) ?? 0) % count]?.push(index);
  });
  return minibatches.filter((minibatch) => minibatch.length > 0);
}
