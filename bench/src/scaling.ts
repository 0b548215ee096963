/** How cost grows with tokens, vocabulary, group size and threads. */
import { attention } from '@saccade/attention';
import { type InstructionSet, nativeBackend } from '@saccade/backend-native';
import { linearLogprob } from '@saccade/logprob';
import { type Device, gemm, type Op, type OpCase, openDevice } from '@saccade/ops';
import { groupCases } from './group-packing.ts';
import { growthExponent } from './growth.ts';
import type { MeasureOptions } from './measure.ts';
import { type PreparedCase, prepareCase } from './prepared-case.ts';
import { type Sample, summarize } from './statistics.ts';
import { takeTurns } from './take-turns.ts';
import { timeOnce } from './time-once.ts';

export interface Curve {
  readonly label: string;
  readonly sizes: readonly number[];
  /** Seconds of a forward and its backward, by size. */
  readonly seconds: readonly Sample[];
  /** p of time ∝ size^p over all sizes. */
  readonly exponent: number;
}

export interface Sweep {
  /** The size that grows: `tokens`, `vocabulary`, … */
  readonly axis: string;
  readonly title: string;
  readonly curves: readonly Curve[];
}

export interface ScalingOptions extends MeasureOptions {
  readonly isa?: InstructionSet;
  readonly threads: number;
  /** Largest sizes; the sweeps end there. */
  readonly mostTokens: number;
  readonly mostVocabulary: number;
  readonly onStart?: (what: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: readonly Sweep[]) => void;
}

/** One point of a curve before it is measured. */
interface Point {
  readonly size: number;
  readonly op: Op;
  readonly opCase: OpCase;
  /** Threads of its device, where they are what grows. */
  readonly threads?: number;
}

interface Plan {
  readonly axis: string;
  readonly title: string;
  readonly curves: Readonly<Record<string, readonly Point[]>>;
}

const doublings = (first: number, last: number): readonly number[] => {
  const sizes: number[] = [];
  for (let size = first; size <= last; size *= 2) sizes.push(size);
  return sizes;
};

const attentionCase = (T: number): OpCase => ({
  dims: { T, H: 2, G: 1, D: 64, S: 1, P: 3 },
  indices: { segments: Int32Array.of(0, T, -1) },
});

const logprobCase = (N: number, V: number): OpCase => ({
  dims: { N, D: 512, V },
  indices: { targets: Int32Array.from({ length: N }, (_, n) => (n * 7919) % V) },
  gradOf: ['logprobs'],
});

const gemmCase = (M: number): OpCase => ({ dims: { M, K: 512, N: 512 }, without: ['b'] });

function plans({ threads, mostTokens, mostVocabulary }: ScalingOptions): readonly Plan[] {
  const tokens = doublings(1024, mostTokens);
  // The last doubling only where it is well below the largest.
  const vocabularies = [...doublings(8192, mostVocabulary / 1.5), mostVocabulary];
  const groups = [1, 2, 4, 8, 16];
  const cases = (size: number) =>
    groupCases({ prefix: 512, response: 128, group: size, heads: { H: 4, G: 2, D: 64 } });
  const counts = Array.from({ length: threads }, (_, i) => i + 1);
  return [
    {
      axis: 'tokens',
      title: 'One sequence gets longer',
      curves: {
        'causal attention, H2 D64': tokens.map((size) => ({
          size,
          op: attention,
          opCase: attentionCase(size),
        })),
        'linear layer, 512 → 512': tokens.map((size) => ({
          size,
          op: gemm,
          opCase: gemmCase(size),
        })),
      },
    },
    {
      axis: 'vocabulary',
      title: 'The vocabulary grows',
      curves: {
        'linear log-prob, 128 tokens, D512': vocabularies.map((size) => ({
          size,
          op: linearLogprob,
          opCase: logprobCase(128, size),
        })),
      },
    },
    {
      axis: 'responses per prompt',
      title: 'Groups grow: prompt 512, response 128',
      curves: {
        'attention, prompt repeated': groups.map((size) => ({
          size,
          op: attention,
          opCase: cases(size).repeated,
        })),
        'attention, prompt shared': groups.map((size) => ({
          size,
          op: attention,
          opCase: cases(size).shared,
        })),
      },
    },
    {
      axis: 'threads',
      title: 'More threads work',
      curves: {
        'linear log-prob, V8192': counts.map((size) => ({
          size,
          op: linearLogprob,
          opCase: logprobCase(128, 8192),
          threads: size,
        })),
        'linear layer, 1024 tokens': counts.map((size) => ({
          size,
          op: gemm,
          opCase: gemmCase(1024),
          threads: size,
        })),
        'causal attention, 2048 tokens': counts.map((size) => ({
          size,
          op: attention,
          opCase: attentionCase(2048),
          threads: size,
        })),
      },
    },
  ];
}

/** All sweeps in float32. The points of a sweep are measured in turns. */
export async function measureScaling(options: ScalingOptions): Promise<readonly Sweep[]> {
  const devices = new Map<number, Device>();
  const deviceOf = (threads: number): Device => {
    const known = devices.get(threads);
    if (known !== undefined) return known;
    const isa = options.isa === undefined ? {} : { isa: options.isa };
    const device = openDevice(nativeBackend({ threads, ...isa }));
    devices.set(threads, device);
    return device;
  };
  try {
    const sweeps: Sweep[] = [];
    for (const plan of plans(options)) {
      options.signal?.throwIfAborted();
      options.onStart?.(plan.title);
      sweeps.push(await measureSweep(plan, options, deviceOf));
      options.keep?.(sweeps);
    }
    return sweeps;
  } finally {
    for (const device of devices.values()) device.dispose();
  }
}

async function measureSweep(
  { axis, title, curves }: Plan,
  options: ScalingOptions,
  deviceOf: (threads: number) => Device,
): Promise<Sweep> {
  const prepared: PreparedCase[] = [];
  const sides = Object.values(curves)
    .flat()
    .map(({ op, opCase, threads }) => {
      const device = deviceOf(threads ?? options.threads);
      const ready = prepareCase(device, op, opCase, 'f32', ['both']);
      prepared.push(ready);
      return (launches: number) =>
        timeOnce(
          () => ready.launch('both'),
          () => device.synchronize(),
          launches,
        );
    });
  const times = await takeTurns(sides, options);
  for (const ready of prepared) ready.dispose();
  let next = 0;
  return {
    axis,
    title,
    curves: Object.entries(curves).map(([label, points]) => {
      const sizes = points.map(({ size }) => size);
      const seconds = points.map(() => summarize(times[next++] ?? []));
      const medians = seconds.map(({ median }) => median);
      return { label, sizes, seconds, exponent: growthExponent(sizes, medians) };
    }),
  };
}
