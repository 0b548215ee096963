/** The headline table: the few shapes that decide whether training and sampling are fast. */
import { planSharedPrefix, planVarlen, type SegmentPlan } from '@saccade/attention';
import { ConfigError, type DType, UnsupportedError } from '@saccade/core';
import type { Device, Dims, Op, OpCase } from '@saccade/ops';
import { allOps, storageTypes } from './catalog-ops.ts';
import { timeOnce } from './measure.ts';
import { type Pass, prepareCase, shortCase } from './prepared-case.ts';
import type { Job, OpResult, RunOptions } from './run-ops.ts';
import { pairedRatio, type Sample, summarise } from './statistics.ts';
import { takeTurns } from './take-turns.ts';

/** A row of the table: a bench case under the name people know it by. */
export interface Headline {
  readonly title: string;
  readonly job: Job & { readonly passes: readonly Pass[] };
  /** What the op avoids making, to hold its workspace against. */
  readonly avoidedBytes?: (dims: Dims) => number;
}

const SHAPES: readonly (readonly [
  title: string,
  op: string,
  shape: string,
  passes: readonly Pass[],
])[] = [
  [
    'attention, causal, B1 H8 S1024 D128',
    'attention',
    'T1024 H8 G8 D128 S1',
    ['forward', 'backward'],
  ],
  ['attention, causal, B1 H16 S1024 D64', 'attention', 'T1024 H16 G16 D64 S1', ['backward']],
  [
    'linear log-prob, N128 D2048 V151936',
    'linearLogprob',
    'N128 D2048 V151936',
    ['forward', 'both'],
  ],
  [
    'GQA decode, B8 H16 Hkv2 S3000 D128',
    'attentionDecode',
    'N8 H16 G2 D128 C24000 R8',
    ['forward'],
  ],
  ['GEMM 2048³', 'gemm', 'M2048 K2048 N2048 no b', ['forward']],
];

/** The rows, each found among the bench cases of its op. */
export function headlines(): readonly Headline[] {
  return SHAPES.map(([title, id, shape, passes]) => {
    const op = allOps.find((candidate) => candidate.id === id);
    const opCase = op?.benchCases?.find((candidate) => shortCase(candidate) === shape);
    if (op === undefined || opCase === undefined) {
      throw new ConfigError(
        title,
        `No bench case of ${id} is "${shape}". Add it to the op's file.`,
      );
    }
    const job = { op, opCase, passes };
    if (id !== 'linearLogprob') return { title, job };
    return { title, job, avoidedBytes: ({ N = 0, V = 0 }) => 4 * N * V };
  });
}

/** A group whose prompt is packed once, beside the same group with a prompt for each response. */
export interface SharedPrefixResult {
  readonly dtype: DType;
  readonly shared: Sample;
  readonly repeated: Sample;
  /** Repeated / shared, of turns next to each other. */
  readonly ratio: Sample;
  /** Pairs of query and key, repeated / shared: what a perfect kernel gains. */
  readonly pairRatio: number;
}

export interface GroupShape {
  /** Tokens of the prompt and of each response. */
  readonly prefix: number;
  readonly response: number;
  readonly group: number;
  readonly heads: Dims;
}

export const GROUP_TITLE = 'shared prefix, P512 R128 G4 H8 D128';

export const HEADLINE_GROUP: GroupShape = {
  prefix: 512,
  response: 128,
  group: 4,
  heads: { H: 8, G: 8, D: 128 },
};

/** Both packings of a group as cases of `attention`. */
export function groupCases(shape: GroupShape): { shared: OpCase; repeated: OpCase } {
  const { prefix, response, group, heads } = shape;
  const caseOf = ({ segments, segmentCount, tokenCount }: SegmentPlan): OpCase => ({
    dims: { T: tokenCount, ...heads, S: segmentCount, P: 3 },
    indices: { segments },
  });
  const responseLengths = Array<number>(group).fill(response);
  return {
    shared: caseOf(planSharedPrefix({ prefixLength: prefix, responseLengths })),
    repeated: caseOf(planVarlen(Array<number>(group).fill(prefix + response))),
  };
}

/** Forward and backward of attention for both packings, in turns; those the backend can run. */
export async function measureSharedPrefix(
  device: Device,
  shape: GroupShape,
  { dtypes, ...options }: Pick<RunOptions, 'dtypes' | 'rounds' | 'seconds' | 'onSkip'>,
): Promise<readonly SharedPrefixResult[]> {
  const op = allOps.find(({ id }) => id === 'attention') as Op;
  const cases = groupCases(shape);
  const results: SharedPrefixResult[] = [];
  for (const dtype of (dtypes ?? storageTypes(op)).filter((t) => storageTypes(op).includes(t))) {
    try {
      const shared = prepareCase(device, op, cases.shared, dtype, ['both']);
      const repeated = prepareCase(device, op, cases.repeated, dtype, ['both']);
      const turn = (prepared: typeof shared) => (launches: number) =>
        timeOnce(
          () => prepared.launch('both'),
          () => device.synchronize(),
          launches,
        );
      const [once = [], often = []] = await takeTurns([turn(shared), turn(repeated)], options);
      results.push({
        dtype,
        shared: summarise(once),
        repeated: summarise(often),
        ratio: pairedRatio(often, once),
        pairRatio: repeated.cost('both').flops / shared.cost('both').flops,
      });
      shared.dispose();
      repeated.dispose();
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      options.onSkip?.(`attention with a shared prefix, ${dtype}`, error.message);
    }
  }
  return results;
}

/** The row a result belongs to. */
export function headlineOf(result: OpResult, rows: readonly Headline[]): Headline | undefined {
  return rows.find(({ job }) => job.op.id === result.op && shortCase(job.opCase) === result.case);
}
