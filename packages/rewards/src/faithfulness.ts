/** Whether tools were used for what was asked about, measured apart from whether answers are right. */
import { DataError } from '@saccade/core';
import { cohenKappa, type Kappa } from '@saccade/statistics';
import { isToolUse, type ScoredTrajectory } from '@saccade/trajectory';

/** Facts about one trajectory. */
export interface FaithfulnessSample {
  readonly isCorrect: boolean;
  readonly usedTool: boolean;
  /** Whether any image that a tool made shows what the question asks about. */
  readonly hasEvidence: boolean;
}

/** Shares from 0 to 1; those of no samples are absent. */
export interface Faithfulness {
  readonly count: number;
  /** Right, with evidence, of all samples. Algorithm 1, line 13, and table 5. */
  readonly rate?: number;
  /** With evidence, of the samples that are right. Figure 2. */
  readonly rateOfCorrect?: number;
  /** With evidence, with tools but without evidence, without tools: together 1. Figure 5. */
  readonly classes?: {
    readonly faithful: number;
    readonly unfaithful: number;
    readonly noTool: number;
  };
}

/**
 * Faithfulness of tool use (CodeV, arXiv:2511.19661, §3 and algorithm 1). The paper divides by three
 * different numbers and calls all of the quotients by one name; each has its own here.
 *
 * @throws DataError for a sample with evidence but no tool: only a tool brings some
 */
export function faithfulness(samples: readonly FaithfulnessSample[]): Faithfulness {
  const impossible = samples.findIndex(({ usedTool, hasEvidence }) => hasEvidence && !usedTool);
  if (impossible >= 0) {
    throw new DataError(
      `Sample ${impossible} has evidence but used no tool. Evidence is in images of tools alone.`,
    );
  }
  const count = samples.length;
  if (count === 0) return { count };
  const share = (is: (sample: FaithfulnessSample) => boolean, of = samples): number =>
    of.filter(is).length / of.length;
  const correct = samples.filter(({ isCorrect }) => isCorrect);
  const faithful = share(({ hasEvidence }) => hasEvidence);
  const noTool = share(({ usedTool }) => !usedTool);
  return {
    count,
    rate: share(({ isCorrect, hasEvidence }) => isCorrect && hasEvidence),
    ...(correct.length > 0 && {
      rateOfCorrect: share(({ hasEvidence }) => hasEvidence, correct),
    }),
    classes: { faithful, unfaithful: 1 - faithful - noTool, noTool },
  };
}

/**
 * A scored trajectory as a sample.
 *
 * @param grades of its turns, as `gradeCrops` gives them
 * @param least  the grade from which on an image is evidence. Default 1: the paper's yes or no asks
 *   whether an object is there and clearly visible
 */
export function faithfulnessSample(
  { isCorrect, turns }: Pick<ScoredTrajectory, 'isCorrect' | 'turns'>,
  grades: readonly (number | undefined)[],
  least = 1,
): FaithfulnessSample {
  const usedTool = turns.some(({ action }) => isToolUse(action));
  return { isCorrect, usedTool, hasEvidence: grades.some((grade = 0) => grade >= least) };
}

/** Tool calls of a trajectory: none, one, two, three or more. */
export type CallCount = '0' | '1' | '2' | '3+';

/** The trajectories with one number of tool calls. */
export interface CallBucket {
  readonly calls: CallCount;
  readonly count: number;
  /** Share of all trajectories: the height of the paper's bar. */
  readonly share: number;
  /** Right ones of the bucket; absent where it is empty. */
  readonly accuracy?: number;
  /** Right, of all trajectories: share · accuracy, the green part of the bar. */
  readonly rightShare: number;
  /** With evidence, of the bucket; absent where it is empty. */
  readonly faithful?: number;
}

const callCounts: readonly CallCount[] = ['0', '1', '2', '3+'];

/**
 * Accuracy and faithfulness by the number of tool calls (CodeV, arXiv:2511.19661, Fig. 8): shares of
 * the buckets sum to 1, their right shares to the accuracy.
 */
export function callBuckets(
  trajectories: readonly GradedTrajectory[],
  least = 1,
): readonly CallBucket[] {
  const all = trajectories.map(({ trajectory, grades }) => ({
    ...faithfulnessSample(trajectory, grades, least),
    calls: trajectory.turns.filter(({ action }) => isToolUse(action)).length,
  }));
  return callCounts.map((calls, index) => {
    const own = all.filter((sample) => Math.min(sample.calls, callCounts.length - 1) === index);
    const right = own.filter(({ isCorrect }) => isCorrect).length;
    const faithful = own.filter(({ hasEvidence }) => hasEvidence).length;
    return {
      calls,
      count: own.length,
      share: all.length === 0 ? 0 : own.length / all.length,
      rightShare: all.length === 0 ? 0 : right / all.length,
      ...(own.length > 0 && { accuracy: right / own.length, faithful: faithful / own.length }),
    };
  });
}

/** Whether each of some images is evidence, by a judge and by the task's box. */
export interface EvidencePair {
  readonly judge: boolean;
  readonly box: boolean;
}

/**
 * Agreement of a judge with boxes, where the truth is known: Cohen's κ over the images or executions
 * that both decide.
 *
 * @returns undefined without any
 */
export function judgeAgreement(pairs: readonly EvidencePair[]): Kappa | undefined {
  if (pairs.length === 0) return undefined;
  const rating = (isEvidence: boolean): number => (isEvidence ? 1 : 0);
  return cohenKappa(
    pairs.map(({ judge }) => rating(judge)),
    pairs.map(({ box }) => rating(box)),
    { categories: [0, 1] },
  );
}

/** A trajectory with the grades of its turns, as `gradeCrops` gives them. */
export interface GradedTrajectory {
  readonly trajectory: Pick<ScoredTrajectory, 'isCorrect' | 'turns'>;
  readonly grades: readonly (number | undefined)[];
}

/**
 * Faithfulness of trajectories as numbers for a training log. Pure; shares of nothing are absent.
 *
 *   faithfulness/rate               right with evidence, of all trajectories (table 5)
 *   faithfulness/rate_of_correct    with evidence, of the right ones (figure 2)
 *   faithfulness/faithful, /unfaithful, /no_tool   shares of all, together 1 (figure 5)
 *   faithfulness/calls/<0, 1, 2, 3+>/ratio, /accuracy   by the number of tool calls (figure 8)
 *
 * @param least  the grade from which on an image is evidence. Default 1, see `faithfulnessSample`
 */
export function faithfulnessMetrics(
  trajectories: readonly GradedTrajectory[],
  least = 1,
): Readonly<Record<string, number>> {
  const { rate, rateOfCorrect, classes } = faithfulness(
    trajectories.map(({ trajectory, grades }) => faithfulnessSample(trajectory, grades, least)),
  );
  return {
    ...(rate !== undefined && { 'faithfulness/rate': rate }),
    ...(rateOfCorrect !== undefined && { 'faithfulness/rate_of_correct': rateOfCorrect }),
    ...(classes && {
      'faithfulness/faithful': classes.faithful,
      'faithfulness/unfaithful': classes.unfaithful,
      'faithfulness/no_tool': classes.noTool,
    }),
    ...(trajectories.length > 0 && bucketMetrics(callBuckets(trajectories, least))),
  };
}

function bucketMetrics(buckets: readonly CallBucket[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    buckets.flatMap(({ calls, share, accuracy }) => [
      [`faithfulness/calls/${calls}/ratio`, share],
      ...(accuracy === undefined ? [] : [[`faithfulness/calls/${calls}/accuracy`, accuracy]]),
    ]),
  );
}
