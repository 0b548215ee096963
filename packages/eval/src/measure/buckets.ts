/** Histograms of samples, with the accuracy in each bar: by turns, tokens, calls, tools and ends. */
import type { Bucket } from '@saccade/run-store';
import { mean } from '../trajectory-metrics.ts';
import type { SampleFacts } from './sample-facts.ts';

/** Calls and turns from which a bar holds all that are above. */
const LAST_BAR = 16;
/** Tokens in the first bar; each later one is twice as wide. */
const FIRST_TOKENS = 64;

/**
 * The histograms of a suite's samples.
 *
 * - `turns`, `calls`: how many, one bar each (PyVision-RL, Fig. 22; CodeV, Fig. 8).
 * - `tokens`: those that the model wrote, in bars that double.
 * - `tools`: share of all operations in each category; its accuracy is that of samples that use it.
 * - `ends`: why trajectories ended.
 * - `errors`: kinds of errors, as shares of the wrong samples.
 */
export function bucketsOf(
  samples: readonly SampleFacts[],
): Readonly<Record<string, readonly Bucket[]>> {
  return {
    turns: histogram(samples, ({ turns }) => turns, String),
    calls: histogram(samples, ({ calls }) => calls, String),
    tokens: histogram(
      samples,
      ({ tokens }) => Math.max(0, Math.ceil(Math.log2((tokens + 1) / FIRST_TOKENS))),
      tokenLabel,
    ),
    tools: toolBuckets(samples),
    ends: categories(samples, ({ stopReason }) => [stopReason]),
    errors: categories(
      samples.filter(({ isCorrect }) => !isCorrect),
      ({ errors }) => errors,
    ),
  };
}

/** `0–63`, `64–127`, `128–255`, … */
function tokenLabel(bar: number): string {
  const low = bar === 0 ? 0 : FIRST_TOKENS * 2 ** (bar - 1);
  return `${low}–${FIRST_TOKENS * 2 ** bar - 1}`;
}

function histogram(
  samples: readonly SampleFacts[],
  barOf: (sample: SampleFacts) => number,
  labelOf: (bar: number) => string,
): readonly Bucket[] {
  const bars = new Map<number, SampleFacts[]>();
  for (const sample of samples) {
    const bar = Math.min(barOf(sample), LAST_BAR);
    const own = bars.get(bar);
    if (own === undefined) bars.set(bar, [sample]);
    else own.push(sample);
  }
  return [...bars.entries()]
    .sort(([a], [b]) => a - b)
    .map(([bar, own]) => ({
      label: bar === LAST_BAR ? `${labelOf(bar)} and more` : labelOf(bar),
      share: own.length / samples.length,
      samples: own.length,
      accuracy: scoreOf(own),
    }));
}

function categories(
  samples: readonly SampleFacts[],
  namesOf: (sample: SampleFacts) => readonly string[],
): readonly Bucket[] {
  const found = new Map<string, SampleFacts[]>();
  for (const sample of samples) {
    for (const name of namesOf(sample)) {
      const own = found.get(name);
      if (own === undefined) found.set(name, [sample]);
      else own.push(sample);
    }
  }
  return [...found.entries()]
    .map(([label, own]) => ({
      label,
      share: own.length / samples.length,
      samples: own.length,
      accuracy: scoreOf(own),
    }))
    .sort(byShare);
}

function toolBuckets(samples: readonly SampleFacts[]): readonly Bucket[] {
  const counts = new Map<string, number>();
  for (const { operations } of samples) {
    for (const [name, count] of Object.entries(operations)) {
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
  }
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts.entries()]
    .map(([label, count]) => {
      const own = samples.filter(({ operations }) => operations[label] !== undefined);
      return { label, share: count / all, samples: own.length, accuracy: scoreOf(own) };
    })
    .sort(byShare);
}

/** Mean score, summed in one order whatever the order of samples. */
function scoreOf(samples: readonly SampleFacts[]): number {
  return mean(samples.map(({ score }) => score).sort((a, b) => a - b));
}

function byShare(a: Bucket, b: Bucket): number {
  return b.share - a.share || (a.label < b.label ? -1 : 1);
}
