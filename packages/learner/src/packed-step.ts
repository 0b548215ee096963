/**
 * The tokens of a step in the one order that packing gives them: minibatch by minibatch, micro-batch
 * by micro-batch. What a policy scores is a range of what the algorithm reads, so nothing is permuted
 * between rollout and loss.
 */
import type { Step, TokenBatch } from '@saccade/algorithms';
import { DataError } from '@saccade/core';
import { type MicroBatch, type ModelImages, packTrajectories } from '@saccade/rollout';
import type { AdvantagedTrajectory } from '@saccade/schedulers';
import type { Segment } from '@saccade/trajectory';

/** How a step is split into minibatches and micro-batches. */
export interface PackStepOptions {
  readonly images: ModelImages;
  /** Most packed tokens in a micro-batch. */
  readonly microBatchTokens: number;
  /** Whether a group's prompt is packed once. */
  readonly sharedPrefix: boolean;
  /** Minibatches, each of whole groups. */
  readonly minibatches: number;
}

/** A half-open range of the step's sequences, and that of their tokens. */
export interface StepRange {
  readonly sequences: readonly [number, number];
  readonly tokens: readonly [number, number];
}

/** The part of a step that one call to the policy scores, and its position in the step. */
export interface StepMicroBatch extends StepRange {
  readonly packed: MicroBatch['packed'];
  /** Packed tokens, scored or not: what the policy computes. */
  readonly tokenCount: number;
}

/** The part of a step that one optimizer update learns from. */
export interface StepMinibatch extends StepRange {
  readonly microBatches: readonly StepMicroBatch[];
}

/** The data of a step that are known before it is scored. */
export type StepTokens = Required<
  Pick<
    Step,
    | 'sequenceOffsets'
    | 'lossMask'
    | 'groups'
    | 'sequenceAdvantages'
    | 'rewards'
    | 'turns'
    | 'turnOffsets'
    | 'turnRewards'
    | 'rolloutLogprobs'
  >
>;

/** A step in the order of its packing. */
export interface PackedStep {
  /** [S] the trajectories in the step's order; those without tokens to train on come last. */
  readonly trained: readonly AdvantagedTrajectory[];
  readonly minibatches: readonly StepMinibatch[];
  readonly tokens: StepTokens;
  /**
   * [N] nats, of the policy when it sampled: the sampler's log-probs, but before truncation where
   * the sampler tells the mass it kept.
   */
  readonly untruncatedLogprobs: StepTokens['rolloutLogprobs'];
}

/** Deals whole groups out to minibatches, packs each, and lays the step out in that order. */
export async function packStep(
  trained: readonly AdvantagedTrajectory[],
  options: PackStepOptions,
): Promise<PackedStep> {
  const { images, microBatchTokens: maxTokens, sharedPrefix } = options;
  const order: AdvantagedTrajectory[] = [];
  const rest: AdvantagedTrajectory[] = [];
  const minibatches: StepMinibatch[] = [];
  let tokenEnd = 0;
  for (const items of splitByGroup(trained, options.minibatches)) {
    const packing = await packTrajectories(items, { images, maxTokens, sharedPrefix });
    const first = [order.length, tokenEnd] as const;
    const microBatches = packing.microBatches.map((microBatch): StepMicroBatch => {
      const { packed, itemIndices, tokenCount } = microBatch;
      const start = [order.length, tokenEnd] as const;
      for (const index of itemIndices) order.push(items[index] as AdvantagedTrajectory);
      tokenEnd += packed.targets.length;
      return {
        packed,
        tokenCount,
        sequences: [start[0], order.length],
        tokens: [start[1], tokenEnd],
      };
    });
    rest.push(...packing.skipped.map((index) => items[index] as AdvantagedTrajectory));
    if (microBatches.length === 0) continue;
    const sequences = [first[0], order.length] as const;
    minibatches.push({ microBatches, sequences, tokens: [first[1], tokenEnd] });
  }
  const all = [...order, ...rest];
  const tokens = stepTokens(all);
  const untruncatedLogprobs = untruncated(all, tokens.rolloutLogprobs);
  return { trained: all, minibatches, tokens, untruncatedLogprobs };
}

/** Deals whole groups out to `count` minibatches in turn. */
function splitByGroup(
  trained: readonly AdvantagedTrajectory[],
  count: number,
): readonly (readonly AdvantagedTrajectory[])[] {
  const groups = new Map<string, number>();
  const minibatches: AdvantagedTrajectory[][] = Array.from({ length: count }, () => []);
  for (const one of trained) {
    const { taskId } = one.trajectory;
    if (!groups.has(taskId)) groups.set(taskId, groups.size);
    minibatches[(groups.get(taskId) ?? 0) % count]?.push(one);
  }
  return minibatches.filter((minibatch) => minibatch.length > 0);
}

