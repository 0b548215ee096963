/** Metrics of samples, with intervals over tasks: avg@k, pass@k, maj@k and what samples cost. */
import type { Measured } from '@saccade/run-store';
import { bootstrapMean, majorityAtK, passAtK } from '@saccade/statistics';
import { mean } from '../trajectory-metrics.ts';
import type { SampleFacts } from './sample-facts.ts';

/** How intervals are drawn. */
export interface IntervalOptions {
  /** Level of the intervals. */
  readonly level: number;
  /** Resamples of the bootstrap. */
  readonly resamples: number;
  /** Seed of the bootstrap. */
  readonly seed: number;
}

/** 1, 2, 4, … up to k, and k itself. */
export function passCounts(k: number): readonly number[] {
  const counts: number[] = [];
  for (let n = 1; n < k; n *= 2) counts.push(n);
  return [...counts, k];
}

/** Samples by task, in the order of tasks and samples, whatever their order was. */
export function byTask(samples: readonly SampleFacts[]): readonly (readonly SampleFacts[])[] {
  const groups = new Map<number, SampleFacts[]>();
  for (const sample of samples) {
    const group = groups.get(sample.taskIndex);
    if (group === undefined) groups.set(sample.taskIndex, [sample]);
    else group.push(sample);
  }
  return [...groups.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, group]) => group.sort((a, b) => a.sampleIndex - b.sampleIndex));
}

/** The mean score of each task's samples, by its index. */
export function taskScores(samples: readonly SampleFacts[]): ReadonlyMap<number, number> {
  return new Map(
    byTask(samples).map((group) => [
      group[0]?.taskIndex ?? 0,
      mean(group.map(({ score }) => score)),
    ]),
  );
}

/**
 * Metrics of samples of a suite.
 *
 * - `avg@k` mean over tasks of the mean score of a task's samples; with a verifier that says right or
 *   wrong, accuracy.
 * - `pass@n` chance that one of n samples is right, unbiased; over tasks that have n samples.
 * - `maj@n` expected score of the answer that most of n samples give; for k alone.
 * - `turns/mean`, `tool_calls/mean`, `tokens/mean`, `context_tokens/mean`, `visual_tokens/mean` over
 *   samples; `tool_calls/zero_ratio`; `execution/success_rate` over calls; `answered/ratio`, and
 *   `correct/ratio`: samples whose score is high enough to be right.
 * - `errors/E1` … as shares of the wrong samples.
 *
 * Intervals are of tasks that are drawn with replacement, each with all its samples.
 */
export function measure(
  samples: readonly SampleFacts[],
  k: number,
  { level, resamples, seed }: IntervalOptions,
  detail: 'all' | 'accuracy' = 'all',
): Measured {
  const groups = byTask(samples);
  const all = groups.flat();
  const metrics: Record<string, number> = {};
  const intervals: Record<string, readonly [number, number]> = {};
  const put = (name: string, values: readonly number[]): void => {
    if (values.length === 0) return;
    const { estimate, low, high } = bootstrapMean(values, undefined, { seed, resamples, level });
    metrics[name] = estimate;
    intervals[name] = [low, high];
  };
  put(
    `avg@${k}`,
    groups.map((group) => mean(group.map(({ score }) => score))),
  );
  const result = { tasks: groups.length, samples: all.length, metrics, intervals };
  if (all.length === 0) return result;
  metrics['turns/mean'] = mean(all.map(({ turns }) => turns));
  metrics['tool_calls/mean'] = mean(all.map(({ calls }) => calls));
  if (detail === 'accuracy') return result;
  for (const n of passCounts(k)) {
    put(
      `pass@${n}`,
      groups.filter(({ length }) => length >= n).map((group) => passOf(group, n)),
    );
  }
  put(
    `maj@${k}`,
    groups.filter(({ length }) => length >= k).map((group) => majorityOf(group, k)),
  );
  metrics['tool_calls/zero_ratio'] = mean(all.map(({ calls }) => (calls === 0 ? 1 : 0)));
  metrics['tokens/mean'] = mean(all.map(({ tokens }) => tokens));
  metrics['context_tokens/mean'] = mean(all.map(({ contextTokens }) => contextTokens));
  metrics['visual_tokens/mean'] = mean(all.map((one) => one.visualTokens));
  metrics['correct/ratio'] = mean(all.map(({ isCorrect }) => (isCorrect ? 1 : 0)));
  metrics['answered/ratio'] = mean(all.map((one) => (one.stopReason === 'answered' ? 1 : 0)));
  const calls = all.reduce((sum, one) => sum + one.calls, 0);
  if (calls > 0) {
    metrics['execution/success_rate'] = all.reduce((sum, one) => sum + one.callsRun, 0) / calls;
  }
  const wrong = all.filter(({ isCorrect }) => !isCorrect);
  const kinds = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'undecided'] as const;
  if (wrong.length > 0) {
    for (const kind of kinds) {
      metrics[`errors/${kind}`] = mean(wrong.map(({ errors }) => (errors.includes(kind) ? 1 : 0)));
    }
  }
  return result;
}

function passOf(group: readonly SampleFacts[], n: number): number {
  return passAtK(group.length, group.filter(({ isCorrect }) => isCorrect).length, n);
}

function majorityOf(group: readonly SampleFacts[], k: number): number {
  return majorityAtK(
    group.map(({ vote, score }) => ({ answer: vote, score })),
    k,
  );
}
