/**
 * A step's tokens in one flat order, the trajectories' own, and the way between it and the order in
 * which micro-batches score them.
 */
import type { Step } from '@saccade/algorithms';
import { expectLength } from '@saccade/core';
import type { MicroBatch } from '@saccade/rollout';
import type { AdvantagedTrajectory } from '@saccade/schedulers';

type StepTokens = Required<
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

/**
 * The model's tokens of S trajectories, one after another; masked trajectories have none.
 *
 * `rolloutLogprobs` are the sampler's, in nats; `turns` counts a trajectory's model segments from 0;
 * `turnRewards` are 0 where nothing rewarded turns.
 */
export function stepTokens(trained: readonly AdvantagedTrajectory[]): StepTokens {
  const segments = trained.map(({ trajectory, isMasked }) =>
    isMasked ? [] : trajectory.segments.filter(({ kind }) => kind === 'model'),
  );
  const sequenceOffsets = new Int32Array(trained.length + 1);
  segments.forEach((own, s) => {
    const length = own.reduce((sum, { tokens }) => sum + tokens.length, 0);
    sequenceOffsets[s + 1] = (sequenceOffsets[s] as number) + length;
  });
  const N = sequenceOffsets[trained.length] as number;
  const turns = new Int32Array(N);
  const rolloutLogprobs = new Float64Array(N);
  segments.forEach((own, s) => {
    let at = sequenceOffsets[s] as number;
    own.forEach(({ tokens, logprobs }, turn) => {
      turns.fill(turn, at, at + tokens.length);
      if (logprobs === undefined) rolloutLogprobs.fill(Number.NaN, at, at + tokens.length);
      else rolloutLogprobs.set(logprobs, at);
      at += tokens.length;
    });
  });
  const turnOffsets = new Int32Array(trained.length + 1);
  segments.forEach((own, s) => {
    turnOffsets[s + 1] = (turnOffsets[s] as number) + turnCountOf(own.length, trained[s]);
  });
  const turnRewards = segments.flatMap((own, s) =>
    Array.from(
      { length: turnCountOf(own.length, trained[s]) },
      (_, turn) => trained[s]?.trajectory.turnRewards?.[turn] ?? 0,
    ),
  );
  const taskIds = [...new Set(trained.map(({ trajectory }) => trajectory.taskId))];
  return {
    sequenceOffsets,
    lossMask: new Float64Array(N).fill(1),
    groups: Int32Array.from(trained, ({ trajectory }) => taskIds.indexOf(trajectory.taskId)),
    sequenceAdvantages: Float64Array.from(trained, ({ advantage }) => advantage),
    rewards: Float64Array.from(trained, ({ trajectory }) => trajectory.reward),
    turns,
    turnOffsets,
    turnRewards: Float64Array.from(turnRewards),
    rolloutLogprobs,
  };
}

/** Turns with their rewards: also that of an answer that never came. Masked trajectories have none. */
function turnCountOf(segments: number, trained: AdvantagedTrajectory | undefined): number {
  if (segments === 0) return 0;
  return Math.max(segments, trained?.trajectory.turnRewards?.length ?? 0);
}

/**
 * [N] where each token that a micro-batch scores stands in the step.
 *
 * @param sequences the step's sequence of each item that was packed
 */
export function stepIndices(
  { itemIndices, sequenceOffsets }: MicroBatch,
  stepOffsets: Int32Array,
  sequences: ArrayLike<number>,
): Int32Array {
  const indices = new Int32Array(sequenceOffsets.at(-1) ?? 0);
  itemIndices.forEach((item, s) => {
    const sequence = sequences[item] as number;
    const first = stepOffsets[sequence] as number;
    const [start, end] = [sequenceOffsets[s] as number, sequenceOffsets[s + 1] as number];
    expectLength('scored tokens', end - start, (stepOffsets[sequence + 1] as number) - first);
    for (let t = start; t < end; t++) indices[t] = first + t - start;
  });
  return indices;
}

/** The elements of [N] arrays at `indices`, under the same names. */
export function takeTokens<Arrays extends Readonly<Record<string, ArrayLike<number> | undefined>>>(
  arrays: Arrays,
  indices: Int32Array,
): { readonly [Name in keyof Arrays]: Float64Array } {
  const taken = Object.entries(arrays)
    .filter((entry): entry is [string, ArrayLike<number>] => entry[1] !== undefined)
    .map(([name, values]) => [name, Float64Array.from(indices, (t) => values[t] as number)]);
  return Object.fromEntries(taken) as { [Name in keyof Arrays]: Float64Array };
}