/**
 * The model's tokens of S trajectories, one after another; masked trajectories have none.
 *
 * `rolloutLogprobs` are the sampler's, in nats; `turns` counts a trajectory's model segments from 0;
 * `turnRewards` are 0 where nothing rewarded turns.
 */
export function stepTokens(trained: readonly AdvantagedTrajectory[]): StepTokens {
  const segments = trained.map(modelSegments);
  const lengths = segments.map((own) => own.reduce((sum, { tokens }) => sum + tokens.length, 0));
  const sequenceOffsets = offsetsOf(lengths);
  const N = sequenceOffsets.at(-1) ?? 0;
  const turns = new Int32Array(N);
  const rolloutLogprobs = new Float64Array(N);
  let at = 0;
  segments.forEach((own, s) => {
    own.forEach(({ tokens, logprobs }, turn) => {
      turns.fill(turn, at, at + tokens.length);
      if (logprobs === undefined) {
        throw new DataError(
          `Trajectory ${trained[s]?.trajectory.id} has a model segment without log-probs. Train on ` +
            'trajectories that a policy sampled; others are for supervised fine-tuning.',
        );
      }
      rolloutLogprobs.set(logprobs, at);
      at += tokens.length;
    });
  });
  const turnCounts = segments.map((own, s) => turnCountOf(own.length, trained[s]));
  const turnRewards = turnCounts.flatMap((count, s) =>
    Array.from({ length: count }, (_, turn) => trained[s]?.trajectory.turnRewards?.[turn] ?? 0),
  );
  const taskIds = [...new Set(trained.map(({ trajectory }) => trajectory.taskId))];
  return {
    sequenceOffsets,
    lossMask: new Float64Array(N).fill(1),
    groups: Int32Array.from(trained, ({ trajectory }) => taskIds.indexOf(trajectory.taskId)),
    sequenceAdvantages: Float64Array.from(trained, ({ advantage }) => advantage),
    rewards: Float64Array.from(trained, ({ trajectory }) => trajectory.reward),
    turns,
    turnOffsets: offsetsOf(turnCounts),
    turnRewards: Float64Array.from(turnRewards),
    rolloutLogprobs,
  };
}

/** The segments that train; masked trajectories have none. */
function modelSegments({ trajectory, isMasked }: AdvantagedTrajectory): readonly Segment[] {
  return isMasked ? [] : trajectory.segments.filter(({ kind }) => kind === 'model');
}

/** rolloutLogprobs + ln keptMass; the same array where nothing was truncated. */
function untruncated(
  trained: readonly AdvantagedTrajectory[],
  rolloutLogprobs: StepTokens['rolloutLogprobs'],
): StepTokens['rolloutLogprobs'] {
  const segments = trained.flatMap(modelSegments);
  if (segments.every(({ keptMass }) => keptMass === undefined)) return rolloutLogprobs;
  const masses = segments.flatMap(({ tokens, keptMass }) =>
    keptMass === undefined ? Array<number>(tokens.length).fill(1) : Array.from(keptMass),
  );
  return rolloutLogprobs.map((logprob, n) => logprob + Math.log(masses[n] ?? 1));
}

/** Turns with their rewards: also that of an answer that never came. Masked trajectories have none. */
function turnCountOf(segments: number, trained: AdvantagedTrajectory | undefined): number {
  if (segments === 0) return 0;
  return Math.max(segments, trained?.trajectory.turnRewards?.length ?? 0);
}

/** [n+1] where each of n parts of these lengths begins, and where the last one ends. */
function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + length;
  });
  return offsets;
}

/** The part of a step's arrays that lies in a range; views, not copies. */
export function rangeOf<Batch extends Partial<TokenBatch> & Pick<TokenBatch, 'sequenceOffsets'>>(
  { sequenceOffsets, ...arrays }: Batch,
  { sequences: [first, last], tokens: [start, end] }: StepRange,
): Batch {
  const views = Object.entries(arrays).map(([name, values]) => [
    name,
    (values as Float64Array | undefined)?.subarray(start, end),
  ]);
  const offsets = sequenceOffsets.subarray(first, last + 1).map((offset) => offset - start);
  return { ...Object.fromEntries(views), sequenceOffsets: offsets } as Batch;
}
