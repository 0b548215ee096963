/** How cost grows with tokens, patches of an image, vocabulary, group size, conversations and threads. */
import { attention, attentionDecode } from '@saccade/attention';
import { type InstructionSet, nativeBackend } from '@saccade/backend-native';
import { linearLogprob } from '@saccade/logprob';
import { type Device, gemm, type Op, type OpCase, openDevice } from '@saccade/ops';
import { groupCases } from './group-packing.ts';
import { growthExponent } from './growth.ts';
import type { MeasureOptions } from './measure.ts';
import { type Pass, type PreparedCase, prepareCase } from './prepared-case.ts';
import type { QwenSizes } from './published-sizes.ts';
import {
  conversationsCase,
  gemmCase,
  type Heads,
  logprobCase,
  rolloutsCase,
  sequencesCase,
} from './rows/cases.ts';
import { WINDOW_PATCHES } from './rows/vision.ts';
import { type Sample, summarize } from './statistics.ts';
import { takeTurns } from './take-turns.ts';
import { timeOnce } from './time-once.ts';

export interface Curve {
  readonly label: string;
  readonly sizes: readonly number[];
  /** Seconds by size: of a forward and its backward, or of a forward where there is no other. */
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
  /** The widths of layers; default small ones, which take a processor little time. */
  readonly sizes?: ScaledSizes;
  readonly isa?: InstructionSet;
  readonly threads: number;
  /** Largest sizes; the sweeps end there. */
  readonly mostTokens: number;
  readonly mostVocabulary: number;
  readonly mostPatches: number;
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
  /** Default `both`. */
  readonly pass?: Pass;
  readonly title: string;
  readonly curves: Readonly<Record<string, readonly Point[]>>;
}

const doublings = (first: number, last: number): readonly number[] => {
  const sizes: number[] = [];
  for (let size = first; size <= last; size *= 2) sizes.push(size);
  return sizes;
};

/** What grows has these widths. */
export interface ScaledSizes {
  readonly hidden: number;
  /** Output width of the linear layer. */
  readonly intermediate: number;
  readonly heads: Heads;
  readonly visionHeads: Heads;
}

const SMALL: ScaledSizes = {
  hidden: 512,
  intermediate: 512,
  heads: { H: 2, G: 1, D: 64 },
  visionHeads: { H: 2, G: 2, D: 80 },
};

/** The widths of a published model's layers. */
export function scaledSizes({
  hidden,
  intermediate,
  heads,
  kvHeads,
  vision,
}: QwenSizes): ScaledSizes {
  return {
    hidden,
    intermediate,
    heads: { H: heads, G: kvHeads, D: hidden / heads },
    visionHeads: { H: vision.heads, G: vision.heads, D: vision.hidden / vision.heads },
  };
}

const describeHeads = ({ H, G, D }: Heads): string => `H${H}${H === G ? '' : ` Hkv${G}`} D${D}`;

function plans(options: ScalingOptions): readonly Plan[] {
  const { threads, mostTokens, mostVocabulary, mostPatches, sizes = SMALL } = options;
  const { hidden, intermediate, heads, visionHeads } = sizes;
  const points = (axis: readonly number[], op: Op, caseOf: (size: number) => OpCase): Point[] =>
    axis.map((size) => ({ size, op, opCase: caseOf(size) }));
  const sequence = (length: number): OpCase => sequencesCase({ sequences: 1, length }, heads);
  const linear = (M: number): OpCase => gemmCase({ M, K: hidden, N: intermediate });
  const logprobs = (V: number): OpCase => logprobCase({ N: 128, D: hidden, V }, ['logprobs']);
  // The last doubling only where it is well below the largest.
  const vocabularies = [...doublings(8192, mostVocabulary / 1.5), mostVocabulary];
  const tokens = doublings(1024, mostTokens);
  const patches = doublings(1024, mostPatches);
  const groups = doublings(1, 32);
  const group = (size: number) => groupCases({ prefix: 512, response: 128, group: size, heads });
  const conversations = doublings(1, 32);
  const cache = { length: 2048 };
  const counts = Array.from({ length: threads }, (_, i) => i + 1);
  const byThreads = (op: Op, opCase: OpCase): readonly Point[] =>
    counts.map((size) => ({ size, op, opCase, threads: size }));
  return [
    {
      axis: 'tokens',
      title: 'One sequence gets longer',
      curves: {
        [`causal attention, ${describeHeads(heads)}`]: points(tokens, attention, sequence),
        [`linear layer, ${hidden} → ${intermediate}`]: points(tokens, gemm, linear),
      },
    },
    {
      axis: 'patches',
      title: 'An image gets larger',
      curves: {
        [`attention to all, ${describeHeads(visionHeads)}`]: points(patches, attention, (length) =>
          sequencesCase({ sequences: 1, length }, visionHeads, 'whole'),
        ),
        [`in windows of ${WINDOW_PATCHES}`]: points(patches, attention, (size) =>
          sequencesCase(
            { sequences: size / WINDOW_PATCHES, length: WINDOW_PATCHES },
            visionHeads,
            'whole',
          ),
        ),
      },
    },
    {
      axis: 'vocabulary',
      title: 'The vocabulary grows',
      curves: {
        [`linear log-prob, 128 tokens, D${hidden}`]: points(vocabularies, linearLogprob, logprobs),
      },
    },
    {
      axis: 'responses per prompt',
      title: 'Groups grow: prompt 512, response 128',
      curves: {
        'attention, prompt repeated': points(groups, attention, (size) => group(size).repeated),
        'attention, prompt shared': points(groups, attention, (size) => group(size).shared),
      },
    },
    {
      axis: 'conversations',
      title: `More conversations decode: caches of ${cache.length} (forward)`,
      pass: 'forward',
      curves: {
        [`attention over own caches, ${describeHeads(heads)}`]: points(
          conversations,
          attentionDecode,
          (count) => conversationsCase({ conversations: count, ...cache }, heads),
        ),
        'prompt of 1792 shared': points(conversations, attentionDecode, (members) =>
          rolloutsCase({ prompts: 1, members, prompt: 1792, response: 256 }, heads),
        ),
        [`linear layer, ${hidden} → ${intermediate}`]: points(conversations, gemm, linear),
      },
    },
    {
      axis: 'threads',
      title: 'More threads work',
      curves: {
        'linear log-prob, V8192': byThreads(linearLogprob, logprobs(8192)),
        'linear layer, 1024 tokens': byThreads(gemm, linear(1024)),
        'causal attention, 2048 tokens': byThreads(attention, sequence(2048)),
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
  { axis, title, curves, pass = 'both' }: Plan,
  options: ScalingOptions,
  deviceOf: (threads: number) => Device,
): Promise<Sweep> {
  const prepared: PreparedCase[] = [];
  const sides = Object.values(curves)
    .flat()
    .map(({ op, opCase, threads }) => {
      const device = deviceOf(threads ?? options.threads);
      const ready = prepareCase(device, op, opCase, 'f32', [pass]);
      prepared.push(ready);
      return (launches: number) =>
        timeOnce(
          () => ready.launch(pass),
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
